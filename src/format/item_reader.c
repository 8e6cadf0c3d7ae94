/* item_reader.c -- see item_reader.h.
 *
 * A window holds decompressed text. A scanner finds the end of the next record in it, looking at
 * each byte once; the record is then read as a whole. Formats other than DynamoDB's JSON are turned
 * into that first, so that there is one reader of items with one set of rules.
 */
#include "format/item_reader.h"
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "format/csv.h"
#include "format/ion.h"
#include "format/plain_json.h"
#include "json/reader.h"
#include "json/utf8.h"
#include "json/writer.h"
#include "model/error.h"
#include "model/key.h"
#include "model/limits.h"
#include "model/value_json.h"

enum {
    WINDOW_SIZE_MIN = 256 * 1024,
    JSON_DEPTH = 2 * ITEM_READER_DEPTH_MAX + 2,
};
static_assert((int)JSON_DEPTH <= (int)JSON_DEPTH_LIMIT, "json/ has room for it");

struct item_reader {
    const struct item_reader_options *options;
    struct decompressor *decompressor;
    struct bytes input; /* What was fed and not taken. */
    bool pending;       /* The decompressor may hold output. */
    bool ended;
    bool stopped; /* Broken or at its end. */

    uint8_t *window;
    size_t capacity;
    size_t len;
    size_t begin;       /* Of the record under way. */
    size_t scanned;     /* Up to here the scanner has looked. */
    uint64_t taken;     /* Bytes of text before the window. */
    uint64_t turn_from; /* Where the call under way began, in bytes of text. */
    uint64_t offset;
    uint64_t index;
    uint64_t skip; /* Records that were read earlier. */
    bool fresh;    /* No byte was looked at yet: a byte order mark may come. */

    struct csv_scan csv;
    struct ion_scan ion;
    struct arena *header_arena;
    const struct bytes *header; /* NULL: not read yet. */
    size_t header_count;
};

struct item_reader *item_reader_create(const struct item_reader_options *options)
{
    struct item_reader *reader = calloc(1, sizeof *reader);
    uint8_t *window = malloc(WINDOW_SIZE_MIN);
    if (reader == NULL || window == NULL)
        abort();
    reader->options = options;
    reader->window = window;
    reader->capacity = WINDOW_SIZE_MIN;
    reader->decompressor = decompressor_create(options->compression);
    reader->header_arena = arena_create();
    item_reader_start(reader);
    return reader;
}

void item_reader_destroy(struct item_reader *reader)
{
    if (reader == NULL)
        return;
    arena_destroy(reader->header_arena);
    decompressor_destroy(reader->decompressor);
    free(reader->window);
    free(reader);
}

static uint8_t delimiter_of(const struct item_reader *reader)
{
    return reader->options->csv_delimiter == 0 ? ',' : reader->options->csv_delimiter;
}

void item_reader_start(struct item_reader *reader)
{
    item_reader_resume(reader, 0);
}

void item_reader_resume(struct item_reader *reader, uint64_t count)
{
    decompressor_reset(reader->decompressor);
    reader->input = BYTES("");
    reader->pending = reader->ended = reader->stopped = false;
    reader->len = reader->begin = reader->scanned = 0;
    reader->taken = reader->offset = reader->index = 0;
    reader->skip = count;
    reader->fresh = true;
    csv_scan_init(&reader->csv, delimiter_of(reader));
    ion_scan_init(&reader->ion);
    arena_reset(reader->header_arena);
    reader->header = reader->options->csv_header;
    reader->header_count = reader->options->csv_header_count;
}

void item_reader_feed(struct item_reader *reader, struct bytes piece)
{
    assert(reader->input.len == 0 && !reader->ended);
    reader->input = piece;
}

void item_reader_end(struct item_reader *reader)
{
    assert(reader->input.len == 0);
    reader->ended = true;
}

uint64_t item_reader_offset(const struct item_reader *reader)
{
    return reader->offset;
}

/* --- The window --- */

enum fill { FILL_OK, FILL_INPUT, FILL_END, FILL_DAMAGED, FILL_TOO_LONG };

static size_t record_size_max(const struct item_reader *reader)
{
    return reader->options->format == ITEM_FORMAT_CSV ? ITEM_READER_ROW_SIZE_MAX
                                                      : ITEM_READER_RECORD_SIZE_MAX;
}

