/* test_indexes.c -- random writes to a table with seven indexes, compared with a plain model.
 *
 * Global indexes are deleted and created again while the writes go on: what would be over in a
 * moment is held up for a random number of writes by holding a version of the table.
 *
 * After each write some queries are made, and now and then all there are: every index, every
 * partition key, both directions, every Limit, page by page, each page compared byte for byte.
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
#include <unistd.h>
#include "api/operation.h"
#include "api_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "base/random.h"
#include "check/check.h"
#include "index_model.h"
#include "run_length.h"
#include "table/catalogue.h"

enum {
    WRITES = 3000,
    WRITES_LONG = 200 * 1000, /* With STATOR_TEST_LONG. */
    QUERIES_PER_WRITE = 2,
    WRITES_PER_CHECK = 500, /* Of everything, and a restart. */
    BATCH_MAX = 4,
    WRITES_PER_CHANGE = 25, /* Of an index, about. */
    WRITES_PER_STEP = 4,    /* About. */
    SETTLE_MS_MAX = 60000,
};

enum index_state { STATE_ACTIVE, STATE_CREATING, STATE_DELETING, STATE_GONE };

struct run {
    struct api_fixture fixture;
    struct random random;
    struct model model;
    struct model_text request;
    struct model_text response;
    enum index_state states[MODEL_INDEXES];
    struct table *held; /* Keeps a change of an index from going on. */
};

static int below(struct run *run, int bound)
{
    return (int)random_below(&run->random, (uint64_t)bound);
}

/* --- Writes --- */

static struct model_item random_item(struct run *run)
{
    struct model_item item;
    for (int i = 0; i < MODEL_ATTRIBUTES; i++)
        item.values[i] = below(run, 3) == 0 ? MODEL_ABSENT : below(run, MODEL_VALUES);
    item.values[MODEL_P] = below(run, MODEL_VALUES);
    item.values[MODEL_S] = below(run, MODEL_VALUES);
    return item;
}

static void call(struct run *run, const char *operation)
{
    if (!api_fixture_call(&run->fixture, operation, run->request.text))
        fail_msg("%s %s\n%.*s", operation, run->request.text,
                 BYTES_FMT(run->fixture.error.message));
}

static void add_key(struct model_text *text, int p, int s)
{
    struct model_item key = { .values = { [MODEL_P] = p, [MODEL_S] = s } };
    model_text_add_item(text, &key, 1u << MODEL_P | 1u << MODEL_S);
}

static void set_item(struct run *run, const struct model_item *item)
{
    size_t place = model_place(item->values[MODEL_P], item->values[MODEL_S]);
    run->model.items[place] = *item;
    run->model.exists[place] = true;
}

static void put(struct run *run)
{
    struct model_item item = random_item(run);
    model_text_add(&run->request, "{'TableName':'model','Item':");
    model_text_add_item(&run->request, &item, ~0u);
    model_text_add(&run->request, "}");
    call(run, "PutItem");
    set_item(run, &item);
}

static void delete (struct run *run)
{
    int p = below(run, MODEL_VALUES), s = below(run, MODEL_VALUES);
    model_text_add(&run->request, "{'TableName':'model','Key':");
    add_key(&run->request, p, s);
    model_text_add(&run->request, "}");
    call(run, "DeleteItem");
    run->model.exists[model_place(p, s)] = false;
}

/* Sets one attribute and removes another. */
static void update(struct run *run)
{
    static const int others[] = { MODEL_B, MODEL_G, MODEL_H, MODEL_L, MODEL_M, MODEL_X, MODEL_Y };
    int p = below(run, MODEL_VALUES), s = below(run, MODEL_VALUES);
    size_t place = model_place(p, s);
    int set = others[below(run, COUNT_OF(others))];
    int removed = others[below(run, COUNT_OF(others))];
    int value = below(run, MODEL_VALUES);
    struct model_item item = run->model.items[place];
    if (!run->model.exists[place]) {
        for (int i = 0; i < MODEL_ATTRIBUTES; i++)
            item.values[i] = MODEL_ABSENT;
        item.values[MODEL_P] = p;
        item.values[MODEL_S] = s;
    }
    model_text_add(&run->request, "{'TableName':'model','Key':");
    add_key(&run->request, p, s);
    model_text_add(&run->request, ",'UpdateExpression':'SET %s = :v", model_name(set));
    if (removed != set) {
        model_text_add(&run->request, " REMOVE %s", model_name(removed));
        item.values[removed] = MODEL_ABSENT;
    }
    item.values[set] = value;
    model_text_add(&run->request, "','ExpressionAttributeValues':{':v':");
    model_text_add_value(&run->request, set, value);
    model_text_add(&run->request, "}}");
    call(run, "UpdateItem");
    set_item(run, &item);
}

