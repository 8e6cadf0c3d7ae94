/* check_stream.h -- streams and the triggers that read them. */
#ifndef STATOR_CHECK_CHECK_STREAM_H
#define STATOR_CHECK_CHECK_STREAM_H
#include "engine/engine.h"

struct check_catalogue;
struct check_report;
struct stream_definition;

/* One stream: its log holds every record that its shards claim, in order, and nothing else. */
void check_stream(struct engine_view *view, const struct stream_definition *stream,
                  struct check_report *report);
/* Every trigger's record is whole, and its positions lie within its stream. */
void check_stream_triggers(struct engine_view *view, const struct check_catalogue *catalogue,
                           struct check_report *report);

#endif
