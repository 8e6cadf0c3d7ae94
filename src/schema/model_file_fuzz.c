/* model_file_fuzz.c -- any text as a model file.
 *
 * Properties: what is loaded and saved loads again, saves as the same text, and has the same
 * tables, rows, entities and patterns; what is refused has a reason. Judging and printing it ends
 * well, and what is prepared for a table compiles. */
#include <assert.h>
#include "base/arena.h"
#include "schema/entity_rules.h"
#include "schema/json_tree.h"
#include "schema/model_budget.h"
#include "schema/model_export.h"
#include "schema/model_file.h"
#include "schema/pattern_suggest.h"
#include "schema/pattern_verdict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void suggest(struct arena *arena, const struct model_file *file,
                    const struct model_pattern *pattern, const struct pattern_verdict *verdict)
{
    struct suggestions found = pattern_suggest(arena, file, pattern, verdict);
    assert((found.count == 0) == (found.hint.data != NULL));
    for (size_t i = 0; i < found.count; i++)
        assert(found.list[i].patch->count > 0 && found.list[i].text.len > 0);
}

static void judge(struct arena *arena, const struct model_file *file)
{
    for (size_t i = 0; i < file->pattern_count; i++) {
        const struct model_pattern *pattern = &file->patterns[i];
        const struct model_table *table = model_file_table(file, pattern->table);
        struct pattern_verdict verdict = pattern_verdict_of(arena, file, pattern);
        assert(verdict.reason.data != NULL);
        assert(pattern->calls_per_second >= 0 && pattern->calls_per_second <= MODEL_NUMBER_MAX);
        for (size_t n = 0; n < table->index_count; n++)
            (void)pattern_verdict_elsewhere(arena, file, pattern, &table->indexes[n]);
        if (verdict_is_good(verdict.verdict))
            (void)pattern_estimate_of(arena, file, pattern);
        else
            suggest(arena, file, pattern, &verdict);
    }
    for (enum model_format format = 0; format < MODEL_FORMAT_COUNT; format++)
        assert(model_export(arena, file, format).data != NULL);
    (void)pattern_verdict_collisions(file, NULL, NULL);
}

/* With any budget it ends as well, and never takes more than there is. */
static void judge_within(struct arena *arena, struct model_file *file, uint64_t work)
{
    struct model_budget budget = { .left = work };
    file->budget = &budget;
    for (size_t i = 0; i < file->pattern_count; i++) {
        const struct model_pattern *pattern = &file->patterns[i];
        struct pattern_verdict verdict = pattern_verdict_of(arena, file, pattern);
        if (verdict_is_good(verdict.verdict))
            (void)pattern_estimate_of(arena, file, pattern);
        else
            suggest(arena, file, pattern, &verdict);
    }
    (void)pattern_verdict_collisions(file, NULL, NULL);
    assert(budget.left <= work);
    file->budget = NULL;
}

static void check_rows(struct arena *arena, const struct model_file *file)
{
    for (size_t t = 0; t < file->table_count; t++) {
        const struct model_table *table = &file->tables[t];
        const struct entity_rules *rules = entity_rules_of_model(arena, file, table);
        for (size_t i = 0; i < table->row_count && rules != NULL; i++) {
            struct item item;
            struct bytes failure;
            struct entity_violation violation;
            if (model_row_item(arena, table->rows[i], &item, &failure) &&
                !entity_rules_check(rules, &item, &violation))
                assert(entity_violation_text(arena, &violation).len > 0);
        }
    }
}

/* As PutModel does. */
static void prepare(struct arena *arena, struct bytes text)
{
    const struct table_definition table = {
        .name = BYTES("shop"),
        .key = { .hash = { BYTES("PK"), VALUE_S },
                 .range = { BYTES("SK"), VALUE_S },
                 .has_range = true },
    };
    struct bytes failure = { 0 }, stored = entity_rules_prepare(arena, text, &table, &failure);
    assert((stored.data == NULL) == (failure.data != NULL));
    if (stored.data != NULL)
        assert(entity_rules_compile(arena, stored, &table) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct model_report report, again_report;
    struct model_file *file = model_file_load(arena, bytes_of(data, size), &report);
    assert((file == NULL) == (report.failure.data != NULL));
    assert(report.note_count <= MODEL_NOTES_MAX);
    prepare(arena, bytes_of(data, size));
    if (file != NULL) {
        struct bytes saved = model_file_save(arena, file);
        struct model_file *again = model_file_load(arena, saved, &again_report);
        assert(again != NULL);
        assert(bytes_equal(saved, model_file_save(arena, again)));
        judge(arena, file);
        judge_within(arena, file, size * 1000);
        check_rows(arena, file);
        assert(again->table_count == file->table_count);
        assert(again->entity_count == file->entity_count);
        assert(again->pattern_count == file->pattern_count);
        for (size_t t = 0; t < file->table_count; t++) {
            assert(again->tables[t].row_count == file->tables[t].row_count);
            for (size_t i = 0; i < file->tables[t].row_count; i++)
                assert(json_tree_equal(again->tables[t].rows[i], file->tables[t].rows[i]));
        }
    }
    arena_destroy(arena);
    return 0;
}
