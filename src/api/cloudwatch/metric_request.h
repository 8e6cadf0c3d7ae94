/* metric_request.h -- what CloudWatch's operations on metrics share: shapes, names of parameters in
 * messages, and how a request names a metric.
 *
 * The service names parameters in its messages as the query protocol does, whatever the protocol of
 * the request: "MetricData.member.1.Dimensions.member.2.Name". So shapes only read, and the checks
 * are here.
 */
#ifndef STATOR_API_CLOUDWATCH_METRIC_REQUEST_H
#define STATOR_API_CLOUDWATCH_METRIC_REQUEST_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "cloudwatch/series.h"
#include "engine/engine.h"
#include "shape/shape.h"

struct api_call;
struct json_writer;

enum {
    METRIC_NAME_LENGTH_MAX = 255,
    METRIC_DIMENSION_VALUE_LENGTH_MAX = 1024,
    METRIC_PARAMETER_SIZE_MAX = 160, /* "MetricDataQueries.member.500.MetricStat...Name" */
    METRIC_PERIOD_MAX_S = 86400 * 455,
};

struct dimension_request {
    struct bytes name;
    struct bytes value;
};
extern const struct shape metric_string; /* Any text, double or time; or a list of them. */
extern const struct shape metric_double;
extern const struct shape metric_integer;
extern const struct shape metric_boolean;
extern const struct shape metric_timestamp;
extern const struct shape metric_string_list;
extern const struct shape metric_double_list;
extern const struct shape metric_dimension_list; /* of struct dimension_request * */

/* "prefix" + "name", with the members of lists counted from 1. */
struct metric_parameter {
    char text[METRIC_PARAMETER_SIZE_MAX];
};
struct metric_parameter metric_parameter(const char *format, ...) PRINTF_LIKE(1, 2);

/* All return false with the error set. */
bool metric_missing(struct api_call *call, const char *parameter);
bool metric_invalid(struct api_call *call, const char *format, ...) PRINTF_LIKE(2, 3);
bool metric_exclusive(struct api_call *call, const char *one, const char *other);
bool metric_storage_failed(struct api_call *call, enum engine_status status);

/* A namespace, a metric's name, or a dimension's name or value; it is required. */
MUST_CHECK bool metric_check_name(struct api_call *call, const char *parameter, struct bytes name,
                                  size_t length_max);
/* Absent: `otherwise`. */
MUST_CHECK bool metric_check_unit(struct api_call *call, const char *parameter, struct bytes name,
                                  enum unit otherwise, enum unit *out);
/* 1, 5, 10, 20, 30 or a multiple of 60. */
MUST_CHECK bool metric_check_period(struct api_call *call, const char *parameter,
                                    const struct shape_integer *period);

/* How a request names a metric. `prefix` stands before the parameters' names in messages: empty, or
 * with a point at its end. The key borrows from the request and the call's arena. */
MUST_CHECK bool metric_check_key(struct api_call *call, const char *prefix, struct bytes namespace,
                                 struct bytes name, const struct shape_list *dimensions,
                                 struct series_key *out);
MUST_CHECK bool metric_check_dimensions(struct api_call *call, const char *prefix,
                                        const struct shape_list *dimensions,
                                        struct series_key *out);

/* The second from which bins are counted: StartTime is rounded down, further for older times. */
int64_t metric_round_start(int64_t start_ms, int64_t now_ms, int64_t period_s);
/* The first second that does not count: EndTime, rounded up. */
int64_t metric_round_end(int64_t end_ms);

/* A reader of the call's samples. NULL with the error set. */
MUST_CHECK struct series_reader *metric_open_reader(struct api_call *call);

/* {"Namespace":...,"MetricName":...,"Dimensions":[...]} */
void metric_write_key(struct json_writer *json, const struct series_key *key);

#endif
