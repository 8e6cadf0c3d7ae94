/* thread_priority.h -- how soon the calling thread gets a processor when others want it, too.
 *
 * Neither needs a privilege. Where the system refuses, the thread stays as it is: clients wait a
 * little longer, and nothing else changes.
 */
#ifndef STATOR_BASE_THREAD_PRIORITY_H
#define STATOR_BASE_THREAD_PRIORITY_H

enum { THREAD_PRIORITY_SLICE_NS = 200 * 1000 };

/* Adds to the thread's niceness: on Linux a thread has one of its own. It cannot be undone. */
void thread_priority_lower(int niceness);
/* For a thread that mostly sleeps, and then has little to do, at once: asks for time slices of
 * THREAD_PRIORITY_SLICE_NS. Its share of a processor stays the same, but when it wakes up it need
 * not wait for the end of another thread's slice, which takes milliseconds. From Linux 6.12 on;
 * others ignore it. */
void thread_priority_shorten_slices(void);

#endif
