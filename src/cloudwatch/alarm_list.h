/* alarm_list.h -- the alarms in memory, and changes of them under way. Internal to alarms.h's
 * files. */
#ifndef STATOR_CLOUDWATCH_ALARM_LIST_H
#define STATOR_CLOUDWATCH_ALARM_LIST_H
#include <pthread.h>
#include "cloudwatch/alarms.h"

/* An alarm as it is stored; decoded when it is needed. */
struct alarm_entry {
    uint64_t version; /* Of the record; no two are the same. */
    int64_t due_s;    /* When it is to be evaluated. */
    int64_t pace_s;
    enum alarm_state state; /* As in the record. */
    size_t name_size;
    size_t record_size;
    uint8_t bytes[]; /* The name, then the record. */
};

struct alarms {
    struct alarms_options options;
    struct alarm_delivery *delivery;
    pthread_mutex_t mutex;        /* Guards what follows; taken before that of the delivery. */
    struct alarm_entry **entries; /* In the order of their names. */
    size_t count;
    size_t capacity;
    size_t size;          /* Of all names and records. */
    uint64_t last_number; /* Of a key of the history or of an action. */
    uint64_t last_version;
    size_t history_count;
    bool history_is_unsure; /* A write may have taken place or not: count again. */
    int64_t trim_due_ms;
    size_t cursor; /* Where alarms_tick resumes. */
};

struct bytes alarm_entry_name(const struct alarm_entry *entry);
struct bytes alarm_entry_record(const struct alarm_entry *entry);

/* The place of a name in the list, or where it would be. */
size_t alarms_place_locked(const struct alarms *alarms, struct bytes name, bool *found);
/* NULL if there is none. */
struct alarm_entry *alarms_entry_locked(const struct alarms *alarms, struct bytes name);
/* False if the record is damaged, which opening has excluded. */
MUST_CHECK bool alarms_decode_locked(const struct alarms *alarms, struct arena *arena,
                                     const struct alarm_entry *entry, struct alarm *out);
/* Puts a record into the list, or removes it if `record` has no data. `is_due`: it is to be
 * evaluated at once, rather than when it was due before. */
void alarms_apply_locked(struct alarms *alarms, struct bytes name, struct bytes record,
                         enum alarm_state state, int64_t pace_s, bool is_due);

/* --- A change: what is in the engine write, and what becomes of the list if it is committed --- */

/* Stages a new version of an alarm. */
MUST_CHECK enum alarms_result alarms_change_stage(struct alarms_change *change,
                                                  const struct alarm *alarm);
void alarms_change_add_history(struct alarms_change *change, struct bytes alarm_name,
                               enum alarm_history_type type, struct bytes summary,
                               struct bytes data);
/* Stages a change of state, with its entry in the history and its actions. */
MUST_CHECK enum alarms_result alarms_change_transition(struct alarms_change *change,
                                                       const struct alarm *before,
                                                       struct alarm *after);
/* Removes a stored action. */
void alarms_change_remove_action(struct alarms_change *change, uint64_t number);

/* A change in an engine write of its own. NULL with the engine's status. */
MUST_CHECK struct alarms_change *alarms_own_change_begin(struct alarms *alarms, struct arena *arena,
                                                         enum engine_status *status);
/* Commits it if `result` is ALARMS_DONE, or ALARMS_NOT_FOUND where some names were not found. */
enum alarms_result alarms_own_change_end(struct alarms_change *change, enum alarms_result result,
                                         enum engine_status *status);

/* --- History --- */

/* Removes the oldest entries, so that there is room for one more. */
void alarm_history_make_room(struct alarms *alarms, struct arena *arena, struct engine_write *write,
                             size_t *removed);
/* Removes what is older than ALARMS_HISTORY_DAYS. */
void alarm_history_trim(struct alarms *alarms, struct arena *arena, int64_t now_ms);

#endif
