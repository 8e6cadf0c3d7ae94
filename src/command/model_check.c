/* model_check.c -- see model_check.h. Running patterns is in model_run.c.
 *
 * Texts of the file may hold anything, so control characters are replaced before they reach a
 * terminal. */
#include "command/model_check.h"
#include <inttypes.h>
#include <stdio.h>
#include "advice/price_list.h"
#include "base/arena.h"
#include "command/answer.h"
#include "command/model_server.h"
#include "schema/entity_rules.h"
#include "schema/json_tree.h"
#include "schema/pattern_verdict.h"

#define SECONDS_PER_MONTH (730.0 * 3600)

#define PRICE(identifier, price, unit) PRICE_##identifier,
enum price { PRICE_LIST(PRICE) PRICE_COUNT };
#undef PRICE
#define PRICE(identifier, price, unit) [PRICE_##identifier] = (price),
static const double prices[PRICE_COUNT] = { PRICE_LIST(PRICE) };
#undef PRICE

struct check {
    struct arena *arena;
    const struct model_file *file;
    size_t problems;
    size_t failed; /* Patterns. */
    double cost;   /* A month. */
};

static void print_line(const char *mark, struct bytes text)
{
    printf("  %-5s ", mark);
    answer_print(text);
    putchar('\n');
}

static void fail(struct check *check, struct bytes text)
{
    check->problems++;
    print_line("FAIL", text);
}

/* --- The file and its tables --- */

static void print_file(const struct check *check, const struct model_report *report)
{
    size_t rows = 0, indexes = 0;
    for (size_t i = 0; i < check->file->table_count; i++) {
        rows += check->file->tables[i].row_count;
        indexes += check->file->tables[i].index_count - 1;
    }
    printf("model ");
    answer_print(check->file->name.len > 0 ? check->file->name : BYTES("without a name"));
    printf(" (");
    answer_print(report->format);
    printf("): %zu tables, %zu indexes, %zu rows, %zu entities, %zu patterns\n",
           check->file->table_count, indexes, rows, check->file->entity_count,
           check->file->pattern_count);
    for (size_t i = 0; i < report->note_count; i++) {
        const struct model_note *note = &report->notes[i];
        print_line("note", arena_printf(check->arena, "%.*s: %.*s", BYTES_FMT(note->place),
                                        BYTES_FMT(note->text)));
    }
    if (report->notes_dropped > 0)
        printf("  note  and %zu more\n", report->notes_dropped);
}

/* What contradicts the entities is a problem if they are the file's own. */
static void fail_entity(struct check *check, struct bytes text)
{
    if (check->file->entities_are_derived)
        print_line("note", text);
    else
        fail(check, text);
}

static void print_collision(void *context, const struct model_entity *a,
                            const struct model_entity *b)
{
    struct check *check = context;
    fail_entity(check,
                arena_printf(check->arena,
                             "entities %.*s and %.*s collide: an item of one may have the key of "
                             "the other",
                             BYTES_FMT(a->name), BYTES_FMT(b->name)));
}

static void check_rows(struct check *check, const struct model_table *table)
{
    const struct entity_rules *rules = entity_rules_of_model(check->arena, check->file, table);
    for (size_t i = 0; i < table->row_count; i++) {
        struct item item;
        struct entity_violation violation;
        struct bytes failure;
        struct bytes place = json_tree_path(check->arena, table->rows[i]);
        if (!model_row_item(check->arena, table->rows[i], &item, &failure))
            fail(check,
                 arena_printf(check->arena, "%.*s: %.*s", BYTES_FMT(place), BYTES_FMT(failure)));
        else if (rules != NULL && !entity_rules_check(rules, &item, &violation))
            fail_entity(check,
                        arena_printf(check->arena, "%.*s: %.*s", BYTES_FMT(place),
                                     BYTES_FMT(entity_violation_text(check->arena, &violation))));
    }
}

static void check_tables(struct check *check)
{
    for (size_t i = 0; i < check->file->table_count; i++) {
        const struct model_table *table = &check->file->tables[i];
        printf("table ");
        answer_print(table->name);
        putchar('\n');
        check_rows(check, table);
        for (size_t n = 1; n < table->index_count; n++) {
            struct bytes waste =
                pattern_verdict_waste(check->arena, check->file, table, &table->indexes[n]);
            if (waste.data != NULL)
                print_line("waste", waste);
        }
    }
    pattern_verdict_collisions(check->file, print_collision, check);
}

/* --- Patterns --- */

static struct bytes index_name(const struct model_index *index)
{
    return index->name.data == NULL ? BYTES("the table") : index->name;
}

