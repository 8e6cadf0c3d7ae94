/* engine_fixture.c -- see engine_fixture.h. */
#include "engine_fixture.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/random.h"
#include "engine/commit/commit_engine.h"
#include "failing_engine.h"
#include "partition_memory.h"
#include "reference_engine.h"

const char *engine_fixture_kind_name(enum engine_fixture_kind kind)
{
    static const char *const names[ENGINE_FIXTURE_KIND_COUNT] = {
        [ENGINE_FIXTURE_REFERENCE] = "reference",
        [ENGINE_FIXTURE_FORWARD] = "forward only",
        [ENGINE_FIXTURE_FAILING] = "failing wrapper that never fails",
        [ENGINE_FIXTURE_COMMIT] = "commit protocol over partitions",
        [ENGINE_FIXTURE_COMMIT_FORWARD] = "commit protocol, forward only",
        [ENGINE_FIXTURE_ROCKSDB_MEMORY] = "RocksDB in memory",
        [ENGINE_FIXTURE_ROCKSDB_OS] = "RocksDB, durability os",
        [ENGINE_FIXTURE_ROCKSDB_SYNC] = "RocksDB, durability sync",
        [ENGINE_FIXTURE_RADOS] = "commit protocol over RADOS",
    };
    return names[kind];
}

struct bytes engine_fixture_render(struct arena *arena, struct bytes value)
{
    if (value.len == 0 || value.data[0] == 'w')
        return (struct bytes){ 0 };
    uint8_t *rendered = arena_alloc(arena, value.len);
    for (size_t i = 0; i < value.len; i++)
        rendered[i] = value.data[value.len - 1 - i];
    return bytes_of(rendered, value.len);
}

struct engine_options engine_fixture_rocksdb_options(const char *directory)
{
    return (struct engine_options){
        .engine = "rocksdb",
        .directory = directory,
        .durability = ENGINE_DURABILITY_SYNC,
        .item_cache_size = 1024 * 1024,
        .render = engine_fixture_render,
        .block_cache_size = 8 * 1024 * 1024,
        .write_buffer_size = 4 * 1024 * 1024,
    };
}

static struct engine *open_rocksdb(const struct engine_fixture *fixture)
{
    struct engine_options options = engine_fixture_rocksdb_options(fixture->directory);
    options.in_memory = fixture->kind == ENGINE_FIXTURE_ROCKSDB_MEMORY;
    if (fixture->kind == ENGINE_FIXTURE_ROCKSDB_OS)
        options.durability = ENGINE_DURABILITY_OS;
    char message[ENGINE_MESSAGE_MAX];
    struct engine *engine = engine_open(&options, message);
    if (engine == NULL) {
        fprintf(stderr, "%s\n", message);
        abort();
    }
    return engine;
}

bool engine_fixture_is_chosen(enum engine_fixture_kind kind)
{
    return rados_fixture_is_available() == (kind == ENGINE_FIXTURE_RADOS);
}

static struct engine *open_commit(struct partition_store *store)
{
    char message[ENGINE_MESSAGE_MAX];
    struct random random;
    random_init_from_system(&random);
    struct engine *engine =
        commit_engine_create(store, &commit_time_system, random_next(&random), message);
    assert(engine != NULL);
    return engine;
}

static struct engine *open_kind(const struct engine_fixture *fixture)
{
    switch (fixture->kind) {
    case ENGINE_FIXTURE_REFERENCE:
        return reference_engine_create();
    case ENGINE_FIXTURE_FORWARD:
        return reference_engine_create_with(ENGINE_GLOBAL_ATOMIC);
    case ENGINE_FIXTURE_FAILING:
        return failing_engine_create(reference_engine_create());
    case ENGINE_FIXTURE_COMMIT:
        return open_commit(partition_memory_create(true));
    case ENGINE_FIXTURE_COMMIT_FORWARD:
        return open_commit(partition_memory_create(false));
    case ENGINE_FIXTURE_RADOS:
        return open_commit(rados_fixture_open(fixture->space, 0));
    default:
        return open_rocksdb(fixture);
    }
}

