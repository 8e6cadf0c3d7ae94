/* test_transactions.c -- random transactions over few items, compared with a plain model.
 *
 * Each answer is compared byte for byte, reasons included, and after each transaction all items are
 * read by another one. Requests come again with their token, other requests come with a token that
 * is taken, the clock moves, commits meet conflicts, and the database is restarted.
 * MODEL_SEED repeats a run, MODEL_WRITES sets its length.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "failing_engine.h"
#include "index_model.h"
#include "reference_engine.h"
#include "run_length.h"
#include "table/token_record.h"
#include "transaction_fixture.h"

enum {
    WRITES = 3000,
    WRITES_LONG = 200 * 1000, /* With STATOR_TEST_LONG. */
    WRITES_PER_RESTART = 500,
    KEYS = 5, /* Of each of the tables. */
    ITEMS = 2 * KEYS,
    NUMBERS = 4, /* Values of an item's one attribute to choose from. */
    TOKENS = 8,  /* Requests that are remembered. */
    NO_TOKEN = TOKENS,
};

/* An item holds a number, or does not exist. */
struct item_model {
    bool exists;
    int number;
};

/* Conditions: none, the item exists, does not, or has a number above another one. */
enum condition { NO_CONDITION, EXISTS, EXISTS_NOT, IS_ABOVE, CONDITION_COUNT };
enum kind { PUT_NUMBER, ADD_NUMBER, INCREASE, DELETE_ITEM, CHECK_ITEM, KIND_COUNT };

struct action {
    size_t place; /* Among the items. */
    enum kind kind;
    enum condition condition;
    int number; /* To put or to add. */
    int bound;  /* Of the condition. */
    bool shows_item;
};

struct request {
    struct action actions[ITEMS];
    size_t count;
};

struct run {
    struct api_fixture db;
    struct random random;
    struct item_model items[ITEMS];
    struct remembered {
        struct request request;
        struct model_text body; /* Without the token. */
        int64_t until_ms;       /* 0: nothing was carried out with this token. */
    } tokens[TOKENS];
    struct model_text body;
    struct model_text want;
};

static int below(struct run *run, int bound)
{
    return (int)random_below(&run->random, (uint64_t)bound);
}

/* --- Requests --- */

static struct request random_request(struct run *run)
{
    struct request request = { .count = 0 };
    bool used[ITEMS] = { false };
    int wanted = 1 + below(run, 4);
    for (int i = 0; i < wanted; i++) {
        size_t place = (size_t)below(run, ITEMS);
        if (used[place])
            continue;
        used[place] = true;
        struct action *action = &request.actions[request.count++];
        *action = (struct action){ .place = place,
                                   .kind = (enum kind)below(run, KIND_COUNT),
                                   .condition = (enum condition)below(run, CONDITION_COUNT),
                                   .number = below(run, NUMBERS),
                                   .bound = below(run, NUMBERS),
                                   .shows_item = below(run, 2) == 0 };
        if (below(run, 2) == 0)
            action->condition = NO_CONDITION;
        if (action->kind == CHECK_ITEM && action->condition == NO_CONDITION)
            action->condition = EXISTS;
    }
    return request;
}

static const char *table_of(size_t place)
{
    return place < KEYS ? "plain" : "other";
}

static void add_key(struct model_text *text, size_t place)
{
    model_text_add(text, "'pk':{'S':'%zu'}", place % KEYS);
}

static void add_condition(struct model_text *text, const struct action *action)
{
    static const char *const conditions[CONDITION_COUNT] = {
        [EXISTS] = "attribute_exists(pk)",
        [EXISTS_NOT] = "attribute_not_exists(pk)",
        [IS_ABOVE] = "n > :bound",
    };
    bool adds = action->kind == ADD_NUMBER || action->kind == INCREASE;
    if (action->condition != NO_CONDITION)
        model_text_add(text, ",'ConditionExpression':'%s'", conditions[action->condition]);
    if (action->shows_item)
        model_text_add(text, ",'ReturnValuesOnConditionCheckFailure':'ALL_OLD'");
    if (!adds && action->condition != IS_ABOVE)
        return;
    model_text_add(text, ",'ExpressionAttributeValues':{");
    if (adds)
        model_text_add(text, "':v':{'N':'%d'}%s", action->number,
                       action->condition == IS_ABOVE ? "," : "");
    if (action->condition == IS_ABOVE)
        model_text_add(text, "':bound':{'N':'%d'}", action->bound);
    model_text_add(text, "}");
}

