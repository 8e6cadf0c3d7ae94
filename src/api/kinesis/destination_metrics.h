/* destination_metrics.h -- CloudWatch's metrics of Kinesis destinations.
 *
 * The counters of destinations begin with the server and never decrease. Each round of the ticker
 * stores by how much they have grown since the last one.
 */
#ifndef STATOR_API_KINESIS_DESTINATION_METRICS_H
#define STATOR_API_KINESIS_DESTINATION_METRICS_H
#include <stdint.h>

struct destination_metrics;
struct destinations;
struct series_store;

/* Both must outlive it. */
struct destination_metrics *destination_metrics_create(struct destinations *destinations,
                                                       struct series_store *store);
void destination_metrics_destroy(struct destination_metrics *metrics); /* NULL is allowed. */

/* A hook of the ticker (cloudwatch/ticker.h). */
int64_t destination_metrics_tick(void *context, int64_t now_ms);

#endif
