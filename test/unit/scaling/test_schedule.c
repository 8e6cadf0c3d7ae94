/* test_schedule.c -- when schedules fire, against times that a naive search minute by minute found
 * with Python's zoneinfo. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "scaling/schedule.h"
#include "scaling/time_zone.h"

static const struct {
    const char *schedule, *zone;
    int64_t start_s, after_s, want_s;
} times[] = {
    /* 2026-11-16T00:00:00Z. A range of one value has no further ones, whatever the step. */
    { "cron(5-5/10 * * * ? *)", "UTC", 0, 1794787500, 1794791100 },
    { "cron(5/10 * * * ? *)", "UTC", 0, 1794787500, 1794788100 },
    { "cron(* 2 ? 1-12/1 1#5 *)", "America/Sao_Paulo", 0, 1541303527, 1546142400 },
    { "cron(0 22-2 ? 1-12/1 2#1 *)", "Australia/Lord_Howe", 0, 1775313171, 1775395800 },
    { "cron(0 0 ? JAN-DEC SUN *)", "Antarctica/Troll", 0, 1774744211, 1775340000 },
    { "cron(* 2,3 31W * ? *)", "Antarctica/Troll", 0, 1774747164, 1774915200 },
    { "cron(* 22-2 31W JAN-DEC ? *)", "Europe/Berlin", 0, 1790973953, 1793314800 },
    { "cron(59 2,3 ? 1-12/1 3,5 *)", "Africa/Casablanca", 0, 1794828926, 1794880740 },
    { "cron(* 22-2 ? * 3,5 *)", "America/Sao_Paulo", 0, 1541297767, 1541469600 },
    { "cron(0-10/5 1-3 31 JAN-DEC ? *)", "Pacific/Apia", 0, 1769052866, 1769774400 },
    { "cron(0-10/5 2 * 3,10,11 ? *)", "Africa/Casablanca", 0, 1772164330, 1772330400 },
    { "cron(*/15 * ? * SUN *)", "Antarctica/Troll", 0, 1795794557, 1795910400 },
    { "cron(5,50 23 ? * 1#5 *)", "Africa/Casablanca", 0, 1794826459, 1795989900 },
    { "cron(5,50 1-3 ? * 6L *)", "Asia/Kolkata", 0, 1774625486, 1776972900 },
    { "cron(* 0 ? * 7 *)", "America/New_York", 0, 1793516608, 1794027600 },
    { "cron(5,50 * 15W * ? *)", "Pacific/Apia", 0, 1783949556, 1784027100 },
    { "cron(0 0 10-20/3 * ? *)", "Africa/Casablanca", 0, 1794824038, 1795042800 },
    { "cron(0-10/5 */6 ? 1-12/1 SUN *)", "Antarctica/Troll", 0, 1767423556, 1767484800 },
    { "cron(30 2 ? 3,10,11 6L *)", "Europe/Berlin", 0, 2374099903, 2374533000 },
    { "cron(* * 10-20/3 * ? *)", "Asia/Tehran", 0, 1794828853, 1794828900 },
    { "cron(*/15 2,3 10-20/3 1-12/1 ? *)", "Europe/Berlin", 0, 2374100568, 2375395200 },
    { "cron(30 22-2 15W * ? *)", "America/Sao_Paulo", 0, 1541303403, 1542249000 },
    { "cron(*/15 2,3 ? * L *)", "America/Sao_Paulo", 0, 1796090068, 1796446800 },
    { "cron(*/15 2,3 1,15 1-12/1 ? *)", "America/Sao_Paulo", 0, 1770522051, 1771131600 },
    { "cron(0-10/5 22-2 1,15 JAN-DEC ? *)", "Africa/Casablanca", 0, 1794829760, 1796079600 },
    { "cron(* 23 LW 1-12/1 ? *)", "Europe/Berlin", 0, 1774745438, 1774990800 },
    { "cron(0 2 10-20/3 3,10,11 ? *)", "Africa/Casablanca", 0, 1794823375, 1795050000 },
    { "cron(*/15 2,3 ? * 7 *)", "Pacific/Apia", 0, 1777271403, 1777640400 },
    { "cron(* 22-2 10-20/3 * ? *)", "America/New_York", 0, 1793515226, 1794286800 },
    { "cron(0 0 ? * SUN *)", "Asia/Tehran", 0, 1794828185, 1795293000 },
    { "cron(59 2 ? * FRI-MON *)", "Asia/Tehran", 0, 1768173604, 1768174140 },
    { "cron(0 23 31W 1-12/1 ? *)", "UTC", 0, 1794829425, 1798758000 },
    { "cron(* 23 10-20/3 * ? *)", "Antarctica/Troll", 0, 1788823582, 1789074000 },
    { "cron(5,50 23 31W * ? *)", "Asia/Kolkata", 0, 1788791076, 1793381700 },
    { "cron(30 1-3 LW * ? *)", "Pacific/Apia", 0, 1794829564, 1795955400 },
    { "cron(0-10/5 1-3 * * ? *)", "Pacific/Apia", 0, 1781418875, 1781438400 },
    { "cron(0 2 ? * FRI-MON *)", "Africa/Casablanca", 0, 1796131856, 1796346000 },
    { "cron(0-10/5 */6 1 * ? *)", "UTC", 0, 1773038879, 1775001600 },
    { "cron(0 0 ? * MON-FRI *)", "Asia/Tehran", 0, 1794825486, 1794861000 },
    { "cron(*/15 2 ? * 1#5 *)", "Europe/Berlin", 0, 1792887545, 1795914000 },
    { "cron(30 */6 ? * FRI-MON *)", "Pacific/Apia", 0, 1794824096, 1795087800 },
    { "cron(0-10/5 0 1W * ? *)", "Asia/Kolkata", 0, 1790321176, 1790793000 },
    { "cron(5,50 2,3 1,15 * ? *)", "Asia/Kolkata", 0, 1794827412, 1796070900 },
    { "cron(*/15 2,3 ? * 6L *)", "Pacific/Apia", 0, 1794855730, 1795698000 },
    { "cron(0-10/5 */6 ? * 7 *)", "Pacific/Apia", 0, 1794828323, 1795172400 },
    { "cron(5,50 0 ? * FRI-MON *)", "Asia/Tehran", 0, 1794338470, 1794515700 },
    { "cron(30 1-3 ? * SUN *)", "America/Sao_Paulo", 0, 1541299335, 1541302200 },
    { "cron(59 * L * ? *)", "Africa/Casablanca", 0, 1794827334, 1795996740 },
    { "cron(*/15 2,3 L 1-12/1 ? *)", "America/New_York", 0, 1772952054, 1774936800 },
    { "cron(5,50 0 1W 3,10,11 ? *)", "America/New_York", 0, 1793515703, 1793595900 },
    { "cron(5,50 0 10-20/3 1-12/1 ? *)", "America/New_York", 0, 1769559759, 1770699900 },
    { "cron(0 * ? 3,10,11 SUN *)", "UTC", 0, 1794823897, 1795305600 },
    { "cron(* 2,3 ? * SUN *)", "Pacific/Apia", 0, 1794828330, 1795266000 },
    { "cron(0-10/5 23 1W * ? *)", "Asia/Tehran", 0, 1794829309, 1796153400 },
    { "cron(5,50 23 ? * FRI-MON *)", "Australia/Lord_Howe", 0, 1798184564, 1798200300 },
    { "cron(5,50 */6 ? 3,10,11 3,5 *)", "Asia/Kolkata", 0, 1792382896, 1792434900 },
    { "cron(59 2 ? * SUN *)", "Asia/Kolkata", 0, 1797503560, 1797715740 },
    { "cron(5,50 2,3 15W * ? *)", "Africa/Casablanca", 0, 1768056040, 1768439100 },
    { "cron(59 */6 ? 3,10,11 3,5 *)", "America/New_York", 0, 1772954542, 1773118740 },
    { "cron(*/15 22-2 L * ? *)", "Pacific/Apia", 0, 1780573350, 1782730800 },
    { "cron(* 2 31W JAN-DEC ? *)", "Asia/Kolkata", 0, 1778559826, 1780000200 },
    { "cron(30 2,3 1W JAN-DEC ? *)", "UTC", 0, 1777864781, 1780281000 },
    { "at(2026-11-16T08:00:00)", "Europe/Berlin", 0, 0, 1794812400 },
    { "at(2026-03-29T02:30:00)", "Europe/Berlin", 0, 0, 1774746000 },
    { "at(2026-10-25T02:30:00)", "Europe/Berlin", 0, 0, 1792888200 },
    { "at(2055-07-01T12:00:00)", "America/New_York", 0, 0, 2698070400 },
    { "at(2026-11-16T08:00:00)", "UTC", 0, 0, 1794816000 },
    { "at(2026-11-16T08:00:00)", "UTC", 0, 1794816000, SCHEDULE_NEVER },
    { "rate(5 minutes)", "UTC", 1000, 0, 1000 },
    { "rate(5 minutes)", "UTC", 1000, 1000, 1300 },
    { "rate(5 minutes)", "UTC", 1000, 1299, 1300 },
    { "rate(1 hour)", "UTC", 1000, 1300, 4600 },
    { "rate(1 day)", "UTC", 0, 86400, 172800 },
    { "cron(0 0 30 2 ? *)", "UTC", 0, 0, SCHEDULE_NEVER },
    { "cron(0 0 29 2 ? *)", "UTC", 0, 1794816000, 1835395200 },
    { "cron(0 0 1 1 ? 2020-2022)", "UTC", 0, 1794816000, SCHEDULE_NEVER },
    { "cron(59 23 31 12 ? 2199)", "UTC", 0, 1794816000, 7258118340 },
};