static void write_batch(struct run *run)
{
    bool used[MODEL_ITEMS_MAX] = { false };
    int count = 1 + below(run, BATCH_MAX);
    model_text_add(&run->request, "{'RequestItems':{'model':[");
    for (int i = 0; i < count; i++) {
        struct model_item item = random_item(run);
        size_t place = model_place(item.values[MODEL_P], item.values[MODEL_S]);
        if (used[place])
            continue;
        used[place] = true;
        if (below(run, 3) > 0) {
            model_text_add(&run->request, "%s{'PutRequest':{'Item':", i == 0 ? "" : ",");
            model_text_add_item(&run->request, &item, ~0u);
            set_item(run, &item);
        } else {
            model_text_add(&run->request, "%s{'DeleteRequest':{'Key':", i == 0 ? "" : ",");
            add_key(&run->request, item.values[MODEL_P], item.values[MODEL_S]);
            run->model.exists[place] = false;
        }
        model_text_add(&run->request, "}}");
    }
    model_text_add(&run->request, "]}}");
    call(run, "BatchWriteItem");
}

static void write_something(struct run *run)
{
    model_text_clear(&run->request);
    switch (below(run, 10)) {
    case 0:
    case 1:
    case 2:
        put(run);
        break;
    case 3:
        write_batch(run);
        break;
    case 4:
    case 5:
        delete (run);
        break;
    default:
        update(run);
        break;
    }
}

/* --- Changes of indexes --- */

static bool describes(struct run *run, const char *format, const char *name)
{
    model_text_clear(&run->request);
    model_text_add(&run->request, "{'TableName':'model'}");
    call(run, "DescribeTable");
    char text[128];
    snprintf(text, sizeof text, format, name);
    return api_fixture_shows(&run->fixture, text);
}

static void hold_version(struct run *run)
{
    table_release(run->held);
    run->held = catalogue_find(api_catalogue(run->fixture.api), BYTES("model"));
}

static void release_version(struct run *run)
{
    table_release(run->held);
    run->held = NULL;
}

/* The change under way comes to its end. */
static void settle(struct run *run)
{
    release_version(run);
    for (size_t i = 0; i < MODEL_INDEXES; i++) {
        if (run->states[i] != STATE_CREATING && run->states[i] != STATE_DELETING)
            continue;
        bool creating = run->states[i] == STATE_CREATING;
        const char *until = creating ? "'IndexStatus':'CREATING'" : "'IndexName':'%s'";
        for (int ms = 0; ms < SETTLE_MS_MAX && describes(run, until, model_indexes[i].name); ms++)
            usleep(1000);
        assert_false(describes(run, until, model_indexes[i].name));
        run->states[i] = creating ? STATE_ACTIVE : STATE_GONE;
    }
}

/* Deletes a global index, or creates it again. */
static void change_index(struct run *run)
{
    size_t i = (size_t)below(run, MODEL_INDEXES);
    const struct model_index *index = &model_indexes[i];
    if (!index->global)
        return;
    settle(run);
    hold_version(run);
    model_text_clear(&run->request);
    if (run->states[i] == STATE_GONE)
        model_text_add_creation(&run->request, index);
    else
        model_text_add(&run->request,
                       "{'TableName':'model','GlobalSecondaryIndexUpdates':"
                       "[{'Delete':{'IndexName':'%s'}}]}",
                       index->name);
    call(run, "UpdateTable");
    run->states[i] = run->states[i] == STATE_GONE ? STATE_CREATING : STATE_DELETING;
}

/* Between two writes. What is chosen does not depend on how far the server has come, so that a seed
 * repeats a run. */
static void change_something(struct run *run)
{
    if (below(run, WRITES_PER_CHANGE) == 0)
        change_index(run);
    switch (below(run, WRITES_PER_STEP)) {
    case 0:
        hold_version(run); /* The next step, but no more. */
        break;
    case 1:
        release_version(run);
        break;
    }
}

static void restart(struct run *run)
{
    release_version(run);
    api_fixture_restart(&run->fixture, 0);
}

/* --- Queries --- */

/* On the last sort key attribute that it names; those before are equal to a value. */
enum test { TEST_NONE, TEST_EQUAL, TEST_LESS, TEST_AT_LEAST, TEST_BETWEEN, TEST_COUNT };

