/* collection.c -- see collection.h. */
#include "cloudwatch/collection.h"
#include <string.h>
#include "base/arena.h"
#include "cloudwatch/series.h"

void collection_add(struct collection *collection, const char *name, enum unit unit,
                    const struct series_dimension *dimensions, size_t dimension_count,
                    const struct sample_set *set)
{
    struct series_dimension *copy =
        arena_alloc(collection->arena, (dimension_count + 1) * sizeof *copy);
    if (dimension_count > 0)
        memcpy(copy, dimensions, dimension_count * sizeof *copy);
    const struct series_sample sample = {
        .key = { .namespace = BYTES("AWS/DynamoDB"),
                 .name = bytes_from_text(name),
                 .dimensions = copy,
                 .dimension_count = dimension_count,
                 .unit = unit },
        .time_s = collection->time_s,
        .is_own = true,
        .set = *set,
    };
    series_samples_append(collection->arena, collection->out, &sample);
}

void collection_run(struct collection *collection)
{
    table_metrics_collect(collection);
    account_metrics_collect(collection);
}
