/* Random requests of all operations on items, against a second model: it predicts from sizes what
 * each costs, and from naive buckets whether it is admitted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api_fixture.h"
#include "base/memory.h"
#include "base/random.h"
#include "naive_capacity.h"
#include "naive_cost.h"

enum { TABLES = 2, KEYS = 3, SORTS = 3, GROUPS = 3, PAD_MAX = 60000 };
enum { TABLE, INDEX, RESOURCES };
enum { READ, WRITE, DIRECTIONS };
enum { QUOTA = 60, ROUNDS = 8, STEPS = 6000, ACTIONS_MAX = 6 };

/* --- The second model: items and what they cost --- */

struct model_table {
    const char *name;
    char prefix; /* Of the sort keys: they tell the tables apart. */
    bool on_demand;
    struct shadow items[KEYS][SORTS];
    struct naive_limit *limits[RESOURCES][DIRECTIONS];
    /* What the request under way has used, of each resource and key, in half units. */
    int64_t pending[RESOURCES];
    int64_t pending_of_key[RESOURCES][KEYS];
    int direction;
};

struct model {
    struct api_fixture fixture;
    struct random random;
    struct model_table tables[TABLES];
    bool is_large; /* Large items and much throughput: keys become hot. */
    bool is_still; /* Time stands still most of the time. */
    bool has_max;  /* On-demand tables and indexes have a maximum. */
    size_t refused_count, admitted_count;
    size_t reason_counts[RESOURCES][DIRECTIONS][NAIVE_ACCOUNT + 1];
};

static int below(struct model *model, int bound)
{
    return (int)random_below(&model->random, (uint64_t)bound);
}

static void use(struct model_table *table, int resource, int key, int64_t half_units)
{
    table->pending[resource] += half_units;
    if (key >= 0)
        table->pending_of_key[resource][key] += half_units;
}

static enum naive_reason ask(struct model *model, struct model_table *table, int resource,
                             int direction, int key)
{
    return naive_ask(table->limits[resource][direction], key >= 0, (uint64_t)key,
                     table->pending[resource], key >= 0 ? table->pending_of_key[resource][key] : 0,
                     model->fixture.clock.fixed_ms);
}

/* Charges what the request has used. */
static void settle(struct model *model)
{
    for (int t = 0; t < TABLES; t++) {
        struct model_table *table = &model->tables[t];
        for (int r = 0; r < RESOURCES; r++) {
            struct naive_limit *limit = table->limits[r][table->direction];
            naive_use(limit, table->pending[r], model->fixture.clock.fixed_ms);
            for (int k = 0; k < KEYS; k++)
                naive_use_key(limit, (uint64_t)k, table->pending_of_key[r][k],
                              model->fixture.clock.fixed_ms);
        }
        memset(table->pending, 0, sizeof table->pending);
        memset(table->pending_of_key, 0, sizeof table->pending_of_key);
    }
}

/* --- Refusals as the service words them --- */

static enum error_code code_of(const struct model_table *table, enum naive_reason reason,
                               bool is_single_index_write)
{
    if (reason == NAIVE_ACCOUNT)
        return ERROR_REQUEST_LIMIT_EXCEEDED;
    if (reason == NAIVE_PROVISIONED || !table->on_demand ||
        (reason == NAIVE_MAX && is_single_index_write))
        return ERROR_PROVISIONED_THROUGHPUT_EXCEEDED;
    return ERROR_THROTTLING;
}

static void expect_refusal(struct model *model, const struct model_table *table, int resource,
                           int direction, enum naive_reason reason, bool is_single)
{
    static const char *const names[] = { "", "Provisioned", "KeyRange", "MaxOnDemand",
                                         "AccountLimit" };
    struct error *error = &model->fixture.error;
    char want[200];
    assert_int_equal(error->code,
                     code_of(table, reason, is_single && resource == INDEX && direction == WRITE));
    snprintf(want, sizeof want,
             "\"%s%s%s%s\",\"resource\":\"arn:aws:dynamodb:eu-west-1:"
             "123456789012:table/%s%s\"",
             resource == TABLE ? "Table" : "Index", direction == READ ? "Read" : "Write",
             names[reason], reason == NAIVE_ACCOUNT ? "Exceeded" : "ThroughputExceeded",
             table->name, resource == TABLE ? "" : "/index/byG");
    if (memmem(error->throttling_json.data, error->throttling_json.len, want, strlen(want)) == NULL)
        fail_msg("%s is not among %.*s", want, (int)error->throttling_json.len,
                 error->throttling_json.data);
    model->refused_count++;
    model->reason_counts[resource][direction][reason]++;
}

/* --- Writes of one item --- */

struct action {
    enum action_kind { PUT, UPDATE, DELETE, CHECK } kind;
    struct model_table *table;
    int key, sort;
    struct shadow after;            /* PUT and UPDATE. */
    bool has_condition, wants_item; /* attribute_exists(k), or attribute_not_exists(k). */
    bool is_statement;
};