/* What other indexes could do for the pattern. */
static void print_elsewhere(struct check *check, const struct model_pattern *pattern)
{
    const struct model_table *table = model_file_table(check->file, pattern->table);
    const struct model_index *own = model_table_index(table, pattern->index);
    if (pattern_operation_writes(pattern->operation))
        return;
    for (size_t i = 0; i < table->index_count; i++) {
        const struct model_index *index = &table->indexes[i];
        if (index == own)
            continue;
        struct pattern_verdict verdict =
            pattern_verdict_elsewhere(check->arena, check->file, pattern, index);
        print_line("", arena_printf(check->arena, "by %.*s: %s, %.*s", BYTES_FMT(index_name(index)),
                                    verdict_name(verdict.verdict), BYTES_FMT(verdict.reason)));
    }
}

static double monthly_cost(const struct model_pattern *pattern, double units)
{
    enum price price = pattern_operation_writes(pattern->operation) ? PRICE_WRITE_REQUEST_UNIT
                                                                    : PRICE_READ_REQUEST_UNIT;
    return units * pattern->calls_per_second * SECONDS_PER_MONTH * prices[price];
}

static void print_run(struct check *check, const struct model_pattern *pattern,
                      const struct pattern_run *run)
{
    bool writes = pattern_operation_writes(pattern->operation);
    double cost = monthly_cost(pattern, run->units);
    check->cost += cost;
    printf("        ");
    if (!writes)
        printf("%zu items of %" PRId64 " read, %" PRId64 " pages, ", run->item_count, run->scanned,
               run->pages);
    printf("%.1f %s units", run->units, writes ? "write" : "read");
    if (pattern->calls_per_second > 0)
        printf("; $%.2f a month for %g calls a second", cost, pattern->calls_per_second);
    putchar('\n');
}

/* Whether it is as it should be. */
static bool judge_pattern(struct check *check, const struct model_pattern *pattern,
                          const struct pattern_verdict *verdict)
{
    if (verdict_is_good(verdict->verdict) ||
        (verdict->verdict == VERDICT_SCAN && pattern->allows_scan))
        return true;
    fail(check, arena_printf(check->arena, "%s: %.*s", verdict_name(verdict->verdict),
                             BYTES_FMT(verdict->reason)));
    return false;
}

static void check_pattern(struct check *check, struct model_server *server,
                          const struct model_pattern *pattern)
{
    struct pattern_verdict verdict = pattern_verdict_of(check->arena, check->file, pattern);
    size_t before = check->problems;
    printf("pattern ");
    answer_print(pattern->name);
    putchar('\n');
    bool runs = pattern->expect.refused || verdict_is_good(verdict.verdict) ||
                pattern->operation == PATTERN_SCAN;
    if (!pattern->expect.refused && judge_pattern(check, pattern, &verdict))
        print_line(verdict.verdict == VERDICT_SCAN ? "scan" : "ok", verdict.reason);
    print_elsewhere(check, pattern);
    check->failed += !runs;
    if (!runs)
        return;
    struct pattern_run run = model_check_run(check->arena, server, check->file, pattern);
    if (run.succeeded)
        print_run(check, pattern, &run);
    struct bytes difference = model_check_compare(check->arena, check->file, pattern, &run);
    if (difference.data != NULL)
        fail(check, difference);
    check->failed += check->problems > before;
}

/* Reads first: writes change what they would find. */
static void check_patterns(struct check *check, struct model_server *server)
{
    for (int writes = 0; writes < 2; writes++) {
        for (size_t i = 0; i < check->file->pattern_count; i++) {
            const struct model_pattern *pattern = &check->file->patterns[i];
            if (pattern_operation_writes(pattern->operation) == (writes == 1))
                check_pattern(check, server, pattern);
        }
    }
}

size_t model_check(struct arena *arena, const struct model_file *file,
                   const struct model_report *report)
{
    struct check check = { .arena = arena, .file = file };
    struct bytes failure;
    print_file(&check, report);
    check_tables(&check);
    struct model_server *server = model_server_open();
    if (server == NULL)
        return 1;
    if (model_check_load(arena, server, file, &failure))
        check_patterns(&check, server);
    else
        fail(&check, failure);
    model_server_close(server);
    printf("%zu patterns, %zu of them failed; %zu problems in all\n", file->pattern_count,
           check.failed, check.problems);
    if (check.cost > 0)
        printf("$%.2f a month on demand, without storage, by the list of %s of %s for %s\n",
               check.cost, PRICE_LIST_VERSION, PRICE_LIST_DATE, PRICE_LIST_REGION);
    return check.problems;
}
