/* metric_label.h -- labels of GetMetricData with properties in them: "${LABEL}, at most ${MAX}". */
#ifndef STATOR_API_CLOUDWATCH_METRIC_LABEL_H
#define STATOR_API_CLOUDWATCH_METRIC_LABEL_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct api_call;
struct math_series;

enum { METRIC_LABEL_SIZE_MAX = 64 * 1024 }; /* What a label may become. */

struct metric_label_options {
    struct bytes label;    /* The automatic one. */
    int64_t zone_offset_s; /* Of times that are shown. */
    int64_t now_s;
};

/* "+0130"; absent: UTC. */
MUST_CHECK bool metric_label_parse_zone(struct api_call *call, struct bytes text,
                                        int64_t *offset_s);
/* False with the error set if the label names a property that there is not. */
MUST_CHECK bool metric_label_expand(struct api_call *call, struct bytes text,
                                    const struct math_series *series,
                                    const struct metric_label_options *options, struct bytes *out);

#endif
