/* advice_parts.h -- what the files of rules share. For advice*.c only. */
#ifndef STATOR_ADVICE_ADVICE_PARTS_H
#define STATOR_ADVICE_ADVICE_PARTS_H
#include "advice/advice.h"
#include "base/arena.h"

enum { ADVICE_SAMPLE_MIN = 10 }; /* Items that have to be looked at. */
/* Why a rule about items is not judged: the table has few, or they are so large that few fit into
 * the page that is read. */
extern const char advice_small_sample[];

/* Adds a finding about the table, in the window of the shapes' counters, without cost. */
struct advice_finding *advice_add(struct advice_report *report, const struct advice_table *table,
                                  const char *rule, bool is_warning);
void advice_evidence(struct advice_finding *finding, const char *name, double value);
void advice_cost(struct advice_finding *finding, double usd_per_month);
void advice_not_judged(struct advice_report *report, const struct advice_table *table,
                       const struct index_definition *index, const char *rule, const char *reason);

/* Extrapolates what happened in a window to a month of 730 hours. A window of less than an hour is
 * taken for an hour: nobody repeats what a test does for a few seconds all month long. */
double advice_monthly(double value, int64_t from_ms, int64_t until_ms);
/* USD for units by request, by the table's class. */
double advice_units_price(const struct table_definition *table, enum meter_direction direction);
double advice_capacity_price(const struct table_definition *table, enum meter_direction direction);
/* USD for one consumed unit: on-demand by request; otherwise its part of an hour's capacity. */
double advice_unit_cost(const struct table_definition *table, enum meter_direction direction);
/* Per byte and month. */
double advice_storage_price(const struct table_definition *table);
double advice_ratio(double a, double b); /* 0 if `b` is 0. */
/* The index of a table whose id is given; SIZE_MAX: none. */
size_t advice_index_of(const struct table_definition *table, uint64_t id);

void advice_judge_access(struct advice_report *report, const struct advice_table *table);
void advice_judge_indexes(struct advice_report *report, const struct advice_table *table);
void advice_judge_items(struct advice_report *report, const struct advice_table *table);
void advice_judge_keys(struct advice_report *report, const struct advice_table *table);
void advice_judge_capacity(struct advice_report *report, const struct advice_table *table);
void advice_judge_operation(struct advice_report *report, const struct advice_table *table);

#endif
