/* clock.h -- the time, as a value that is passed down, so that a test can set it.
 *
 * Code that stores or compares times takes a `struct clock *`; only measurement and time-outs of
 * the event loop read the system's clock themselves.
 */
#ifndef STATOR_BASE_CLOCK_H
#define STATOR_BASE_CLOCK_H
#include <stdint.h>
#include <time.h>

#define CLOCK_WALL_SECOND_MAX (INT64_C(1) << 50)

struct clock {
    /* Milliseconds since 1970. May jump. A system clock before 1970 reads as 0, since a negative
     * time is taken for damage where it is stored; one beyond CLOCK_WALL_SECOND_MAX reads as that
     * second, so that a duration can be added without an overflow. */
    int64_t (*wall_ms)(const struct clock *clock);
    /* What clock_fixed's clocks answer, on any thread; how far those of clock_steady are ahead of
     * the time since the machine was started. */
    _Atomic int64_t fixed_ms;
};

/* The system's real-time clock. */
extern const struct clock clock_system;
/* A clock that stands still at `now_ms` until the owner changes `fixed_ms`. */
struct clock clock_fixed(int64_t now_ms);

/* A clock that is at `now_ms` now and goes on evenly, whatever happens to the system's: for what
 * must last a time and not until a time. Goes on while the machine sleeps. */
struct clock clock_steady(int64_t now_ms);

static inline int64_t clock_wall_ms(const struct clock *clock)
{
    return clock->wall_ms(clock);
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
/* What the calling thread has used of the processor so far. A system call. */
int64_t clock_thread_cpu_ns(void);
/* So far from now on the monotonic clock, as waiting for a condition takes it. */
struct timespec clock_monotonic_after_ms(int64_t ms);

#endif
