/* test_model_check.c -- what is said about a model without running it agrees with running it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "base/random.h"
#include "command/model_check.h"
#include "command/model_samples.h"
#include "command/model_server.h"
#include "schema/json_tree.h"
#include "schema/pattern_verdict.h"

enum { MODELS = 200 };

struct totals {
    size_t good, bad, estimated, updates, paged, empty;
};

/* Entities of generated models are called as their keys begin: "AO" has A# and O#. */
static void finds_none_of_its_entities(const struct model_pattern *pattern,
                                       const struct pattern_run *run)
{
    for (size_t i = 0; i < run->item_count; i++) {
        const struct json_node *hash = json_tree_member(run->items[i], "PK");
        const struct json_node *range = json_tree_member(run->items[i], "SK");
        struct bytes a = json_tree_string(hash, "S"), b = json_tree_string(range, "S");
        assert_true(a.len > 0 && b.len > 0);
        for (const struct json_node *at = pattern->entities->first; at != NULL; at = at->next) {
            if (at->text.data[0] == a.data[0] && at->text.data[1] == b.data[0])
                fail_msg("%.*s finds an item of %.*s", BYTES_FMT(pattern->name),
                         BYTES_FMT(at->text));
        }
    }
}

/* The verdict, and what the sample costs, against a run. */
static void compare(struct arena *arena, struct model_server *server, const struct model_file *file,
                    const struct model_pattern *pattern, struct totals *totals)
{
    struct pattern_verdict verdict = pattern_verdict_of(arena, file, pattern);
    struct pattern_run run = model_check_run(arena, server, file, pattern);
    bool scans = pattern->operation == PATTERN_SCAN && verdict.verdict == VERDICT_SCAN;
    bool good =
        verdict_is_good(verdict.verdict) || verdict.verdict == VERDICT_FINDS_NOTHING || scans;
    if (good != run.succeeded && !pattern->expect.refused)
        fail_msg("%.*s: %s, %.*s; but %.*s", BYTES_FMT(json_tree_text(arena, pattern->node)),
                 verdict_name(verdict.verdict), BYTES_FMT(verdict.reason),
                 BYTES_FMT(run.succeeded ? BYTES("it succeeds") : run.failure));
    totals->good += good;
    totals->bad += !good;
    totals->updates += run.succeeded && pattern->operation == PATTERN_UPDATE_ITEM;
    if (verdict.verdict == VERDICT_FINDS_NOTHING && pattern->entities != NULL) {
        totals->empty++;
        finds_none_of_its_entities(pattern, &run);
    }
    if (!run.succeeded || (!verdict_is_good(verdict.verdict) && !scans))
        return;
    struct pattern_estimate estimate = pattern_estimate_of(arena, file, pattern);
    if (!estimate.known)
        return;
    totals->estimated++;
    totals->paged += run.pages > 1;
    bool writes = pattern_operation_writes(pattern->operation);
    /* The order in which a Scan reads is not known, so nor is what each page is rounded by. */
    double slack = pattern->operation == PATTERN_SCAN
                       ? (double)(run.pages - 1) * (pattern->consistent ? 1 : 0.5)
                       : 0;
    if ((!writes && estimate.items != run.scanned) ||
        fabs((double)estimate.half_units / 2 - run.units) > slack)
        fail_msg("%.*s: estimated %lld items and %.1f units, found %lld and %.1f",
                 BYTES_FMT(json_tree_text(arena, pattern->node)), (long long)estimate.items,
                 (double)estimate.half_units / 2, (long long)run.scanned, run.units);
}

/* Reads, then the first write: it changes the sample. */
static void compare_all(struct arena *arena, const struct model_file *file, struct totals *totals)
{
    struct bytes failure;
    struct model_server *server = model_server_open();
    assert_non_null(server);
    if (!model_check_load(arena, server, file, &failure))
        fail_msg("%.*s", BYTES_FMT(failure));
    for (int writes = 0; writes < 2; writes++) {
        for (size_t i = 0; i < file->pattern_count; i++) {
            const struct model_pattern *pattern = &file->patterns[i];
            if (pattern_operation_writes(pattern->operation) != (writes == 1))
                continue;
            compare(arena, server, file, pattern, totals);
            if (writes == 1)
                break;
        }
    }
    model_server_close(server);
}