void engine_fixture_open(struct engine_fixture *fixture, enum engine_fixture_kind kind)
{
    fixture->kind = kind;
    fixture->directory[0] = '\0';
    if (kind == ENGINE_FIXTURE_RADOS)
        rados_fixture_new_space(fixture->space);
    else if (engine_fixture_is_persistent(fixture))
        scratch_create(fixture->directory);
    fixture->engine = open_kind(fixture);
}

bool engine_fixture_is_persistent(const struct engine_fixture *fixture)
{
    return fixture->kind == ENGINE_FIXTURE_ROCKSDB_OS ||
           fixture->kind == ENGINE_FIXTURE_ROCKSDB_SYNC || fixture->kind == ENGINE_FIXTURE_RADOS;
}

bool engine_fixture_keeps_views(const struct engine_fixture *fixture)
{
    return fixture->kind != ENGINE_FIXTURE_COMMIT &&
           fixture->kind != ENGINE_FIXTURE_COMMIT_FORWARD && fixture->kind != ENGINE_FIXTURE_RADOS;
}

void engine_fixture_reopen(struct engine_fixture *fixture)
{
    engine_close(fixture->engine);
    fixture->engine = open_kind(fixture);
}

void engine_fixture_close(struct engine_fixture *fixture)
{
    engine_close(fixture->engine);
    if (fixture->directory[0] != '\0')
        scratch_destroy(fixture->directory);
}

struct engine_address engine_fixture_address(struct engine_place place, struct bytes key)
{
    return (struct engine_address){ place, key };
}

static void check(enum engine_status status)
{
    if (status != ENGINE_OK) {
        fprintf(stderr, "unexpected engine status: %s\n", engine_status_name(status));
        abort();
    }
}

void engine_fixture_put(struct engine *engine, struct engine_place place, struct bytes key,
                        struct bytes value)
{
    struct engine_address address = { place, key };
    struct engine_write *write;
    check(engine_write_begin(engine, &address, 1, &write));
    engine_write_put(write, &address, value);
    check(engine_write_commit_wait(write));
}

void engine_fixture_delete(struct engine *engine, struct engine_place place, struct bytes key)
{
    struct engine_address address = { place, key };
    struct engine_write *write;
    check(engine_write_begin(engine, &address, 1, &write));
    engine_write_delete(write, &address);
    check(engine_write_commit_wait(write));
}

struct engine_view *engine_fixture_view(struct engine *engine)
{
    struct engine_view *view;
    check(engine_view_open(engine, ENGINE_STRONG, &view));
    return view;
}

bool engine_fixture_view_has(struct engine_view *view, struct engine_place place, struct bytes key,
                             struct bytes value)
{
    struct engine_address address = { place, key };
    struct engine_value found;
    enum engine_status status = engine_view_get(view, &address, &found);
    if (status == ENGINE_NOT_FOUND)
        return false;
    check(status);
    bool equal = bytes_equal(found.bytes, value);
    engine_value_release(&found);
    return equal;
}

bool engine_fixture_has(struct engine *engine, struct engine_place place, struct bytes key,
                        struct bytes value)
{
    struct engine_view *view = engine_fixture_view(engine);
    bool has = engine_fixture_view_has(view, place, key, value);
    engine_view_close(view);
    return has;
}

bool engine_fixture_lacks(struct engine *engine, struct engine_place place, struct bytes key)
{
    struct engine_address address = { place, key };
    struct engine_view *view = engine_fixture_view(engine);
    struct engine_value found;
    enum engine_status status = engine_view_get(view, &address, &found);
    engine_value_release(&found);
    engine_view_close(view);
    if (status != ENGINE_NOT_FOUND)
        check(status);
    return status == ENGINE_NOT_FOUND;
}
