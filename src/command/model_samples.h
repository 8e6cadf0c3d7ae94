/* model_samples.h -- the models of common designs that are in the program (examples/models/). */
#ifndef STATOR_COMMAND_MODEL_SAMPLES_H
#define STATOR_COMMAND_MODEL_SAMPLES_H
#include <stddef.h>
#include "base/bytes.h"

struct model_sample {
    const char *name;
    const char *purpose;
    struct bytes text;
};

size_t model_samples_count(void);
struct model_sample model_samples_at(size_t index);
/* data NULL if there is none of that name. */
struct bytes model_samples_find(const char *name);
void model_samples_list(void); /* To standard output. */

#endif
