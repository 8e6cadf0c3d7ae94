/* iso_time.h -- times as the query protocol writes them: ISO 8601 in UTC. */
#ifndef STATOR_CODEC_ISO_TIME_H
#define STATOR_CODEC_ISO_TIME_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

/* Reads "2026-11-16T10:43:35Z". The seconds, and the time as a whole, may be missing; the seconds
 * may have a fraction, which is cut after milliseconds; an offset such as "+01:00" may stand for
 * the Z. A text without either is UTC. False if it is no such time or no such day exists. */
MUST_CHECK bool iso_time_parse(struct bytes text, int64_t *out_ms);

enum { ISO_TIME_TEXT_SIZE = sizeof "2026-11-16T10:43:35.123Z" };
/* Milliseconds are written only if there are any. Years before 1000 and after 9999 become the
 * nearest time inside. */
void iso_time_format(int64_t time_ms, char out[ISO_TIME_TEXT_SIZE]);

#endif
