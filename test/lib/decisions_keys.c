/* decisions_keys.c -- access keys and their policies, and what somebody may do. */
#include <stddef.h>
#include "decisions.h"

/* clang-format off */
#define ALLOW_OTHER(action, resource) "{'Effect':'Allow','Action':'" action "','Resource':'" resource "'}"
/* The world has no keys, so that those who may ask learn just that. `dynamodb:*` does not do. */
#define ASKS_KEYS(body, action)                                                                    \
    { NOTHING, NULL, NULL, body, NO(action, "*") },                                                \
    { ALLOW_ON("*", "*"), NULL, NULL, body, NO(action, "*") },                                     \
    { ALLOW_OTHER("stator:Other", "*"), NULL, NULL, body, NO(action, "*") },                       \
    { ALLOW_OTHER(action, ARN("Tab")), NULL, NULL, body, NO(action, "*") },                        \
    { ALL ",{'Effect':'Deny','Action':'" action "','Resource':'*'}", NULL, NULL, body,             \
      DENIED(action, "*") },                                                                       \
    { ALLOW_OTHER(action, "*"), NULL, NULL, body, INVALID }
#define OF_KEY "{'AccessKeyId':'AKIAABCDEFGHIJKLMNOP'}"
#define OF_POLICY "{'AccessKeyId':'AKIAABCDEFGHIJKLMNOP','PolicyName':'p'}"

const struct decision decisions_create_key[] = { ASKS_KEYS("{'UserName':'bob'}", "stator:CreateKey"), END };
const struct decision decisions_create_session[] = { ASKS_KEYS(OF_KEY, "stator:CreateSession"), END };
const struct decision decisions_list_keys[] = { ASKS_KEYS("{}", "stator:ListKeys"), END };
const struct decision decisions_update_key[] = {
    ASKS_KEYS("{'AccessKeyId':'AKIAABCDEFGHIJKLMNOP','Status':'Inactive'}", "stator:UpdateKey"), END,
};
const struct decision decisions_delete_key[] = { ASKS_KEYS(OF_KEY, "stator:DeleteKey"), END };
const struct decision decisions_put_key_policy[] = {
    ASKS_KEYS("{'AccessKeyId':'AKIAABCDEFGHIJKLMNOP','PolicyName':'p','PolicyDocument':'{}'}",
              "stator:PutKeyPolicy"),
    END,
};
const struct decision decisions_get_key_policy[] = { ASKS_KEYS(OF_POLICY, "stator:GetKeyPolicy"), END };
const struct decision decisions_delete_key_policy[] = { ASKS_KEYS(OF_POLICY, "stator:DeleteKeyPolicy"), END };
const struct decision decisions_list_key_policies[] = { ASKS_KEYS(OF_KEY, "stator:ListKeyPolicies"), END };

