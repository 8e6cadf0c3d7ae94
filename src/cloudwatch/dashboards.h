/* dashboards.h -- dashboards: texts that the server keeps and does not draw.
 *
 * Bodies are stored in the engine beside the alarms (alarm_record.h); names, sizes and times are in
 * memory, too. Any thread may call, except event loops: calls wait for the disk.
 */
#ifndef STATOR_CLOUDWATCH_DASHBOARDS_H
#define STATOR_CLOUDWATCH_DASHBOARDS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "shape/shape.h"

struct alarm_tags_change;
struct arena;
struct clock;
struct dashboards;
struct json_writer;

enum {
    DASHBOARDS_MAX_DEFAULT = 500,
    DASHBOARD_NAME_SIZE_MAX = 255,
    DASHBOARD_BODY_SIZE_MAX = 300 * 1024,
    DASHBOARD_WIDGETS_MAX = 500,
    DASHBOARD_METRICS_MAX = 500, /* Of one widget. */
    DASHBOARD_DEPTH_MAX = 64,
    DASHBOARD_MESSAGES_MAX = 100,
};

struct dashboard {
    struct bytes name;
    struct bytes body;
    int64_t modified_ms;
    struct shape_list tags; /* of struct alarm_tag * */
};

struct dashboard_summary {
    struct bytes name;
    size_t size; /* Of the body. */
    int64_t modified_ms;
};

struct dashboards_options {
    struct engine *engine; /* Borrowed; must outlive the dashboards. */
    const struct clock *clock;
    size_t dashboards_max; /* 0: DASHBOARDS_MAX_DEFAULT. */
};

/* NULL with the engine's status; ENGINE_CORRUPT if a record is damaged. */
MUST_CHECK struct dashboards *dashboards_open(const struct dashboards_options *options,
                                              enum engine_status *status);
void dashboards_close(struct dashboards *dashboards); /* Closing NULL is allowed. */

/* ENGINE_NOT_FOUND if there is none. */
MUST_CHECK enum engine_status dashboards_get(struct dashboards *dashboards, struct arena *arena,
                                             struct bytes name, struct dashboard *out);
/* The first one whose name is behind `after`; data NULL: the first of all. */
MUST_CHECK bool dashboards_next(struct dashboards *dashboards, struct arena *arena,
                                struct bytes after, struct dashboard_summary *out);
/* Creates or replaces. `tags` NULL: keeps those that it has. ENGINE_TOO_LARGE: there are as many as
 * there may be. */
MUST_CHECK enum engine_status dashboards_put(struct dashboards *dashboards, struct arena *arena,
                                             struct bytes name, struct bytes body,
                                             const struct shape_list *tags);
/* All of them or, if one does not exist, none: ENGINE_NOT_FOUND with its index in `missing`. */
MUST_CHECK enum engine_status dashboards_delete(struct dashboards *dashboards, struct arena *arena,
                                                const struct bytes *names, size_t count,
                                                size_t *missing);
/* ENGINE_NOT_FOUND if there is no such dashboard, ENGINE_TOO_LARGE if there would be more than
 * ALARM_TAGS_MAX. */
MUST_CHECK enum engine_status dashboards_change_tags(struct dashboards *dashboards,
                                                     struct arena *arena, struct bytes name,
                                                     const struct alarm_tags_change *tags);

/* --- Names and bodies --- */

/* Letters, digits, '-' and '_'; at most 255. */
bool dashboard_is_name(struct bytes name);

/* What is wrong with a body. */
struct dashboard_message {
    struct bytes path; /* "/widgets/0/properties" */
    struct bytes message;
};
struct dashboard_messages {
    struct dashboard_message *list; /* At most DASHBOARD_MESSAGES_MAX; in the arena. */
    size_t count;
};
/* Whether the body is a JSON object whose widgets have the form of the service's. */
MUST_CHECK bool dashboard_check_body(struct arena *arena, struct bytes body,
                                     struct dashboard_messages *out);

/* --- Stored form --- */

struct bytes dashboard_encode(struct arena *arena, const struct dashboard *dashboard);
/* All but the name, which is in the key. False for what encoding would not have written. */
MUST_CHECK bool dashboard_decode(struct arena *arena, struct bytes stored, struct dashboard *out);

#endif
