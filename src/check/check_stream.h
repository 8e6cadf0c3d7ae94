/* check_stream.h -- one stream: its log has every record that its shards tell of, in order, and
 * nothing else. */
#ifndef STATOR_CHECK_CHECK_STREAM_H
#define STATOR_CHECK_CHECK_STREAM_H
#include "engine/engine.h"

struct check_report;
struct stream_definition;

void check_stream(struct engine_view *view, const struct stream_definition *stream,
                  struct check_report *report);

#endif