/* Makes room behind what the window holds: forgets records that were read, then grows. */
static bool make_room(struct item_reader *reader)
{
    if (reader->begin > 0) {
        memmove(reader->window, reader->window + reader->begin, reader->len - reader->begin);
        reader->taken += reader->begin;
        reader->len -= reader->begin;
        reader->scanned -= reader->begin;
        reader->begin = 0;
    }
    if (reader->len < reader->capacity)
        return true;
    if (reader->capacity >= record_size_max(reader))
        return false;
    size_t larger = 2 * reader->capacity;
    uint8_t *window = realloc(reader->window, larger);
    if (window == NULL)
        abort();
    reader->window = window;
    reader->capacity = larger;
    return true;
}
static_assert(ITEM_READER_RECORD_SIZE_MAX == 64 * WINDOW_SIZE_MIN &&
                  ITEM_READER_ROW_SIZE_MAX == 8 * WINDOW_SIZE_MIN,
              "doubling ends at the bounds");

static enum fill fill_window(struct item_reader *reader)
{
    if (reader->ended && reader->input.len == 0 && !reader->pending)
        return decompressor_complete(reader->decompressor) ? FILL_END : FILL_DAMAGED;
    if (reader->input.len == 0 && !reader->pending)
        return FILL_INPUT;
    if (!make_room(reader))
        return FILL_TOO_LONG;
    size_t produced;
    enum decompressor_status status =
        decompressor_run(reader->decompressor, &reader->input, reader->window + reader->len,
                         reader->capacity - reader->len, &produced);
    reader->len += produced;
    reader->pending = status == DECOMPRESSOR_ROOM;
    if (status == DECOMPRESSOR_DAMAGED && produced == 0)
        return FILL_DAMAGED;
    return FILL_OK;
}

/* --- Finding records --- */

enum found { FOUND_MORE, FOUND_RECORD, FOUND_BROKEN };

static bool is_blank(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] != ' ' && text.data[i] != '\t' && text.data[i] != '\r' &&
            text.data[i] != '\n')
            return false;
    }
    return true;
}

/* A record of `len` bytes at `begin`; the next one begins at `next`. */
static enum found found(struct item_reader *reader, size_t begin, size_t len, size_t next,
                        struct bytes *text)
{
    *text = bytes_of(reader->window + begin, len);
    reader->begin = next;
    reader->scanned = next;
    reader->offset = reader->taken + next;
    return FOUND_RECORD;
}

static enum found find_ion(struct item_reader *reader, struct bytes *text)
{
    size_t begin = reader->begin;
    enum ion_scan_result result =
        ion_scan_run(&reader->ion, reader->window, reader->len, &reader->scanned, &begin);
    if (result == ION_SCAN_BROKEN)
        return FOUND_BROKEN;
    if (result == ION_SCAN_RECORD)
        return found(reader, begin, reader->scanned - begin, reader->scanned, text);
    /* Between records nothing has to be kept. */
    reader->begin = reader->ion.depth > 0 ? begin : reader->scanned;
    return FOUND_MORE;
}

static enum found find_line(struct item_reader *reader, struct bytes *text)
{
    bool ends;
    if (reader->options->format == ITEM_FORMAT_CSV) {
        ends = csv_scan_run(&reader->csv, reader->window, reader->len, &reader->scanned);
    } else {
        const uint8_t *from = reader->window + reader->scanned;
        const uint8_t *newline = memchr(from, '\n', reader->len - reader->scanned);
        ends = newline != NULL;
        reader->scanned = ends ? (size_t)(newline - reader->window) + 1 : reader->len;
    }
    if (!ends)
        return FOUND_MORE;
    return found(reader, reader->begin, reader->scanned - 1 - reader->begin, reader->scanned, text);
}

static enum found find_record(struct item_reader *reader, struct bytes *text)
{
    if (reader->fresh && reader->len >= 3) {
        reader->fresh = false;
        bool marked = memcmp(reader->window, "\xEF\xBB\xBF", 3) == 0;
        bool taken = reader->options->format == ITEM_FORMAT_CSV ||
                     reader->options->format == ITEM_FORMAT_PLAIN_JSON;
        if (marked && taken)
            reader->begin = reader->scanned = 3;
    } else if (reader->fresh && !reader->ended) {
        return FOUND_MORE;
    }
    return reader->options->format == ITEM_FORMAT_ION ? find_ion(reader, text)
                                                      : find_line(reader, text);
}

