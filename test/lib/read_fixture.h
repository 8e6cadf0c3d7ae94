/* read_fixture.h -- requests written with single quotes, and pages of Query and Scan taken apart.
 */
#ifndef STATOR_TEST_READ_FIXTURE_H
#define STATOR_TEST_READ_FIXTURE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"
#include "model/error.h"

struct api_fixture;

enum {
    READ_FIXTURE_BODY_MAX = 600 * 1024,
    READ_FIXTURE_KEY_MAX = 256,
    READ_FIXTURE_ITEMS_MAX = 512,
};

/* JSON from printf's arguments, with every ' in the format's result turned into ". Good until the
 * next call. */
const char *read_fixture_json(const char *format, ...) PRINTF_LIKE(1, 2);

/* All fail the test, naming the request, unless the call ends as expected. */
void read_fixture_call(struct api_fixture *fixture, const char *operation, const char *body);
void read_fixture_expect(struct api_fixture *fixture, const char *operation, const char *body,
                         const char *response);
void read_fixture_refuse(struct api_fixture *fixture, const char *operation, const char *body,
                         enum error_code code, const char *message);

/* The last response, of a request whose items show a string `v` (and may show more before it). */
struct read_fixture_page {
    size_t count;
    size_t scanned_count;
    char last_key[READ_FIXTURE_KEY_MAX]; /* As JSON; empty: none. */
    size_t value_count;
    char values[READ_FIXTURE_ITEMS_MAX][16];
};
void read_fixture_page(const struct api_fixture *fixture, struct read_fixture_page *out);

#endif