struct query {
    const struct model_index *index;
    int hash[2];
    size_t range_count; /* How many sort key attributes have a condition. */
    int range[2];
    enum test test;
    int upper; /* TEST_BETWEEN. */
    bool reverse;
    int limit; /* 0: none. */
};

static bool test_holds(const struct query *query, int value, int bound)
{
    switch (query->test) {
    case TEST_EQUAL:
        return value == bound;
    case TEST_LESS:
        return value < bound;
    case TEST_AT_LEAST:
        return value >= bound;
    case TEST_BETWEEN:
        return value >= bound && value <= query->upper;
    default:
        return true;
    }
}

static bool matches(const struct query *query, const struct model_item *item)
{
    for (size_t i = 0; i < query->index->hash_count; i++) {
        if (item->values[query->index->hash[i]] != query->hash[i])
            return false;
    }
    for (size_t i = 0; i < query->range_count; i++) {
        int value = item->values[query->index->range[i]];
        bool last = i + 1 == query->range_count;
        if (last ? !test_holds(query, value, query->range[i]) : value != query->range[i])
            return false;
    }
    return true;
}

/* What the query finds, in its order. */
static size_t find(const struct model *model, const struct query *query,
                   const struct model_item *found[MODEL_ITEMS_MAX])
{
    const struct model_item *entries[MODEL_ITEMS_MAX];
    size_t count = 0, entry_count = model_entries(model, query->index, entries);
    for (size_t i = 0; i < entry_count; i++) {
        if (!matches(query, entries[i]))
            continue;
        size_t to = count++;
        for (; to > 0; to--) {
            int order = model_compare(query->index, entries[i], found[to - 1]);
            if (query->reverse ? order < 0 : order > 0)
                break;
            found[to] = found[to - 1];
        }
        found[to] = entries[i];
    }
    return count;
}

static void add_condition(struct model_text *text, const struct query *query)
{
    static const char *const tests[TEST_COUNT] = {
        [TEST_EQUAL] = "%s = :r%zu",
        [TEST_LESS] = "%s < :r%zu",
        [TEST_AT_LEAST] = "%s >= :r%zu",
        [TEST_BETWEEN] = "%s BETWEEN :r%zu AND :u",
    };
    const struct model_index *index = query->index;
    for (size_t i = 0; i < index->hash_count; i++)
        model_text_add(text, "%s%s = :h%zu", i == 0 ? "" : " AND ", model_name(index->hash[i]), i);
    for (size_t i = 0; i < query->range_count; i++) {
        char condition[64];
        enum test test = i + 1 == query->range_count ? query->test : TEST_EQUAL;
        snprintf(condition, sizeof condition, "%s", tests[test]);
        char *name = strstr(condition, "%s");
        char *number = strstr(condition, "%zu");
        *name = *number = '\0';
        model_text_add(text, " AND %s%s%zu%s", model_name(index->range[i]), name + 2, i,
                       number + 3);
    }
    model_text_add(text, "','ExpressionAttributeValues':{");
    for (size_t i = 0; i < index->hash_count; i++) {
        model_text_add(text, "%s':h%zu':", i == 0 ? "" : ",", i);
        model_text_add_value(text, index->hash[i], query->hash[i]);
    }
    for (size_t i = 0; i < query->range_count; i++) {
        model_text_add(text, ",':r%zu':", i);
        model_text_add_value(text, index->range[i], query->range[i]);
    }
    if (query->range_count > 0 && query->test == TEST_BETWEEN) {
        model_text_add(text, ",':u':");
        model_text_add_value(text, index->range[query->range_count - 1], query->upper);
    }
    model_text_add(text, "}");
}

/* A condition on the table's whole key may name the last item there can be. */
static bool is_last_possible(const struct query *query, const struct model_item *item)
{
    if (query->index->name != NULL || query->range_count == 0)
        return false;
    int value = item->values[MODEL_S];
    if (query->reverse)
        return (query->test == TEST_AT_LEAST || query->test == TEST_BETWEEN) &&
               value == query->range[0];
    return query->test == TEST_BETWEEN && value == query->upper;
}

