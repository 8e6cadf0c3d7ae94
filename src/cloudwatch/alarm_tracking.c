/* alarm_tracking.c -- see alarm_tracking.h. */
#include "cloudwatch/alarm_tracking.h"
#include <assert.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "base/uuid.h"

static const struct {
    const char *name;
    bool of_consumption;
    int period_s;
    int periods;
    const char *comparison;
} kinds[ALARM_TRACKING_COUNT] = {
    [ALARM_TRACKING_HIGH] = { "AlarmHigh", true, 60, 2, "GreaterThanThreshold" },
    [ALARM_TRACKING_CAPACITY_HIGH] = { "ProvisionedCapacityHigh", false, 300, 3,
                                       "GreaterThanThreshold" },
    [ALARM_TRACKING_CAPACITY_LOW] = { "ProvisionedCapacityLow", false, 300, 3,
                                      "LessThanThreshold" },
    [ALARM_TRACKING_LOW] = { "AlarmLow", true, 60, 15, "LessThanThreshold" },
};

/* Double arithmetic in the service's order: 3 units at 70 % give 125.99999999999999. */
static double threshold_of(const struct alarm_tracking *tracking, enum alarm_tracking_kind kind)
{
    double capacity = (double)tracking->capacity;
    if (kind == ALARM_TRACKING_HIGH)
        return capacity * 60 * (tracking->target / 100);
    if (kind == ALARM_TRACKING_LOW)
        return capacity * 60 * ((tracking->target - 20) / 100);
    return capacity;
}

static struct shape_list list_of(struct arena *arena, const void *elements, size_t count,
                                 size_t element_size)
{
    struct bytes copy = arena_copy(arena, bytes_of(elements, count * element_size));
    return (struct shape_list){
        .present = true, .count = count, .kept = count, .elements = (void *)(uintptr_t)copy.data
    };
}

static struct shape_list dimensions_of(struct arena *arena, const struct alarm_tracking *tracking)
{
    struct alarm_dimension *pairs = arena_alloc(arena, 2 * sizeof *pairs);
    const struct alarm_dimension *pointers[2];
    size_t count = 0;
    if (tracking->index_name.data != NULL)
        pairs[count++] = (struct alarm_dimension){ .name = BYTES("GlobalSecondaryIndexName"),
                                                   .value = tracking->index_name };
    pairs[count++] =
        (struct alarm_dimension){ .name = BYTES("TableName"), .value = tracking->table_name };
    for (size_t i = 0; i < count; i++)
        pointers[i] = &pairs[i];
    return list_of(arena, pointers, count, sizeof pointers[0]);
}

/* At most ALARM_NAME_LENGTH_MAX characters, like every alarm's name: a long name of a table or
 * index is cut. The UUID keeps the alarm's name unique. */
static struct bytes name_of(struct arena *arena, const struct alarm_tracking *tracking,
                            enum alarm_tracking_kind kind)
{
    bool of_index = tracking->index_name.data != NULL;
    struct bytes start =
        arena_printf(arena, "TargetTracking-table/%.*s%s%.*s", BYTES_FMT(tracking->table_name),
                     of_index ? "/index/" : "", of_index ? (int)tracking->index_name.len : 0,
                     of_index ? (const char *)tracking->index_name.data : "");
    struct bytes end =
        arena_printf(arena, "-%s-%.*s", kinds[kind].name, BYTES_FMT(uuid_create(arena)));
    if (start.len > ALARM_NAME_LENGTH_MAX - end.len)
        start.len = ALARM_NAME_LENGTH_MAX - end.len;
    struct bytes parts[] = { start, end };
    return arena_join(arena, parts, COUNT_OF(parts));
}

static struct alarm_definition definition_of(struct arena *arena,
                                             const struct alarm_tracking *tracking,
                                             enum alarm_tracking_kind kind)
{
    struct bytes action =
        arena_printf(arena, "%.*s:createdBy/%.*s", BYTES_FMT(tracking->policy_arn),
                     BYTES_FMT(tracking->creator));
    return (struct alarm_definition){
        .name = name_of(arena, tracking, kind),
        .description =
            arena_printf(arena, "DO NOT EDIT OR DELETE. For TargetTrackingScaling policy %.*s.",
                         BYTES_FMT(action)),
        .actions_enabled = { .present = true, .value = true },
        .alarm_actions = list_of(arena, &action, 1, sizeof action),
        .metric_name = arena_printf(arena, "%s%sCapacityUnits",
                                    kinds[kind].of_consumption ? "Consumed" : "Provisioned",
                                    tracking->is_write ? "Write" : "Read"),
        .namespace = BYTES("AWS/DynamoDB"),
        .statistic = kinds[kind].of_consumption ? BYTES("Sum") : BYTES("Average"),
        .dimensions = dimensions_of(arena, tracking),
        .period = { .present = true, .value = kinds[kind].period_s },
        .evaluation_periods = { .present = true, .value = kinds[kind].periods },
        .threshold = { .present = true, .value = threshold_of(tracking, kind) },
        .comparison_operator = bytes_from_text(kinds[kind].comparison),
    };
}

size_t alarm_tracking_definitions(struct arena *arena, const struct alarm_tracking *tracking,
                                  struct alarm_definition out[ALARM_TRACKING_COUNT])
{
    static_assert(ALARM_TRACKING_LOW == ALARM_TRACKING_COUNT - 1, "the one that may be missing");
    size_t count = ALARM_TRACKING_COUNT - (tracking->without_low ? 1 : 0);
    for (size_t i = 0; i < count; i++)
        out[i] = definition_of(arena, tracking, (enum alarm_tracking_kind)i);
    return count;
}
