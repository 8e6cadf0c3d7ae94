/* item_reader_fuzz.c -- arbitrary bytes as a stream of items in each format.
 *
 * The first byte chooses format and compression, the second how the stream is cut. Whatever is
 * read, one cut gives the same records as another, but for damage of compressed data: how much of
 * a damaged block comes out before the damage is found depends on the cut. A sound item is one that
 * `stator check` accepts, and it comes back from the formats that hold items exactly.
 */
#include <assert.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "format/item_reader.h"
#include "format/item_writer.h"
#include "model/key.h"
#include "model/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One line per record: what it was and what it held. */
static void note(struct buffer *out, enum item_reader_step step, const struct item_record *record)
{
    buffer_append_byte(out, (uint8_t)step);
    buffer_append_bytes(out, step == ITEM_READER_ITEM ? record->item.encoded : record->message);
    if (record->condition.data != NULL)
        buffer_append_bytes(out, record->condition);
}

static void check_round_trip(struct arena *arena, const struct item *item, enum item_format format)
{
    struct item_reader_options options = { .format = format };
    struct item_reader *reader = item_reader_create(&options);
    struct item_record record;
    struct buffer line;
    buffer_init(&line, arena);
    item_writer_item(&line, format, item);
    enum item_reader_step step = item_reader_next(reader, arena, &record);
    assert(step == ITEM_READER_INPUT);
    item_reader_feed(reader, buffer_bytes(&line));
    step = item_reader_next(reader, arena, &record);
    assert(step == ITEM_READER_ITEM && bytes_equal(record.item.encoded, item->encoded));
    item_reader_destroy(reader);
}

static bool tells_of_damage(struct bytes message)
{
    struct bytes end = bytes_from_text(ITEM_READER_DAMAGED);
    return message.len >= end.len &&
           bytes_equal(bytes_of(message.data + message.len - end.len, end.len), end);
}

/* What was noted of a stream, up to where its compressed data was found to be damaged. */
struct reading {
    struct bytes notes;
    bool is_damaged;
};

/* Reads the whole stream `step_size` bytes at a time. */
static struct reading read_stream(struct arena *arena, const struct item_reader_options *options,
                                  struct bytes stream, size_t step_size, bool thorough)
{
    struct item_reader *reader = item_reader_create(options);
    struct buffer notes;
    size_t at = 0, records = 0;
    bool is_damaged = false;
    buffer_init(&notes, arena);
    for (;;) {
        struct item_record record;
        enum item_reader_step step = item_reader_next(reader, arena, &record);
        if (step == ITEM_READER_INPUT) {
            size_t rest = stream.len - at, size = rest < step_size ? rest : step_size;
            if (size == 0)
                item_reader_end(reader);
            else
                item_reader_feed(reader, bytes_of(stream.data + at, size));
            at += size;
            continue;
        }
        if (step == ITEM_READER_PAUSED)
            continue;
        if (step == ITEM_READER_END)
            break;
        assert(record.index == records++);
        is_damaged = step == ITEM_READER_BROKEN && tells_of_damage(record.message);
        if (!is_damaged)
            note(&notes, step, &record);
        if (step == ITEM_READER_ITEM) {
            bool sound = item_verify(&record.item);
            assert(sound && record.item.size <= ITEM_SIZE_MAX);
            if (thorough && records < 10) {
                check_round_trip(arena, &record.item, ITEM_FORMAT_DYNAMODB_JSON);
                check_round_trip(arena, &record.item, ITEM_FORMAT_ION);
            }
        } else {
            assert(record.message.len > 0);
        }
    }
    item_reader_destroy(reader);
    return (struct reading){ buffer_bytes(&notes), is_damaged };
}

static bool agree(const struct reading *a, const struct reading *b)
{
    if (!a->is_damaged && !b->is_damaged)
        return bytes_equal(a->notes, b->notes);
    size_t len = a->notes.len < b->notes.len ? a->notes.len : b->notes.len;
    return bytes_equal(bytes_of(a->notes.data, len), bytes_of(b->notes.data, len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct key_attribute typed[] = {
        { .name = { (const uint8_t *)"n", 1 }, .type = VALUE_N },
        { .name = { (const uint8_t *)"b", 1 }, .type = VALUE_B },
    };
    if (size < 2)
        return 0;
    struct item_reader_options options = {
        .format = (enum item_format)(data[0] % ITEM_FORMAT_COUNT),
        .compression = (enum compressor_kind)(data[0] / ITEM_FORMAT_COUNT % 3),
        .typed = typed,
        .typed_count = 2,
        .conditions = data[0] >= 128,
    };
    struct arena *arena = arena_create();
    struct bytes stream = bytes_of(data + 2, size - 2);
    struct reading whole = read_stream(arena, &options, stream, size, true);
    struct reading pieces = read_stream(arena, &options, stream, 1 + data[1] % 37u, false);
    assert(agree(&whole, &pieces));
    arena_destroy(arena);
    return 0;
}