/* At the end of the stream: the last line may have no newline. */
static enum found find_last(struct item_reader *reader, struct bytes *text)
{
    if (reader->options->format == ITEM_FORMAT_ION)
        return ion_scan_complete(&reader->ion) ? FOUND_MORE : FOUND_BROKEN;
    if (reader->begin == reader->len)
        return FOUND_MORE;
    return found(reader, reader->begin, reader->len - reader->begin, reader->len, text);
}

/* --- Reading records --- */

static enum item_reader_step broken(struct item_reader *reader, struct arena *arena,
                                    struct item_record *record, const char *what)
{
    reader->stopped = true;
    record->message = arena_printf(arena, "The record cannot be read: %s", what);
    return ITEM_READER_BROKEN;
}

/* Whether the whole text is JSON, whatever it means. */
static bool is_json(struct arena *arena, struct bytes text)
{
    struct json_reader json;
    json_reader_init(&json, arena, text, JSON_DEPTH_LIMIT);
    json_skip(&json);
    return json_finish(&json);
}

/* What the item's reader has found. `ok` is its result. */
static enum item_reader_step judge(struct item_reader *reader, struct arena *arena, bool ok,
                                   const struct error *rule, const struct error *err,
                                   const char *failure, struct item_record *record)
{
    if (!ok && (!error_is_set(err) || failure != NULL))
        return broken(reader, arena, record, failure == NULL ? "it has no Item" : failure);
    if (!ok) {
        record->message = err->message;
        return ITEM_READER_BAD;
    }
    if (error_is_set(rule)) {
        record->message = rule->message;
        return ITEM_READER_BAD;
    }
    if (record->item.size > ITEM_SIZE_MAX) {
        record->message = BYTES("Item size has exceeded the maximum allowed size");
        return ITEM_READER_BAD;
    }
    return ITEM_READER_ITEM;
}

/* Reads JSON that was made here of another format. */
static enum item_reader_step read_made(struct item_reader *reader, struct arena *arena,
                                       struct bytes json, struct item_record *record)
{
    struct json_reader from;
    struct error rule, err;
    error_init(&rule, arena);
    error_init(&err, arena);
    json_reader_init(&from, arena, json, JSON_DEPTH);
    bool ok = item_json_read(&from, arena, &record->item, &rule, &err);
    return judge(reader, arena, ok, &rule, &err, from.failure, record);
}

/* The text of the next value; false if the reader failed. */
static bool take_value(struct json_reader *json, struct bytes *out)
{
    (void)json_peek(json);
    const uint8_t *start = json->at;
    if (!json_skip(json))
        return false;
    *out = bytes_of(start, (size_t)(json->at - start));
    return true;
}

static bool read_condition_member(struct json_reader *json, struct bytes name,
                                  struct item_record *record)
{
    if (bytes_equal(name, BYTES("ConditionExpression")) && json_peek(json) == JSON_STRING)
        return json_read_string(json, &record->condition);
    if (bytes_equal(name, BYTES("ExpressionAttributeNames")) && json_peek(json) == JSON_OBJECT)
        return take_value(json, &record->condition_names);
    if (bytes_equal(name, BYTES("ExpressionAttributeValues")) && json_peek(json) == JSON_OBJECT)
        return take_value(json, &record->condition_values);
    return json_skip(json);
}

static enum item_reader_step read_dynamodb_json(struct item_reader *reader, struct arena *arena,
                                                struct bytes text, struct item_record *record)
{
    struct json_reader json;
    struct error rule, err;
    struct bytes name;
    bool has_item = false, ok = true;
    error_init(&rule, arena);
    error_init(&err, arena);
    json_reader_init(&json, arena, text, JSON_DEPTH);
    json_enter_object(&json);
    while (ok && json_next_member(&json, &name)) {
        if (bytes_equal(name, BYTES("Item")) && json_peek(&json) == JSON_OBJECT) {
            has_item = true;
            ok = item_json_read(&json, arena, &record->item, &rule, &err);
        } else if (reader->options->conditions) {
            ok = read_condition_member(&json, name, record);
        } else {
            ok = json_skip(&json);
        }
    }
    if (!json_failed(&json) && error_is_set(&err)) /* A value of the wrong type ended it early. */
        return is_json(arena, text) ? judge(reader, arena, false, &rule, &err, NULL, record)
                                    : broken(reader, arena, record, "it is not JSON");
    bool whole = json_finish(&json);
    if (!whole)
        return broken(reader, arena, record,
                      json.failure == NULL ? "it is not JSON" : json.failure);
    return judge(reader, arena, has_item, &rule, &err, NULL, record);
}

