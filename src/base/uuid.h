/* uuid.h -- random UUIDs (RFC 4122, version 4): unique names without a list of those in use. */
#ifndef STATOR_BASE_UUID_H
#define STATOR_BASE_UUID_H
#include "base/bytes.h"

struct arena;

enum { UUID_TEXT_SIZE = 36 };

/* UUID_TEXT_SIZE characters, in lower case. Seeds from the system's entropy each time. */
struct bytes uuid_create(struct arena *arena);

#endif
