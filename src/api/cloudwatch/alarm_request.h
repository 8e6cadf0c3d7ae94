/* alarm_request.h -- what the operations on alarms and dashboards share: names, ARNs, lists of
 * names, tokens, tags, and how failures are answered.
 */
#ifndef STATOR_API_CLOUDWATCH_ALARM_REQUEST_H
#define STATOR_API_CLOUDWATCH_ALARM_REQUEST_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "shape/shape.h"

struct api_call;

extern const struct shape alarm_request_names; /* AlarmNames: at most 100. */
extern const struct shape alarm_request_types; /* AlarmTypes */
extern const struct shape alarm_request_max_records;
extern const struct shape alarm_request_state;
extern const struct shape alarm_request_string;

struct bytes alarm_request_arn(struct api_call *call, struct bytes alarm_name);
struct bytes alarm_request_dashboard_arn(struct api_call *call, struct bytes dashboard_name);

/* Whether the caller may do the operation on the alarm, or on each of them. False with the error
 * set. */
MUST_CHECK bool alarm_request_may(struct api_call *call, struct bytes alarm_name);
MUST_CHECK bool alarm_request_may_all(struct api_call *call, const struct shape_list *names);
/* The same of another action: "TagResource". */
MUST_CHECK bool alarm_request_may_do(struct api_call *call, const char *action, struct bytes arn);

/* Whether the list of AlarmTypes, if there is one, names metric alarms. */
bool alarm_request_wants_metric_alarms(const struct shape_list *types);

/* Tokens hide names: base64. False with InvalidNextToken set. */
struct bytes alarm_request_token(struct api_call *call, struct bytes name);
MUST_CHECK bool alarm_request_read_token(struct api_call *call, struct bytes token,
                                         struct bytes *name);

/* Both return false, with the error set. */
bool alarm_request_failed(struct api_call *call, enum engine_status status);
bool alarm_request_exclusive(struct api_call *call, const char *one, const char *other);

/* {} */
void alarm_request_answer_nothing(struct api_call *call);

#endif
