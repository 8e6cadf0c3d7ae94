/* decisions_replicas.c -- decisions about the calls of servers of other regions. */
#include "decisions.h"

/* clang-format off */

#define SETTINGS(table) IN(table, ",'FromRegion':'eu-west-1','ToRegion':'eu-west-1','Definition':'AAAA'")
#define ROWS(table) IN(table, ",'FromRegion':'eu-west-1','ToRegion':'eu-west-1','GroupId':'g','Session':'','Number':1,'Epoch':1,'SentTime':1,'ClosedTime':0,'LowTime':0,'Rows':[]")

#define ALLOW_OTHER(action, resource) "{'Effect':'Allow','Action':'" action "','Resource':'" resource "'}"
#define DENY_OTHER(action, resource) "{'Effect':'Deny','Action':'" action "','Resource':'" resource "'}"
#define DENY_ALL_OF_TABLE "{'Effect':'Deny'," EVERYBODY ",'Action':'*','Resource':'*'}"

/* What the service has does not contain them: who may do all of it may not set stamps. */
#define ASKS_REPLICATION(body, action, service_action, outcome)                                    \
    { NOTHING, NULL, NULL, body("Tab"), NO(action, "Tab") },                                       \
    { ALLOW_ON("*", "*"), NULL, NULL, body("Tab"), NO(action, "Tab") },                            \
    { ALLOW_ON(service_action, "*"), NULL, NULL, body("Tab"), NO(action, "Tab") },                 \
    { ALLOW_ON("PutItem", "*"), NULL, NULL, body("Tab"), NO(action, "Tab") },                      \
    { NOTHING, OF_RESOURCE("Allow", ALICE, "*"), NULL, body("Tab"), NO(action, "Tab") },           \
    { ALL, NULL, NULL, body("Tab"), outcome },                                                     \
    { ALLOW_OTHER(action, ARN("Tab")), NULL, NULL, body("Tab"), outcome },                         \
    { ALLOW_OTHER(action, ARN("Tab")), NULL, NULL, body("Secret"), NO(action, "Secret") },         \
    { ALL "," DENY_OTHER(action, ARN("Tab")), NULL, NULL, body("Tab"), DENIED(action, "Tab") },    \
    { ALL, DENY_ALL_OF_TABLE, NULL, body("Tab"), DENIED_BY_RESOURCE(action, "Tab") }

const struct decision decisions_replicate_settings[] = {
    ASKS_REPLICATION(SETTINGS, "stator:ReplicateSettings", "ReplicateSettings", INVALID), END,
};

const struct decision decisions_write_data_for_replication[] = {
    ASKS_REPLICATION(ROWS, "stator:WriteDataForReplication", "WriteDataForReplication", NOT_FOUND), END,
};
