/* key_report.h -- the report of a rule over a window of time, which GetInsightRuleReport and
 * GetHotKeys answer with.
 *
 * It goes through the stored minutes and hours once for the heaviest keys, and once more for their
 * values in each period. It pauses between two of them, as long reads do (api.h). Weights are what
 * is certain: the true value of a key is not smaller, and not larger by more than its error.
 */
#ifndef STATOR_API_INSIGHT_KEY_REPORT_H
#define STATOR_API_INSIGHT_KEY_REPORT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/insight_definition.h"
#include "model/value.h"

struct api_call;
struct json_writer;
struct table;

enum {
    KEY_REPORT_CONTRIBUTORS_MAX = 100,
    KEY_REPORT_PERIODS_MAX = 1440, /* As many as GetMetricStatistics has points. */
};

/* One period, with what was counted in it. */
struct key_report_period {
    int64_t start_ms;
    uint64_t distinct; /* Estimated. */
    uint64_t heaviest; /* The weight of the heaviest key. */
    uint64_t events;
    uint64_t total;
    uint64_t weight_min; /* Of one event. */
    uint64_t weight_max;
};

struct key_report_contributor {
    struct bytes key; /* Encoded parts. */
    uint64_t weight;  /* Over the whole window. */
    uint64_t error;
    uint64_t maximum;  /* In one period. */
    uint64_t *periods; /* The weight in each of the report's periods; NULL: not asked for. */
};

struct key_report {
    /* Set by the caller. The table is held by the call. */
    const struct table *table;
    struct insight_target target; /* Of that table's definition. */
    enum insight_rule rule;
    int64_t from_ms;
    int64_t until_ms;
    int64_t period_ms; /* A multiple of a minute; the window has at most KEY_REPORT_PERIODS_MAX. */
    size_t contributors_max;
    bool by_maximum; /* Contributors are ordered by their heaviest period. */
    bool has_values; /* Of each period are wanted. */
    /* Writes the call's response when the rest is complete. */
    void (*answer)(struct api_call *call, const struct key_report *report);
    const void *context; /* For `answer`. */

    struct key_report_contributor contributors[KEY_REPORT_CONTRIBUTORS_MAX];
    size_t contributor_count;
    struct key_report_period *periods; /* Only those in which anything was counted. */
    size_t period_count;
    uint64_t total;
    uint64_t distinct;
};

/* Runs the report and ends the call. `report` lives in the call's arena. */
void key_report_run(struct api_call *call, struct key_report *report);

/* The rule's scale: half units become units, throttled requests stay what they are. */
double key_report_value(enum insight_rule rule, uint64_t weight);

/* The key's attributes, in the order of the key: S as it is, N as a decimal, B in base64. False if
 * the bytes are no key of the target. */
enum { KEY_REPORT_ATTRIBUTES_MAX = 8 };
struct key_report_attribute {
    struct bytes name;
    enum value_type type;
    struct bytes text;
    struct bytes encoded; /* As a value of an item (model/value.h). */
};
size_t key_report_names(const struct insight_target *target, enum insight_rule rule,
                        struct key_report_attribute out[KEY_REPORT_ATTRIBUTES_MAX]);
MUST_CHECK bool key_report_read_key(struct api_call *call, const struct insight_target *target,
                                    enum insight_rule rule, struct bytes key,
                                    struct key_report_attribute out[KEY_REPORT_ATTRIBUTES_MAX],
                                    size_t *count);

#endif