static void add_action(struct model_text *text, const struct action *action)
{
    static const char *const kinds[KIND_COUNT] = { "Put", "Update", "Update", "Delete",
                                                   "ConditionCheck" };
    model_text_add(text, "{'%s':{'TableName':'%s','%s':{", kinds[action->kind],
                   table_of(action->place), action->kind == PUT_NUMBER ? "Item" : "Key");
    if (action->kind == PUT_NUMBER)
        model_text_add(text, "'n':{'N':'%d'},", action->number);
    add_key(text, action->place);
    model_text_add(text, "}");
    if (action->kind == ADD_NUMBER)
        model_text_add(text, ",'UpdateExpression':'ADD n :v'");
    if (action->kind == INCREASE)
        model_text_add(text, ",'UpdateExpression':'SET n = n + :v'");
    add_condition(text, action);
    model_text_add(text, "}}");
}

static void write_body(struct run *run, const struct request *request, int token)
{
    model_text_clear(&run->body);
    model_text_add(&run->body, "{'TransactItems':[");
    for (size_t i = 0; i < request->count; i++) {
        model_text_add(&run->body, i == 0 ? "" : ",");
        add_action(&run->body, &request->actions[i]);
    }
    model_text_add(&run->body, "]");
    if (token != NO_TOKEN)
        model_text_add(&run->body, ",'ClientRequestToken':'token-%d'", token);
    model_text_add(&run->body, "}");
}

/* --- What must happen --- */

static bool condition_holds(const struct action *action, const struct item_model *item)
{
    switch (action->condition) {
    case EXISTS:
        return item->exists;
    case EXISTS_NOT:
        return !item->exists;
    case IS_ABOVE:
        return item->exists && item->number > action->bound;
    default:
        return true;
    }
}

static void add_item(struct model_text *text, size_t place, int number)
{
    model_text_add(text, "{'n':{'N':'%d'},", number);
    add_key(text, place);
    model_text_add(text, "}");
}

/* Adds the reason of an action. True if there is nothing wrong. */
static bool add_reason(struct run *run, const struct action *action, const char **code)
{
    const struct item_model *item = &run->items[action->place];
    if (!condition_holds(action, item)) {
        *code = "ConditionalCheckFailed";
        model_text_add(&run->want, "{'Code':'ConditionalCheckFailed',");
        if (action->shows_item && item->exists) {
            model_text_add(&run->want, "'Item':");
            add_item(&run->want, action->place, item->number);
            model_text_add(&run->want, ",");
        }
        model_text_add(&run->want, "'Message':'The conditional request failed'}");
        return false;
    }
    if (action->kind == INCREASE && !item->exists) {
        *code = "ValidationError";
        model_text_add(&run->want,
                       FAULT_REASON("The provided expression refers to an attribute that "
                                    "does not exist in the item"));
        return false;
    }
    *code = "None";
    model_text_add(&run->want, NO_REASON);
    return true;
}

static void apply(struct run *run, const struct request *request)
{
    for (size_t i = 0; i < request->count; i++) {
        const struct action *action = &request->actions[i];
        struct item_model *item = &run->items[action->place];
        int before = item->exists ? item->number : 0;
        if (action->kind == PUT_NUMBER)
            *item = (struct item_model){ .exists = true, .number = action->number };
        else if (action->kind == ADD_NUMBER || action->kind == INCREASE)
            *item = (struct item_model){ .exists = true, .number = before + action->number };
        else if (action->kind == DELETE_ITEM)
            item->exists = false;
    }
}

/* Fills in the reasons and their codes. True if the transaction takes effect. */
static bool predict(struct run *run, const struct request *request, struct model_text *codes)
{
    bool ok = true;
    model_text_clear(&run->want);
    model_text_clear(codes);
    for (size_t i = 0; i < request->count; i++) {
        const char *code;
        model_text_add(&run->want, i == 0 ? "" : ",");
        ok &= add_reason(run, &request->actions[i], &code);
        model_text_add(codes, "%s%s", i == 0 ? "[" : ", ", code);
    }
    model_text_add(codes, "]");
    return ok;
}

/* --- Steps --- */

