/* transaction_fixture.h -- bodies of transactions, and what is expected of them.
 *
 * As in api_fixture.h, JSON is written with ' in place of ".
 */
#ifndef STATOR_TEST_TRANSACTION_FIXTURE_H
#define STATOR_TEST_TRANSACTION_FIXTURE_H
#include <stddef.h>
#include "api_fixture.h"

struct arena;
struct engine;

/* Tables that transaction_fixture_open creates: "plain" (pk: S), "other" (pk: S), and "indexed" (h:
 * S, r: N) with the local index "by-l" (l: S) and the global index "by-g" (g: S), both ALL. */
void transaction_fixture_create_tables(struct api_fixture *db);

#define TRANSACT(actions) "{'TransactItems':[" actions "]}"
#define TRANSACT_WITH(actions, rest) "{'TransactItems':[" actions "]," rest "}"
#define PUT(item) "{'Put':{'TableName':'plain','Item':" item "}}"
#define PUT_IF(item, condition)                                                                    \
    "{'Put':{'TableName':'plain','Item':" item ",'ConditionExpression':'" condition "'}}"
#define DELETE(key) "{'Delete':{'TableName':'plain','Key':" key "}}"
#define CHECK(key, condition)                                                                      \
    "{'ConditionCheck':{'TableName':'plain','Key':" key ",'ConditionExpression':'" condition "'}}"
#define UPDATE(key, expression, rest)                                                              \
    "{'Update':{'TableName':'plain','Key':" key ",'UpdateExpression':'" expression "'" rest "}}"
#define VALUES(values) ",'ExpressionAttributeValues':{" values "}"
#define GET(key) "{'Get':{'TableName':'plain','Key':" key "}}"
#define KEY(value) "{'pk':{'S':'" value "'}}"
#define ITEM(value, number) "{'n':{'N':'" number "'},'pk':{'S':'" value "'}}"

#define CANCELLED "Transaction cancelled, please refer cancellation reasons for specific reasons "
#define NO_REASON "{'Code':'None'}"
#define CONDITION_REASON                                                                           \
    "{'Code':'ConditionalCheckFailed','Message':'The conditional request failed'}"
#define CONFLICT_REASON                                                                            \
    "{'Code':'TransactionConflict','Message':'Transaction is ongoing for the item'}"
#define FAULT_REASON(message) "{'Code':'ValidationError','Message':'" message "'}"

/* Fails the test unless the call succeeds. */
void transaction_fixture_must(struct api_fixture *db, const char *operation, const char *body);
/* Fails the test unless the call is cancelled: `codes` as in the message, "[None]"; `reasons` is
 * the list without its brackets. */
void transaction_fixture_expect_cancelled(struct api_fixture *db, const char *operation,
                                          const char *body, const char *codes, const char *reasons);
/* Fails the test unless the item of "plain" is this; NULL: there is none. */
void transaction_fixture_expect_item(struct api_fixture *db, const char *key, const char *item);

/* The body of a TransactWriteItems with `count` Puts to "plain", whose items are `size` bytes each
 * but the last, which is of `last_size`. Lives in the arena. */
const char *transaction_fixture_puts(struct arena *arena, unsigned count, size_t size,
                                     size_t last_size);
/* The body of a TransactGetItems of those items. */
const char *transaction_fixture_gets(struct arena *arena, unsigned count);

#endif
