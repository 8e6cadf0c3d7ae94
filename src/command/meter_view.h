/* meter_view.h -- what `stator top` shows: two answers of GetMeters, and what happened in between.
 *
 * Pure: answers in, lines out, so that a test needs neither server nor terminal.
 */
#ifndef STATOR_COMMAND_METER_VIEW_H
#define STATOR_COMMAND_METER_VIEW_H
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct buffer;

enum { METER_VIEW_TABLES_MAX = 4096, METER_VIEW_NAME_COLUMNS = 32 };

/* One answer: totals of all tables. */
struct meter_view;

/* Lives in the arena, as does what it was read from. NULL if it is no answer of GetMeters. */
MUST_CHECK const struct meter_view *meter_view_read(struct arena *arena, struct bytes answer);

/* Writes the tables by their rate of requests between the two answers, at most `rows_max`, as lines
 * of a table; `before` NULL: since the server's start, without rates. */
void meter_view_write(struct buffer *out, const struct meter_view *before,
                      const struct meter_view *now, size_t rows_max);
/* The same as one line of JSON, for scripts, with all tables. */
void meter_view_write_json(struct buffer *out, const struct meter_view *before,
                           const struct meter_view *now);

/* The first tables whose most used keys the server knows (GetHotKeys). Returns how many. */
size_t meter_view_key_tables(const struct meter_view *view, struct bytes *names, size_t max);

#endif