static void expect_page(struct run *run, const struct query *query, const struct model_item *start,
                        const struct model_item *const *found, size_t count, bool full)
{
    model_text_clear(&run->request);
    model_text_add(&run->request, "{'TableName':'model',");
    if (query->index->name != NULL)
        model_text_add(&run->request, "'IndexName':'%s',", query->index->name);
    model_text_add(&run->request, "'ScanIndexForward':%s,'KeyConditionExpression':'",
                   query->reverse ? "false" : "true");
    add_condition(&run->request, query);
    if (query->limit > 0)
        model_text_add(&run->request, ",'Limit':%d", query->limit);
    if (start != NULL) {
        model_text_add(&run->request, ",'ExclusiveStartKey':");
        model_text_add_key(&run->request, query->index, start);
    }
    model_text_add(&run->request, "}");

    model_text_clear(&run->response);
    model_text_add(&run->response, "{'Items':[");
    for (size_t i = 0; i < count; i++) {
        model_text_add(&run->response, i == 0 ? "" : ",");
        model_text_add_item(&run->response, found[i], model_projected(query->index));
    }
    model_text_add(&run->response, "],'Count':%zu,'ScannedCount':%zu", count, count);
    if (full) {
        model_text_add(&run->response, ",'LastEvaluatedKey':");
        model_text_add_key(&run->response, query->index, found[count - 1]);
    }
    model_text_add(&run->response, "}");
    api_fixture_expect(&run->fixture, "Query", run->request.text, run->response.text);
}

static void check_query(struct run *run, const struct query *query)
{
    const struct model_item *found[MODEL_ITEMS_MAX];
    size_t count = find(&run->model, query, found);
    const struct model_item *start = NULL;
    size_t at = 0;
    bool more = true;
    while (more) {
        size_t page = count - at;
        more = query->limit > 0 && page >= (size_t)query->limit;
        if (more)
            page = (size_t)query->limit;
        more = more && !is_last_possible(query, found[at + page - 1]);
        expect_page(run, query, start, &found[at], page, more);
        at += page;
        start = more ? found[at - 1] : NULL;
    }
}

static void check_random_query(struct run *run)
{
    struct query query = { .index = &model_indexes[below(run, MODEL_INDEXES)] };
    for (size_t i = 0; i < COUNT_OF(query.hash); i++) {
        query.hash[i] = below(run, MODEL_VALUES);
        query.range[i] = below(run, MODEL_VALUES);
    }
    query.range_count = (size_t)below(run, (int)query.index->range_count + 1);
    query.test = query.range_count == 0 ? TEST_NONE : (enum test)(1 + below(run, TEST_COUNT - 1));
    query.upper = below(run, MODEL_VALUES);
    if (query.range_count > 0 && query.upper < query.range[query.range_count - 1])
        query.upper = query.range[query.range_count - 1];
    query.reverse = below(run, 2) == 1;
    query.limit = below(run, 5);
    if (run->states[query.index - model_indexes] == STATE_ACTIVE)
        check_query(run, &query);
}

/* Every partition key of every index, both ways, every Limit that makes a difference. */
static void check_all_queries(struct run *run)
{
    for (size_t i = 0; i < MODEL_INDEXES; i++) {
        struct query query = { .index = &model_indexes[i] };
        if (run->states[i] != STATE_ACTIVE)
            continue;
        int pairs = query.index->hash_count == 1 ? MODEL_VALUES : MODEL_VALUES * MODEL_VALUES;
        for (int pair = 0; pair < pairs; pair++) {
            query.hash[0] = pair % MODEL_VALUES;
            query.hash[1] = pair / MODEL_VALUES;
            for (int reverse = 0; reverse <= 1; reverse++) {
                const struct model_item *found[MODEL_ITEMS_MAX];
                query.reverse = reverse == 1;
                int count = (int)find(&run->model, &query, found);
                for (query.limit = 0; query.limit <= count + 1; query.limit++)
                    check_query(run, &query);
            }
        }
    }
}

/* --- Scans and statistics --- */

/* Takes the items of a response out of what is still missing; each must be there once. Returns the
 * text of LastEvaluatedKey, empty if there is none. */
static const char *take_items(struct run *run, const struct model_index *index,
                              const struct model_item **missing, size_t *missing_count)
{
    static struct model_text rest, item;
    struct bytes response = run->fixture.response;
    model_text_clear(&rest);
    model_text_add(&rest, "%.*s", BYTES_FMT(response));
    for (size_t i = 0; i < rest.len; i++)
        rest.text[i] = rest.text[i] == '"' ? '\'' : rest.text[i];
    const char *end = strstr(rest.text, "],'Count'");
    assert_non_null(end);
    for (const char *at = rest.text + strlen("{'Items':["); at < end;) {
        size_t i = 0;
        for (; i < *missing_count; i++) {
            model_text_clear(&item);
            model_text_add_item(&item, missing[i], model_projected(index));
            if (strncmp(at, item.text, item.len) == 0)
                break;
        }
        if (i == *missing_count)
            fail_msg("unexpected: %s", at);
        missing[i] = missing[--*missing_count];
        at += item.len + (at[item.len] == ',');
    }
    char *key = strstr(rest.text, ",'LastEvaluatedKey':");
    if (key == NULL)
        return "";
    rest.text[rest.len - 1] = '\0'; /* The response's own brace. */
    return key + strlen(",'LastEvaluatedKey':");
}

