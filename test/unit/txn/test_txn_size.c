/* test_txn_size.c -- the bound on the index entries of one write. */
#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "index_fixture.h"
#include "item_fixture.h"
#include "model/error.h"
#include "reference_engine.h"
#include "txn/txn.h"

enum {
    ITEMS = 64,
    INDEXES = 16, /* All of them hold whole items. */
    ENTRY_SIZE = TXN_INDEX_ENTRIES_SIZE_MAX / ITEMS / INDEXES,
};
static_assert(ENTRY_SIZE * INDEXES * ITEMS == TXN_INDEX_ENTRIES_SIZE_MAX, "exactly at the bound");

struct plan {
    struct txn txn;
    struct txn_item items[ITEMS];
    struct item replacements[ITEMS];
    enum engine_status status;
};

static struct plan *of_txn(struct txn *txn)
{
    return (struct plan *)((char *)txn - offsetof(struct plan, txn));
}

static bool decide(struct txn *txn)
{
    for (size_t i = 0; i < txn->item_count; i++) {
        txn->items[i].effect = TXN_PUT;
        txn->items[i].replacement = of_txn(txn)->replacements[i];
    }
    return true;
}

static void done(struct txn *txn, enum engine_status status)
{
    of_txn(txn)->status = status;
}

/* An item with the key of every index, `size` bytes as it is stored. */
static struct item item_of(struct arena *arena, size_t number, size_t size)
{
    size_t pad_size = size;
    for (;;) {
        char *pad = arena_alloc(arena, pad_size + 1);
        memset(pad, 'x', pad_size);
        pad[pad_size] = '\0';
        struct bytes text =
            arena_printf(arena,
                         "{\"p\":{\"S\":\"p\"},\"s\":{\"N\":\"%zu\"},\"g\":{\"S\":\"g\"},"
                         "\"pad\":{\"S\":\"%s\"}}",
                         number, pad);
        struct item item = item_fixture_read(arena, (const char *)text.data);
        if (item.encoded.len == size)
            return item;
        pad_size -= item.encoded.len - size;
    }
}

/* Puts all items; the last one is `more` bytes larger than the others. */
static enum engine_status put_all(struct engine *engine, size_t more)
{
    struct arena *arena = arena_create();
    struct index_definition indexes[INDEXES];
    struct table_definition table = index_fixture_table;
    struct plan *plan = calloc(1, sizeof *plan);
    for (size_t i = 0; i < INDEXES; i++) {
        indexes[i] = index_fixture_table.indexes[INDEX_FIXTURE_ALL];
        indexes[i].id += 100 + i;
    }
    table.indexes = indexes;
    table.index_count = INDEXES;
    plan->txn = (struct txn){ .arena = arena,
                              .engine = engine,
                              .clock = &clock_system,
                              .items = plan->items,
                              .item_count = ITEMS,
                              .decide = decide,
                              .done = done };
    for (size_t i = 0; i < ITEMS; i++) {
        struct error err;
        error_init(&err, arena);
        plan->replacements[i] = item_of(arena, i, ENTRY_SIZE + (i == ITEMS - 1 ? more : 0));
        plan->items[i].table = &table;
        assert_true(item_address_of_item(arena, &table, &plan->replacements[i],
                                         &plan->items[i].place, &err));
    }
    txn_start(&plan->txn);
    enum engine_status status = plan->status;
    free(plan);
    arena_destroy(arena);
    return status;
}

static void entries_beyond_the_bound_refuse_the_write_before_any_effect(void **state)
{
    (void)state;
    struct engine *engine = reference_engine_create();
    struct engine_view *view;
    struct engine_place place;
    assert_int_equal(put_all(engine, 1), ENGINE_TOO_LARGE);
    assert_int_equal(engine_view_open(engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(engine_view_next_place(view, NULL, &place), ENGINE_END);
    engine_view_close(view);
    engine_close(engine);
}

static void entries_at_the_bound_are_stored(void **state)
{
    (void)state;
    struct engine *engine = reference_engine_create();
    assert_int_equal(put_all(engine, 0), ENGINE_OK);
    engine_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_beyond_the_bound_refuse_the_write_before_any_effect),
        cmocka_unit_test(entries_at_the_bound_are_stored),
    };
    return cmocka_run_group_tests_name("txn/size", tests, NULL, NULL);
}
