/* call_meter.h -- tells the meter of each call that has ended, in the meter's own terms. */
#ifndef STATOR_API_CALL_METER_H
#define STATOR_API_CALL_METER_H
#include <stddef.h>
#include <stdint.h>

struct api_call;
struct api_outcome;
struct call_meter;
struct catalogue;
struct clock;
struct meter;

/* Borrows both. `tables_max`: see struct meter_options. */
struct call_meter *call_meter_create(struct catalogue *catalogue, const struct clock *clock,
                                     size_t tables_max);
void call_meter_destroy(struct call_meter *call_meter); /* NULL is allowed. */
struct meter *call_meter_meter(const struct call_meter *call_meter);

/* At the call's end, while it still has its tables. `now_ns` is clock_monotonic_ns. */
void call_meter_count(struct call_meter *call_meter, const struct api_call *call,
                      const struct api_outcome *outcome, int64_t now_ns);

#endif
