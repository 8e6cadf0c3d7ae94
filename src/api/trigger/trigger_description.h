/* trigger_description.h -- the JSON of a trigger, in the words of Lambda's event source mappings
 * where they have one. */
#ifndef STATOR_API_TRIGGER_TRIGGER_DESCRIPTION_H
#define STATOR_API_TRIGGER_TRIGGER_DESCRIPTION_H
#include "base/bytes.h"

struct api_call;
struct json_writer;
struct trigger_definition;

struct trigger_state {
    const char *name;    /* "Enabled", or "Ended": its stream is over, and all was delivered. */
    struct bytes result; /* Of the last call of its function. */
};

void trigger_description_write(struct api_call *call, struct json_writer *json,
                               const struct trigger_definition *definition,
                               const struct trigger_state *state);

#endif