static void a_schedule_fires_at_the_next_matching_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        struct schedule schedule;
        struct time_zone *zone = time_zone_open(bytes_from_text(times[i].zone));
        if (zone == NULL) {
            print_message("no time zone %s on this machine\n", times[i].zone);
            continue;
        }
        if (!schedule_parse(bytes_from_text(times[i].schedule), &schedule))
            fail_msg("%s is not read", times[i].schedule);
        int64_t found = schedule_next(&schedule, zone, times[i].start_s, times[i].after_s);
        if (found != times[i].want_s)
            fail_msg("%s in %s after %lld: %lld, want %lld", times[i].schedule, times[i].zone,
                     (long long)times[i].after_s, (long long)found, (long long)times[i].want_s);
        time_zone_close(zone);
    }
}

static void malformed_schedules_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        ")",
        "at()",
        "at(2026-02-29T00:00:00)",
        "at(2026-1-01T00:00:00)",
        "at(2026-01-01T24:00:00)",
        "at(2026-01-01T00:00:00",
        "at(2026-01-01 00:00:00)",
        "rate(5 minute)",
        "rate(1 minutes)",
        "rate(0 minutes)",
        "rate(-1 minutes)",
        "rate(5 weeks)",
        "rate(5)",
        "rate(99999999999 days)",
        "cron()",
        "cron(* * * * *)",
        "cron(* * * * * *)",
        "cron(* * ? * ? *)",
        "cron(60 * * * ? *)",
        "cron(* 24 * * ? *)",
        "cron(* * 0 * ? *)",
        "cron(* * 32 * ? *)",
        "cron(* * * 13 ? *)",
        "cron(* * ? * 8 *)",
        "cron(* * ? * MO *)",
        "cron(* * ? * 2#6 *)",
        "cron(* * ? * 2#0 *)",
        "cron(* * * * ? 1969)",
        "cron(* * * * ? 2200)",
        "cron(*/0 * * * ? *)",
        "cron(1- * * * ? *)",
        "cron(1,, * * * ? *)",
        "cron(* * * * ? * *)",
        "cron(* * 32W * ? *)",
        "fixed(1)",
    };
    struct schedule schedule;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (schedule_parse(bytes_from_text(texts[i]), &schedule))
            fail_msg("%s is read", texts[i]);
}

static void names_cannot_leave_the_database(void **state)
{
    (void)state;
    static const char *const names[] = { "",         "/etc/localtime", "../../../etc/passwd",
                                         "Europe/",  "Europe//Berlin", "Europe/../Europe/Berlin",
                                         "Nowhere",  "Europe",         "Europe/Berlin\n",
                                         "tzdata.zi" };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_null(time_zone_open(bytes_from_text(names[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_schedule_fires_at_the_next_matching_time),
        cmocka_unit_test(malformed_schedules_are_refused),
        cmocka_unit_test(names_cannot_leave_the_database),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
