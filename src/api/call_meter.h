/* call_meter.h -- tells the meter of each call that has ended, in the meter's own terms. */
#ifndef STATOR_API_CALL_METER_H
#define STATOR_API_CALL_METER_H
#include <stdint.h>

struct api_call;
struct api_options;
struct api_outcome;
struct call_meter;
struct catalogue;
struct meter;
struct slow_log;

/* Of the options it takes the clock, which it borrows, and the bounds. */
struct call_meter *call_meter_create(struct catalogue *catalogue,
                                     const struct api_options *options);
void call_meter_destroy(struct call_meter *call_meter); /* NULL is allowed. */
struct meter *call_meter_meter(const struct call_meter *call_meter);
struct slow_log *call_meter_slow_log(const struct call_meter *call_meter);

/* At the call's end, while it still has its tables. `now_ns` is clock_monotonic_ns. */
void call_meter_count(struct call_meter *call_meter, const struct api_call *call,
                      const struct api_outcome *outcome, int64_t now_ns);
/* The same of a call that an injected fault has made fail. */
void call_meter_count_injected(struct call_meter *call_meter, const struct api_call *call,
                               int64_t now_ns);

#endif