static struct shadow *item_of(const struct action *action)
{
    return &action->table->items[action->key][action->sort];
}

static bool condition_holds(const struct action *action)
{
    bool exists = item_of(action)->exists;
    if (action->is_statement && action->kind == UPDATE)
        return exists;
    return !action->has_condition || exists == action->wants_item;
}

static struct action random_action(struct model *model, int kinds)
{
    struct action action = { .kind = (enum action_kind)below(model, kinds),
                             .table = &model->tables[below(model, TABLES)],
                             .key = below(model, KEYS),
                             .sort = below(model, SORTS) };
    action.has_condition = action.kind == CHECK || below(model, 4) == 0;
    action.wants_item = below(model, 2) == 0;
    action.after = *item_of(&action);
    action.after.exists = true;
    int pad =
        below(model, 8) == 0 ? below(model, model->is_large ? PAD_MAX : 9000) : below(model, 1500);
    if (action.kind == PUT)
        action.after = (struct shadow){ .exists = true,
                                        .pad = pad,
                                        .group = below(model, GROUPS + 1) - 1,
                                        .local = below(model, 3) == 0 };
    else if (!item_of(&action)->exists)
        action.after = (struct shadow){ .exists = true, .pad = pad, .group = -1 };
    else
        action.after.pad = pad;
    if (action.kind == DELETE || action.kind == CHECK)
        action.after.exists = false;
    return action;
}

/* The index that a write asks refuses it, or NAIVE_ADMITTED. */
static enum naive_reason ask_index(struct model *model, const struct action *action)
{
    const struct shadow *before = item_of(action);
    int old = before->exists ? before->group : -1;
    int new = action->after.exists ? action->after.group : -1;
    enum naive_reason reason = NAIVE_ADMITTED;
    if (action->kind == CHECK)
        return reason;
    if (new >= 0)
        reason = ask(model, action->table, INDEX, WRITE, new);
    if (reason == NAIVE_ADMITTED && old >= 0 && old != new)
        reason = ask(model, action->table, INDEX, WRITE, old);
    return reason;
}

/* A put is charged by the larger of the item that there is and its own. */
static int64_t failed_half_units(const struct action *action)
{
    return naive_write_half_units(naive_size_of(item_of(action)),
                                  action->kind == PUT ? naive_size_of(&action->after) : 0);
}

static void use_failed(struct action *action)
{
    use(action->table, TABLE, action->key, failed_half_units(action));
}

static void apply(struct action *action, int factor)
{
    struct model_table *table = action->table;
    struct shadow *item = item_of(action);
    int after = action->after.exists ? naive_size_of(&action->after) : 0;
    use(table, TABLE, action->key, factor * naive_write_half_units(naive_size_of(item), after));
    if (action->kind == CHECK)
        return;
    int old = item->exists ? item->group : -1,
        new = action->after.exists ? action->after.group : -1;
    int64_t index = naive_index_half_units(item, &action->after);
    if (old != new &&old >= 0)
        use(table, INDEX, old, 2);
    if (old != new &&new >= 0)
        use(table, INDEX, new, 2);
    assert_int_equal(index, old == new ? 0 : (old >= 0 ? 2 : 0) + (new >= 0 ? 2 : 0));
    use(table, TABLE, action->key, naive_local_half_units(item, &action->after));
    *item = action->after;
}

static void add(char *body, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsprintf(body + strlen(body), format, args);
    va_end(args);
}

static void add_value(char *body, int pad)
{
    size_t size = strlen(body);
    memset(body + size, 'x', (size_t)pad);
    body[size + (size_t)pad] = 0;
}

static void add_key(char *body, const struct action *action)
{
    add(body, "'k':{'S':'k%d'},'r':{'S':'%c%d%d'}", action->key, action->table->prefix, action->key,
        action->sort);
}

static void add_item(char *body, const struct action *action)
{
    add(body, "{");
    add_key(body, action);
    if (action->after.group >= 0)
        add(body, ",'g':{'S':'g%d'}", action->after.group);
    if (action->after.local)
        add(body, ",'l':{'S':'L'}");
    add(body, ",'v':{'S':'");
    add_value(body, action->after.pad);
    add(body, "'}}");
}

/* The members of PutItem and the like, which are those of a transaction's action, too. */
static void add_members(char *body, const struct action *action)
{
    add(body, "{'TableName':'%s',", action->table->name);
    if (action->kind == PUT) {
        add(body, "'Item':");
        add_item(body, action);
    } else {
        add(body, "'Key':{");
        add_key(body, action);
        add(body, "}");
    }
    if (action->kind == UPDATE) {
        add(body, ",'UpdateExpression':'SET v = :v','ExpressionAttributeValues':{':v':{'S':'");
        add_value(body, action->after.pad);
        add(body, "'}}");
    }
    if (action->has_condition)
        add(body, ",'ConditionExpression':'attribute_%sexists(k)'",
            action->wants_item ? "" : "not_");
    add(body, "}");
}