static void verdicts_of_the_samples_agree_with_running_them(void **state)
{
    (void)state;
    struct totals totals = { 0 };
    for (size_t i = 0; i < model_samples_count(); i++) {
        struct arena *arena = arena_create();
        struct model_report report;
        struct model_file *file = model_file_load(arena, model_samples_at(i).text, &report);
        assert_non_null(file);
        assert_int_equal(report.note_count, 0);
        compare_all(arena, file, &totals);
        arena_destroy(arena);
    }
    assert_int_equal(totals.bad, 0);
    assert_true(totals.estimated >= 25);
}

/* --- Random models --- */

struct writer {
    struct buffer out;
    struct random *random;
};

static uint64_t below(struct writer *writer, uint64_t bound)
{
    return random_below(writer->random, bound);
}

/* ' stands for ". */
static void PRINTF_LIKE(2, 3) add(struct writer *writer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct bytes text = arena_vprintf(writer->out.arena, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < text.len; i++)
        buffer_append_byte(&writer->out, text.data[i] == '\'' ? '"' : text.data[i]);
}

static const char *const hash_values[] = { "A#1", "A#2", "B#1" };
static const char *const texts[] = { "A#1", "A#2", "G", "G#1" };

/* `is_large`: four of them are more than a page. */
static void add_item(struct writer *writer, bool number_key, size_t number, bool is_large)
{
    static const char large[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    add(writer, "{'PK':{'S':'%s'},", hash_values[below(writer, COUNT_OF(hash_values))]);
    if (number_key)
        add(writer, "'SK':{'N':'%zu'}", number);
    else
        add(writer, "'SK':{'S':'%s%zu'}", below(writer, 2) == 0 ? "O#" : "P", number);
    if (below(writer, 2) == 0)
        add(writer, ",'a':{'S':'%s'}", texts[below(writer, COUNT_OF(texts))]);
    if (below(writer, 2) == 0)
        add(writer, ",'b':{'S':'%s'}", texts[below(writer, COUNT_OF(texts))]);
    if (below(writer, 2) == 0)
        add(writer, ",'n':{'N':'%d'}", (int)below(writer, 7) - 3);
    if (below(writer, 2) == 0) {
        add(writer, ",'x':{'S':'");
        for (size_t i = is_large ? 4000 + below(writer, 1000) : below(writer, 90); i > 0; i--)
            buffer_append(&writer->out, large, sizeof large - 1);
        add(writer, "'}");
    }
    if (below(writer, 3) == 0)
        add(writer, ",'y':{'M':{'z':{'N':'12.5'}}}");
    add(writer, "}");
}

static void add_key(struct writer *writer, const char *role, const char *name, const char *type)
{
    add(writer, "'%s':{'AttributeName':'%s','AttributeType':'%s'}", role, name, type);
}

struct generated_index {
    bool local;
    const char *hash, *range; /* NULL: none. */
    bool range_is_number;
};

static void add_indexes(struct writer *writer, bool number_key, struct generated_index *indexes,
                        size_t count)
{
    static const char *const hashes[] = { "a", "b", "PK" };
    static const char *const ranges[] = { NULL, "n", "b", "SK" };
    static const char *const projections[] = {
        "'ProjectionType':'ALL'", "'ProjectionType':'KEYS_ONLY'",
        "'ProjectionType':'INCLUDE','NonKeyAttributes':['x']"
    };
    add(writer, "'GlobalSecondaryIndexes':[");
    for (size_t i = 0; i < count; i++) {
        struct generated_index *index = &indexes[i];
        index->hash = hashes[below(writer, COUNT_OF(hashes))];
        do
            index->range = ranges[below(writer, COUNT_OF(ranges))];
        while (index->range != NULL && strcmp(index->range, index->hash) == 0);
        index->local = strcmp(index->hash, "PK") == 0 && index->range != NULL &&
                       strcmp(index->range, "SK") != 0 && below(writer, 2) == 0;
        index->range_is_number =
            index->range != NULL &&
            (strcmp(index->range, "n") == 0 || (number_key && strcmp(index->range, "SK") == 0));
        add(writer, "%s{'IndexName':'index%zu','KeyAttributes':{", i == 0 ? "" : ",", i);
        add_key(writer, "PartitionKey", index->hash, "S");
        if (index->range != NULL) {
            add(writer, ",");
            add_key(writer, "SortKey", index->range, index->range_is_number ? "N" : "S");
        }
        add(writer, "},'Projection':{%s}}", projections[below(writer, COUNT_OF(projections))]);
    }
    add(writer, "],");
}

static void add_sort_key(struct writer *writer, bool is_number)
{
    static const char *const names[] = { "Equals", "BeginsWith",  "LessThan",
                                         "AtMost", "GreaterThan", "AtLeast" };
    static const char *const values[] = { "O#", "P1", "O#3", "A#", "G" };
    bool numbers = below(writer, 8) == 0 ? !is_number : is_number;
    if (below(writer, 6) == 0 && numbers)
        add(writer, ",'SortKey':{'Between':['%d','%d']}", (int)below(writer, 6) - 3,
            (int)below(writer, 9) - 3);
    else if (below(writer, 6) == 0)
        add(writer, ",'SortKey':{'Between':['%s','%s']}", values[below(writer, COUNT_OF(values))],
            values[below(writer, COUNT_OF(values))]);
    else if (numbers)
        add(writer, ",'SortKey':{'%s':'%d'}", names[below(writer, COUNT_OF(names))],
            (int)below(writer, 9) - 3);
    else
        add(writer, ",'SortKey':{'%s':'%s'}", names[below(writer, COUNT_OF(names))],
            values[below(writer, COUNT_OF(values))]);
}

static void add_conditions(struct writer *writer, const struct generated_index *index)
{
    static const char *const partition_keys[] = { "A#<p>", "B#<p>", "G", "A#<q>" };
    if (below(writer, 8) != 0)
        add(writer, ",'PartitionKey':'%s'",
            partition_keys[below(writer, COUNT_OF(partition_keys))]);
    if (below(writer, 3) != 0)
        add_sort_key(writer, index->range_is_number);
    if (below(writer, 4) == 0)
        add(writer, ",'ConsistentRead':true");
    if (below(writer, 3) == 0)
        add(writer, ",'Attributes':['%s','%s']", below(writer, 2) == 0 ? "x" : "y",
            below(writer, 2) == 0 ? "a" : "n");
    if (below(writer, 4) == 0)
        add(writer, ",'Limit':%d", 1 + (int)below(writer, 4));
    if (below(writer, 3) == 0)
        add(writer, ",'Descending':true");
}

static void add_filter(struct writer *writer, const struct generated_index *index)
{
    const char *name = below(writer, 2) == 0 ? "x" : below(writer, 2) == 0 ? index->hash : "PK";
    if (below(writer, 4) == 0)
        add(writer, ",'Filter':'attribute_exists(#f)','Names':{'#f':'%s'}", name);
}

static void add_update(struct writer *writer)
{
    if (below(writer, 3) == 0)
        add(writer, ",'Update':'REMOVE #u','Names':{'#u':'%s'}", below(writer, 2) == 0 ? "x" : "n");
    else
        add(writer, ",'Update':'SET #u = :u','Names':{'#u':'%s'},'Values':{':u':{'S':'A#1'}}",
            below(writer, 2) == 0 ? "x" : "a");
    if (below(writer, 3) == 0)
        add(writer, ",'Condition':'attribute_not_exists(zz)'");
}

/* Each item is of one of them: keys begin with A# or B#, and with O# or P. */
static void add_entities(struct writer *writer, const struct generated_index *indexes, size_t count)
{
    add(writer, ",'Entities':[");
    for (size_t i = 0; i < 4; i++) {
        add(writer, "%s{'Name':'%c%c','Keys':[{'PartitionKey':'%c#<p>','SortKey':'%s'}",
            i == 0 ? "" : ",", "AB"[i / 2], "OP"[i % 2], "AB"[i / 2],
            i % 2 == 0 ? "O#<n>" : "P<n>");
        for (size_t n = 0; n < count; n++) {
            if (strcmp(indexes[n].hash, "PK") == 0)
                add(writer, ",{'Index':'index%zu','PartitionKey':'%c#<p>'}", n, "AB"[i / 2]);
            else
                add(writer, ",{'Index':'index%zu','PartitionKey':'<x*>'}", n);
        }
        add(writer, "],'Attributes':[{'Name':'x','Type':'S'},{'Name':'n','Type':'N'}]}");
    }
    add(writer, "]");
}

static void add_pattern(struct writer *writer, size_t number, bool number_key, bool has_entities,
                        const struct generated_index *indexes, size_t count)
{
    static const char *const operations[] = { "Query",   "Query",      "Query", "GetItem",
                                              "PutItem", "DeleteItem", "Scan",  "UpdateItem" };
    const char *operation = operations[below(writer, COUNT_OF(operations))];
    size_t chosen = below(writer, count + 1);
    struct generated_index table = { .hash = "PK", .range = "SK", .range_is_number = number_key };
    const struct generated_index *index = chosen == count ? &table : &indexes[chosen];
    bool reads_many = strcmp(operation, "Query") == 0 || strcmp(operation, "Scan") == 0;
    if (!reads_many) { /* Their requests name no index. */
        chosen = count;
        index = &table;
    }
    add(writer, "%s{'Name':'p%zu','Operation':'%s','Parameters':{'p':'1'}", number == 0 ? "" : ",",
        number, operation);
    if (chosen < count)
        add(writer, ",'Index':'index%zu'", chosen);
    if (strcmp(operation, "PutItem") == 0) {
        add(writer, ",'Item':");
        add_item(writer, number_key, below(writer, 8), false);
    } else if (reads_many) {
        add_conditions(writer, index);
        add_filter(writer, index);
    } else {
        add(writer, ",'PartitionKey':'A#<p>'");
        if (below(writer, 6) != 0)
            add(writer, number_key ? ",'SortKey':'%d'" : ",'SortKey':'O#%d'",
                (int)below(writer, 8));
    }
    if (strcmp(operation, "UpdateItem") == 0)
        add_update(writer);
    if (has_entities && below(writer, 2) == 0)
        add(writer, ",'Entities':['%c%c']", "AB"[below(writer, 2)], "OP"[below(writer, 2)]);
    add(writer, "}");
}

static struct bytes make_model(struct arena *arena, struct random *random)
{
    struct writer writer = { .random = random };
    struct generated_index indexes[3];
    buffer_init(&writer.out, arena);
    size_t index_count = below(&writer, COUNT_OF(indexes) + 1), rows = below(&writer, 14);
    bool number_key = below(&writer, 3) == 0, is_large = below(&writer, 8) == 0;
    bool has_entities = !number_key && below(&writer, 2) == 0;
    add(&writer, "{'ModelName':'m','DataModel':[{'TableName':'tab','KeyAttributes':{");
    add_key(&writer, "PartitionKey", "PK", "S");
    add(&writer, ",");
    add_key(&writer, "SortKey", "SK", number_key ? "N" : "S");
    add(&writer, "},");
    add_indexes(&writer, number_key, indexes, index_count);
    for (size_t i = 0; i < index_count; i++)
        is_large = is_large && !indexes[i].local; /* Its entries count for the size of an item. */
    add(&writer, "'TableData':[");
    for (size_t i = 0; i < rows; i++) {
        add(&writer, "%s", i == 0 ? "" : ",");
        add_item(&writer, number_key, i, is_large);
    }
    add(&writer, "]}],'Stator':{'Tables':[{'TableName':'tab','LocalIndexes':[");
    bool any = false;
    for (size_t i = 0; i < index_count; i++) {
        if (!indexes[i].local)
            continue;
        add(&writer, "%s'index%zu'", any ? "," : "", i);
        any = true;
    }
    add(&writer, "]}]");
    if (has_entities)
        add_entities(&writer, indexes, index_count);
    add(&writer, ",'Patterns':[");
    for (size_t i = 0; i < 12; i++)
        add_pattern(&writer, i, number_key, has_entities, indexes, index_count);
    add(&writer, "]}}");
    return buffer_bytes(&writer.out);
}

static void verdicts_of_generated_models_agree_with_running_them(void **state)
{
    (void)state;
    struct random random;
    struct totals totals = { 0 };
    random_init(&random, 22);
    for (int i = 0; i < MODELS; i++) {
        struct arena *arena = arena_create();
        struct model_report report;
        struct model_file *file = model_file_load(arena, make_model(arena, &random), &report);
        if (file == NULL)
            fail_msg("%.*s", BYTES_FMT(report.failure));
        compare_all(arena, file, &totals);
        arena_destroy(arena);
    }
    if (totals.good < 300 || totals.bad < 300 || totals.estimated < 250 || totals.updates < 5 ||
        totals.paged < 5 || totals.empty < 20)
        fail_msg("%zu good, %zu bad, %zu estimated, %zu updates, %zu paged, %zu empty", totals.good,
                 totals.bad, totals.estimated, totals.updates, totals.paged, totals.empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_of_the_samples_agree_with_running_them),
        cmocka_unit_test(verdicts_of_generated_models_agree_with_running_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
