/* test_exchange.c -- the Date of an answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "http/exchange.h"

static void a_date_has_its_length_whatever_the_clock_says(void **state)
{
    (void)state;
    static const struct {
        int64_t second;
        const char *text;
    } cases[] = {
        { 784111777, "Sun, 06 Nov 1994 08:49:37 GMT" },
        { 0, "Thu, 01 Jan 1970 00:00:00 GMT" },
        { -1, "Wed, 31 Dec 1969 23:59:59 GMT" },
        { 253402300799, "Fri, 31 Dec 9999 23:59:59 GMT" },
        { 253402300800, "Fri, 31 Dec 9999 23:59:59 GMT" },
        { INT64_MAX, "Fri, 31 Dec 9999 23:59:59 GMT" },
        { INT64_MIN, "Wed, 01 Jan 1000 00:00:00 GMT" },
    };
    struct http_date date = { 0 };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bytes text = http_date_at(&date, (time_t)cases[i].second);
        if (!bytes_equal_text(text, cases[i].text))
            fail_msg("%.*s, want %s", BYTES_FMT(text), cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_date_has_its_length_whatever_the_clock_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
