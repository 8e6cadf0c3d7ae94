/* moving_clock.c -- a system clock that jumps, preloaded into a server under test (LD_PRELOAD).
 *
 * MOVING_CLOCK_FILE names a file of two integers of the machine, eight bytes each: by how many
 * seconds the real-time clock is ahead, and by how many CLOCK_MONOTONIC_RAW is. A test that writes
 * there moves the clocks of the running server: the first as if the system's clock were set, the
 * second as if time passed, which server time is measured by and nothing else. The other clocks are
 * left alone. Whoever waits until a time of the real-time clock waits
 * as the jumps have it: longer if it is set back.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum {
    SLICE_NS = 20 * 1000 * 1000, /* How soon a wait notices that the clock was moved. */
    SECOND_NS = 1000 * 1000 * 1000,
    /* A later time than this is one since 1970, and not since the machine was started. */
    WALL_SECONDS_MIN = 1000 * 1000 * 1000,
};

/* MOVING_CLOCK_FILE as it is now. Of a shorter file, the rest of the page reads as 0. */
enum { WALL, RAW, CLOCKS };

static time_t ahead(int which)
{
    static _Atomic(const _Atomic int64_t *) mapped;
    const _Atomic int64_t *seconds = atomic_load(&mapped);
    if (seconds == NULL) {
        const char *name = getenv("MOVING_CLOCK_FILE");
        int file = name == NULL ? -1 : open(name, O_RDONLY | O_CLOEXEC);
        if (file < 0)
            return 0;
        void *page = mmap(NULL, CLOCKS * sizeof *seconds, PROT_READ, MAP_SHARED, file, 0);
        close(file);
        if (page == MAP_FAILED)
            return 0;
        seconds = page;
        atomic_store(&mapped, seconds);
    }
    return (time_t)atomic_load(&seconds[which]);
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    int result = (int)syscall(SYS_clock_gettime, clock, out);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        out->tv_sec += ahead(WALL);
    else if (result == 0 && clock == CLOCK_MONOTONIC_RAW)
        out->tv_sec += ahead(RAW);
    return result;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){ .tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000 };
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL)
        *out = now.tv_sec;
    return now.tv_sec;
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Waits in slices of the true time, until the moved clock has come to `until`. */
int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until)
{
    int (*wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    *(void **)&wait = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    if (until->tv_sec < WALL_SECONDS_MIN)
        return wait(condition, mutex, until);
    for (;;) {
        struct timespec now, slice;
        clock_gettime(CLOCK_REALTIME, &now);
        if (!is_before(&now, until))
            return ETIMEDOUT;
        syscall(SYS_clock_gettime, CLOCK_REALTIME, &slice);
        slice.tv_nsec += SLICE_NS;
        if (slice.tv_nsec >= SECOND_NS) {
            slice.tv_sec++;
            slice.tv_nsec -= SECOND_NS;
        }
        int result = wait(condition, mutex, &slice);
        if (result != ETIMEDOUT)
            return result;
    }
}