static void add_statement(char *body, const struct action *action)
{
    bool updates = action->kind == UPDATE;
    add(body, "'Statement':'%s%s%s WHERE k = ? AND r = ?','Parameters':[",
        updates ? "UPDATE " : "DELETE FROM ", action->table->name, updates ? " SET v = ?" : "");
    if (updates) {
        add(body, "{'S':'");
        add_value(body, action->after.pad);
        add(body, "'},");
    }
    add(body, "{'S':'k%d'},{'S':'%c%d%d'}]", action->key, action->table->prefix, action->key,
        action->sort);
}

static char request[ACTIONS_MAX * (PAD_MAX + 1000)];

static void predict_single_write(struct model *model, struct action *action, bool ok)
{
    enum naive_reason reason = ask(model, action->table, TABLE, WRITE, action->key);
    action->table->direction = WRITE;
    if (reason != NAIVE_ADMITTED) {
        assert_false(ok);
        expect_refusal(model, action->table, TABLE, WRITE, reason, true);
        return;
    }
    if (!condition_holds(action)) {
        assert_false(ok);
        assert_int_equal(model->fixture.error.code, ERROR_CONDITIONAL_CHECK_FAILED);
        use_failed(action);
        return;
    }
    reason = ask_index(model, action);
    if (reason != NAIVE_ADMITTED) {
        assert_false(ok);
        expect_refusal(model, action->table, INDEX, WRITE, reason, true);
        return;
    }
    if (!ok)
        fail_msg("%.*s", (int)model->fixture.error.message.len, model->fixture.error.message.data);
    apply(action, 1);
    model->admitted_count++;
}

static void single_write(struct model *model)
{
    static const char *const operations[] = { "PutItem", "UpdateItem", "DeleteItem" };
    struct action action = random_action(model, CHECK);
    request[0] = 0;
    add_members(request, &action);
    predict_single_write(model, &action,
                         api_fixture_call(&model->fixture, operations[action.kind], request));
}

static struct action random_statement(struct model *model)
{
    struct action action = random_action(model, CHECK);
    action.kind = action.kind == PUT ? DELETE : action.kind;
    action.after.exists = action.kind == UPDATE;
    if (action.kind == UPDATE && item_of(&action)->exists) {
        int pad = action.after.pad;
        action.after = *item_of(&action);
        action.after.pad = pad;
    }
    action.has_condition = false;
    action.is_statement = true;
    return action;
}

static void statement_write(struct model *model)
{
    struct action action = random_statement(model);
    strcpy(request, "{");
    add_statement(request, &action);
    add(request, "}");
    predict_single_write(model, &action,
                         api_fixture_call(&model->fixture, "ExecuteStatement", request));
}

/* --- Writes of several items --- */

static bool is_named(const struct action *actions, int count, const struct action *action)
{
    for (int i = 0; i < count; i++) {
        if (item_of(&actions[i]) == item_of(action))
            return true;
    }
    return false;
}

static int random_actions(struct model *model, struct action *actions, int kinds, bool statements)
{
    int count = 0;
    for (int tries = 1 + below(model, ACTIONS_MAX); tries > 0; tries--) {
        struct action action = statements ? random_statement(model) : random_action(model, kinds);
        if (!is_named(actions, count, &action))
            actions[count++] = action;
    }
    return count;
}

static int compare_tables(const void *a, const void *b)
{
    return strcmp(((const struct action *)a)->table->name, ((const struct action *)b)->table->name);
}

/* Puts and deletions, in place of other kinds. */
static void write_batch(struct action *sorted, int count)
{
    strcpy(request, "{'RequestItems':{");
    for (int i = 0; i < count; i++) {
        struct action *action = &sorted[i];
        bool is_new = i == 0 || sorted[i - 1].table != action->table;
        if (action->kind == UPDATE)
            action->kind = DELETE;
        action->has_condition = false;
        action->after.exists = action->kind == PUT;
        if (is_new)
            add(request, "%s'%s':[", i == 0 ? "" : "],", action->table->name);
        add(request, "%s{'%sRequest':{'%s':", is_new ? "" : ",",
            action->kind == PUT ? "Put" : "Delete", action->kind == PUT ? "Item" : "Key");
        if (action->kind == PUT) {
            add_item(request, action);
        } else {
            add(request, "{");
            add_key(request, action);
            add(request, "}");
        }
        add(request, "}}");
    }
    add(request, "]}}");
}

