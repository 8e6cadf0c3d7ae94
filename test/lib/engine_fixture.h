/* engine_fixture.h -- every engine we have, opened alike, and short forms of common calls. */
#ifndef STATOR_TEST_ENGINE_FIXTURE_H
#define STATOR_TEST_ENGINE_FIXTURE_H
#include <stdbool.h>
#include <stddef.h>
#include "engine/engine.h"
#include "rados_fixture.h"
#include "scratch.h"

enum engine_fixture_kind {
    ENGINE_FIXTURE_REFERENCE,
    ENGINE_FIXTURE_FORWARD,        /* The reference without reverse scans and range deletes. */
    ENGINE_FIXTURE_FAILING,        /* The failing wrapper that never fails, around the reference. */
    ENGINE_FIXTURE_COMMIT,         /* engine/commit/ over partitions in memory. */
    ENGINE_FIXTURE_COMMIT_FORWARD, /* The same over a store that only reads forward. */
    ENGINE_FIXTURE_ROCKSDB_MEMORY,
    ENGINE_FIXTURE_ROCKSDB_OS,
    ENGINE_FIXTURE_ROCKSDB_SYNC,
    ENGINE_FIXTURE_RADOS, /* engine/commit/ over a Ceph cluster. */
    ENGINE_FIXTURE_KIND_COUNT,
};

struct engine_fixture {
    enum engine_fixture_kind kind;
    struct engine *engine;
    char directory[SCRATCH_PATH_MAX]; /* Empty: none. */
    char space[RADOS_FIXTURE_SPACE_SIZE];
};

const char *engine_fixture_kind_name(enum engine_fixture_kind kind);
/* Whether tests run on it now: where there is a cluster (`make test-rados`), on that alone. */
bool engine_fixture_is_chosen(enum engine_fixture_kind kind);
void engine_fixture_open(struct engine_fixture *fixture, enum engine_fixture_kind kind);
/* Whether content outlives the engine. */
bool engine_fixture_is_persistent(const struct engine_fixture *fixture);
/* Whether a view shows the state of its opening for as long as it is open. Without that, one that
 * has read what others changed later answers ENGINE_CONFLICT (engine/commit/commit_engine.h). */
bool engine_fixture_keeps_views(const struct engine_fixture *fixture);
void engine_fixture_reopen(struct engine_fixture *fixture);
void engine_fixture_close(struct engine_fixture *fixture);

/* The value backwards; none of a value that begins with a 'w'. */
struct bytes engine_fixture_render(struct arena *arena, struct bytes value);
/* Small buffers, as a test needs them. */
struct engine_options engine_fixture_rocksdb_options(const char *directory);

/* The short forms abort where the engine says anything unexpected. */
struct engine_address engine_fixture_address(struct engine_place place, struct bytes key);
void engine_fixture_put(struct engine *engine, struct engine_place place, struct bytes key,
                        struct bytes value);
void engine_fixture_delete(struct engine *engine, struct engine_place place, struct bytes key);
/* What a view opened now shows. */
bool engine_fixture_has(struct engine *engine, struct engine_place place, struct bytes key,
                        struct bytes value);
bool engine_fixture_lacks(struct engine *engine, struct engine_place place, struct bytes key);
struct engine_view *engine_fixture_view(struct engine *engine);
bool engine_fixture_view_has(struct engine_view *view, struct engine_place place, struct bytes key,
                             struct bytes value);

#endif
