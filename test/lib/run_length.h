/* run_length.h -- what a person may set of a random test: its seed, how long it runs. */
#ifndef STATOR_TEST_RUN_LENGTH_H
#define STATOR_TEST_RUN_LENGTH_H
#include <stdint.h>

/* The number in an environment variable, or `otherwise`. */
uint64_t run_length_setting(const char *name, uint64_t otherwise);
/* The same with the length of the long form (tools/run-tests --long) as the default there. */
uint64_t run_length(const char *name, uint64_t in_short, uint64_t in_long);

#endif
