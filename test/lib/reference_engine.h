/* reference_engine.h -- the storage contract in its plainest form, to compare others with.
 *
 * A sorted array in memory. Views share an immutable array; a commit makes a new one. One write at
 * a time holds everything. Slow with many records and obviously right.
 */
#ifndef STATOR_TEST_REFERENCE_ENGINE_H
#define STATOR_TEST_REFERENCE_ENGINE_H

struct engine;

/* Empty; engine_close lets it go with all its content. */
struct engine *reference_engine_create(void);
/* The same with these capabilities only. It fails an assertion when it is asked for another: a scan
 * backward, a range delete, a write to two partitions. */
struct engine *reference_engine_create_with(unsigned capabilities);

#endif
