/* command_time.h -- moments as people give them to commands. */
#ifndef STATOR_COMMAND_COMMAND_TIME_H
#define STATOR_COMMAND_COMMAND_TIME_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"

/* What is expected, for messages. */
#define COMMAND_TIME_EXPECTED "expected a time such as 2026-11-16T10:43:35Z, or seconds since 1970"

/* Seconds since 1970, perhaps with a fraction, or "2026-11-16T10:43:35Z". */
MUST_CHECK bool command_time_parse(const char *text, int64_t *out_ms);

#endif
