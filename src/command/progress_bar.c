/* progress_bar.c -- see progress_bar.h. */
#include "command/progress_bar.h"
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>
#include "base/clock.h"

enum { WIDTH = 24, INTERVAL_MS = 200 };
#define NS_PER_MS INT64_C(1000000)

void progress_bar_init(struct progress_bar *bar, bool quiet)
{
    bar->is_shown = !quiet && isatty(STDERR_FILENO);
    bar->started_ns = clock_monotonic_ns();
    bar->drawn_ns = bar->started_ns;
}

double progress_bar_seconds(const struct progress_bar *bar)
{
    return (double)(clock_monotonic_ns() - bar->started_ns) / 1e9;
}

void progress_bar_show(struct progress_bar *bar, uint64_t done, uint64_t total, uint64_t items,
                       uint64_t errors)
{
    int64_t now_ns = clock_monotonic_ns();
    if (!bar->is_shown || now_ns - bar->drawn_ns < INTERVAL_MS * NS_PER_MS)
        return;
    bar->drawn_ns = now_ns;
    fputs("\r\033[K", stderr);
    if (total > 0) {
        double share = done >= total ? 1 : (double)done / (double)total;
        fputc('[', stderr);
        for (int i = 0; i < WIDTH; i++)
            fputc(i < (int)(share * WIDTH) ? '#' : '.', stderr);
        fprintf(stderr, "] %d %%  ", (int)(share * 100));
    }
    fprintf(stderr, "%" PRIu64 " items, %.0f/s", items, (double)items / progress_bar_seconds(bar));
    if (errors > 0)
        fprintf(stderr, ", %" PRIu64 " errors", errors);
    fflush(stderr);
}

void progress_bar_end(struct progress_bar *bar)
{
    if (bar->is_shown)
        fputs("\r\033[K", stderr);
    bar->is_shown = false;
}
