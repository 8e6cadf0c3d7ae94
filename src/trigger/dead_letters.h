/* dead_letters.h -- the file of the records that a trigger gave up, one JSON text per line.
 *
 * A line is durable before the trigger's position moves past its record. After a crash in between,
 * the line is written twice; it is never missing.
 *
 * A file that would exceed its bound is renamed to NAME~, which replaces an earlier one, and a new
 * file is begun. So the newest records are kept, and a function that refuses everything cannot fill
 * the disk: a name takes twice the bound at most. No trigger can name its file NAME~.
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
    uint64_t size_max; /* Of one file. A line that is longer by itself is still written. */
};

/* Appends whole lines and syncs; creates folder and file if they are missing. A line that a crash
 * cut short is ended first. False with errno set. Any thread; one at a time writes to a folder. */
MUST_CHECK bool dead_letters_append(struct arena *arena, const struct dead_letters *letters,
                                    struct bytes file_name, struct bytes lines);

#endif
