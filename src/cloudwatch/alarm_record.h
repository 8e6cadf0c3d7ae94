/* alarm_record.h -- what is stored of alarms: each with its state, their history, and actions that
 * are still to be carried out. doc/disk-format-monitoring.md, "Alarms and dashboards".
 */
#ifndef STATOR_CLOUDWATCH_ALARM_RECORD_H
#define STATOR_CLOUDWATCH_ALARM_RECORD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "cloudwatch/alarm_definition.h"
#include "engine/engine.h"

struct arena;
struct json_writer;

/* Where everything lies; the scaling policies as well, under other first bytes. */
extern const struct engine_place monitor_place;

enum {
    /* First byte of a key; then: */
    MONITOR_KEY_ALARM = 'A',     /* the alarm's name */
    MONITOR_KEY_DASHBOARD = 'B', /* the dashboard's name */
    MONITOR_KEY_HISTORY = 'H',   /* a number of 8 bytes, big-endian, ascending with time */
    MONITOR_KEY_ACTION = 'P',    /* the same */
    MONITOR_NUMBER_KEY_SIZE = 1 + 8,

    ALARM_DEFINITION_SIZE_MAX = 64 * 1024,
    ALARM_TAGS_SIZE_MAX = 128 * 1024, /* ALARM_TAGS_MAX, with every character escaped, fit. */
    ALARM_REASON_SIZE_MAX = 64 * 1024,
    ALARM_MESSAGE_SIZE_MAX = 512 * 1024, /* Of an action, or of an entry of the history. */
};

struct engine_address monitor_address(struct arena *arena, uint8_t kind, struct bytes name);
struct engine_address monitor_number_address(struct arena *arena, uint8_t kind, uint64_t number);
/* False unless the key is of that kind and has a number. */
MUST_CHECK bool monitor_parse_number(struct bytes key, uint8_t kind, uint64_t *out);

struct alarm {
    struct alarm_definition definition;
    enum alarm_state state;
    struct bytes reason;
    struct bytes reason_data; /* JSON; data NULL: none. */
    int64_t updated_ms;       /* Of the state. */
    int64_t transitioned_ms;  /* When it last changed to another state. */
    int64_t configured_ms;
    struct shape_list tags; /* of struct alarm_tag * */
};

enum alarm_history_type {
    ALARM_HISTORY_CONFIGURATION,
    ALARM_HISTORY_STATE,
    ALARM_HISTORY_ACTION,
};
#define ALARM_HISTORY_TYPE_COUNT 3u
const char *alarm_history_type_name(enum alarm_history_type type); /* "StateUpdate" */

struct alarm_history {
    struct bytes alarm_name;
    enum alarm_history_type type;
    int64_t time_ms;
    struct bytes summary;
    struct bytes data; /* JSON */
};

/* An action that is to be carried out, or has to be tried again. */
struct alarm_action {
    struct bytes alarm_name;
    struct bytes target; /* A URL or an ARN. */
    struct bytes message;
    enum alarm_state from;
    enum alarm_state state;
    int64_t time_ms; /* Of the change of state. */
};

/* Stored values. Decoding is false for what encoding would not have written. */
struct bytes alarm_encode(struct arena *arena, const struct alarm *alarm);
MUST_CHECK bool alarm_decode(struct arena *arena, struct bytes stored, struct alarm *out);
struct bytes alarm_history_encode(struct arena *arena, const struct alarm_history *entry);
MUST_CHECK bool alarm_history_decode(struct arena *arena, struct bytes stored,
                                     struct alarm_history *out);
struct bytes alarm_action_encode(struct arena *arena, const struct alarm_action *action);
MUST_CHECK bool alarm_action_decode(struct arena *arena, struct bytes stored,
                                    struct alarm_action *out);

/* --- Texts that are stored --- */

/* "arn:aws:cloudwatch:<region>:<account>:alarm:<name>" */
struct bytes alarm_arn(struct arena *arena, const char *region, const char *account_id,
                       struct bytes name);

/* {"type":"Create",...}: "Create", "Update" or "Delete". `before` is NULL unless it is an update.
 */
struct bytes alarm_configuration_data(struct arena *arena, const char *type,
                                      const struct alarm *alarm, const struct alarm *before);
/* {"version":"1.0","oldState":{...},"newState":{...}} */
struct bytes alarm_state_data(struct arena *arena, const struct alarm *before,
                              const struct alarm *after);
/* What an action sends: as SNS delivers a message of CloudWatch. */
struct bytes alarm_message(struct arena *arena, const char *region, const char *account_id,
                           const struct alarm *alarm, enum alarm_state from);
/* {"actionState":"Succeeded",...}; `problem` NULL: it succeeded. */
struct bytes alarm_action_data(struct arena *arena, const struct alarm_action *action,
                               const char *problem);

#endif