/* In the order of the request: the tables by name, and within them as they were sent. */
static void batch_write(struct model *model)
{
    struct action actions[ACTIONS_MAX], *first = NULL;
    int count = random_actions(model, actions, CHECK, false), served = 0;
    enum naive_reason first_reason = NAIVE_ADMITTED;
    int first_resource = TABLE;
    bool refused[ACTIONS_MAX] = { false };
    struct action sorted[ACTIONS_MAX];
    for (int t = 0, n = 0; t < TABLES; t++) {
        for (int i = 0; i < count; i++) {
            if (actions[i].table == &model->tables[t])
                sorted[n++] = actions[i];
        }
    }
    assert_true(count == 1 || compare_tables(&sorted[0], &sorted[count - 1]) <= 0);
    write_batch(sorted, count);
    bool ok = api_fixture_call(&model->fixture, "BatchWriteItem", request);
    for (int i = 0; i < count; i++) {
        struct action *action = &sorted[i];
        int resource = TABLE;
        enum naive_reason reason = ask(model, action->table, TABLE, WRITE, action->key);
        if (reason == NAIVE_ADMITTED) {
            resource = INDEX;
            reason = ask_index(model, action);
        }
        action->table->direction = WRITE;
        refused[i] = reason != NAIVE_ADMITTED;
        if (refused[i] && first == NULL) {
            first = action;
            first_reason = reason;
            first_resource = resource;
        }
        if (!refused[i]) {
            apply(action, 1);
            served++;
        }
    }
    if (served == 0) {
        assert_false(ok);
        /* A table that refuses everything is asked before any index. */
        if (first_resource == TABLE)
            expect_refusal(model, first->table, TABLE, WRITE, first_reason, false);
        return;
    }
    assert_true(ok);
    model->admitted_count++;
    for (int i = 0; i < count; i++) {
        char shown[32];
        snprintf(shown, sizeof shown, "{'S':'%c%d%d'}", sorted[i].table->prefix, sorted[i].key,
                 sorted[i].sort);
        assert_int_equal(api_fixture_shows(&model->fixture, shown), refused[i]);
        model->refused_count += refused[i];
    }
}

static void expect_cancelled(struct model *model, const struct action *actions, int count,
                             const enum naive_reason *reasons)
{
    char want[ACTIONS_MAX * 40] = "[";
    for (int i = 0; i < count; i++) {
        bool provisioned =
            code_of(actions[i].table, reasons[i], false) == ERROR_PROVISIONED_THROUGHPUT_EXCEEDED;
        add(want, "%s%s", i == 0 ? "" : ", ",
            reasons[i] == NAIVE_ADMITTED ? "None"
            : provisioned                ? "ProvisionedThroughputExceeded"
                                         : "ThrottlingError");
    }
    strcat(want, "]");
    assert_int_equal(model->fixture.error.code, ERROR_TRANSACTION_CANCELED);
    struct bytes message = model->fixture.error.message;
    if (memmem(message.data, message.len, want, strlen(want)) == NULL)
        fail_msg("%s is not in %.*s", want, (int)message.len, message.data);
    model->refused_count++;
}

/* True if nothing is throttled. */
static bool predict_throttles(struct model *model, struct action *actions, int count, bool ok,
                              int resource, int direction)
{
    enum naive_reason reasons[ACTIONS_MAX];
    int throttled = 0, first = -1;
    for (int i = 0; i < count; i++) {
        reasons[i] = resource == TABLE
                         ? ask(model, actions[i].table, TABLE, direction, actions[i].key)
                         : ask_index(model, &actions[i]);
        if (reasons[i] != NAIVE_ADMITTED && throttled++ == 0)
            first = i;
    }
    if (throttled == 0)
        return true;
    assert_false(ok);
    if (throttled == count)
        expect_refusal(model, actions[first].table, resource, direction, reasons[first], false);
    else
        expect_cancelled(model, actions, count, reasons);
    return false;
}

static void predict_transaction(struct model *model, struct action *actions, int count, bool ok)
{
    bool holds = true;
    for (int i = 0; i < count; i++)
        actions[i].table->direction = WRITE;
    if (!predict_throttles(model, actions, count, ok, TABLE, WRITE))
        return;
    for (int i = 0; i < count; i++)
        holds &= condition_holds(&actions[i]);
    if (!holds) {
        assert_false(ok);
        assert_int_equal(model->fixture.error.code, ERROR_TRANSACTION_CANCELED);
        for (int i = 0; i < count; i++) {
            bool updates = actions[i].kind == UPDATE && condition_holds(&actions[i]);
            bool puts = actions[i].kind == PUT || updates;
            use(actions[i].table, TABLE, actions[i].key,
                2 * naive_write_half_units(naive_size_of(item_of(&actions[i])),
                                           puts ? naive_size_of(&actions[i].after) : 0));
        }
        return;
    }
    if (!predict_throttles(model, actions, count, ok, INDEX, WRITE))
        return;
    if (!ok)
        fail_msg("%.*s", (int)model->fixture.error.message.len, model->fixture.error.message.data);
    model->admitted_count++;
    for (int i = 0; i < count; i++)
        apply(&actions[i], 2);
}

