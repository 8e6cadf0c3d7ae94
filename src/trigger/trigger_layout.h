/* trigger_layout.h -- the constants of doc/disk-format.md, "Triggers". */
#ifndef STATOR_TRIGGER_TRIGGER_LAYOUT_H
#define STATOR_TRIGGER_TRIGGER_LAYOUT_H
#include "base/uuid.h"

enum {
    /* First byte of a key; then the trigger's UUID. */
    TRIGGER_KEY_DEFINITION = 'D',
    TRIGGER_KEY_POSITION = 'P', /* And then the partition, big-endian. */
    TRIGGER_DEFINITION_KEY_SIZE = 1 + UUID_TEXT_SIZE,
    TRIGGER_POSITION_KEY_SIZE = 1 + UUID_TEXT_SIZE + 8,

    TRIGGER_POSITION_FORMAT = 1,
    TRIGGER_POSITION_SIZE = 1 + 4 + 8,
};

#endif
