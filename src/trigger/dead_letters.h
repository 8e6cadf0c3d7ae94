/* dead_letters.h -- the file of the records that a trigger gave up, one JSON text a line.
 *
 * A line is on the disk before the trigger's position moves past its record. A crash in between
 * writes it twice, never not at all.
 *
 * A file that would grow beyond its bound is renamed to NAME~, over the one before, and begun anew.
 * So the newest records are kept, and a function that refuses everything cannot fill the disk: a
 * name takes twice the bound at most. No trigger can have a file called NAME~.
 */
#ifndef STATOR_TRIGGER_DEAD_LETTERS_H
#define STATOR_TRIGGER_DEAD_LETTERS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;

enum { DEAD_LETTERS_SIZE_MAX = 64 * 1024 * 1024 }; /* The default of size_max. */

struct dead_letters {
    const char *folder;
    uint64_t size_max; /* Of one file; lines that are longer alone are written all the same. */
};

/* Appends whole lines and syncs; creates folder and file where they are missing. A line that a
 * crash cut short is ended first. False with errno set. From any thread: one at a time writes to a
 * folder. */
MUST_CHECK bool dead_letters_append(struct arena *arena, const struct dead_letters *letters,
                                    struct bytes file_name, struct bytes lines);

#endif
