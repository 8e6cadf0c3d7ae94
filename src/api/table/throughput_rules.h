/* throughput_rules.h -- billing modes and the three kinds of throughput: what may be asked for,
 * and what a change of it leaves behind.
 *
 * Pure: requests that passed their shape in, definitions out, or the service's message.
 */
#ifndef STATOR_API_TABLE_THROUGHPUT_RULES_H
#define STATOR_API_TABLE_THROUGHPUT_RULES_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"
#include "model/table_definition.h"

struct create_table_request;
struct error;
struct index_request;
struct units_request;
struct update_table_request;

enum {
    ON_DEMAND_WARM_READ_UNITS = 12000, /* What an on-demand table serves from the start. */
    ON_DEMAND_WARM_WRITE_UNITS = 4000,
};
#define PROVISIONED_UNITS_MAX INT64_C(1000000000000)

/* Sets the draft's billing mode and throughput. */
MUST_CHECK bool throughput_rules_create(const struct create_table_request *request, int64_t now_ms,
                                        struct table_definition *draft, struct error *err);
/* The same for one global index of a table of that billing mode. */
MUST_CHECK bool throughput_rules_create_index(const struct index_request *request,
                                              enum billing_mode mode,
                                              struct index_definition *index, struct error *err);

/* The same for one that is added to a table: observed with another text. */
MUST_CHECK bool throughput_rules_add_index(const struct index_request *request,
                                           enum billing_mode mode, struct index_definition *index,
                                           struct error *err);

/* The rules of indexes' updates that come before all others of UpdateTable. */
MUST_CHECK bool throughput_rules_check_index_updates(const struct update_table_request *request,
                                                     struct error *err);
/* The rules that do not depend on the table. */
MUST_CHECK bool throughput_rules_check_update(const struct update_table_request *request,
                                              struct error *err);
/* Changes `table`, a copy of the current definition whose indexes are a copy too. */
MUST_CHECK bool throughput_rules_update(const struct update_table_request *request, int64_t now_ms,
                                        struct table_definition *table, struct error *err);

/* For a change of one kind of units only: replaces the other one by what there is. `request` may be
 * NULL. */
void throughput_rules_keep(bool is_about_reads, const struct throughput *current,
                           struct units_request *request);

/* What WarmThroughput shows: what was asked for or once provisioned, and no less than the mode
 * gives. */
struct unit_pair throughput_rules_warm(enum billing_mode mode, const struct throughput *provisioned,
                                       const struct unit_pair *asked);
/* ProvisionedThroughput.NumberOfDecreasesToday. */
int64_t throughput_rules_decreases_today(const struct throughput *throughput, int64_t now_ms);

#endif
