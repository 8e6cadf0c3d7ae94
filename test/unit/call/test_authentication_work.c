/* test_authentication_work.c -- refusing a key costs as much as accepting one, so the time of an
 * answer does not reveal which keys exist.
 *
 * The measure is the number of bytes hashed, not time: this program replaces crypto/sha256.c by a
 * hasher that counts. It does not compute SHA-256, but both sides use it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "auth_fixture.h"
#include "base/compiler.h"
#include "crypto/sha256.h"

/* --- The hasher --- */

struct sha256 {
    atomic_uint calls;
    atomic_size_t bytes;
};

enum { HASHERS_MAX = 256 };
static struct sha256 hashers[HASHERS_MAX];
static atomic_size_t hasher_count;

struct sha256 *sha256_create(void)
{
    size_t index = atomic_fetch_add(&hasher_count, 1);
    if (index >= HASHERS_MAX)
        abort();
    return &hashers[index];
}

void sha256_destroy(struct sha256 *hasher)
{
    (void)hasher;
}

/* FNV-1a, four times. */
static void mix(uint64_t lanes[4], struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        for (unsigned lane = 0; lane < 4; lane++)
            lanes[lane] = (lanes[lane] ^ text.data[i] ^ lane) * UINT64_C(1099511628211);
}

static void compute(struct sha256 *hasher, struct bytes key, struct bytes text,
                    uint8_t out[SHA256_SIZE])
{
    uint64_t lanes[4] = { 1, 2, 3, 4 };
    static_assert(sizeof lanes == SHA256_SIZE, "four lanes are a digest");
    mix(lanes, key);
    mix(lanes, text);
    memcpy(out, lanes, sizeof lanes);
    atomic_fetch_add(&hasher->calls, 1);
    atomic_fetch_add(&hasher->bytes, key.len + text.len);
}

void sha256_digest(struct sha256 *hasher, struct bytes text, uint8_t out[SHA256_SIZE])
{
    compute(hasher, BYTES(""), text, out);
}

void sha256_hmac(struct sha256 *hasher, struct bytes key, struct bytes text,
                 uint8_t out[SHA256_SIZE])
{
    uint8_t copy[SHA256_SIZE]; /* The key may lie where the result goes. */
    compute(hasher, key, text, copy);
    memcpy(out, copy, sizeof copy);
}

/* Of backups, which nobody makes here. */
void sha256_begin(struct sha256 *hasher)
{
    (void)hasher;
    abort();
}

void sha256_add(struct sha256 *hasher, struct bytes text)
{
    (void)text;
    sha256_begin(hasher);
}

void sha256_finish(struct sha256 *hasher, uint8_t out[SHA256_SIZE])
{
    (void)out;
    sha256_begin(hasher);
}

void sha256_hex(const uint8_t digest[SHA256_SIZE], char out[SHA256_HEX_SIZE])
{
    for (size_t i = 0; i < SHA256_HEX_SIZE; i++)
        out[i] = "0123456789abcdef"[i % 2 == 0 ? digest[i / 2] >> 4 : digest[i / 2] & 15];
}

bool sha256_hex_equal(const char a[SHA256_HEX_SIZE], const char b[SHA256_HEX_SIZE])
{
    return memcmp(a, b, SHA256_HEX_SIZE) == 0;
}

/* --- The rule --- */

struct work {
    unsigned calls;
    size_t bytes;
};

/* What everybody but the fixture, which signs, has hashed until now. */
static struct work work_done(const struct auth_fixture *fixture)
{
    struct work sum = { 0 };
    for (size_t i = 0; i < atomic_load(&hasher_count); i++) {
        if (&hashers[i] == fixture->hasher)
            continue;
        sum.calls += atomic_load(&hashers[i].calls);
        sum.bytes += atomic_load(&hashers[i].bytes);
    }
    return sum;
}

static struct work work_of(struct auth_fixture *fixture, const struct auth_request *request,
                           int status)
{
    struct work before = work_done(fixture);
    struct auth_answer answer = auth_fixture_send(fixture, request);
    struct work after = work_done(fixture);
    assert_int_equal(answer.status, status);
    return (struct work){ after.calls - before.calls, after.bytes - before.bytes };
}

struct attempt {
    const char *name;
    struct auth_request request;
    int status;
};

/* The first request of a key derives its signing key, which is then remembered: of unknown ones
 * too, so that neither request tells them apart. */
