/* object_fixture.h -- an object store for tests: folders in a scratch directory, or the fake S3
 * server of fake_s3.py. Both have one bucket, "bucket". */
#ifndef STATOR_TEST_OBJECT_FIXTURE_H
#define STATOR_TEST_OBJECT_FIXTURE_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "object/object_store.h"
#include "scratch.h"

enum object_fixture_kind { OBJECT_FIXTURE_FOLDER, OBJECT_FIXTURE_S3 };
/* So that an object of three parts is small. */
enum { OBJECT_FIXTURE_PART_SIZE = 1000 };

struct outbound;

struct object_fixture {
    enum object_fixture_kind kind;
    char root[SCRATCH_PATH_MAX];   /* With the folder "buckets", or the file "keys". */
    char folder[SCRATCH_PATH_MAX]; /* "root/buckets" */
    char key_file[SCRATCH_PATH_MAX];
    char endpoint[64];
    pid_t server; /* S3 only. */
    int server_input;
    struct outbound *outbound;
    struct arena *arena;
    struct object_store_options options;
    struct object_store *store;
    struct object_bucket *bucket;
};

/* For cmocka: `*state` becomes a fixture. */
int object_fixture_set_up_folder(void **state);
int object_fixture_set_up_s3(void **state);
int object_fixture_tear_down(void **state);

/* Closes the store and opens it again, with fixture->options. */
void object_fixture_reopen(struct object_fixture *fixture);
/* Opens another bucket; fails the test unless it can. */
struct object_bucket *object_fixture_bucket(struct object_fixture *fixture, const char *name);

/* Tells the fake server to fail: `rule` is JSON, as fake_s3.py says. */
void object_fixture_fail(struct object_fixture *fixture, const char *rule);
/* The fake server's state as JSON, in the arena. */
struct bytes object_fixture_state(struct object_fixture *fixture);

/* Writes credentials; `secret` NULL: those of the fake. */
void object_fixture_write_keys(struct object_fixture *fixture, const char *secret);

#endif
