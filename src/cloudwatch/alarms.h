/* alarms.h -- all alarms: stored in the engine, listed in memory, evaluated, and acted on.
 *
 * A change of state, its entry in the history and the actions that it causes are one engine write.
 * Actions are carried out after it, at least once: what is still to be done is stored, and resumed
 * after a restart (alarm_delivery.h).
 *
 * Any thread may call, except event loops: calls wait for the disk and for each other. One mutex
 * guards the list; it is held while a change is written, but not while samples are read.
 *
 * Bounds: `alarms_max` alarms, ALARMS_SIZE_EACH bytes for each on average, `history_max` entries of
 * the history, ALARM_DELIVERY_WAITING_MAX actions.
 */
#ifndef STATOR_CLOUDWATCH_ALARMS_H
#define STATOR_CLOUDWATCH_ALARMS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "cloudwatch/alarm_delivery.h"
#include "cloudwatch/alarm_record.h"
#include "engine/engine.h"

struct alarms;
struct alarms_change;
struct arena;
struct clock;

enum {
    ALARMS_MAX_DEFAULT = 5000, /* The service's quota. */
    ALARMS_SIZE_EACH = 8 * 1024,
    ALARMS_HISTORY_MAX_DEFAULT = 20000,
    ALARMS_HISTORY_DAYS = 30,
    /* Alarms that one call of alarms_tick evaluates; the others follow with the next call. */
    ALARMS_TICK_MAX = 10000,
    ALARMS_TICK_NS_MAX = 1000000000,
    /* A period counts when it has been over for so long: what was counted in its last moments has
     * arrived by then. */
    ALARMS_SETTLE_S = 2,
};

/* Reads the newest `count` periods of `period_s` seconds that ended by `end_s`, newest first, into
 * `points`, whose start_s are set. False: they cannot be read now. */
typedef bool alarms_read(void *context, struct arena *arena,
                         const struct alarm_definition *definition, int64_t period_s,
                         struct alarm_point *points, size_t count);

struct alarms_options {
    struct engine *engine; /* Borrowed, like all pointers here; must outlive the alarms. */
    const struct clock *clock;
    const char *region;
    const char *account_id;
    size_t alarms_max;  /* 0: ALARMS_MAX_DEFAULT. */
    size_t history_max; /* 0: ALARMS_HISTORY_MAX_DEFAULT. */
    struct alarm_delivery_outside outside;
    alarms_read *read; /* NULL: nothing is evaluated. */
    /* Called behind the last read of a tick, on the same thread; NULL: not wanted. */
    void (*read_end)(void *context);
    void (*read_destroy)(void *context); /* Called by alarms_close; NULL: not wanted. */
    void *read_context;
};

/* Loads all alarms, and resumes actions. NULL with the engine's status if the store cannot be read;
 * ENGINE_CORRUPT if a record is damaged. */
MUST_CHECK struct alarms *alarms_open(const struct alarms_options *options,
                                      enum engine_status *status);
/* Cancels actions under way, which are carried out after the next start. Waits for no network.
 * Closing NULL is allowed. */
void alarms_close(struct alarms *alarms);

/* Who carries out actions that name a scaling policy. Set it before the first tick. NULL: nobody;
 * such actions fail. */
void alarms_set_scaler(struct alarms *alarms, alarm_scaler *scaler, void *context);

/* --- Looking alarms up; results live in the arena --- */

size_t alarms_count(struct alarms *alarms);
/* How many are in each state. */
void alarms_count_states(struct alarms *alarms, size_t counts[ALARM_STATE_COUNT]);
MUST_CHECK bool alarms_find(struct alarms *alarms, struct arena *arena, struct bytes name,
                            struct alarm *out);
/* The first alarm whose name is behind `after`; data NULL: the first of all. */
MUST_CHECK bool alarms_next(struct alarms *alarms, struct arena *arena, struct bytes after,
                            struct alarm *out);

/* --- Changing them --- */

enum alarms_result {
    ALARMS_DONE,
    ALARMS_NOT_FOUND,
    ALARMS_FULL,      /* There is no room for another alarm. */
    ALARMS_TOO_LARGE, /* Definition and tags exceed ALARM_DEFINITION_SIZE_MAX. */
    ALARMS_FAILED,    /* `status` says how. */
};
/* Creates the alarm, or replaces its definition and keeps state and tags. */
MUST_CHECK enum alarms_result alarms_put(struct alarms *alarms, struct arena *arena,
                                         const struct alarm_definition *definition,
                                         enum engine_status *status);
/* Deletes those that exist; ALARMS_NOT_FOUND if some do not. */
MUST_CHECK enum alarms_result alarms_delete(struct alarms *alarms, struct arena *arena,
                                            const struct bytes *names, size_t count,
                                            enum engine_status *status);
/* Until the next evaluation. `reason_data` with data NULL: none. */
MUST_CHECK enum alarms_result alarms_set_state(struct alarms *alarms, struct arena *arena,
                                               struct bytes name, enum alarm_state state,
                                               struct bytes reason, struct bytes reason_data,
                                               enum engine_status *status);
/* Those that do not exist are skipped, as the service does. */
MUST_CHECK enum alarms_result alarms_enable_actions(struct alarms *alarms, struct arena *arena,
                                                    const struct bytes *names, size_t count,
                                                    bool enabled, enum engine_status *status);
/* ALARMS_TOO_LARGE: there would be more than ALARM_TAGS_MAX. */
MUST_CHECK enum alarms_result alarms_change_tags(struct alarms *alarms, struct arena *arena,
                                                 struct bytes name,
                                                 const struct alarm_tags_change *tags,
                                                 enum engine_status *status);

/* --- Changes as part of an engine write of the caller's ---
 *
 * For scaling policies, whose alarms come and go with them. The alarms are locked from begin to
 * end: commit the write in between, and nothing else. */
struct alarms_change *alarms_change_begin(struct alarms *alarms, struct arena *arena,
                                          struct engine_write *write);
/* Any result but ALARMS_DONE means that the caller must abandon its write. */
MUST_CHECK enum alarms_result alarms_change_put(struct alarms_change *change,
                                                const struct alarm_definition *definition);
void alarms_change_delete(struct alarms_change *change, struct bytes name); /* If it exists. */
/* As it was before the change. */
MUST_CHECK bool alarms_change_find(struct alarms_change *change, struct bytes name,
                                   struct alarm *out);
/* `status` is that of the commit, or any error if the write was abandoned. */
void alarms_change_end(struct alarms_change *change, enum engine_status status);

/* --- Evaluation --- */

/* Evaluates the alarms that are due at that time: those whose pace says so, and those that were put
 * since. Returns the milliseconds until the next one is
 * due, 0 if some are left. Called by one thread. */
int64_t alarms_tick(struct alarms *alarms, int64_t now_ms);

/* --- History --- */

struct alarm_history_query {
    struct bytes alarm_name; /* data NULL: all. */
    bool has_type;
    enum alarm_history_type type;
    int64_t start_ms; /* Both included. */
    int64_t end_ms;
    bool is_ascending;
    uint64_t position; /* Behind which to begin; 0: at the first. */
    size_t count_max;
};
struct alarm_history_page {
    struct alarm_history *entries; /* In the arena. */
    size_t count;
    uint64_t position; /* To resume behind; 0: there are no more. */
};
MUST_CHECK enum engine_status alarms_history(struct alarms *alarms, struct arena *arena,
                                             const struct alarm_history_query *query,
                                             struct alarm_history_page *out);

#endif
