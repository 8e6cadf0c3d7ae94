/* decisions_transactions.c -- rows of TransactGetItems and TransactWriteItems.
 *
 * "Permissions for Put, Update, Delete, and Get are governed by the permissions used for the
 * underlying PutItem, UpdateItem, DeleteItem, and GetItem operations. For the ConditionCheck
 * action, you can use the dynamodb:ConditionCheckItem permission."
 */
#include <stddef.h>
#include "decisions.h"

/* clang-format off */
#define TRANSACTION(actions) "{'TransactItems':[" actions "]}"
#define T_GET_MORE(table, key, more) "{'Get':{'TableName':'" table "','Key':" key more "}}"
#define T_GET(table, name) T_GET_MORE(table, KEY(name), "")

const struct decision decisions_transact_get_items[] = {
    ASKS(TRANSACTION(T_GET("Tab", "alice")), "GetItem", "Tab", YES),
    ASKS(TRANSACTION(T_GET("Absent", "alice")), "GetItem", "Absent", NOT_FOUND),
    TABLE_POLICY(TRANSACTION(T_GET("Tab", "alice")), "GetItem", "Tab", YES),
    STRANGER(TRANSACTION(T_GET("Secret", "alice")), TRANSACTION(T_GET("Absent", "alice")), "GetItem"),
    STRANGER(TRANSACTION(T_GET("Secret", "nobody")), TRANSACTION(T_GET("Absent", "nobody")), "GetItem"),
    STRANGER(TRANSACTION(T_GET_MORE("Secret", "{'wrong':{'S':'x'}}", "")), TRANSACTION(T_GET_MORE("Absent", "{'wrong':{'S':'x'}}", "")), "GetItem"),
    STRANGER(TRANSACTION(T_GET("Secret", "a") "," T_GET("Secret", "a")), TRANSACTION(T_GET("Absent", "a") "," T_GET("Absent", "a")), "GetItem"),
    { ONLY("TransactGetItems", "Tab"), NULL, NULL, TRANSACTION(T_GET("Tab", "alice")), NO("GetItem", "Tab") },
    { ONLY("GetItem", "Tab"), NULL, NULL, TRANSACTION(T_GET("Tab", "alice") "," T_GET("Secret", "alice")), NO("GetItem", "Secret") },
    { ONLY("GetItem", "Tab"), NULL, NULL, TRANSACTION(T_GET("Tab", "alice") "," T_GET("Absent", "alice")), NO("GetItem", "Absent") },
    { NOT_SECRET, NULL, NULL, TRANSACTION(T_GET("Tab", "alice") "," T_GET("Secret", "alice")), DENIED("GetItem", "Secret") },
    { OWN, NULL, NULL, TRANSACTION(T_GET("Tab", "alice")), YES },
    { OWN, NULL, NULL, TRANSACTION(T_GET("Tab", "alice") "," T_GET("Tab", "bob")), NO("GetItem", "Tab") },
    { NAMES, NULL, NULL, TRANSACTION(T_GET("Tab", "alice")), NO("GetItem", "Tab") },
    { NAMES, NULL, NULL, TRANSACTION(T_GET_MORE("Tab", KEY("alice"), ",'ProjectionExpression':'pk'")), YES },
    { NAMES, NULL, NULL, TRANSACTION(T_GET_MORE("Tab", KEY("alice"), ",'ProjectionExpression':'pay'")), NO("GetItem", "Tab") },
    { NAMED, NULL, NULL, TRANSACTION(T_GET("Tab", "alice")), NO("GetItem", "Tab") },
    { DENY_PAY, NULL, NULL, TRANSACTION(T_GET("Tab", "alice")), DENIED("GetItem", "Tab") },
    { WITHIN("TransactGetItems"), NULL, NULL, TRANSACTION(T_GET("Tab", "alice")), YES },
    { WITHIN("TransactWriteItems"), NULL, NULL, TRANSACTION(T_GET("Tab", "alice")), NO("GetItem", "Tab") },
    { DENY_WITHIN("TransactGetItems"), NULL, NULL, TRANSACTION(T_GET("Tab", "alice")), DENIED("GetItem", "Tab") },
    { NO_CAPACITY, NULL, NULL, "{'ReturnConsumedCapacity':'TOTAL','TransactItems':[" T_GET("Tab", "alice") "]}", NO("GetItem", "Tab") },
    { TAGGED("red"), NULL, NULL, TRANSACTION(T_GET("Tab", "alice")), NO("GetItem", "Tab") },
    END,
};