static enum item_reader_step read_plain_json(struct item_reader *reader, struct arena *arena,
                                             struct bytes text, struct item_record *record)
{
    struct json_reader json;
    struct buffer made;
    json_reader_init(&json, arena, text, ITEM_READER_DEPTH_MAX);
    buffer_init(&made, arena);
    bool ok =
        plain_json_read_item(&json, &made, reader->options->typed, reader->options->typed_count);
    bool whole = ok && json_finish(&json);
    if (!whole)
        return broken(reader, arena, record,
                      json.failure == NULL ? "it is not a JSON object" : json.failure);
    return read_made(reader, arena, buffer_bytes(&made), record);
}

static bool read_ion_member(struct ion_reader *ion, struct bytes name, bool conditions,
                            struct item_record *record)
{
    struct buffer json;
    buffer_init(&json, ion->arena);
    if (conditions && bytes_equal(name, BYTES("ConditionExpression")))
        return ion_read_string(ion, &record->condition);
    bool names = bytes_equal(name, BYTES("ExpressionAttributeNames"));
    bool values = bytes_equal(name, BYTES("ExpressionAttributeValues"));
    if (!conditions || !(names || values))
        return ion_skip(ion);
    if (!(names ? ion_read_texts(ion, &json) : ion_read_item(ion, &json)))
        return false;
    if (names)
        record->condition_names = buffer_bytes(&json);
    else
        record->condition_values = buffer_bytes(&json);
    return true;
}

static enum item_reader_step read_ion(struct item_reader *reader, struct arena *arena,
                                      struct bytes text, struct item_record *record)
{
    struct ion_reader ion;
    struct buffer json;
    struct bytes name;
    bool has_item = false, ok = true;
    ion_reader_init(&ion, arena, text);
    buffer_init(&json, arena);
    ion_enter_struct(&ion);
    while (ok && ion_next_field(&ion, &name)) {
        if (bytes_equal(name, BYTES("Item"))) {
            json.len = 0;
            has_item = true;
            ok = ion_read_item(&ion, &json);
        } else {
            ok = read_ion_member(&ion, name, reader->options->conditions, record);
        }
    }
    if (!ion_finish(&ion))
        return broken(reader, arena, record, ion.failure == NULL ? "it is not Ion" : ion.failure);
    if (!has_item)
        return broken(reader, arena, record, "it has no Item");
    if (ion.unsupported != NULL) {
        record->message =
            arena_printf(arena,
                         "One or more parameter values were invalid: an item cannot hold a value "
                         "of this Ion type: %s",
                         ion.unsupported);
        return ITEM_READER_BAD;
    }
    return read_made(reader, arena, buffer_bytes(&json), record);
}

static const char *type_of_column(const struct item_reader *reader, struct bytes name)
{
    for (size_t i = 0; i < reader->options->typed_count; i++) {
        if (bytes_equal(name, reader->options->typed[i].name))
            return value_type_name(reader->options->typed[i].type);
    }
    return "S";
}

static enum item_reader_step read_csv(struct item_reader *reader, struct arena *arena,
                                      struct bytes text, struct item_record *record)
{
    struct json_writer writer;
    struct buffer json;
    const char *failure;
    size_t count;
    struct bytes *fields =
        csv_split(arena, text, delimiter_of(reader), ITEM_READER_COLUMNS_MAX, &count, &failure);
    if (fields == NULL)
        return broken(reader, arena, record, failure);
    if (count != reader->header_count) {
        record->message = arena_printf(arena,
                                       "One or more parameter values were invalid: The row has "
                                       "%zu columns, but the header has %zu",
                                       count, reader->header_count);
        return ITEM_READER_BAD;
    }
    buffer_init(&json, arena);
    json_writer_init(&writer, &json);
    json_open_object(&writer);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].len == 0) /* Empty columns are left out. */
            continue;
        json_write_name_bytes(&writer, reader->header[i]);
        json_open_object(&writer);
        json_write_name(&writer, type_of_column(reader, reader->header[i]));
        json_write_string(&writer, fields[i]);
        json_close_object(&writer);
    }
    json_close_object(&writer);
    return read_made(reader, arena, buffer_bytes(&json), record);
}