static void transact_write(struct model *model)
{
    static const char *const names[] = { "Put", "Update", "Delete", "ConditionCheck" };
    static int token;
    struct action actions[ACTIONS_MAX];
    int count = random_actions(model, actions, CHECK + 1, false);
    bool repeats = below(model, 3) == 0;
    strcpy(request, "{'TransactItems':[");
    for (int i = 0; i < count; i++) {
        add(request, "%s{'%s':", i == 0 ? "" : ",", names[actions[i].kind]);
        add_members(request, &actions[i]);
        add(request, "}");
    }
    add(request, "],'ClientRequestToken':'%d'}", token++);
    bool ok = api_fixture_call(&model->fixture, "TransactWriteItems", request);
    predict_transaction(model, actions, count, ok);
    settle(model);
    if (!ok || !repeats)
        return;
    /* A repetition asks as the first request did, and is charged for reading its items. */
    ok = api_fixture_call(&model->fixture, "TransactWriteItems", request);
    if (!predict_throttles(model, actions, count, ok, TABLE, WRITE))
        return;
    assert_true(ok);
    for (int i = 0; i < count; i++) {
        actions[i].table->direction = READ;
        use(actions[i].table, TABLE, actions[i].key,
            2 * naive_read_half_units(naive_size_of(item_of(&actions[i])), true));
    }
}

static void transact_statements(struct model *model)
{
    struct action actions[ACTIONS_MAX];
    int count = random_actions(model, actions, 0, true);
    strcpy(request, "{'TransactStatements':[");
    for (int i = 0; i < count; i++) {
        add(request, "%s{", i == 0 ? "" : ",");
        add_statement(request, &actions[i]);
        add(request, "}");
    }
    add(request, "]}");
    predict_transaction(model, actions, count,
                        api_fixture_call(&model->fixture, "ExecuteTransaction", request));
}

/* The Nth element of Responses as text, up to its end or the next one's. */
static bool response_has(struct model *model, int index, const char *text)
{
    struct bytes rest = model->fixture.response;
    const char *at = memmem(rest.data, rest.len, "[", 1);
    const char *end = (const char *)rest.data + rest.len;
    for (int depth = 0, n = -1; at != NULL && at < end; at++) {
        if (*at == '{' && depth++ == 0)
            n++;
        if (*at == '}')
            depth--;
        if (n == index && (size_t)(end - at) >= strlen(text) && memcmp(at, text, strlen(text)) == 0)
            return true;
        if (n > index)
            return false;
    }
    return false;
}

static void batch_statements(struct model *model)
{
    struct action actions[ACTIONS_MAX];
    bool failed[ACTIONS_MAX] = { false };
    int count = random_actions(model, actions, 0, true);
    strcpy(request, "{'Statements':[");
    for (int i = 0; i < count; i++) {
        add(request, "%s{", i == 0 ? "" : ",");
        add_statement(request, &actions[i]);
        add(request, "}");
    }
    add(request, "]}");
    assert_true(api_fixture_call(&model->fixture, "BatchExecuteStatement", request));
    for (int i = 0; i < count; i++) {
        struct action *action = &actions[i];
        enum naive_reason reason = ask(model, action->table, TABLE, WRITE, action->key);
        bool holds = condition_holds(action);
        action->table->direction = WRITE;
        if (reason == NAIVE_ADMITTED && holds)
            reason = ask_index(model, action);
        if (reason != NAIVE_ADMITTED) {
            enum error_code code = code_of(action->table, reason, false);
            const char *name = code == ERROR_THROTTLING               ? "\"ThrottlingError\""
                               : code == ERROR_REQUEST_LIMIT_EXCEEDED ? "\"RequestLimitExceeded\""
                                                                      : "\"ProvisionedThroughput";
            assert_true(response_has(model, i, name));
            model->refused_count++;
        } else if (!holds) {
            assert_true(response_has(model, i, "\"ConditionalCheckFailed\""));
            failed[i] = true;
        } else {
            assert_false(response_has(model, i, "\"Error\""));
            apply(action, 1);
            model->admitted_count++;
        }
    }
    for (int i = 0; i < count; i++) { /* Charged when all are decided. */
        if (failed[i])
            use_failed(&actions[i]);
    }
}

/* --- Reads --- */

static void expect_read(struct model *model, struct model_table *table, int resource, int key,
                        bool ok, int64_t half_units)
{
    enum naive_reason reason = ask(model, table, resource, READ, key);
    table->direction = READ;
    if (reason != NAIVE_ADMITTED) {
        assert_false(ok);
        expect_refusal(model, table, resource, READ, reason, true);
        return;
    }
    if (!ok)
        fail_msg("%.*s", (int)model->fixture.error.message.len, model->fixture.error.message.data);
    use(table, resource, key, half_units);
    model->admitted_count++;
}

