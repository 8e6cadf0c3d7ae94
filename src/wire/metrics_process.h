/* metrics_process.h -- the process as Prometheus' clients show it, and what is about no table. */
#ifndef STATOR_WIRE_METRICS_PROCESS_H
#define STATOR_WIRE_METRICS_PROCESS_H
#include <stdint.h>

struct exposition;
struct http_statistics;

/* `start_second`: of the wall clock. */
void metrics_process_add(struct exposition *page, int64_t start_second, const char *version,
                         const char *commit);
void metrics_process_add_http(struct exposition *page, const struct http_statistics *statistics);
/* `delayed`: refusals for throttling that did not go out at once. */
void metrics_process_add_refusals(struct exposition *page, uint64_t delayed);

#endif