static void check_scan(struct run *run, const struct model_index *index, int segments, int limit)
{
    const struct model_item *missing[MODEL_ITEMS_MAX];
    size_t missing_count = model_entries(&run->model, index, missing);
    for (int segment = 0; segment < segments; segment++) {
        char start[512] = "";
        do {
            model_text_clear(&run->request);
            model_text_add(&run->request, "{'TableName':'model','TotalSegments':%d,'Segment':%d",
                           segments, segment);
            if (index->name != NULL)
                model_text_add(&run->request, ",'IndexName':'%s'", index->name);
            if (limit > 0)
                model_text_add(&run->request, ",'Limit':%d", limit);
            if (start[0] != '\0')
                model_text_add(&run->request, ",'ExclusiveStartKey':%s", start);
            model_text_add(&run->request, "}");
            call(run, "Scan");
            snprintf(start, sizeof start, "%s", take_items(run, index, missing, &missing_count));
        } while (start[0] != '\0');
    }
    assert_int_equal(missing_count, 0);
}

static void check_stats(struct run *run)
{
    model_text_clear(&run->request);
    model_text_add(&run->request, "{'TableName':'model'}");
    call(run, "DescribeTable");
    for (size_t i = 0; i < MODEL_INDEXES; i++) {
        const struct model_index *index = &model_indexes[i];
        const struct model_item *entries[MODEL_ITEMS_MAX];
        if (run->states[i] != STATE_ACTIVE)
            continue;
        size_t count = model_entries(&run->model, index, entries);
        int64_t size = 0;
        for (size_t e = 0; e < count; e++)
            size += model_size(index, entries[e]);
        model_text_clear(&run->response);
        model_text_add(&run->response, "'%sSizeBytes':%lld,'ItemCount':%zu,'%sArn':",
                       index->name == NULL ? "Table" : "Index", (long long)size, count,
                       index->name == NULL ? "Table" : "Index");
        if (index->name != NULL)
            model_text_add(&run->response,
                           "'arn:aws:dynamodb:eu-west-1:123456789012:table/model/index/%s'",
                           index->name);
        if (!api_fixture_shows(&run->fixture, run->response.text))
            fail_msg("%s\n%.*s", run->response.text, BYTES_FMT(run->fixture.response));
    }
}

static void fail_on_problem(void *context, const char *line)
{
    (void)context;
    fail_msg("%s", line);
}

static void check_everything(struct run *run)
{
    settle(run);
    check_all_queries(run);
    for (size_t i = 0; i < MODEL_INDEXES; i++) {
        int segments = 1 + below(run, 4), limit = 1 + below(run, 3);
        if (run->states[i] != STATE_ACTIVE)
            continue;
        check_scan(run, &model_indexes[i], 1, 0);
        check_scan(run, &model_indexes[i], segments, limit);
    }
    check_stats(run);
    check_store(run->fixture.engine, fail_on_problem, NULL);
}

/* --- The test --- */

static void random_writes_leave_every_index_as_the_model_says(void **state)
{
    (void)state;
    static struct run run;
    uint64_t seed = run_length_setting("MODEL_SEED", 0);
    if (seed == 0) {
        random_init_from_system(&run.random);
        seed = random_next(&run.random);
    }
    uint64_t writes = run_length("MODEL_WRITES", WRITES, WRITES_LONG);
    print_message("MODEL_SEED=%llu MODEL_WRITES=%llu\n", (unsigned long long)seed,
                  (unsigned long long)writes);
    random_init(&run.random, seed);
    api_fixture_open(&run.fixture, 0);
    assert_true(api_fixture_call(&run.fixture, "CreateTable", model_create_table));
    for (uint64_t i = 1; i <= writes; i++) {
        change_something(&run);
        write_something(&run);
        for (int q = 0; q < QUERIES_PER_WRITE; q++)
            check_random_query(&run);
        if (i % WRITES_PER_CHECK != 0 && i != writes)
            continue;
        if (below(&run, 2) == 0)
            check_everything(&run);
        restart(&run); /* In the middle of a change, or not. */
    }
    check_everything(&run);
    api_fixture_close(&run.fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_writes_leave_every_index_as_the_model_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
