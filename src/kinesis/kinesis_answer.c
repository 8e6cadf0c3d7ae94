/* kinesis_answer.c -- see kinesis_answer.h. */
#include "kinesis/kinesis_answer.h"
#include "json/reader.h"

enum {
    DEPTH_MAX = 16,
    RECORD_SIZE_DEFAULT = 1024 * 1024,
    RECORD_SIZE_MAX = 10 * 1024 * 1024, /* The service's. */
    RECORD_KIB_DIGITS_MAX = 6,
};

/* --- PutRecords --- */

static bool read_fate(struct json_reader *reader, enum kinesis_fate *out)
{
    struct bytes name, code;
    *out = KINESIS_TAKEN;
    if (!json_enter_object(reader))
        return false;
    while (json_next_member(reader, &name)) {
        /* A server may say `null` where there was no error. */
        if (!bytes_equal_text(name, "ErrorCode") || json_peek(reader) != JSON_STRING) {
            json_skip(reader);
            continue;
        }
        if (!json_read_string(reader, &code))
            return false;
        *out = bytes_equal_text(code, "ProvisionedThroughputExceededException") ? KINESIS_THROTTLED
                                                                                : KINESIS_FAILED;
    }
    return !json_failed(reader);
}

bool kinesis_answer_fates(struct arena *arena, struct bytes body, size_t count,
                          enum kinesis_fate fates[])
{
    struct json_reader reader;
    struct bytes name;
    size_t found = 0;
    bool more = false;
    json_reader_init(&reader, arena, body, DEPTH_MAX);
    json_enter_object(&reader);
    while (json_next_member(&reader, &name)) {
        if (!bytes_equal_text(name, "Records")) {
            json_skip(&reader);
            continue;
        }
        json_enter_array(&reader);
        while (json_next_element(&reader)) {
            enum kinesis_fate fate;
            if (!read_fate(&reader, &fate))
                return false;
            more = more || found == count;
            if (found < count)
                fates[found++] = fate;
        }
    }
    return json_finish(&reader) && found == count && !more;
}

/* --- DescribeStreamSummary --- */

static size_t size_of_kib(struct bytes text)
{
    size_t kib = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9' || i == RECORD_KIB_DIGITS_MAX)
            return RECORD_SIZE_DEFAULT;
        kib = kib * 10 + (size_t)(text.data[i] - '0');
    }
    size_t size = kib * 1024;
    if (size < RECORD_SIZE_DEFAULT)
        return RECORD_SIZE_DEFAULT;
    return size < RECORD_SIZE_MAX ? size : RECORD_SIZE_MAX;
}

static bool read_summary(struct json_reader *reader, struct kinesis_stream *out, bool *has_status)
{
    struct bytes name, text;
    if (!json_enter_object(reader))
        return false;
    while (json_next_member(reader, &name)) {
        if (bytes_equal_text(name, "StreamStatus") && json_peek(reader) == JSON_STRING) {
            if (!json_read_string(reader, &text))
                return false;
            *has_status = true;
            out->is_active = bytes_equal_text(text, "ACTIVE") || bytes_equal_text(text, "UPDATING");
        } else if (bytes_equal_text(name, "MaxRecordSizeInKiB") &&
                   json_peek(reader) == JSON_NUMBER) {
            if (!json_read_number(reader, &text))
                return false;
            out->record_size_max = size_of_kib(text);
        } else {
            json_skip(reader);
        }
    }
    return !json_failed(reader);
}

bool kinesis_answer_stream(struct arena *arena, struct bytes body, struct kinesis_stream *out)
{
    struct json_reader reader;
    struct bytes name;
    bool has_status = false;
    *out = (struct kinesis_stream){ .record_size_max = RECORD_SIZE_DEFAULT };
    json_reader_init(&reader, arena, body, DEPTH_MAX);
    json_enter_object(&reader);
    while (json_next_member(&reader, &name)) {
        if (!bytes_equal_text(name, "StreamDescriptionSummary"))
            json_skip(&reader);
        else if (!read_summary(&reader, out, &has_status))
            return false;
    }
    return json_finish(&reader) && has_status;
}

/* --- Exceptions --- */

struct bytes kinesis_answer_exception(struct arena *arena, struct bytes body)
{
    struct json_reader reader;
    struct bytes name, type = BYTES("");
    json_reader_init(&reader, arena, body, DEPTH_MAX);
    json_enter_object(&reader);
    while (json_next_member(&reader, &name)) {
        bool is_type = bytes_equal_text(name, "__type") && json_peek(&reader) == JSON_STRING;
        if (is_type ? !json_read_string(&reader, &type) : !json_skip(&reader))
            break;
    }
    if (!json_finish(&reader))
        return BYTES("");
    for (size_t i = type.len; i > 0; i--) { /* "com.amazonaws.kinesis#ResourceNotFoundException" */
        if (type.data[i - 1] == '#')
            return bytes_of(type.data + i, type.len - i);
    }
    return type;
}
