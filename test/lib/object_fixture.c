/* object_fixture.c -- see object_fixture.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/clock.h"
#include "object_fixture.h"
#include "outbound/outbound.h"

void object_fixture_write_keys(struct object_fixture *fixture, const char *secret)
{
    FILE *file = fopen(fixture->key_file, "w");
    assert_non_null(file);
    fprintf(file,
            "# As AWS's tools write it.\n[other]\naws_access_key_id=no\n[default]\n"
            "aws_access_key_id = AKIDFAKES3\naws_secret_access_key = %s\nregion = here\n",
            secret == NULL ? "secret/of+the=fake" : secret);
    fclose(file);
    assert_int_equal(chmod(fixture->key_file, 0600), 0);
}

/* The server ends with its standard input. */
static void start_server(struct object_fixture *fixture)
{
    int input[2], output[2];
    char port[16] = "";
    assert_int_equal(pipe(input), 0);
    assert_int_equal(pipe(output), 0);
    fixture->server = fork();
    if (fixture->server == 0) {
        dup2(input[0], STDIN_FILENO);
        dup2(output[1], STDOUT_FILENO);
        close(input[1]);
        close(output[0]);
        execl("/usr/bin/python3", "python3", "test/lib/fake_s3.py",
              "{\"buckets\":[\"bucket\",\"other\"],\"part_size_min\":1000,\"page_size\":1000}",
              (char *)NULL);
        _exit(127);
    }
    close(input[0]);
    close(output[1]);
    fixture->server_input = input[1];
    for (size_t i = 0; i + 1 < sizeof port && read(output[0], port + i, 1) == 1; i++)
        if (port[i] == '\n')
            break;
    close(output[0]);
    assert_true(strtol(port, NULL, 10) > 0);
    snprintf(fixture->endpoint, sizeof fixture->endpoint, "http://127.0.0.1:%ld",
             strtol(port, NULL, 10));
}

struct object_bucket *object_fixture_bucket(struct object_fixture *fixture, const char *name)
{
    struct object_bucket_options options = { .name = bytes_from_text(name) };
    struct object_error err;
    struct object_bucket *bucket = object_bucket_open(fixture->store, &options, &err);
    if (bucket == NULL)
        fail_msg("%s", err.text);
    return bucket;
}

void object_fixture_reopen(struct object_fixture *fixture)
{
    char message[OBJECT_MESSAGE_MAX];
    object_bucket_close(fixture->bucket);
    object_store_close(fixture->store);
    fixture->bucket = NULL;
    fixture->store = object_store_open(&fixture->options, message);
    if (fixture->store == NULL)
        fail_msg("%s", message);
    fixture->bucket = object_fixture_bucket(fixture, "bucket");
}

static int set_up(void **state, enum object_fixture_kind kind)
{
    static const struct outbound_options no_options;
    char message[OUTBOUND_MESSAGE_MAX], path[SCRATCH_PATH_MAX];
    struct object_fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    signal(SIGPIPE, SIG_IGN);
    fixture->kind = kind;
    fixture->arena = arena_create();
    scratch_create(fixture->root);
    scratch_join(fixture->folder, fixture->root, "buckets");
    scratch_join(fixture->key_file, fixture->root, "keys");
    fixture->outbound = outbound_open(&no_options, message);
    assert_non_null(fixture->outbound);
    fixture->options = (struct object_store_options){ .account = "000000000000",
                                                      .region = "us-east-1",
                                                      .clock = &clock_system,
                                                      .outbound = fixture->outbound,
                                                      .retry_ms = 60000,
                                                      .part_size = OBJECT_FIXTURE_PART_SIZE };
    if (kind == OBJECT_FIXTURE_FOLDER) {
        assert_int_equal(mkdir(fixture->folder, 0700), 0);
        scratch_join(path, fixture->folder, "bucket");
        assert_int_equal(mkdir(path, 0700), 0);
        fixture->options.folder = fixture->folder;
    } else {
        object_fixture_write_keys(fixture, NULL);
        start_server(fixture);
        fixture->options.endpoint = fixture->endpoint;
        fixture->options.key_file = fixture->key_file;
    }
    object_fixture_reopen(fixture);
    *state = fixture;
    return 0;
}

int object_fixture_set_up_folder(void **state)
{
    return set_up(state, OBJECT_FIXTURE_FOLDER);
}

int object_fixture_set_up_s3(void **state)
{
    return set_up(state, OBJECT_FIXTURE_S3);
}

int object_fixture_tear_down(void **state)
{
    struct object_fixture *fixture = *state;
    object_bucket_close(fixture->bucket);
    object_store_close(fixture->store);
    outbound_close(fixture->outbound);
    if (fixture->kind == OBJECT_FIXTURE_S3) {
        close(fixture->server_input);
        waitpid(fixture->server, NULL, 0);
    }
    scratch_destroy(fixture->root);
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

static struct bytes control(struct object_fixture *fixture, const char *method, const char *path,
                            const char *body)
{
    char message[OUTBOUND_MESSAGE_MAX];
    struct outbound_answer answer;
    struct outbound_client *client = outbound_client_create(fixture->outbound, message);
    assert_non_null(client);
    struct outbound_request request = { .method = method,
                                        .url = bytes_from_text(fixture->endpoint),
                                        .target = bytes_from_text(path),
                                        .body = bytes_from_text(body),
                                        .timeout_ms = 60000,
                                        .answer_size_max = 1024 * 1024 };
    assert_int_equal(outbound_client_send(client, fixture->arena, &request, &answer), OUTBOUND_OK);
    assert_int_equal(answer.status, 200);
    outbound_client_destroy(client);
    return buffer_bytes(&answer.body);
}

void object_fixture_fail(struct object_fixture *fixture, const char *rule)
{
    control(fixture, "POST", "/_fail", rule);
}

struct bytes object_fixture_state(struct object_fixture *fixture)
{
    return control(fixture, "GET", "/_state", "");
}
