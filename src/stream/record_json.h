/* record_json.h -- a change record in JSON, as GetRecords returns it and as the events of triggers
 * contain it. */
#ifndef STATOR_STREAM_RECORD_JSON_H
#define STATOR_STREAM_RECORD_JSON_H
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

struct arena;
struct change_record;
struct json_writer;
struct stream_definition;

/* What all records of a page have in common. */
struct record_json {
    struct arena *arena;
    const struct stream_definition *stream;
    uint64_t partition;
    const char *region;
    /* The stream's ARN, for events; data NULL: GetRecords, which does not return it. Events also
     * write the members of userIdentity with lower-case initials. */
    struct bytes event_source_arn;
};

/* SizeBytes, "the size of the stream record": keys and images that the stream shows, measured as
 * items are. */
size_t record_json_size(const struct record_json *form, const struct change_record *record);
void record_json_write(const struct record_json *form, struct json_writer *json, uint64_t sequence,
                       const struct change_record *record);

#endif