static void get_item(struct model *model)
{
    struct action action = random_action(model, CHECK);
    bool strong = below(model, 2) == 0, by_statement = below(model, 3) == 0;
    int64_t cost = naive_read_half_units(naive_size_of(item_of(&action)), strong);
    request[0] = 0;
    if (by_statement) {
        add(request,
            "{'Statement':'SELECT * FROM %s WHERE k = ? AND r = ?','Parameters':["
            "{'S':'k%d'},{'S':'%c%d%d'}],'ConsistentRead':%s}",
            action.table->name, action.key, action.table->prefix, action.key, action.sort,
            strong ? "true" : "false");
    } else {
        add(request, "{'TableName':'%s','ConsistentRead':%s,'Key':{", action.table->name,
            strong ? "true" : "false");
        add_key(request, &action);
        add(request, "}}");
    }
    bool ok =
        api_fixture_call(&model->fixture, by_statement ? "ExecuteStatement" : "GetItem", request);
    expect_read(model, action.table, TABLE, action.key, ok, cost);
}

/* Of the items that have these properties; -1: whatever. */
static int sum_sizes(const struct model_table *table, int key, int group, bool local, bool entries)
{
    int sum = 0;
    for (int k = 0; k < KEYS; k++) {
        for (int s = 0; s < SORTS; s++) {
            const struct shadow *item = &table->items[k][s];
            if (!item->exists || (key >= 0 && k != key) || (local && !item->local) ||
                (entries && (item->group < 0 || (group >= 0 && item->group != group))))
                continue;
            sum += entries ? 3 + 3 + 4 : naive_size_of(item);
        }
    }
    return sum;
}

static void query(struct model *model)
{
    struct model_table *table = &model->tables[below(model, TABLES)];
    int key = below(model, KEYS), which = below(model, 3);
    bool strong = which != 1 && below(model, 2) == 0;
    static const char *const indexes[] = { "", "'IndexName':'byG',", "'IndexName':'byL'," };
    int size = which == 1 ? sum_sizes(table, -1, key, false, true)
                          : sum_sizes(table, key, -1, which == 2, false);
    sprintf(request,
            "{'TableName':'%s',%s'ConsistentRead':%s,'KeyConditionExpression':'%s = :k',"
            "'FilterExpression':'v = :no','ExpressionAttributeValues':{':k':{'S':'%s%d'},"
            "':no':{'S':'no'}}}",
            table->name, indexes[which], strong ? "true" : "false", which == 1 ? "g" : "k",
            which == 1 ? "g" : "k", key);
    if (which == 1) /* The index has no `v`. */
        sprintf(request,
                "{'TableName':'%s','IndexName':'byG','KeyConditionExpression':'g = :k',"
                "'ExpressionAttributeValues':{':k':{'S':'g%d'}}}",
                table->name, key);
    bool ok = api_fixture_call(&model->fixture, "Query", request);
    expect_read(model, table, which == 1 ? INDEX : TABLE, key, ok,
                naive_read_half_units(size, strong));
}

static void scan(struct model *model)
{
    struct model_table *table = &model->tables[below(model, TABLES)];
    bool of_index = below(model, 2) == 0, strong = !of_index && below(model, 2) == 0;
    int size = sum_sizes(table, -1, -1, false, of_index);
    sprintf(request, "{'TableName':'%s',%s'ConsistentRead':%s,'Select':'COUNT'}", table->name,
            of_index ? "'IndexName':'byG'," : "", strong ? "true" : "false");
    bool ok = api_fixture_call(&model->fixture, "Scan", request);
    expect_read(model, table, of_index ? INDEX : TABLE, -1, ok,
                naive_read_half_units(size, strong));
}

static void batch_get(struct model *model)
{
    struct action actions[ACTIONS_MAX];
    int count = random_actions(model, actions, CHECK, false), served = 0;
    const struct model_table *first = NULL;
    enum naive_reason first_reason = NAIVE_ADMITTED;
    struct model_table *table = actions[0].table;
    bool refused[ACTIONS_MAX] = { false };
    sprintf(request, "{'RequestItems':{'%s':{'ProjectionExpression':'nothing','Keys':[",
            table->name);
    for (int i = 0; i < count; i++) {
        actions[i].table = table;
        if (is_named(actions, i, &actions[i])) {
            count = i;
            break;
        }
        add(request, "%s{", i == 0 ? "" : ",");
        add_key(request, &actions[i]);
        add(request, "}");
    }
    add(request, "]}}}");
    bool ok = api_fixture_call(&model->fixture, "BatchGetItem", request);
    for (int i = 0; i < count; i++) {
        enum naive_reason reason = ask(model, table, TABLE, READ, actions[i].key);
        table->direction = READ;
        refused[i] = reason != NAIVE_ADMITTED;
        if (refused[i] && first == NULL) {
            first = table;
            first_reason = reason;
        }
        if (!refused[i]) {
            use(table, TABLE, actions[i].key,
                naive_read_half_units(naive_size_of(item_of(&actions[i])), false));
            served++;
        }
    }
    assert_int_equal(ok, served > 0);
    if (!ok) {
        expect_refusal(model, first, TABLE, READ, first_reason, false);
        return;
    }
    for (int i = 0; i < count; i++) {
        char shown[32];
        snprintf(shown, sizeof shown, "{'S':'%c%d%d'}", table->prefix, actions[i].key,
                 actions[i].sort);
        assert_int_equal(api_fixture_shows(&model->fixture, shown), refused[i]);
    }
}