static void expect_same_work(struct auth_fixture *fixture, const struct attempt *attempts,
                             size_t count)
{
    struct work first = work_of(fixture, &attempts[0].request, attempts[0].status);
    struct work second = work_of(fixture, &attempts[0].request, attempts[0].status);
    assert_true(second.calls > 0 && second.calls < first.calls);
    for (size_t i = 1; i < count; i++) {
        struct work got = work_of(fixture, &attempts[i].request, attempts[i].status);
        struct work again = work_of(fixture, &attempts[i].request, attempts[i].status);
        if (got.calls != first.calls || got.bytes != first.bytes || again.calls != second.calls ||
            again.bytes != second.bytes)
            fail_msg("%s: %u hashes of %zu bytes, then %u of %zu", attempts[i].name, got.calls,
                     got.bytes, again.calls, again.bytes);
    }
}

static void refusing_a_key_costs_what_letting_it_in_costs(void **state)
{
    static const struct attempt attempts[] = {
        { "right", { .key = AUTH_KEY_RIGHT }, 200 },
        { "unknown", { .key = AUTH_KEY_UNKNOWN }, 400 },
        { "disabled", { .key = AUTH_KEY_DISABLED }, 400 },
        { "temporary, without its token",
          { .key = AUTH_KEY_SESSION, .token = AUTH_TOKEN_NONE },
          400 },
    };
    expect_same_work(*state, attempts, COUNT_OF(attempts));
}

static void it_does_on_every_path(void **state)
{
#define PATH "/service/a/../b?y=1&x=%7E"
    static const struct attempt attempts[] = {
        { "right", { .key = AUTH_KEY_RIGHT, .path = PATH }, 200 },
        { "unknown", { .key = AUTH_KEY_UNKNOWN, .path = PATH }, 400 },
        { "disabled", { .key = AUTH_KEY_DISABLED, .path = PATH }, 400 },
    };
    struct auth_fixture *fixture = *state;
    static const struct auth_request wrong = { .path = PATH, .secret = "another secret" };
    expect_same_work(fixture, attempts, COUNT_OF(attempts));
    struct work let_in = work_of(fixture, &attempts[0].request, 200);
    struct work refused = work_of(fixture, &wrong, 400);
    assert_int_equal(refused.calls, let_in.calls);
    assert_int_equal(refused.bytes, let_in.bytes);
#undef PATH
}

static void refusing_a_temporary_key_costs_what_letting_it_in_costs(void **state)
{
    static const struct attempt attempts[] = {
        { "right", { .key = AUTH_KEY_SESSION }, 200 },
        { "with another one's token",
          { .key = AUTH_KEY_OTHER_SESSION, .token = AUTH_TOKEN_OTHERS },
          400 },
        { "expired", { .key = AUTH_KEY_EXPIRED_SESSION }, 400 },
        { "of a disabled key", { .key = AUTH_KEY_ORPHAN_SESSION }, 400 },
        { "unknown, with a token", { .key = AUTH_KEY_UNKNOWN, .token = AUTH_TOKEN_OTHERS }, 400 },
        { "disabled, with a token", { .key = AUTH_KEY_DISABLED, .token = AUTH_TOKEN_OTHERS }, 400 },
    };
    expect_same_work(*state, attempts, COUNT_OF(attempts));
}

static void a_wrong_secret_costs_what_a_right_one_costs(void **state)
{
    struct auth_fixture *fixture = *state;
    struct auth_request right = { .key = AUTH_KEY_RIGHT };
    struct auth_request wrong = { .key = AUTH_KEY_RIGHT, .secret = "wrong" };
    assert_true(work_of(fixture, &wrong, 400).calls > 0);
    struct work of_wrong = work_of(fixture, &wrong, 400);
    struct work of_right = work_of(fixture, &right, 200);
    assert_int_equal(of_wrong.calls, of_right.calls);
    assert_int_equal(of_wrong.bytes, of_right.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(refusing_a_key_costs_what_letting_it_in_costs,
                                        auth_fixture_set_up, auth_fixture_tear_down),
        cmocka_unit_test_setup_teardown(it_does_on_every_path, auth_fixture_set_up,
                                        auth_fixture_tear_down),
        cmocka_unit_test_setup_teardown(refusing_a_temporary_key_costs_what_letting_it_in_costs,
                                        auth_fixture_set_up, auth_fixture_tear_down),
        cmocka_unit_test_setup_teardown(a_wrong_secret_costs_what_a_right_one_costs,
                                        auth_fixture_set_up, auth_fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