/* Whatever policies say, callers may ask about themselves, as they may try. */
#define MAY(action, resource, more) "{'Questions':[{'Action':'" action "','Resource':'" resource "'" more "}]}"
#define IS_ALLOWED SHOWS("'Allowed':true")
#define IS_REFUSED SHOWS("'Allowed':false")
#define GET_TAB MAY("dynamodb:GetItem", ARN("Tab"), "")
#define GET_SECRET MAY("dynamodb:GetItem", ARN("Secret"), "")
#define GET_ABSENT MAY("dynamodb:GetItem", ARN("Absent"), "")
#define GET_OF(key) MAY("dynamodb:GetItem", "Tab", ",'LeadingKeys':['" key "']")
#define GET_WITH(names) MAY("dynamodb:GetItem", "Tab", ",'Attributes':[" names "]")
#define DEPENDS(list) SHOWS("'DependsOn':[" list "]")
const struct decision decisions_check_access[] = {
    { NOTHING, NULL, NULL, GET_TAB, IS_REFUSED },
    { NOTHING, NULL, NULL, GET_TAB, SHOWS("because no identity-based policy allows the dynamodb:GetItem action") },
    { ALL, NULL, NULL, GET_TAB, IS_ALLOWED },
    { ALL_DENY("GetItem", "Tab"), NULL, NULL, GET_TAB, SHOWS("explicit deny in an identity-based policy") },
    { ALL_DENY("GetItem", "Tab"), NULL, NULL, GET_SECRET, IS_ALLOWED },
    { ONLY("GetItem", "Tab"), NULL, NULL, MAY("dynamodb:GetItem", "Tab", ""), IS_ALLOWED },
    { ONLY("GetItem", "Tab"), NULL, NULL, GET_SECRET, IS_REFUSED },
    { ONLY("GetItem", "Tab"), NULL, NULL, GET_ABSENT, IS_REFUSED },
    { ONLY("Query", "Tab/index/Ind"), NULL, NULL, MAY("dynamodb:Query", "Tab/index/Ind", ""), IS_ALLOWED },
    { ONLY("Query", "Tab/index/Ind"), NULL, NULL, MAY("dynamodb:Query", "Tab", ""), IS_REFUSED },
    /* Policies of the table and of its stream, and tags, count as in requests. */
    { NOTHING, OF_RESOURCE("Allow", ALICE, "GetItem"), NULL, GET_TAB, IS_ALLOWED },
    { ALL, OF_RESOURCE("Deny", EVERYBODY, "GetItem"), NULL, GET_TAB, SHOWS("explicit deny in a resource-based policy") },
    { NOTHING, OF_RESOURCE("Deny", EVERYBODY, "GetItem"), NULL, GET_TAB, HIDES("resource-based") },
    { NOTHING, NULL, OF_RESOURCE("Allow", ALICE, "GetRecords"), MAY("dynamodb:GetRecords", ARN(STREAM), ""), IS_ALLOWED },
    { TAGGED("blue"), NULL, NULL, GET_TAB, IS_ALLOWED },
    { TAGGED("red"), NULL, NULL, GET_TAB, IS_REFUSED },
    /* Keys and attributes. */
    { OWN, NULL, NULL, GET_OF("alice"), IS_ALLOWED },
    { OWN, NULL, NULL, GET_OF("bob"), IS_REFUSED },
    { OWN, NULL, NULL, GET_OF("bob"), DEPENDS("") },
    { KEYS("['alice']"), NULL, NULL, GET_TAB, IS_REFUSED },
    { KEYS("['alice']"), NULL, NULL, GET_TAB, DEPENDS("'LeadingKeys'") },
    { NAMED, NULL, NULL, GET_WITH("'name'"), IS_ALLOWED },
    { NAMED, NULL, NULL, GET_WITH("'name','pay'"), IS_REFUSED },
    { NAMED, NULL, NULL, GET_TAB, DEPENDS("'Attributes'") },
    { NAMED, NULL, NULL, MAY("dynamodb:GetItem", "Tab", ",'AllAttributes':true"), IS_REFUSED },
    { SELECTS("'COUNT'"), NULL, NULL, MAY("dynamodb:Query", "Tab", ",'Select':'ALL_ATTRIBUTES'"), IS_REFUSED },
    { DENY_RETURNS("'ALL_OLD'"), NULL, NULL, MAY("dynamodb:PutItem", "Tab", ",'ReturnValues':'ALL_OLD'"), IS_REFUSED },
    { DENY_IF("'Bool':{'dynamodb:FullTableScan':'true'}"), NULL, NULL, MAY("dynamodb:Scan", "Tab", ",'FullTableScan':true"), IS_REFUSED },
    /* Other services, and things that are no tables. */
    { ALLOW_ON("*", "*"), NULL, NULL, MAY("stator:ListKeys", "*", ""), IS_REFUSED },
    { ALLOW_OTHER("stator:ListKeys", "*"), NULL, NULL, "{'Questions':[{'Action':'stator:ListKeys'}]}", IS_ALLOWED },
    { ALL, NULL, NULL, MAY("dynamodb:*", "*", ""), INVALID },
    { ALL, NULL, NULL, MAY("GetItem", "*", ""), INVALID },
    /* Of another key only with a right of its own; the world has no keys. */
#define OF_OTHER "{'AccessKeyId':'AKIAABCDEFGHIJKLMNOP','Questions':[{'Action':'dynamodb:GetItem'}]}"
    ASKS_KEYS(OF_OTHER, "stator:CheckAccess"),
    END,
};
/* clang-format on */
