/* setting_rules.h -- rules of a table's settings besides keys and throughput: stream, encryption,
 * tags, resource policy, and the fields that are refused because they are not supported yet.
 *
 * Pure: requests that passed their shape in, definitions out, or the service's message. Text is
 * borrowed from the request.
 */
#ifndef STATOR_API_TABLE_SETTING_RULES_H
#define STATOR_API_TABLE_SETTING_RULES_H
#include <stdbool.h>
#include <stdint.h>
#include "auth/policy_document.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "shape/shape.h"

struct arena;
struct create_table_request;
struct encryption_request;
struct error;
struct table_definition;
struct tag_list;
struct update_table_request;

MUST_CHECK bool setting_rules_create(struct arena *arena,
                                     const struct create_table_request *request,
                                     struct table_definition *draft, struct error *err);
/* Does UpdateTable ask for any change? Members without units of their own do not. */
bool setting_rules_asks_for_change(const struct update_table_request *request);
/* Refuses a request that does not, in the service's words; returns false. */
bool setting_rules_refuse_nothing(struct error *err);
/* Observed: naming the class that the table has changes nothing. */
bool setting_rules_changes_class(const struct update_table_request *request,
                                 const struct table_definition *table);
/* The rules of UpdateTable that do not depend on the table. */
MUST_CHECK bool setting_rules_check_update(const struct update_table_request *request,
                                           struct error *err);
/* Changes `table`, a copy of the current definition. */
MUST_CHECK bool setting_rules_update(const struct update_table_request *request, int64_t now_ms,
                                     struct table_definition *table, struct error *err);

/* SSESpecification of a new or changed table. */
MUST_CHECK bool setting_rules_set_encryption(const struct encryption_request *request,
                                             struct table_definition *table, struct error *err);

/* A list of struct tag_request *, and one of struct bytes: how many, which characters, no key
 * twice. */
MUST_CHECK bool setting_rules_check_tags(const struct shape_list *tags, struct error *err);
MUST_CHECK bool setting_rules_check_tag_keys(const struct shape_list *keys, struct error *err);
/* Adds a list that passed to the tags of a resource. The old array is left as it was. */
MUST_CHECK bool setting_rules_add_tags(struct arena *arena, const struct shape_list *added,
                                       struct tag_list *tags, struct error *err);
/* Takes the tags of a list of struct bytes away; keys that there are not are ignored. */
void setting_rules_remove_tags(struct arena *arena, const struct shape_list *keys,
                               struct tag_list *tags);

/* The ResourcePolicy of a table or a stream: false with the service's error set unless it may be
 * put. It must be one that can be enforced even where requests are not authenticated: the server
 * may do so tomorrow, and a policy that it could not read then would shut everybody out. */
MUST_CHECK bool setting_rules_check_policy(struct arena *arena, struct bytes text,
                                           enum policy_subject subject, struct error *err);

#endif