static void write_once(struct run *run, const struct request *request, int token)
{
    static struct model_text codes, plain;
    struct remembered *known = token == NO_TOKEN ? NULL : &run->tokens[token];
    write_body(run, request, NO_TOKEN);
    plain = run->body;
    write_body(run, request, token);
    if (known != NULL && known->until_ms > run->db.clock.fixed_ms) {
        if (strcmp(known->body.text, plain.text) == 0)
            api_fixture_expect(&run->db, "TransactWriteItems", run->body.text, "{}");
        else
            api_fixture_expect_error(
                &run->db, "TransactWriteItems", run->body.text, ERROR_IDEMPOTENT_PARAMETER_MISMATCH,
                "DynamoDB rejected the request because you retried a request with a different "
                "payload but with an idempotent token that was already used.");
        return;
    }
    if (!predict(run, request, &codes)) {
        transaction_fixture_expect_cancelled(&run->db, "TransactWriteItems", run->body.text,
                                             codes.text, run->want.text);
        return;
    }
    api_fixture_expect(&run->db, "TransactWriteItems", run->body.text, "{}");
    apply(run, request);
    if (known == NULL)
        return;
    known->request = *request;
    known->body = plain;
    known->until_ms = run->db.clock.fixed_ms + TOKEN_RECORD_LIFETIME_MS;
}

/* All items of both tables, in one transaction. */
static void check_items(struct run *run)
{
    model_text_clear(&run->body);
    model_text_clear(&run->want);
    model_text_add(&run->body, "{'TransactItems':[");
    model_text_add(&run->want, "{'Responses':[");
    for (size_t place = 0; place < ITEMS; place++) {
        model_text_add(&run->body, "%s{'Get':{'TableName':'%s','Key':{", place == 0 ? "" : ",",
                       table_of(place));
        add_key(&run->body, place);
        model_text_add(&run->body, "}}}");
        model_text_add(&run->want, place == 0 ? "{" : ",{");
        if (run->items[place].exists) {
            model_text_add(&run->want, "'Item':");
            add_item(&run->want, place, run->items[place].number);
        }
        model_text_add(&run->want, "}");
    }
    model_text_add(&run->body, "]}");
    model_text_add(&run->want, "]}");
    api_fixture_expect(&run->db, "TransactGetItems", run->body.text, run->want.text);
}

static void step(struct run *run)
{
    int token = below(run, 2 * TOKENS) < TOKENS ? below(run, TOKENS) : NO_TOKEN;
    struct request request = random_request(run);
    if (token != NO_TOKEN && run->tokens[token].until_ms > 0 && below(run, 2) == 0)
        request = run->tokens[token].request;
    if (below(run, 4) == 0)
        run->db.clock.fixed_ms += below(run, TOKEN_RECORD_LIFETIME_MS / 2);
    struct failing_engine_plan plan = { .call = (uint64_t)below(run, 2),
                                        .status = ENGINE_CONFLICT,
                                        .commits_only = true };
    failing_engine_set(run->db.engine, &plan);
    write_once(run, &request, token);
    failing_engine_set(run->db.engine, &(struct failing_engine_plan){ 0 });
    check_items(run);
}

/* The control thread removes old tokens before it runs an operation, and not while commits are
 * made to fail. */
static void restart(struct run *run)
{
    api_fixture_restart(&run->db, 0);
    transaction_fixture_must(&run->db, "UntagResource",
                             "{'ResourceArn':'arn:aws:dynamodb:eu-west-1:123456789012:table/plain',"
                             "'TagKeys':['none']}");
}

static void transactions_agree_with_the_model(void **state)
{
    static struct run run;
    uint64_t seed = run_length_setting("MODEL_SEED", 1);
    uint64_t writes = run_length("MODEL_WRITES", WRITES, WRITES_LONG);
    (void)state;
    print_message("MODEL_SEED=%llu\n", (unsigned long long)seed);
    random_init(&run.random, seed);
    api_fixture_open_on(&run.db, failing_engine_create(reference_engine_create()), 0);
    transaction_fixture_create_tables(&run.db);
    for (uint64_t i = 1; i <= writes; i++) {
        step(&run);
        if (i % WRITES_PER_RESTART == 0)
            restart(&run);
    }
    api_fixture_close(&run.db);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(transactions_agree_with_the_model) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
