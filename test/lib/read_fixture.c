/* read_fixture.c -- see read_fixture.h. */
#include "read_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api_fixture.h"

const char *read_fixture_json(const char *format, ...)
{
    static char body[READ_FIXTURE_BODY_MAX];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(body, sizeof body, format, arguments);
    va_end(arguments);
    assert_true(size >= 0 && (size_t)size < sizeof body);
    for (char *at = body; *at != '\0'; at++) {
        if (*at == '\'')
            *at = '"';
    }
    return body;
}

void read_fixture_call(struct api_fixture *fixture, const char *operation, const char *body)
{
    if (!api_fixture_call(fixture, operation, body))
        fail_msg("%s %.500s\n got: %.*s", operation, body, BYTES_FMT(fixture->error.message));
}

void read_fixture_expect(struct api_fixture *fixture, const char *operation, const char *body,
                         const char *response)
{
    static char want[READ_FIXTURE_BODY_MAX];
    snprintf(want, sizeof want, "%s", read_fixture_json("%s", response));
    api_fixture_expect(fixture, operation, read_fixture_json("%s", body), want);
}

void read_fixture_refuse(struct api_fixture *fixture, const char *operation, const char *body,
                         enum error_code code, const char *message)
{
    api_fixture_expect_error(fixture, operation, read_fixture_json("%s", body), code, message);
}

/* The text behind the last `mark` in the response; NULL if it has none. */
static const char *behind(const char *response, const char *mark)
{
    const char *found = NULL;
    for (const char *at = strstr(response, mark); at != NULL; at = strstr(at + 1, mark))
        found = at;
    return found == NULL ? NULL : found + strlen(mark);
}

static size_t number_behind(const char *response, const char *mark)
{
    const char *at = behind(response, mark);
    assert_non_null(at);
    return (size_t)strtoul(at, NULL, 10);
}

void read_fixture_page(const struct api_fixture *fixture, struct read_fixture_page *out)
{
    static const char value_mark[] = "\"v\":{\"S\":\"";
    char *response = malloc(fixture->response.len + 1);
    memcpy(response, fixture->response.data, fixture->response.len);
    response[fixture->response.len] = '\0';
    *out =
        (struct read_fixture_page){ .count = number_behind(response, "\"Count\":"),
                                    .scanned_count = number_behind(response, "\"ScannedCount\":") };
    for (const char *at = strstr(response, value_mark); at != NULL; at = strstr(at, value_mark)) {
        assert_true(out->value_count < READ_FIXTURE_ITEMS_MAX);
        at += sizeof value_mark - 1;
        size_t size = strcspn(at, "\"");
        assert_true(size < sizeof out->values[0]);
        memcpy(out->values[out->value_count++], at, size);
    }
    const char *key = behind(response, "\"LastEvaluatedKey\":");
    if (key != NULL) { /* Keys of the tests hold no braces: it ends with that of its last value. */
        const char *end = strstr(key, "}}");
        assert_true(end != NULL && (size_t)(end + 2 - key) < sizeof out->last_key);
        memcpy(out->last_key, key, (size_t)(end + 2 - key));
    }
    free(response);
}
