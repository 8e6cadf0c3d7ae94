/* record_json.h -- a change record as readers of a stream get it: in GetRecords, and in the events
 * that functions are called with. */
#ifndef STATOR_STREAM_RECORD_JSON_H
#define STATOR_STREAM_RECORD_JSON_H
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

struct arena;
struct change_record;
struct json_writer;
struct stream_definition;

/* What is the same for all records of a page. */
struct record_json {
    struct arena *arena;
    const struct stream_definition *stream;
    uint64_t partition;
    const char *region;
    /* The stream's ARN, which events have and GetRecords has not; data NULL: left out. Events also
     * write the members of userIdentity with small letters. */
    struct bytes event_source_arn;
};

/* "SizeBytes: the size of the stream record": the keys and the images that the stream shows, as
 * items are counted. */
size_t record_json_size(const struct record_json *form, const struct change_record *record);
void record_json_write(const struct record_json *form, struct json_writer *json, uint64_t sequence,
                       const struct change_record *record);

#endif