static void transact_get(struct model *model)
{
    struct action actions[ACTIONS_MAX];
    int count = random_actions(model, actions, CHECK, false);
    bool by_statement = below(model, 3) == 0;
    sprintf(request, "{'%s':[", by_statement ? "TransactStatements" : "TransactItems");
    for (int i = 0; i < count; i++) {
        add(request, i == 0 ? "" : ",");
        if (by_statement) {
            add(request,
                "{'Statement':'SELECT * FROM %s WHERE k = ? AND r = ?','Parameters':["
                "{'S':'k%d'},{'S':'%c%d%d'}]}",
                actions[i].table->name, actions[i].key, actions[i].table->prefix, actions[i].key,
                actions[i].sort);
            continue;
        }
        add(request, "{'Get':{'TableName':'%s','Key':{", actions[i].table->name);
        add_key(request, &actions[i]);
        add(request, "}}}");
    }
    add(request, "]}");
    bool ok = api_fixture_call(&model->fixture,
                               by_statement ? "ExecuteTransaction" : "TransactGetItems", request);
    for (int i = 0; i < count; i++)
        actions[i].table->direction = READ;
    if (!predict_throttles(model, actions, count, ok, TABLE, READ))
        return;
    assert_true(ok);
    for (int i = 0; i < count; i++)
        use(actions[i].table, TABLE, actions[i].key,
            2 * naive_read_half_units(naive_size_of(item_of(&actions[i])), true));
}

/* --- The world --- */

static const char *throughput(struct model *model, const struct model_table *table,
                              const int *units_of, char out[200])
{
    out[0] = 0;
    if (!table->on_demand)
        sprintf(out, "'ProvisionedThroughput':{'ReadCapacityUnits':%d,'WriteCapacityUnits':%d},",
                units_of[READ], units_of[WRITE]);
    else if (model->has_max)
        sprintf(out, "'OnDemandThroughput':{'MaxReadRequestUnits':%d,'MaxWriteRequestUnits':%d},",
                units_of[READ], units_of[WRITE]);
    return out;
}

static void create_table(struct model *model, struct model_table *table)
{
    int table_units[DIRECTIONS], index_units[DIRECTIONS];
    int64_t now_ms = model->fixture.clock.fixed_ms;
    for (int d = 0; d < DIRECTIONS; d++) {
        int64_t key_units = d == READ ? 3000 : 1000, warm = d == READ ? 12000 : 4000;
        table_units[d] = model->is_large ? QUOTA - below(model, 10) : 1 + below(model, 3);
        index_units[d] = 1;
        for (int r = 0; r < RESOURCES; r++) {
            int *chosen = r == TABLE ? &table_units[d] : &index_units[d];
            if (table->on_demand) {
                *chosen = r == TABLE ? 5 + below(model, QUOTA / 2) : 1 + below(model, 5);
                naive_start_on_demand(table->limits[r][d], warm, QUOTA,
                                      model->has_max ? *chosen : -1, key_units, now_ms);
            } else {
                naive_start_provisioned(table->limits[r][d], *chosen, key_units, now_ms);
            }
        }
    }
    char of_table[200], of_index[200];
    request[0] = 0;
    add(request,
        "{'TableName':'%s','BillingMode':'%s',%s'AttributeDefinitions':["
        "{'AttributeName':'k','AttributeType':'S'},{'AttributeName':'r','AttributeType':'S'},"
        "{'AttributeName':'g','AttributeType':'S'},{'AttributeName':'l','AttributeType':'S'}],"
        "'KeySchema':[{'AttributeName':'k','KeyType':'HASH'},"
        "{'AttributeName':'r','KeyType':'RANGE'}],'LocalSecondaryIndexes':[{'IndexName':'byL',"
        "'KeySchema':[{'AttributeName':'k','KeyType':'HASH'},{'AttributeName':'l','KeyType':"
        "'RANGE'}],'Projection':{'ProjectionType':'ALL'}}],'GlobalSecondaryIndexes':[{"
        "'IndexName':'byG','KeySchema':[{'AttributeName':'g','KeyType':'HASH'}],"
        "%s'Projection':{'ProjectionType':'KEYS_ONLY'}}]}",
        table->name, table->on_demand ? "PAY_PER_REQUEST" : "PROVISIONED",
        throughput(model, table, table_units, of_table),
        throughput(model, table, index_units, of_index));
    if (!api_fixture_call(&model->fixture, "CreateTable", request))
        fail_msg("%.*s", (int)model->fixture.error.message.len, model->fixture.error.message.data);
    memset(table->items, 0, sizeof table->items);
}

