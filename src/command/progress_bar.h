/* progress_bar.h -- how far a command has come, in one line of standard error that is redrawn.
 *
 *     [############............] 52 %  1204000 items, 48200/s, 2 errors
 *
 * Drawn on terminals only, a few times a second. */
#ifndef STATOR_COMMAND_PROGRESS_BAR_H
#define STATOR_COMMAND_PROGRESS_BAR_H
#include <stdbool.h>
#include <stdint.h>

struct progress_bar {
    bool is_shown;
    int64_t started_ns;
    int64_t drawn_ns;
};

/* `quiet`: not even on a terminal. */
void progress_bar_init(struct progress_bar *bar, bool quiet);
/* `total` 0: not known. */
void progress_bar_show(struct progress_bar *bar, uint64_t done, uint64_t total, uint64_t items,
                       uint64_t errors);
/* Removes the line. */
void progress_bar_end(struct progress_bar *bar);
/* Since the beginning. */
double progress_bar_seconds(const struct progress_bar *bar);

#endif
