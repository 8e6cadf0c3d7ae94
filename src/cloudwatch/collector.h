/* collector.h -- DynamoDB's metrics for CloudWatch: from the meter and the catalogue into the
 * store.
 *
 * A minute is stored once, when it has ended and settled. Until then readers of the store see it
 * live (series_live): what the meter has counted so far. At a regular end, collector_flush stores
 * the open minute too; the rest of it, counted after a restart, is added to that.
 *
 * Which metrics there are, with which dimensions and when, is in collector.c's tables and follows
 * DynamoDB's documentation.
 */
#ifndef STATOR_CLOUDWATCH_COLLECTOR_H
#define STATOR_CLOUDWATCH_COLLECTOR_H
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"
#include "metric/meter.h"

struct catalogue;
struct clock;
struct collector;
struct meter;
struct series_store;

struct collector_options {
    struct series_store *store; /* All are borrowed and must outlive the collector. */
    struct meter *meter;
    struct catalogue *catalogue;
    const struct clock *clock;
    /* Quotas of units per second, by enum meter_direction: of all tables together, and of each. 0:
     * the service's defaults. */
    int64_t account_units_max[METER_DIRECTIONS];
    int64_t table_units_max[METER_DIRECTIONS];
};

/* Registers itself for the store's live samples. */
struct collector *collector_create(const struct collector_options *options);
void collector_destroy(struct collector *collector); /* NULL is allowed. */

/* Stores all minutes that have ended and settled. A batch that cannot be stored is kept and tried
 * again with the next call. May wait for the disk; one thread at a time. */
MUST_CHECK enum engine_status collector_run(struct collector *collector);
/* The same with the minute that is open: for the end. */
MUST_CHECK enum engine_status collector_flush(struct collector *collector);

#endif
