/* replication_metrics.h -- CloudWatch's metric of global tables: ReplicationLatency, from the
 * commit of a write here until it is durable in another region, for each table and region.
 */
#ifndef STATOR_API_REPLICA_REPLICATION_METRICS_H
#define STATOR_API_REPLICA_REPLICATION_METRICS_H
#include <stdint.h>

struct api;

/* A hook of the ticker (cloudwatch/ticker.h): stores what was sent since the last round. The
 * context is the struct api. */
int64_t replication_metrics_tick(void *api, int64_t now_ms);

#endif
