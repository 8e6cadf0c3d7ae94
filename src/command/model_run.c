/* model_run.c -- loads a model's sample into a database in memory and runs its patterns: see
 * model_check.h. */
#include <stdlib.h>
#include "base/arena.h"
#include "command/model_check.h"
#include "command/model_server.h"
#include "schema/entity_rules.h"
#include "schema/json_tree.h"
#include "schema/model_request.h"
#include "schema/pattern_verdict.h"

/* --- Loading --- */

static bool load_table(struct arena *arena, struct model_server *server,
                       const struct model_table *table, struct bytes *failure)
{
    struct bytes answer;
    if (!model_server_call(server, arena, "CreateTable", model_request_create_table(arena, table),
                           &answer)) {
        *failure = arena_printf(arena, "table %.*s cannot be created: %.*s", BYTES_FMT(table->name),
                                BYTES_FMT(answer));
        return false;
    }
    for (size_t i = 0; i < table->row_count; i++) {
        if (model_server_call(server, arena, "PutItem",
                              model_request_put_item(arena, table, table->rows[i]), &answer))
            continue;
        *failure =
            arena_printf(arena, "%.*s cannot be stored: %.*s",
                         BYTES_FMT(json_tree_path(arena, table->rows[i])), BYTES_FMT(answer));
        return false;
    }
    return true;
}

bool model_check_load(struct arena *arena, struct model_server *server,
                      const struct model_file *file, struct bytes *failure)
{
    for (size_t i = 0; i < file->table_count; i++) {
        if (!load_table(arena, server, &file->tables[i], failure))
            return false;
    }
    return true;
}

/* --- Running --- */

static double number_of(const struct json_node *node)
{
    char text[64] = "";
    if (node == NULL || node->type != JSON_NUMBER || node->text.len >= sizeof text)
        return 0;
    memcpy(text, node->text.data, node->text.len);
    return strtod(text, NULL);
}

static void add_items(struct arena *arena, const struct json_node *list, struct pattern_run *run)
{
    run->items = arena_grow(arena, run->items, run->item_count * sizeof(struct json_node *),
                            (run->item_count + list->count) * sizeof(struct json_node *));
    for (struct json_node *item = list->first; item != NULL; item = item->next)
        run->items[run->item_count++] = item;
}

/* Adds a page. Returns its LastEvaluatedKey; NULL: there is none. */
static struct json_node *add_page(struct arena *arena, struct bytes answer, struct pattern_run *run)
{
    struct bytes failure;
    struct json_node *page = json_tree_parse(arena, answer, &failure);
    struct json_node *items = json_tree_member(page, "Items");
    struct json_node *item = json_tree_member(page, "Item");
    run->pages++;
    run->units +=
        number_of(json_tree_member(json_tree_member(page, "ConsumedCapacity"), "CapacityUnits"));
    if (items != NULL)
        add_items(arena, items, run);
    if (item != NULL) {
        run->items = arena_alloc(arena, sizeof(struct json_node *));
        run->items[run->item_count++] = item;
    }
    run->scanned +=
        items != NULL ? (int64_t)number_of(json_tree_member(page, "ScannedCount")) : item != NULL;
    return json_tree_member(page, "LastEvaluatedKey");
}

struct pattern_run model_check_run(struct arena *arena, struct model_server *server,
                                   const struct model_file *file,
                                   const struct model_pattern *pattern)
{
    struct pattern_run run = { .succeeded = true };
    struct json_node *after = NULL;
    do {
        struct bytes body, answer, missing;
        if (!model_request_pattern(arena, file, pattern, after, &body, &missing)) {
            run.succeeded = false;
            run.failure =
                arena_printf(arena, "the parameter %.*s has no value", BYTES_FMT(missing));
            break;
        }
        if (!model_server_call(server, arena, pattern_operation_name(pattern->operation), body,
                               &answer)) {
            run.succeeded = false;
            run.failure = answer;
            break;
        }
        after = add_page(arena, answer, &run);
    } while (after != NULL && pattern->limit == 0);
    return run;
}

/* --- Comparing --- */

/* Whether the item has all attributes of the expected key, with the same values. */
static bool has_key(const struct json_node *item, const struct json_node *key)
{
    for (const struct json_node *at = key->first; at != NULL; at = at->next) {
        const struct json_node *value = json_tree_member_bytes(item, at->name);
        if (value == NULL || !json_tree_equal(value, at))
            return false;
    }
    return true;
}

