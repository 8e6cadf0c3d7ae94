/* resource_policy.h -- policies attached to tables and streams, and what their operations share.
 *
 * A policy is stored as it was given, as part of the table's definition. It must be one that can be
 * enforced even where callers are not told apart: a server may do so tomorrow, and what it could
 * not read then would shut everybody out.
 */
#ifndef STATOR_API_TABLE_RESOURCE_POLICY_H
#define STATOR_API_TABLE_RESOURCE_POLICY_H
#include <stdbool.h>
#include "shape/shape.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/table_definition.h"

struct api_call;
struct arena;
struct error;
struct table;

extern const struct shape resource_policy_arn_shape;
extern const struct shape resource_policy_revision_shape;

/* False with the service's error set unless the text is a JSON object of a size that is allowed. */
MUST_CHECK bool resource_policy_check(struct arena *arena, struct bytes text, struct error *err);
/* The same, of a text that passed, unless it is a policy. */
MUST_CHECK bool resource_policy_check_meaning(struct arena *arena, struct bytes text,
                                              struct error *err);

/* The table or stream of an ARN. */
struct policy_resource {
    struct bytes arn;
    struct table_definition definition; /* A copy that may be changed and stored. */
    struct resource_policy *policy;     /* Within the copy. */
};

/* False with the service's error set if the ARN is no table's or stream's, or there is no such
 * resource. The caller owes a table_release of `*table`, which keeps what the definition points to,
 * in either case. */
MUST_CHECK bool resource_policy_find(struct api_call *call, struct bytes arn, struct table **table,
                                     struct policy_resource *resource);

/* RevisionId, in the call's arena. */
struct bytes resource_policy_revision(struct api_call *call, const struct resource_policy *policy);
/* ExpectedRevisionId (data NULL: anything): false with PolicyNotFoundException set unless the
 * resource has a policy of that revision. */
MUST_CHECK bool resource_policy_expect(struct api_call *call,
                                       const struct policy_resource *resource,
                                       struct bytes expected);
/* Sets PolicyNotFoundException and returns false. */
bool resource_policy_refuse(struct api_call *call, const struct policy_resource *resource);

/* The operations' common answer: {"RevisionId":...}, with the policy before it if `shown`. */
void resource_policy_answer(struct api_call *call, const struct resource_policy *shown,
                            struct bytes revision);

#endif
