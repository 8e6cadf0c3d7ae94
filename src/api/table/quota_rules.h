/* quota_rules.h -- how much throughput a table and an account may have, and how often it may be
 * lowered or turned to on-demand.
 *
 * These rules hold for tables whose limits are enforced (api/admission.h): whoever does not want to
 * be throttled on a machine of their own does not want to wait until tomorrow either. They come
 * after all rules about values, and judge a change by the table before and after it.
 */
#ifndef STATOR_API_TABLE_QUOTA_RULES_H
#define STATOR_API_TABLE_QUOTA_RULES_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"

struct api;
struct error;
struct table_definition;

enum {
    DECREASES_FREE = 4, /* In a UTC day, of a table or index. */
    DECREASE_INTERVAL_MS = 3600 * 1000,
};

/* `before` is NULL if the table is created. False with LimitExceededException set, in the service's
 * words. */
MUST_CHECK bool quota_rules_check(struct api *api, const struct table_definition *before,
                                  const struct table_definition *after, int64_t now_ms,
                                  struct error *err);

#endif
