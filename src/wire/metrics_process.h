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

#endif
