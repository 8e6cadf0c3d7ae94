/* ticker.h -- the one background thread of monitoring: collects, keeps house, then calls hooks.
 *
 * A round stores the minutes that have ended, merges and removes old samples, and calls the hooks
 * in the order in which they were added: alarms, scaling. Tests run rounds themselves, with a
 * virtual clock and without the thread.
 */
#ifndef STATOR_CLOUDWATCH_TICKER_H
#define STATOR_CLOUDWATCH_TICKER_H
#include <stdint.h>

struct clock;
struct collector;
struct series_store;
struct ticker;

enum {
    TICKER_HOOKS_MAX = 8,
    /* Parts of upkeep in one round; the rest waits for the next. */
    TICKER_UPKEEP_PARTS_MAX = 16,
};

/* Called once in each round, on the ticker's thread, which may wait; not for long, since all
 * others wait for it. Returns in how many milliseconds the next round is due at the latest, or
 * TIMED_WAIT_FOREVER if the interval is soon enough. */
typedef int64_t ticker_hook(void *context, int64_t now_ms);

struct ticker_options {
    struct series_store *store; /* Borrowed; all must outlive the ticker. */
    struct collector *collector;
    const struct clock *clock;
    int64_t interval_ms; /* Of rounds; they come also just after each minute has settled. */
};

struct ticker *ticker_create(const struct ticker_options *options);
/* Stops the thread, if there is one, and waits for its round. NULL is allowed. */
void ticker_destroy(struct ticker *ticker);

/* Before the thread starts. */
void ticker_add_hook(struct ticker *ticker, ticker_hook *hook, void *context);
void ticker_start(struct ticker *ticker);
/* Waits for the round under way; no hook is called afterwards. Again is allowed. */
void ticker_stop(struct ticker *ticker);

/* Begins a round now, or behind the one under way. Any thread. */
void ticker_wake(struct ticker *ticker);

/* One round, at the clock's time. On the thread, or on a test's if there is none. */
void ticker_run(struct ticker *ticker);

#endif
