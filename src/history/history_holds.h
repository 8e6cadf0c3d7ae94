/* history_holds.h -- moments that jobs still read: tables keep the history from there on.
 *
 * A hold keeps a table's history from being trimmed or closed, and opens one for a table that has
 * none (control/history_life.h). It also keeps the data of a table that was dropped meanwhile
 * (catalogue_remove_dropped asks history_holds_has_table). Holds live in memory. A job stores its
 * record before it adds its hold; after a restart the job's owner adds it again before the control
 * thread starts, so nothing is removed in between. Any thread.
 */
#ifndef STATOR_HISTORY_HISTORY_HOLDS_H
#define STATOR_HISTORY_HISTORY_HOLDS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"

struct history_holds;

/* Above what all kinds of jobs allow at a time. */
enum { HISTORY_HOLDS_MAX = 1024 };

struct history_holds *history_holds_create(void);
/* No holds are left, or the process ends. */
void history_holds_destroy(struct history_holds *holds);

/* Keeps the history of a table from `at_us` on; 0: from whenever it is complete, for a job that
 * waits for that and then moves its hold. Returns a number for the functions below; 0: there are
 * HISTORY_HOLDS_MAX. */
MUST_CHECK uint64_t history_holds_add(struct history_holds *holds, uint64_t table_id,
                                      int64_t at_us);
/* To a later moment. */
void history_holds_move(struct history_holds *holds, uint64_t hold, int64_t at_us);
void history_holds_remove(struct history_holds *holds, uint64_t hold); /* 0 is ignored. */

bool history_holds_has_table(struct history_holds *holds, uint64_t table_id);
/* The earliest moment that is held of the table; INT64_MAX: none. */
int64_t history_holds_earliest_us(struct history_holds *holds, uint64_t table_id);

#endif
