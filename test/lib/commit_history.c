/* commit_history.c -- see commit_history.h. */
#include "commit_history.h"
#include <stdio.h>
#include <string.h>

struct search {
    const struct history *history;
    uint64_t placed;                        /* Bits of transactions. */
    uint64_t required;                      /* Those that were committed. */
    size_t order[HISTORY_TRANSACTIONS_MAX]; /* By their ends. */
    size_t count;
    uint64_t nodes;
};

bool history_value_equal(const struct history_value *a, const struct history_value *b)
{
    if (!a->is_present || !b->is_present)
        return a->is_present == b->is_present;
    return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

/* True if a transaction can come next: all that ended before it began have come, and it has seen
 * the state as it is. */
static bool can_follow(const struct search *search, const struct history_transaction *next,
                       const struct history_value *state)
{
    for (size_t key = 0; key < HISTORY_KEYS; key++)
        if (next->reads[key] && !history_value_equal(&next->seen[key], &state[key]))
            return false;
    for (size_t i = 0; i < search->count; i++) {
        size_t index = search->order[i];
        const struct history_transaction *other = &search->history->transactions[index];
        if ((search->required >> index & 1) != 0 && (search->placed >> index & 1) == 0 &&
            other != next && other->end < next->begin)
            return false;
    }
    return true;
}

static bool is_explained(const struct search *search, const struct history_value *state)
{
    if ((search->placed & search->required) != search->required)
        return false;
    for (size_t key = 0; key < HISTORY_KEYS; key++)
        if (!history_value_equal(&state[key], &search->history->last[key]))
            return false;
    return true;
}

static bool find_order(struct search *search, const struct history_value *state)
{
    if (is_explained(search, state))
        return true;
    if (++search->nodes > HISTORY_NODES_MAX)
        return false;
    for (size_t i = 0; i < search->count; i++) {
        size_t index = search->order[i];
        const struct history_transaction *next = &search->history->transactions[index];
        if ((search->placed >> index & 1) != 0 || !can_follow(search, next, state))
            continue;
        struct history_value after[HISTORY_KEYS];
        memcpy(after, state, sizeof after);
        bool changes = false;
        for (size_t key = 0; key < HISTORY_KEYS; key++)
            if (next->writes[key]) {
                after[key] = next->left[key];
                changes = true;
            }
        search->placed |= UINT64_C(1) << index;
        if (find_order(search, after))
            return true;
        search->placed &= ~(UINT64_C(1) << index);
        if (!changes)
            return false; /* It reads only, so nothing is won by putting it off. */
    }
    return false;
}

bool history_is_serializable(const struct history *history)
{
    struct search search = { .history = history };
    for (size_t i = 0; i < history->count; i++) {
        const struct history_transaction *transaction = &history->transactions[i];
        if (transaction->outcome == HISTORY_REFUSED)
            continue;
        if (transaction->outcome == HISTORY_COMMITTED)
            search.required |= UINT64_C(1) << i;
        size_t at = search.count++;
        while (at > 0 && history->transactions[search.order[at - 1]].end > transaction->end) {
            search.order[at] = search.order[at - 1];
            at--;
        }
        search.order[at] = i;
    }
    return find_order(&search, history->first);
}

static void print_value(const struct history_value *value)
{
    if (!value->is_present)
        fprintf(stderr, "-");
    for (size_t i = 0; i < value->len; i++)
        fprintf(stderr, "%s%u", i == 0 ? "" : ".", value->data[i]);
}

void history_print(const struct history *history)
{
    static const char *const outcomes[] = { "refused", "committed", "unknown" };
    for (size_t i = 0; i < history->count; i++) {
        const struct history_transaction *transaction = &history->transactions[i];
        fprintf(stderr, "%zu [%llu %llu] %s:", i, (unsigned long long)transaction->begin,
                (unsigned long long)transaction->end, outcomes[transaction->outcome]);
        for (size_t key = 0; key < HISTORY_KEYS; key++) {
            if (!transaction->reads[key] && !transaction->writes[key])
                continue;
            fprintf(stderr, " %zu:", key);
            if (transaction->reads[key])
                print_value(&transaction->seen[key]);
            if (transaction->writes[key]) {
                fprintf(stderr, "->");
                print_value(&transaction->left[key]);
            }
        }
        fprintf(stderr, "\n");
    }
    fprintf(stderr, "in the end:");
    for (size_t key = 0; key < HISTORY_KEYS; key++) {
        fprintf(stderr, " %zu:", key);
        print_value(&history->last[key]);
    }
    fprintf(stderr, "\n");
}
