/* test_addresses.c -- connections counted by the address they come from. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "base/random.h"
#include "http/addresses.h"

static struct sockaddr_storage address_of(const char *text)
{
    struct sockaddr_storage address = { 0 };
    struct sockaddr_in *v4 = (struct sockaddr_in *)&address;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&address;
    address.ss_family = AF_INET;
    if (inet_pton(AF_INET, text, &v4->sin_addr) != 1) {
        address.ss_family = AF_INET6;
        assert_int_equal(inet_pton(AF_INET6, text, &v6->sin6_addr), 1);
    }
    return address;
}

static uint64_t key_of(const char *text)
{
    struct sockaddr_storage address = address_of(text);
    return http_addresses_key((const struct sockaddr *)&address);
}

static const struct {
    const char *name, *left, *right;
    bool same;
} keys[] = {
    { "equal", "192.0.2.1", "192.0.2.1", true },
    { "different", "192.0.2.1", "192.0.2.2", false },
    { "IPv4 over IPv6", "192.0.2.1", "::ffff:192.0.2.1", true },
    { "different IPv4 over IPv6", "::ffff:192.0.2.2", "::ffff:192.0.2.1", false },
    { "one network of 64 bits", "2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", true },
    { "IPv4, and a network that begins with the same bytes", "32.1.13.184", "2001:db8::1", false },
    { "two networks", "2001:db8:1:2::1", "2001:db8:1:3::1", false },
};

static void addresses_count_by_what_one_client_has(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        if ((key_of(keys[i].left) == key_of(keys[i].right)) != keys[i].same)
            fail_msg("%s", keys[i].name);
    }
}

static const struct {
    const char *address, *text;
} texts[] = {
    { "192.0.2.1", "192.0.2.1" },
    { "::ffff:192.0.2.1", "192.0.2.1" },
    { "::1", "::1" },
    { "2001:db8:1111:2222:3333:4444:5555:6666", "2001:db8:1111:2222:3333:4444:5555:6666" },
};

/* Policies compare IPv4 addresses with ranges of IPv4. */
static void an_address_reads_the_same_whichever_way_it_came(void **state)
{
    (void)state;
    char out[HTTP_PEER_SIZE];
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct sockaddr_storage address = address_of(texts[i].address);
        http_addresses_format((const struct sockaddr *)&address, out);
        assert_string_equal(out, texts[i].text);
    }
    struct sockaddr_storage none = { 0 };
    http_addresses_format((const struct sockaddr *)&none, out);
    assert_string_equal(out, "");
}

static void each_address_has_its_own_bound(void **state)
{
    (void)state;
    struct http_addresses *addresses = http_addresses_create(10, 2);
    uint64_t one = key_of("192.0.2.1"), other = key_of("192.0.2.2");
    assert_true(http_addresses_add(addresses, one));
    assert_true(http_addresses_add(addresses, one));
    assert_false(http_addresses_add(addresses, one));
    assert_true(http_addresses_add(addresses, other));
    http_addresses_remove(addresses, one);
    assert_true(http_addresses_add(addresses, one));
    assert_false(http_addresses_add(addresses, one));
    http_addresses_destroy(addresses);
    http_addresses_destroy(NULL);
}

/* Against a plain array, in a table that is as full as it can be. */
static void the_table_counts_right_whatever_comes_and_goes(void **state)
{
    enum { ADDRESSES = 40, CONNECTIONS_MAX = 64, PER_ADDRESS_MAX = 5, STEPS = 50000 };
    (void)state;
    struct http_addresses *addresses = http_addresses_create(CONNECTIONS_MAX, PER_ADDRESS_MAX);
    struct random random;
    size_t counts[ADDRESSES] = { 0 }, all = 0;
    random_init(&random, 4711);
    for (int step = 0; step < STEPS; step++) {
        size_t which = (size_t)random_below(&random, ADDRESSES);
        if (random_below(&random, 2) == 0 && all < CONNECTIONS_MAX) {
            bool fits = counts[which] < PER_ADDRESS_MAX;
            assert_int_equal(http_addresses_add(addresses, which * 7), fits);
            counts[which] += fits;
            all += fits;
        } else if (counts[which] > 0) {
            http_addresses_remove(addresses, which * 7);
            counts[which]--;
            all--;
        }
    }
    for (size_t which = 0; which < ADDRESSES; which++)
        for (; counts[which] > 0; counts[which]--)
            http_addresses_remove(addresses, which * 7);
    http_addresses_destroy(addresses);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_count_by_what_one_client_has),
        cmocka_unit_test(an_address_reads_the_same_whichever_way_it_came),
        cmocka_unit_test(each_address_has_its_own_bound),
        cmocka_unit_test(the_table_counts_right_whatever_comes_and_goes),
    };
    return cmocka_run_group_tests_name("http/addresses", tests, NULL, NULL);
}
