/* test_stored_caller.c -- a caller that is noted by a request, and asked about later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api/stored_caller.h"
#include "arena_fixture.h"
#include "auth/caller.h"
#include "auth/live_keys.h"
#include "base/arena.h"
#include "base/compiler.h"

#define NOW_MS INT64_C(1800000000000)

static struct key_policy policies[2]; /* Only their number counts here. */
static const struct bytes address = BYTES("127.0.0.1"), old_time = BYTES("2001-01-01T00:00:00Z"),
                          not_text = BYTES("\xff\xfe");
static const struct policy_key context[] = {
    { BYTES("aws:SourceIp"), &address, 1 },
    { BYTES("aws:CurrentTime"), &old_time, 1 },
    { BYTES("aws:UserAgent"), &not_text, 1 },
};

static const struct stored_caller *store(struct arena *arena, struct bytes grantor_id)
{
    const struct caller caller = { .key_id = BYTES("AKIA"),
                                   .grantor_id = grantor_id,
                                   .arn = BYTES("arn:aws:iam::1:user/alice"),
                                   .account = BYTES("1"),
                                   .keys = context,
                                   .key_count = COUNT_OF(context) };
    const struct stored_caller *stored =
        stored_caller_decode(arena, stored_caller_encode(arena, &caller));
    assert_non_null(stored);
    return stored;
}

static struct bytes find_key(const struct caller *caller, const char *name)
{
    struct bytes found = { 0 };
    for (size_t i = 0; i < caller->key_count; i++) {
        if (!bytes_equal_text(caller->keys[i].name, name))
            continue;
        assert_null(found.data); /* Each once. */
        found = caller->keys[i].values[0];
    }
    return found;
}

static void the_policies_and_the_time_are_those_of_now(void **state)
{
    struct arena *arena = *state;
    const struct stored_caller *stored = store(arena, BYTES("AKIA"));
    struct access_key key = { .id = BYTES("AKIA"), .policies = policies };
    const struct live_ring ring = { .ring = { .keys = &key, .count = 1 } };
    for (size_t count = 0; count <= COUNT_OF(policies); count++) {
        /* A key with a policy that cannot be parsed may do nothing. */
        for (size_t i = 0; i < count; i++)
            policies[i].policy = (const struct policy *)&policies[i];
        key.policy_count = count;
        const struct caller *caller = stored_caller_now(arena, stored, &ring, NOW_MS);
        assert_non_null(caller);
        assert_int_equal(caller->policy_count, count);
        assert_true(bytes_equal_text(caller->arn, "arn:aws:iam::1:user/alice"));
        assert_true(bytes_equal(find_key(caller, "aws:SourceIp"), address));
        assert_true(bytes_equal(find_key(caller, "aws:UserAgent"), not_text));
        assert_true(bytes_equal_text(find_key(caller, "aws:CurrentTime"), "2027-01-15T08:00:00Z"));
        assert_true(bytes_equal_text(find_key(caller, "aws:EpochTime"), "1800000000"));
    }
}

static void a_key_that_was_deleted_or_disabled_may_do_nothing(void **state)
{
    struct arena *arena = *state;
    const struct stored_caller *stored = store(arena, BYTES("AKIA"));
    struct access_key key = { .id = BYTES("AKIA"), .disabled = true };
    const struct live_ring disabled = { .ring = { .keys = &key, .count = 1 } }, empty = { 0 };
    assert_null(stored_caller_now(arena, stored, &disabled, NOW_MS));
    assert_null(stored_caller_now(arena, stored, &empty, NOW_MS));
}

/* The key that the request was signed with may be gone by then. */
static void a_session_has_the_policies_of_its_parent(void **state)
{
    struct arena *arena = *state;
    const struct stored_caller *stored = store(arena, BYTES("PARENT"));
    struct access_key key = { .id = BYTES("PARENT") };
    const struct live_ring ring = { .ring = { .keys = &key, .count = 1 } };
    assert_non_null(stored_caller_now(arena, stored, &ring, NOW_MS));
}

static void what_is_no_stored_caller_is_refused(void **state)
{
    struct arena *arena = *state;
    assert_null(stored_caller_decode(arena, BYTES("")));
    assert_null(stored_caller_decode(arena, BYTES("\x01\x02\x03")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(the_policies_and_the_time_are_those_of_now),
        ARENA_TEST(a_key_that_was_deleted_or_disabled_may_do_nothing),
        ARENA_TEST(a_session_has_the_policies_of_its_parent),
        ARENA_TEST(what_is_no_stored_caller_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