/* The first row. False if it is not CSV. */
static bool read_header(struct item_reader *reader, struct bytes text, const char **failure)
{
    /* The window moves, so the names must not be slices of it. */
    struct bytes row = arena_copy(reader->header_arena, text);
    reader->header = csv_split(reader->header_arena, row, delimiter_of(reader),
                               ITEM_READER_COLUMNS_MAX, &reader->header_count, failure);
    return reader->header != NULL;
}

static enum item_reader_step read_record(struct item_reader *reader, struct arena *arena,
                                         struct bytes text, struct item_record *record)
{
    switch (reader->options->format) {
    case ITEM_FORMAT_ION:
        return read_ion(reader, arena, text, record);
    case ITEM_FORMAT_CSV:
        return read_csv(reader, arena, text, record);
    case ITEM_FORMAT_PLAIN_JSON:
        return read_plain_json(reader, arena, text, record);
    default:
        return read_dynamodb_json(reader, arena, text, record);
    }
}

/* --- The next record --- */

/* How many bytes of text there were so far. */
static uint64_t produced_of(const struct item_reader *reader)
{
    return reader->taken + reader->len;
}

/* The text of the next record. False with `*step` where there is none. */
static bool next_text(struct item_reader *reader, struct arena *arena, struct item_record *record,
                      struct bytes *text, enum item_reader_step *step)
{
    for (;;) {
        enum found what = find_record(reader, text);
        if (what == FOUND_MORE &&
            produced_of(reader) - reader->turn_from >= ITEM_READER_TURN_SIZE) {
            *step = ITEM_READER_PAUSED;
            return false;
        }
        if (what == FOUND_MORE) {
            enum fill filled = fill_window(reader);
            if (filled == FILL_OK)
                continue;
            if (filled == FILL_INPUT) {
                *step = ITEM_READER_INPUT;
                return false;
            }
            if (filled != FILL_END) {
                *step = broken(reader, arena, record,
                               filled == FILL_DAMAGED ? ITEM_READER_DAMAGED
                               : record_size_max(reader) == ITEM_READER_ROW_SIZE_MAX
                                   ? "it is larger than 2 MB"
                                   : "it is larger than 16 MB");
                return false;
            }
            what = find_last(reader, text);
            if (what == FOUND_MORE) {
                reader->stopped = true;
                reader->offset = produced_of(reader);
                *step = ITEM_READER_END;
                return false;
            }
        }
        if (what == FOUND_BROKEN) {
            *step = broken(reader, arena, record, "it is not Ion");
            return false;
        }
        return true;
    }
}
static_assert(ITEM_READER_RECORD_SIZE_MAX == 16 * 1024 * 1024 &&
                  ITEM_READER_ROW_SIZE_MAX == 2 * 1024 * 1024,
              "as the messages say");

enum item_reader_step item_reader_next(struct item_reader *reader, struct arena *arena,
                                       struct item_record *record)
{
    enum item_reader_step step;
    struct bytes text;
    *record = (struct item_record){ .index = reader->index };
    reader->turn_from = produced_of(reader);
    if (reader->stopped)
        return ITEM_READER_END;
    while (next_text(reader, arena, record, &text, &step)) {
        if (reader->options->format != ITEM_FORMAT_ION && is_blank(text))
            continue;
        const char *failure;
        if (reader->options->format == ITEM_FORMAT_CSV && reader->header == NULL) {
            if (!read_header(reader, text, &failure))
                return broken(reader, arena, record, failure);
            continue;
        }
        record->index = reader->index++;
        record->text = text;
        if (reader->skip > 0) {
            reader->skip--;
            continue;
        }
        return read_record(reader, arena, text, record);
    }
    if (step == ITEM_READER_BROKEN)
        record->index = reader->index++;
    return step;
}
