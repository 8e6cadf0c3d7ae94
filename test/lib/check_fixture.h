/* check_fixture.h -- a store with items in several indexes, and what `check_store` says of it.
 *
 * The store is filled through the API, so it is as a server leaves it; tests then damage it by
 * writing past all layers.
 */
#ifndef STATOR_TEST_CHECK_FIXTURE_H
#define STATOR_TEST_CHECK_FIXTURE_H
#include "api_fixture.h"
#include "check/check.h"
#include "engine/engine.h"

struct arena;
struct table_definition;

struct check_fixture {
    struct api_fixture api;
    struct engine *engine; /* The failing wrapper around the reference engine. */
    struct arena *arena;
    /* "orders": p (S), s (N), with the indexes below; filled. */
    const struct table_definition *orders;
};

/* In the order of the definition. */
enum {
    CHECK_FIXTURE_BY_DATE,   /* Local: p, d (S); INCLUDE x. */
    CHECK_FIXTURE_BY_NUMBER, /* Local: p, h (N); KEYS_ONLY. */
    CHECK_FIXTURE_BY_GROUP,  /* Global: g (S), h (N); KEYS_ONLY. */
    CHECK_FIXTURE_ALL,       /* Global: g (S); ALL. */
    CHECK_FIXTURE_MULTIPLE,  /* Global: g, d (S), h (N), x (S); INCLUDE note. */
    CHECK_FIXTURE_INDEX_COUNT,
};

/* An entry of the store, copied into the fixture's arena. */
struct check_fixture_entry {
    struct engine_place place;
    struct bytes key;
    struct bytes value;
};

void check_fixture_open(struct check_fixture *fixture);
void check_fixture_close(struct check_fixture *fixture);
/* `count` random puts, updates and deletes of items. */
void check_fixture_write_random(struct check_fixture *fixture, uint64_t seed, size_t count);

/* Checks, and fails the test unless the problems are as told, in order: shell patterns, NULL at
 * the end. */
struct check_result check_fixture_expect(struct check_fixture *fixture, const char *const *want);

/* The first item of the table that has an entry in every index; the entry of an item. */
struct check_fixture_entry check_fixture_item(struct check_fixture *fixture);
struct check_fixture_entry check_fixture_entry_of(struct check_fixture *fixture, size_t index,
                                                  const struct check_fixture_entry *item);
/* The same with one bit of its value's last byte flipped. */
struct check_fixture_entry check_fixture_flip(struct check_fixture *fixture,
                                              struct check_fixture_entry entry);
void check_fixture_put(struct check_fixture *fixture, const struct check_fixture_entry *entry);
void check_fixture_delete(struct check_fixture *fixture, const struct check_fixture_entry *entry);

#endif