/* Everything that was admitted, and nothing else, is there. */
static void check_items(struct model *model)
{
    for (int t = 0; t < TABLES; t++) {
        struct model_table *table = &model->tables[t];
        for (int k = 0; k < KEYS; k++) {
            for (int s = 0; s < SORTS; s++) {
                struct action action = { .table = table, .key = k, .sort = s };
                const struct shadow *item = &table->items[k][s];
                char group[32];
                model->fixture.clock.fixed_ms += INT64_C(100000000);
                sprintf(request, "{'TableName':'%s','ConsistentRead':true,'Key':{", table->name);
                add_key(request, &action);
                add(request, "}}");
                assert_true(api_fixture_call(&model->fixture, "GetItem", request));
                assert_int_equal(api_fixture_shows(&model->fixture, "'Item'"), item->exists);
                snprintf(group, sizeof group, "'g':{'S':'g%d'}", item->group);
                assert_int_equal(api_fixture_shows(&model->fixture, group),
                                 item->exists && item->group >= 0);
                if (item->exists)
                    assert_true(model->fixture.response.len >= (size_t)item->pad);
            }
        }
    }
}

static void run(struct model *model, uint64_t seed)
{
    static void (*const operations[])(struct model *) = {
        single_write,   single_write, statement_write,     batch_write,
        transact_write, get_item,     transact_statements, batch_statements,
        query,          scan,         batch_get,           transact_get,
    };
    static const int64_t waits_ms[] = { 0, 0, 0, 0, 1, 5, 50, 300, 2000 };
    random_init(&model->random, seed);
    model->is_large = seed % 4 == 0;
    model->is_still = seed % 4 != 2;
    model->has_max = seed % 4 != 3;
    model->fixture.clock.fixed_ms = INT64_C(1700000000000);
    api_fixture_open_with(&model->fixture,
                          &(struct api_options){ .capacity = CAPACITY_ENFORCE,
                                                 .quotas = { .table_read_units = QUOTA,
                                                             .table_write_units = QUOTA } });
    for (int t = 0; t < TABLES; t++)
        create_table(model, &model->tables[t]);
    for (int i = 0; i < STEPS; i++) {
        if (!model->is_still || below(model, 200) == 0)
            model->fixture.clock.fixed_ms += waits_ms[below(model, 9)];
        operations[below(model, (int)(sizeof operations / sizeof operations[0]))](model);
        settle(model);
    }
    check_items(model);
    api_fixture_close(&model->fixture);
}

static void a_naive_model_predicts_every_admission(void **state)
{
    (void)state;
    static struct model model = { .tables = { { .name = "Dem", .prefix = 'D', .on_demand = true },
                                              { .name = "Pro", .prefix = 'P' } } };
    for (int t = 0; t < TABLES; t++)
        for (int r = 0; r < RESOURCES; r++)
            for (int d = 0; d < DIRECTIONS; d++)
                model.tables[t].limits[r][d] =
                    memory_checked(malloc(sizeof *model.tables[t].limits[r][d]));
    for (uint64_t seed = 1; seed <= ROUNDS; seed++)
        run(&model, seed);
    /* Otherwise the test would show little. */
    static const int met[][3] = {
        { TABLE, READ, NAIVE_PROVISIONED },  { TABLE, READ, NAIVE_MAX },
        { TABLE, READ, NAIVE_ACCOUNT },      { TABLE, WRITE, NAIVE_PROVISIONED },
        { TABLE, WRITE, NAIVE_KEY },         { TABLE, WRITE, NAIVE_MAX },
        { TABLE, WRITE, NAIVE_ACCOUNT },     { INDEX, READ, NAIVE_MAX },
        { INDEX, WRITE, NAIVE_PROVISIONED }, { INDEX, WRITE, NAIVE_MAX }
    };
    for (size_t i = 0; i < sizeof met / sizeof met[0]; i++)
        assert_true(model.reason_counts[met[i][0]][met[i][1]][met[i][2]] > 0);
    assert_true(model.admitted_count > ROUNDS * STEPS / 10);
    for (int t = 0; t < TABLES; t++)
        for (int r = 0; r < RESOURCES; r++)
            for (int d = 0; d < DIRECTIONS; d++)
                free(model.tables[t].limits[r][d]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_naive_model_predicts_every_admission) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
