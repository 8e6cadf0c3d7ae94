/* dead_letters.h -- the file of the records that a trigger gave up, one JSON text a line.
 *
 * A line is on the disk before the trigger's position moves past its record. A crash in between
 * writes it twice, never not at all.
 */
#ifndef STATOR_TRIGGER_DEAD_LETTERS_H
#define STATOR_TRIGGER_DEAD_LETTERS_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;

/* Appends whole lines and syncs; creates folder and file where they are missing. A line that a
 * crash cut short is ended first. False with errno set. */
MUST_CHECK bool dead_letters_append(struct arena *arena, const char *folder, struct bytes file_name,
                                    struct bytes lines);

#endif
