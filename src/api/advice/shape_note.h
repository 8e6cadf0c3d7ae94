/* shape_note.h -- counts the expressions of a call that has ended, for the adviser. */
#ifndef STATOR_API_ADVICE_SHAPE_NOTE_H
#define STATOR_API_ADVICE_SHAPE_NOTE_H
#include <stdint.h>

struct api_call;

/* The call has noted a shape, is about to end and holds its tables. `now_ns` is the time by
 * clock_monotonic_ns. */
void shape_note_count(const struct api_call *call, int64_t now_ns);

#endif
