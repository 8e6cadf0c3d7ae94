/* scaling_operation.h -- what the operations of Application Auto Scaling share: the target that a
 * request names, the ARNs of answers, pages of lists.
 *
 * Every operation asks for its own action on "*". A target changes the throughput of a table on
 * behalf of whoever registered it, so those that change something also ask for dynamodb:UpdateTable
 * on the table; a caller without that does not learn whether the table exists.
 */
#ifndef STATOR_API_SCALING_SCALING_OPERATION_H
#define STATOR_API_SCALING_SCALING_OPERATION_H
#include <stdbool.h>
#include "api/operation.h"
#include "base/compiler.h"
#include "scaling/scaling.h"

/* Members that most requests have. */
struct scaling_names {
    struct bytes service_namespace;
    struct bytes resource_id;
    struct bytes dimension;
};

/* A request about a policy or scheduled action of a target. */
struct scaling_named_request {
    struct scaling_names names;
    struct bytes name;
};

extern const struct shape scaling_namespace_shape;
extern const struct shape scaling_resource_id_shape;
extern const struct shape scaling_dimension_shape;
extern const struct shape scaling_names_list_shape; /* Up to 50 texts. */
extern const struct shape scaling_page_size_shape;
extern const struct shape scaling_token_shape;

/* The target that the names mean. False with ValidationException set, or AccessDeniedException. */
MUST_CHECK bool scaling_operation_id(struct api_call *call, const struct scaling_names *names,
                                     struct scaling_id *out);
/* The capacity that the target has now: 0 for an on-demand table. False with ValidationException
 * set if there is no such table or index. */
MUST_CHECK bool scaling_operation_capacity(struct api_call *call, const struct scaling_id *id,
                                           int64_t *out);
/* ObjectNotFoundException: "No scalable target registered for service namespace: ...". */
bool scaling_operation_not_registered(struct api_call *call, const struct scaling_id *id);

struct bytes scaling_operation_target_arn(struct api_call *call,
                                          const struct scaling_target *target);
struct bytes scaling_operation_policy_arn(struct api_call *call,
                                          const struct scaling_policy *policy);
struct bytes scaling_operation_action_arn(struct api_call *call,
                                          const struct scaling_action *action);
struct bytes scaling_operation_role_arn(struct api_call *call);

/* Stores the change, with what else belongs to it; NULL: nothing. False with
 * InternalServiceException set. */
MUST_CHECK bool scaling_operation_commit(struct api_call *call, struct scaling_change *change,
                                         const struct scaling_partner *partner);
/* "{}" */
void scaling_operation_answer_nothing(struct api_call *call);
/* A ValidationException with that text. Returns false. */
bool scaling_operation_refuse(struct api_call *call, const char *text);

/* A change of what a target has, with the scaling locked. `request` begins with struct
 * scaling_names. */
typedef bool scaling_operation_change(struct api_call *call, const void *request,
                                      const struct scaling_id *id);
/* Finds the target that the request names, makes the change, answers with "{}" and ends the call.
 */
void scaling_operation_run(struct api_call *call, const void *request,
                           scaling_operation_change *change);

/* Members of answers: which target an object is about; a number, unless it is absent. */
void scaling_operation_write_names(struct json_writer *json, const struct scaling_head *head);
void scaling_operation_write_number(struct json_writer *json, const char *name,
                                    const struct shape_integer *number);

/* --- Lists --- */

struct scaling_list_request {
    struct scaling_names names;
    struct shape_list ids; /* of struct bytes: ResourceIds, PolicyNames, ... */
    struct shape_boolean with_not_scaled;
    struct shape_integer max_results;
    struct bytes next_token;
};

struct scaling_lister {
    enum scaling_kind kind;
    const char *member; /* "ScalableTargets" */
    bool newest_first;
    bool ids_are_resources; /* The list of the request has resource ids rather than names. */
    void (*write)(struct api_call *call, struct json_writer *json, const void *object);
};
/* Answers with a page of the objects that match the request, and ends the call. */
void scaling_operation_list(struct api_call *call, const struct scaling_list_request *request,
                            const struct scaling_lister *lister);

#endif