static struct bytes compare_keys(struct arena *arena, const struct model_pattern *pattern,
                                 const struct pattern_run *run)
{
    const struct json_node *key = pattern->expect.keys->first;
    bool ordered = pattern->operation != PATTERN_SCAN;
    if (run->item_count != pattern->expect.keys->count)
        return arena_printf(arena, "expected %zu items, found %zu", pattern->expect.keys->count,
                            run->item_count);
    for (size_t i = 0; i < run->item_count; i++, key = key->next) {
        bool found = ordered && has_key(run->items[i], key);
        for (size_t n = 0; n < run->item_count && !ordered && !found; n++)
            found = has_key(run->items[n], key);
        if (!found)
            return arena_printf(arena, "expected item %zu with %.*s, found %.*s", i + 1,
                                BYTES_FMT(json_tree_text(arena, key)),
                                BYTES_FMT(json_tree_text(arena, run->items[i])));
    }
    return (struct bytes){ 0 };
}

/* The entity of an item that a pattern returned: that of the sample's row with its key, because an
 * index may lack the discriminator. */
static struct bytes entity_of(struct arena *arena, const struct model_table *table,
                              const struct entity_rules *rules, const struct json_node *found)
{
    const struct model_index *key = &table->indexes[0];
    const struct json_node *hash = json_tree_member_bytes(found, key->hash.name);
    const struct json_node *range =
        key->has_range ? json_tree_member_bytes(found, key->range.name) : NULL;
    for (size_t i = 0; i < table->row_count && hash != NULL; i++) {
        const struct json_node *row = table->rows[i];
        struct item item;
        struct bytes failure;
        if (json_tree_equal(json_tree_member_bytes(row, key->hash.name), hash) &&
            (range == NULL ||
             json_tree_equal(json_tree_member_bytes(row, key->range.name), range)) &&
            model_row_item(arena, row, &item, &failure))
            return entity_rules_classify(rules, &item);
    }
    return (struct bytes){ 0 };
}

static bool is_listed(const struct json_node *list, struct bytes name)
{
    for (const struct json_node *at = list->first; at != NULL; at = at->next) {
        if (bytes_equal(at->text, name))
            return true;
    }
    return false;
}

static struct bytes compare_entities(struct arena *arena, const struct model_file *file,
                                     const struct model_pattern *pattern,
                                     const struct pattern_run *run)
{
    const struct model_table *table = model_file_table(file, pattern->table);
    const struct entity_rules *rules = entity_rules_of_model(arena, file, table);
    const struct json_node *list = pattern->expect.entities;
    struct bytes *found = arena_alloc_zeroed(arena, (run->item_count + 1) * sizeof *found);
    /* The keys are needed to tell the entity; a pattern that asks for other attributes only lacks
     * them. */
    for (size_t i = 0; i < run->item_count && rules != NULL; i++) {
        found[i] = entity_of(arena, table, rules, run->items[i]);
        if (found[i].data == NULL || !is_listed(list, found[i]))
            return arena_printf(arena, "item %zu is of entity %.*s, which is not expected", i + 1,
                                BYTES_FMT(found[i].data == NULL ? BYTES("(none)") : found[i]));
    }
    for (const struct json_node *at = list->first; at != NULL; at = at->next) {
        bool seen = false;
        for (size_t i = 0; i < run->item_count && !seen; i++)
            seen = found[i].data != NULL && bytes_equal(found[i], at->text);
        if (!seen)
            return arena_printf(arena, "expected items of entity %.*s, found none",
                                BYTES_FMT(at->text));
    }
    return (struct bytes){ 0 };
}

struct bytes model_check_compare(struct arena *arena, const struct model_file *file,
                                 const struct model_pattern *pattern, const struct pattern_run *run)
{
    const struct model_expectation *expect = &pattern->expect;
    struct bytes difference = { 0 };
    if (run->succeeded == expect->refused)
        return run->succeeded ? BYTES("expected a refusal, and it succeeded")
                              : arena_printf(arena, "it fails: %.*s", BYTES_FMT(run->failure));
    if (!run->succeeded)
        return difference;
    if (expect->has_count && (uint64_t)expect->count != run->item_count)
        return arena_printf(arena, "expected %lld items, found %zu", (long long)expect->count,
                            run->item_count);
    if (expect->has_pages && expect->pages != run->pages)
        return arena_printf(arena, "expected %lld pages, found %lld", (long long)expect->pages,
                            (long long)run->pages);
    if (expect->keys != NULL)
        difference = compare_keys(arena, pattern, run);
    if (difference.data == NULL && expect->entities != NULL)
        difference = compare_entities(arena, file, pattern, run);
    return difference;
}
