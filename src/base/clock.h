/* clock.h -- the time, as a value that is passed down, so that a test can set it.
 *
 * A clock tells three times. Wall time is what people and other machines call the time; it jumps
 * when somebody sets the system's clock. Server time is how long servers have run on this store,
 * over all their runs: it cannot be set, so everything that must last a certain time is measured by
 * it. Commit time orders the writes of a store: it follows wall time but never goes back.
 * doc/durability.md, "Clocks", says which one serves what.
 *
 * Code that stores or compares times takes a `struct clock *`; only measurement and time-outs of
 * the event loop read the system's clock themselves.
 */
#ifndef STATOR_BASE_CLOCK_H
#define STATOR_BASE_CLOCK_H
#include <stdint.h>
#include <time.h>

struct commit_clock;

struct clock {
    int64_t (*wall_us)(const struct clock *clock);
    int64_t (*server_ms)(const struct clock *clock);
    /* Of clock_fixed's clocks, which a test may change while other threads read: the server time,
     * and how far the wall clock is ahead of it. */
    _Atomic int64_t fixed_ms;
    _Atomic int64_t wall_ahead_ms;
    /* Of the other clocks: the server time when CLOCK_MONOTONIC_RAW was 0. */
    int64_t server_base_ms;
    /* The server time of everything that was stored without one. */
    int64_t server_origin_ms;
    /* The commit times of the store (commit_clock.h). The store's owner provides it, and all
     * threads share it. NULL: this clock is for reading only, or for a test of a single log. */
    struct commit_clock *commits;
};

/* The system's real-time clock. Its server time begins with the machine's start. */
extern const struct clock clock_system;
/* A clock that stands still until the owner changes `fixed_ms`, which moves both times, or
 * `wall_ahead_ms`, which sets the wall clock. */
struct clock clock_fixed(int64_t now_ms);
/* The system's clock with a server time that is at `position_ms` now and advances with
 * CLOCK_MONOTONIC_RAW, because nobody can set that clock or change its pace: CLOCK_MONOTONIC runs
 * up to a tenth faster while the wall clock is slewed. It stops while the machine sleeps.
 * CLOCK_BOOTTIME does not, but most machines measure a sleep by the battery clock, which may be the
 * one that is wrong. */
struct clock clock_resume(int64_t origin_ms, int64_t position_ms);

/* Microseconds since 1970. May jump. A system clock before 1970 reads as 0, because readers of
 * stored times take a negative one for damage. A clock beyond the second below reads as that
 * second, so that a duration can be added without an overflow. */
#define CLOCK_WALL_SECOND_MAX (INT64_C(1) << 42)
static inline int64_t clock_wall_us(const struct clock *clock)
{
    return clock->wall_us(clock);
}
/* The same in milliseconds. */
static inline int64_t clock_wall_ms(const struct clock *clock)
{
    return clock_wall_us(clock) / 1000;
}

/* Milliseconds that servers have run on this store, from an arbitrary beginning, never negative.
 * Does not go back within a run; after a crash it resumes up to SERVER_TIME_STORE_INTERVAL_MS
 * (table/server_time.h) before where it was. */
static inline int64_t clock_server_ms(const struct clock *clock)
{
    return clock->server_ms(clock);
}

/* Takes the commit time of an engine write, in microseconds since 1970: the wall time, or one
 * microsecond more than `after_us` or than the newest commit time of the store, whichever is
 * latest. So no two writes have the same one, and a write that begins after another one has taken
 * its time gets a later one, whatever happens to the wall clock. Any thread; never waits.
 * log/change_log.h says when a write takes it. */
int64_t clock_take_commit_us(const struct clock *clock, int64_t after_us);
/* Makes all commit times that are taken from now on later than `seen_us`. */
void clock_raise_commit_us(const struct clock *clock, int64_t seen_us);
/* A moment behind all commit times that were taken before the call: the wall time, or one
 * microsecond more than the newest commit time if that is later. */
int64_t clock_commit_now_us(const struct clock *clock);

/* The server time since `stamp_ms`; 0: it was stored without one. */
static inline int64_t clock_server_age_ms(const struct clock *clock, int64_t stamp_ms)
{
    int64_t since_ms = stamp_ms > clock->server_origin_ms ? stamp_ms : clock->server_origin_ms;
    return clock_server_ms(clock) - since_ms;
}

/* A time for strftime. The formats that clients read have years of four digits, so a time after
 * 9999 becomes that year's last second, and one before 1000 that year's first. */
#define CLOCK_SHOWN_SECOND_MIN INT64_C(-30610224000)
#define CLOCK_SHOWN_SECOND_MAX INT64_C(253402300799)
struct tm clock_utc(int64_t second);
/* The second that a time belongs to, also before 1970. */
static inline int64_t clock_second_of_ms(int64_t time_ms)
{
    return time_ms / 1000 - (time_ms % 1000 < 0);
}

/* "2026-11-15T12:00:00Z" */
enum { CLOCK_TEXT_SIZE = sizeof "2026-11-15T12:00:00Z" };
void clock_format_utc(int64_t wall_ms, char out[CLOCK_TEXT_SIZE]);

/* Never goes back; for measuring, not for storing. */
int64_t clock_monotonic_ns(void);
/* The processor time of the calling thread. A system call. */
int64_t clock_thread_cpu_ns(void);
/* The monotonic time in `ms` milliseconds, as pthread_cond_clockwait takes it. */
struct timespec clock_monotonic_after_ms(int64_t ms);

#endif