#define T_PUT_MORE(table, item, more) "{'Put':{'TableName':'" table "','Item':" item more "}}"
#define T_PUT(table, name) T_PUT_MORE(table, KEY(name), "")
#define T_UPDATE_MORE(table, key, more) "{'Update':{'TableName':'" table "','Key':" key more "}}"
#define T_SET ",'UpdateExpression':'SET l=:v'" VALUE("x")
#define T_UPDATE(table, name) T_UPDATE_MORE(table, KEY(name), T_SET)
#define T_DELETE_MORE(table, key, more) "{'Delete':{'TableName':'" table "','Key':" key more "}}"
#define T_DELETE(table, name) T_DELETE_MORE(table, KEY(name), "")
#define T_CHECK_MORE(table, key, more) "{'ConditionCheck':{'TableName':'" table "','Key':" key more "}}"
#define T_CHECK(table, name) T_CHECK_MORE(table, KEY(name), ",'ConditionExpression':'attribute_exists(pk)'")
#define T_WRONG "{'wrong':{'S':'x'}}"

const struct decision decisions_transact_write_items[] = {
    ASKS(TRANSACTION(T_PUT("Tab", "alice")), "PutItem", "Tab", YES),
    ASKS(TRANSACTION(T_UPDATE("Tab", "alice")), "UpdateItem", "Tab", YES),
    ASKS(TRANSACTION(T_DELETE("Tab", "alice")), "DeleteItem", "Tab", YES),
    ASKS(TRANSACTION(T_CHECK("Tab", "alice")), "ConditionCheckItem", "Tab", YES),
    ASKS(TRANSACTION(T_PUT("Absent", "alice")), "PutItem", "Absent", NOT_FOUND),
    ASKS(TRANSACTION(T_CHECK("Absent", "alice")), "ConditionCheckItem", "Absent", NOT_FOUND),
    TABLE_POLICY(TRANSACTION(T_PUT("Tab", "alice")), "PutItem", "Tab", YES),
    TABLE_POLICY(TRANSACTION(T_CHECK("Tab", "alice")), "ConditionCheckItem", "Tab", YES),
    STRANGER(TRANSACTION(T_PUT("Secret", "alice")), TRANSACTION(T_PUT("Absent", "alice")), "PutItem"),
    STRANGER(TRANSACTION(T_UPDATE("Secret", "alice")), TRANSACTION(T_UPDATE("Absent", "alice")), "UpdateItem"),
    STRANGER(TRANSACTION(T_DELETE("Secret", "alice")), TRANSACTION(T_DELETE("Absent", "alice")), "DeleteItem"),
    STRANGER(TRANSACTION(T_CHECK("Secret", "alice")), TRANSACTION(T_CHECK("Absent", "alice")), "ConditionCheckItem"),
    STRANGER(TRANSACTION(T_PUT_MORE("Secret", T_WRONG, "")), TRANSACTION(T_PUT_MORE("Absent", T_WRONG, "")), "PutItem"),
    STRANGER(TRANSACTION(T_DELETE_MORE("Secret", T_WRONG, "")), TRANSACTION(T_DELETE_MORE("Absent", T_WRONG, "")), "DeleteItem"),
    STRANGER(TRANSACTION(T_PUT("Secret", "a") "," T_PUT("Secret", "a")), TRANSACTION(T_PUT("Absent", "a") "," T_PUT("Absent", "a")), "PutItem"),
    { ALL, NULL, NULL, TRANSACTION(T_PUT("Tab", "a") "," T_PUT("Tab", "a")), INVALID },
    { ONLY("TransactWriteItems", "Tab"), NULL, NULL, TRANSACTION(T_PUT("Tab", "alice")), NO("PutItem", "Tab") },
    { ONLY("GetItem", "Tab"), NULL, NULL, TRANSACTION(T_CHECK("Tab", "alice")), NO("ConditionCheckItem", "Tab") },
    /* Each action is asked about; one that is refused refuses all. */
    { ONLY("PutItem", "Tab"), NULL, NULL, TRANSACTION(T_PUT("Tab", "alice") "," T_DELETE("Tab", "bob")), NO("DeleteItem", "Tab") },
    { ONLY("PutItem", "Tab"), NULL, NULL, TRANSACTION(T_PUT("Tab", "alice") "," T_PUT("Secret", "alice")), NO("PutItem", "Secret") },
    { ONLY("PutItem", "Tab"), NULL, NULL, TRANSACTION(T_PUT("Tab", "alice") "," T_PUT("Absent", "alice")), NO("PutItem", "Absent") },
    { NOT_SECRET, NULL, NULL, TRANSACTION(T_PUT("Tab", "alice") "," T_CHECK("Secret", "alice")), DENIED("ConditionCheckItem", "Secret") },
    { OWN, NULL, NULL, TRANSACTION(T_PUT("Tab", "alice")), YES },
    { OWN, NULL, NULL, TRANSACTION(T_PUT("Tab", "alice") "," T_CHECK("Tab", "bob")), NO("ConditionCheckItem", "Tab") },
    { OWN, NULL, NULL, TRANSACTION(T_DELETE("Tab", "bob")), NO("DeleteItem", "Tab") },
    { OWN, NULL, NULL, TRANSACTION(T_UPDATE("Tab", "bob")), NO("UpdateItem", "Tab") },
    { NAMES, NULL, NULL, TRANSACTION(T_UPDATE("Tab", "alice")), YES },
    { NAMES, NULL, NULL, TRANSACTION(T_PUT_MORE("Tab", ITEM("alice", ",'pay':{'S':'x'}"), "")), NO("PutItem", "Tab") },
    { NAMES, NULL, NULL, TRANSACTION(T_UPDATE_MORE("Tab", KEY("alice"), ",'UpdateExpression':'SET pay=:v'" VALUE("x"))), NO("UpdateItem", "Tab") },
    { NAMES, NULL, NULL, TRANSACTION(T_CHECK_MORE("Tab", KEY("alice"), ",'ConditionExpression':'pay=:v'" VALUE("x"))), NO("ConditionCheckItem", "Tab") },
    { NAMES, NULL, NULL, TRANSACTION(T_PUT_MORE("Tab", KEY("alice"), FALSE_CONDITION)), CANCELED },
    { NAMES, NULL, NULL, TRANSACTION(T_PUT_MORE("Tab", KEY("alice"), FALSE_CONDITION SHOW_OLD)), NO("PutItem", "Tab") },
    { NAMES, NULL, NULL, TRANSACTION(T_UPDATE_MORE("Tab", KEY("alice"), T_SET FALSE_CONDITION SHOW_OLD)), NO("UpdateItem", "Tab") },
    { NAMES, NULL, NULL, TRANSACTION(T_DELETE_MORE("Tab", KEY("alice"), FALSE_CONDITION SHOW_OLD)), NO("DeleteItem", "Tab") },
    { NAMES, NULL, NULL, TRANSACTION(T_CHECK_MORE("Tab", KEY("alice"), FALSE_CONDITION SHOW_OLD)), NO("ConditionCheckItem", "Tab") },
    { NAMED, NULL, NULL, TRANSACTION(T_PUT_MORE("Tab", KEY("alice"), FALSE_CONDITION)), CANCELED },
    { NAMED, NULL, NULL, TRANSACTION(T_PUT_MORE("Tab", KEY("alice"), FALSE_CONDITION SHOW_OLD)), NO("PutItem", "Tab") },
    { DENY_PAY, NULL, NULL, TRANSACTION(T_CHECK_MORE("Tab", KEY("alice"), FALSE_CONDITION SHOW_OLD)), DENIED("ConditionCheckItem", "Tab") },
    { RETURNS("'NONE'"), NULL, NULL, TRANSACTION(T_PUT_MORE("Tab", KEY("alice"), FALSE_CONDITION)), CANCELED },
    { RETURNS("'NONE'"), NULL, NULL, TRANSACTION(T_PUT_MORE("Tab", KEY("alice"), FALSE_CONDITION SHOW_OLD)), NO("PutItem", "Tab") },
    { RETURNS("['NONE','ALL_OLD']"), NULL, NULL, TRANSACTION(T_PUT_MORE("Tab", KEY("alice"), FALSE_CONDITION SHOW_OLD)), CANCELED },
    { DENY_RETURNS("'ALL_OLD'"), NULL, NULL, TRANSACTION(T_CHECK_MORE("Tab", KEY("alice"), FALSE_CONDITION SHOW_OLD)), DENIED("ConditionCheckItem", "Tab") },
    { WITHIN("TransactWriteItems"), NULL, NULL, TRANSACTION(T_PUT("Tab", "alice")), YES },
    { WITHIN("TransactGetItems"), NULL, NULL, TRANSACTION(T_PUT("Tab", "alice")), NO("PutItem", "Tab") },
    { DENY_WITHIN("TransactWriteItems"), NULL, NULL, TRANSACTION(T_DELETE("Tab", "alice")), DENIED("DeleteItem", "Tab") },
    { NO_CAPACITY, NULL, NULL, "{'ReturnConsumedCapacity':'TOTAL','TransactItems':[" T_PUT("Tab", "alice") "]}", NO("PutItem", "Tab") },
    { TAGGED("blue"), NULL, NULL, TRANSACTION(T_PUT("Tab", "alice")), YES },
    { TAGGED("red"), NULL, NULL, TRANSACTION(T_PUT("Tab", "alice")), NO("PutItem", "Tab") },
    END,
};
/* clang-format on */
