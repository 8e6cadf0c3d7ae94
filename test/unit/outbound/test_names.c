/* test_names.c -- lookups of names that hang, fail, are shared and are too many.
 *
 * The lookup is the test's own: it ends when the test lets it. No test depends on how long anything
 * takes; a time-out under test is short, all others are long.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <netdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "outbound/names.h"

enum { SHORT_MS = 20, LONG_MS = 600000 };

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool held;
    size_t begun, ended;
} server = { .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static atomic_bool never; /* Nobody cancels. */

static int look_up(const char *host, struct names_addresses *out)
{
    pthread_mutex_lock(&server.mutex);
    server.begun++;
    pthread_cond_broadcast(&server.changed);
    while (server.held)
        pthread_cond_wait(&server.changed, &server.mutex);
    server.ended++;
    pthread_cond_broadcast(&server.changed);
    pthread_mutex_unlock(&server.mutex);
    snprintf(out->text, sizeof out->text, "192.0.2.1");
    return strcmp(host, "nowhere") == 0 ? EAI_NONAME : 0;
}

static void hold(bool held)
{
    pthread_mutex_lock(&server.mutex);
    server.held = held;
    pthread_cond_broadcast(&server.changed);
    pthread_mutex_unlock(&server.mutex);
}

static void await_count(const size_t *counter, size_t count)
{
    pthread_mutex_lock(&server.mutex);
    while (*counter < count)
        pthread_cond_wait(&server.changed, &server.mutex);
    pthread_mutex_unlock(&server.mutex);
}

static int set_up(void **state)
{
    server.held = false;
    server.begun = server.ended = 0;
    *state = names_create(look_up);
    return 0;
}

static int tear_down(void **state)
{
    names_release(*state);
    hold(false);
    await_count(&server.ended, server.begun); /* What they held is theirs to free. */
    return 0;
}

static enum names_status find(struct names *names, const char *host, int64_t wait_ms)
{
    struct names_addresses addresses;
    int error;
    return names_find(names, host, wait_ms, &never, &addresses, &error);
}

static void a_name_has_addresses_or_an_error(void **state)
{
    struct names_addresses addresses;
    int error = 0;
    assert_int_equal(names_find(*state, "host", LONG_MS, &never, &addresses, &error), NAMES_FOUND);
    assert_string_equal(addresses.text, "192.0.2.1");
    assert_int_equal(names_find(*state, "nowhere", LONG_MS, &never, &addresses, &error),
                     NAMES_FAILED);
    assert_int_equal(error, EAI_NONAME);
}

static void the_systems_lookup_knows_both_kinds_of_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *host, *text;
    } cases[] = { { "127.0.0.1", "127.0.0.1" }, { "::1", "[::1]" }, { "fe80::1%1", NULL } };
    struct names *names = names_create(NULL);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct names_addresses addresses;
        int error = 0;
        enum names_status status =
            names_find(names, cases[i].host, LONG_MS, &never, &addresses, &error);
        assert_int_equal(status, cases[i].text != NULL ? NAMES_FOUND : NAMES_FAILED);
        if (cases[i].text != NULL)
            assert_string_equal(addresses.text, cases[i].text);
    }
    names_release(names);
}

static void whoever_waits_too_long_leaves_the_lookup_behind(void **state)
{
    hold(true);
    assert_int_equal(find(*state, "host", SHORT_MS), NAMES_LATE);
    await_count(&server.begun, 1);
    assert_int_equal(server.ended, 0);
}

static void a_name_that_hangs_costs_one_lookup_however_often_it_is_asked_for(void **state)
{
    hold(true);
    for (int i = 0; i < 3; i++)
        assert_int_equal(find(*state, "host", SHORT_MS), NAMES_LATE);
    await_count(&server.begun, 1);
    assert_int_equal(server.begun, 1);
    hold(false);
    await_count(&server.ended, 1);
    assert_int_equal(find(*state, "host", LONG_MS), NAMES_FOUND);
}

static void there_are_only_so_many_lookups_at_a_time(void **state)
{
    char host[32];
    hold(true);
    for (int i = 0; i < NAMES_LOOKUPS_MAX; i++) {
        snprintf(host, sizeof host, "host-%d", i);
        assert_int_equal(find(*state, host, 0), NAMES_LATE);
    }
    assert_int_equal(find(*state, "one-more", LONG_MS), NAMES_BUSY);
    assert_int_equal(find(*state, "host-0", 0), NAMES_LATE); /* It has one already. */
    hold(false);
    while (find(*state, "one-more", LONG_MS) == NAMES_BUSY)
        continue;
    await_count(&server.ended, NAMES_LOOKUPS_MAX + 1);
}

struct waiter {
    struct names *names;
    atomic_bool cancelled;
    enum names_status status;
};

static void *wait_for_name(void *context)
{
    struct waiter *waiter = context;
    struct names_addresses addresses;
    int error;
    waiter->status =
        names_find(waiter->names, "host", LONG_MS, &waiter->cancelled, &addresses, &error);
    return NULL;
}

static void a_caller_that_is_cancelled_does_not_wait_for_the_lookup(void **state)
{
    struct waiter waiter = { .names = *state };
    pthread_t thread;
    hold(true);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_name, &waiter), 0);
    await_count(&server.begun, 1);
    atomic_store(&waiter.cancelled, true);
    names_wake(*state);
    pthread_join(thread, NULL); /* While the lookup hangs. */
    assert_int_equal(waiter.status, NAMES_CANCELLED);
    assert_int_equal(server.ended, 0);
}

static void a_lookup_may_outlive_the_owner(void **state)
{
    (void)state;
    struct names *names = names_create(look_up);
    hold(true);
    assert_int_equal(find(names, "host", SHORT_MS), NAMES_LATE);
    names_release(names);
    await_count(&server.begun, 1);
    hold(false);
    await_count(&server.ended, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_name_has_addresses_or_an_error, set_up, tear_down),
        cmocka_unit_test(the_systems_lookup_knows_both_kinds_of_addresses),
        cmocka_unit_test_setup_teardown(whoever_waits_too_long_leaves_the_lookup_behind, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            a_name_that_hangs_costs_one_lookup_however_often_it_is_asked_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(there_are_only_so_many_lookups_at_a_time, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_caller_that_is_cancelled_does_not_wait_for_the_lookup,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lookup_may_outlive_the_owner, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
