/* store_files.h -- the files of a store, seen from outside: what a kill or a power cut leaves. */
#ifndef STATOR_TEST_STORE_FILES_H
#define STATOR_TEST_STORE_FILES_H
#include <stddef.h>
#include "scratch.h"

void store_files_copy_file(const char *from, const char *to);
/* The files of `from`, whatever is being done to them; `to` is replaced. */
void store_files_copy(const char *from, const char *to);

/* The path of the newest write-ahead log; returns how many logs there are. */
size_t store_files_newest_log(const char *directory, char path[SCRATCH_PATH_MAX]);

/* How many bytes at the end of a log are fill (engine/rocksdb/store_ahead.h), and how many come
 * before them. */
struct store_files_log {
    size_t used;
    size_t filled;
};
struct store_files_log store_files_measure_log(const char *path);

#endif
