/* uuid.h -- random UUIDs (RFC 4122, version 4): names that nobody has to keep a list of. */
#ifndef STATOR_BASE_UUID_H
#define STATOR_BASE_UUID_H
#include "base/bytes.h"

struct arena;

enum { UUID_TEXT_SIZE = 36 };

/* UUID_TEXT_SIZE characters, in small letters. Seeds from the system's entropy each time. */
struct bytes uuid_create(struct arena *arena);

#endif
