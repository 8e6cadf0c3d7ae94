/* commit_history.h -- what transactions saw and did, and whether that is strictly serializable.
 *
 * The checker looks for an order of the transactions that explains everything: each one read what
 * those before it left, the last state is the store's, a transaction that ended before another one
 * began comes first, all that were acknowledged are in it, and none that was refused. Those whose
 * outcome nobody was told may be in it or not, whole.
 */
#ifndef STATOR_TEST_COMMIT_HISTORY_H
#define STATOR_TEST_COMMIT_HISTORY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HISTORY_KEYS = 6,
    HISTORY_TRANSACTIONS_MAX = 64,
    HISTORY_VALUE_MAX = 30,
    HISTORY_NODES_MAX = 2000000, /* Of the search. */
};

/* All zero: absent. */
struct history_value {
    bool is_present;
    uint8_t len;
    uint8_t data[HISTORY_VALUE_MAX];
};

enum history_outcome { HISTORY_REFUSED, HISTORY_COMMITTED, HISTORY_UNKNOWN };

struct history_transaction {
    uint64_t begin, end; /* Steps of the scheduler. */
    enum history_outcome outcome;
    bool reads[HISTORY_KEYS], writes[HISTORY_KEYS];
    struct history_value seen[HISTORY_KEYS], left[HISTORY_KEYS];
};

struct history {
    size_t count;
    struct history_transaction transactions[HISTORY_TRANSACTIONS_MAX];
    struct history_value first[HISTORY_KEYS], last[HISTORY_KEYS];
};

bool history_value_equal(const struct history_value *a, const struct history_value *b);
bool history_is_serializable(const struct history *history);
void history_print(const struct history *history);

#endif
