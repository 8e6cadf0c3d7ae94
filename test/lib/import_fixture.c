/* import_fixture.c -- see import_fixture.h. */
#include "import_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/arena.h"
#include "object/object_store.h"

enum { WAIT_STEP_US = 2000, WAIT_STEPS_MAX = 60 * 500 };

static void make_folder(const char *path)
{
    assert_true(mkdir(path, 0700) == 0);
}

void import_fixture_open(struct import_fixture *fixture, const struct api_options *options)
{
    char path[SCRATCH_PATH_MAX], message[OBJECT_MESSAGE_MAX];
    struct api_options mine = options == NULL ? (struct api_options){ 0 } : *options;
    scratch_create(fixture->root);
    scratch_join(fixture->buckets, fixture->root, "buckets");
    scratch_join(fixture->imports, fixture->root, "imports");
    make_folder(fixture->buckets);
    scratch_join(path, fixture->buckets, "in");
    make_folder(path);
    scratch_join(path, fixture->buckets, "out");
    make_folder(path);
    fixture->store = object_store_open(
        &(struct object_store_options){ .folder = fixture->buckets, .account = "123456789012" },
        message);
    assert_non_null(fixture->store);
    mine.objects = fixture->store;
    mine.imports_folder = fixture->imports;
    api_fixture_open_with(&fixture->api, &mine);
}

void import_fixture_close(struct import_fixture *fixture)
{
    api_fixture_close(&fixture->api);
    object_store_close(fixture->store);
    scratch_destroy(fixture->root);
}

void import_fixture_put(struct import_fixture *fixture, const char *key, struct bytes content)
{
    char path[2 * SCRATCH_PATH_MAX];
    snprintf(path, sizeof path, "%s/in/%s", fixture->buckets, key);
    for (char *at = path + strlen(fixture->buckets) + 4; (at = strchr(at, '/')) != NULL; at++) {
        *at = 0;
        (void)!mkdir(path, 0700);
        *at = '/';
    }
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content.data, 1, content.len, file), content.len);
    fclose(file);
}

void import_fixture_put_text(struct import_fixture *fixture, const char *key, const char *text)
{
    import_fixture_put(fixture, key, bytes_from_text(text));
}

const char *import_fixture_file(struct import_fixture *fixture, const char *path)
{
    char whole[2 * SCRATCH_PATH_MAX];
    struct stat status;
    snprintf(whole, sizeof whole, "%s/%s", fixture->root, path);
    FILE *file = fopen(whole, "rb");
    if (file == NULL)
        return NULL;
    assert_int_equal(fstat(fileno(file), &status), 0);
    char *text = arena_alloc(fixture->api.arena, (size_t)status.st_size + 1);
    assert_int_equal(fread(text, 1, (size_t)status.st_size, file), status.st_size);
    text[status.st_size] = 0;
    fclose(file);
    return text;
}

void import_fixture_shows(struct import_fixture *fixture, const char *text)
{
    if (!api_fixture_shows(&fixture->api, text))
        fail_msg("%s is not in %.*s", text, BYTES_FMT(fixture->api.response));
}

void import_fixture_keep_arn(struct import_fixture *fixture)
{
    const char *from = memmem(fixture->api.response.data, fixture->api.response.len, "Arn\":\"", 6);
    assert_non_null(from);
    const char *last = (const char *)fixture->api.response.data + fixture->api.response.len;
    const char *end = memchr(from + 6, '"', (size_t)(last - from - 6));
    assert_non_null(end);
    snprintf(fixture->arn, sizeof fixture->arn, "%.*s", (int)(end - from - 6), from + 6);
}

void import_fixture_start(struct import_fixture *fixture, const char *format, const char *more)
{
    char body[4096];
    snprintf(
        body, sizeof body,
        "{'ClientToken':'c-%s','S3BucketSource':{'S3Bucket':'in'},'InputFormat':'%s',"
        "'TableCreationParameters':{'TableName':'Tab','AttributeDefinitions':[{'AttributeName':"
        "'p','AttributeType':'S'}],'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}],"
        "'BillingMode':'PAY_PER_REQUEST'}%s}",
        format, format, more);
    if (!api_fixture_call(&fixture->api, "ImportTable", body))
        fail_msg("%.*s", BYTES_FMT(fixture->api.error.message));
    import_fixture_keep_arn(fixture);
}

void import_fixture_wait(struct import_fixture *fixture)
{
    char body[1200];
    bool bulk = strstr(fixture->arn, "/import/") == NULL;
    snprintf(body, sizeof body, "{'%s':'%s'}", bulk ? "BulkOperationArn" : "ImportArn",
             fixture->arn);
    for (int i = 0; i < WAIT_STEPS_MAX; i++) {
        bool ok = api_fixture_call(&fixture->api, bulk ? "DescribeBulkOperation" : "DescribeImport",
                                   body);
        if (!ok)
            fail_msg("%s: %.*s", body, BYTES_FMT(fixture->api.error.message));
        if (!api_fixture_shows(&fixture->api, "'IN_PROGRESS'") &&
            !api_fixture_shows(&fixture->api, "'CANCELLING'"))
            return;
        usleep(WAIT_STEP_US);
    }
    fail_msg("%s does not end", fixture->arn);
}

void import_fixture_run(struct import_fixture *fixture, const char *format, const char *more)
{
    import_fixture_start(fixture, format, more);
    import_fixture_wait(fixture);
}
