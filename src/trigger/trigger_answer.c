/* trigger_answer.c -- see trigger_answer.h.
 *
 * Lambda reports an error in a header. Its runtime interface emulator answers 200 and reports the
 * error in the body only; a time-out in plain text.
 */
#include "trigger/trigger_answer.h"
#include "base/arena.h"
#include "json/reader.h"
#include "json/utf8.h"
#include "stream/stream_names.h"
#include "trigger/trigger_batch.h"

enum { ANSWER_DEPTH_MAX = 128, PROBLEM_SHOWN_MAX = 120, STATUS_THROTTLED = 429 };

static struct trigger_answer failed(struct bytes problem)
{
    return (struct trigger_answer){ .outcome = TRIGGER_FAILED, .problem = problem };
}

static struct bytes shortened(struct bytes text)
{
    return bytes_of(text.data, utf8_prefix(text, PROBLEM_SHOWN_MAX));
}

/* --- Errors in a body --- */

/* {"errorMessage":"...","errorType":"..."} */
static bool tells_error(struct arena *arena, struct bytes body, struct bytes *message)
{
    struct json_reader reader;
    struct bytes name;
    bool has_message = false, has_type = false;
    json_reader_init(&reader, arena, body, ANSWER_DEPTH_MAX);
    if (json_peek(&reader) != JSON_OBJECT)
        return false;
    json_enter_object(&reader);
    while (json_next_member(&reader, &name)) {
        bool is_text = json_peek(&reader) == JSON_STRING;
        if (is_text && bytes_equal_text(name, "errorMessage"))
            has_message = json_read_string(&reader, message);
        else {
            has_type |= is_text && bytes_equal_text(name, "errorType");
            json_skip(&reader);
        }
    }
    return json_finish(&reader) && has_message && has_type;
}

static bool tells_timeout(struct bytes body)
{
    static const char words[] = "Task timed out after ";
    return memmem(body.data, body.len, words, sizeof words - 1) != NULL &&
           (body.len == 0 || body.data[0] != '{');
}

/* --- Partial answers --- */

/* The index of the record with that sequence number. False if the batch has no such record. */
static bool find_record(const struct trigger_batch *batch, uint64_t partition, struct bytes text,
                        size_t *index)
{
    uint64_t sequence, of_partition;
    if (!stream_names_parse_sequence(text, &sequence, &of_partition) || of_partition != partition)
        return false;
    for (*index = 0; *index < batch->count; ++*index) {
        if (batch->records[*index].sequence == sequence)
            return true;
    }
    return false;
}

/* One element of the list. False if it names no record of the batch. */
static bool read_failure(struct json_reader *reader, const struct trigger_batch *batch,
                         uint64_t partition, size_t *lowest)
{
    struct bytes name, text;
    bool found = false;
    if (json_peek(reader) != JSON_OBJECT)
        return false;
    json_enter_object(reader);
    while (json_next_member(reader, &name)) {
        size_t index;
        if (!bytes_equal_text(name, "itemIdentifier")) {
            json_skip(reader);
            continue;
        }
        if (json_peek(reader) != JSON_STRING || !json_read_string(reader, &text) ||
            !find_record(batch, partition, text, &index))
            return false;
        found = true;
        *lowest = index < *lowest ? index : *lowest;
    }
    return found;
}

/* Lambda's rules: a missing, null or empty list is success; an invalid one is a failure of the
 * whole batch. */
static struct trigger_answer read_partial(struct arena *arena, struct bytes body,
                                          const struct trigger_batch *batch, uint64_t partition)
{
    struct json_reader reader;
    struct bytes name;
    size_t lowest = batch->count;
    bool ok = true;
    json_reader_init(&reader, arena, body, ANSWER_DEPTH_MAX);
    if (body.len == 0 || json_peek(&reader) == JSON_NULL)
        return (struct trigger_answer){ .outcome = TRIGGER_DELIVERED };
    if (!json_enter_object(&reader))
        return failed(BYTES("the answer is not JSON"));
    while (ok && json_next_member(&reader, &name)) {
        if (!bytes_equal_text(name, "batchItemFailures") || json_peek(&reader) == JSON_NULL) {
            json_skip(&reader);
            continue;
        }
        ok = json_enter_array(&reader);
        while (ok && json_next_element(&reader))
            ok = read_failure(&reader, batch, partition, &lowest);
    }
    if (!ok || !json_finish(&reader))
        return failed(BYTES("batchItemFailures cannot be read, or names no record of the batch"));
    if (lowest == batch->count)
        return (struct trigger_answer){ .outcome = TRIGGER_DELIVERED };
    return (struct trigger_answer){ .outcome = TRIGGER_FAILED,
                                    .failed = lowest,
                                    .problem = BYTES("the function reported failures") };
}

struct trigger_answer trigger_answer_read(struct arena *arena, enum outbound_result result,
                                          const struct outbound_answer *answer, bool partial,
                                          const struct trigger_batch *batch, uint64_t partition)
{
    struct bytes body, message = BYTES("");
    if (outbound_is_unsent(result))
        return (struct trigger_answer){ .outcome = TRIGGER_UNREACHED, .problem = answer->problem };
    if (result != OUTBOUND_OK)
        return failed(answer->problem);
    body = buffer_bytes(&answer->body);
    if (answer->status == STATUS_THROTTLED)
        return (struct trigger_answer){ .outcome = TRIGGER_UNREACHED,
                                        .problem = BYTES("throttled") };
    if (answer->status < 200 || answer->status > 299)
        return failed(arena_printf(arena, "status %d", answer->status));
    if (tells_error(arena, body, &message) ||
        outbound_answer_header(answer, "X-Amz-Function-Error").data != NULL)
        return (struct trigger_answer){ .outcome = TRIGGER_FAILED,
                                        .problem = BYTES("the function failed"),
                                        .words = shortened(message) };
    if (tells_timeout(body))
        return failed(BYTES("the function timed out"));
    if (partial)
        return read_partial(arena, body, batch, partition);
    return (struct trigger_answer){ .outcome = TRIGGER_DELIVERED };
}
