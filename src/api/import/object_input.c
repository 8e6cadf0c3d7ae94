/* object_input.c -- see object_input.h. */
#include "api/import/object_input.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/memory.h"
#include "model/item_record.h"

struct object_input {
    struct object_input_options options;
    struct object_bucket *bucket;
    struct item_reader *reader;
    struct object_input_position position;
    struct object_error failure;
    uint64_t total;

    struct arena *page_arena;
    struct object_page page;
    size_t page_at;
    bool listed; /* The last page was taken. */

    bool open; /* An object is being read. */
    uint64_t size;
    uint64_t offset;   /* Up to here the object was fed. */
    bool ended;        /* The reader knows its end. */
    bool refused_wait; /* By `before_wait`. */
    uint8_t *piece;
};

static bool fail(struct object_input *input, enum object_status status, const char *text)
{
    input->failure.status = status;
    snprintf(input->failure.text, sizeof input->failure.text, "%s", text);
    return false;
}

static bool is_stopping(const struct object_input *input)
{
    return input->options.is_stopping != NULL && input->options.is_stopping(input->options.context);
}

/* False: the reading ends, without a failure of the bucket. */
static bool prepare_wait(struct object_input *input)
{
    if (input->options.before_wait == NULL || input->options.before_wait(input->options.context))
        return true;
    input->refused_wait = true;
    return fail(input, OBJECT_CANCELLED, "stopped");
}

/* What ends the reading: a call that was cancelled is no failure of the object. */
static enum object_input_step failed_step(const struct object_input *input)
{
    bool stopped =
        input->failure.status == OBJECT_CANCELLED && (input->refused_wait || is_stopping(input));
    return stopped ? OBJECT_INPUT_STOPPED : OBJECT_INPUT_FAILED;
}

/* --- The list --- */

/* Counts all objects and their sizes, so that progress can be shown and too many are refused. */
static bool sum_up(struct object_input *input)
{
    char after[OBJECT_KEY_SIZE_MAX + 1];
    size_t after_size = 0, count = 0;
    bool more = true;
    while (more) {
        arena_reset(input->page_arena);
        if (is_stopping(input))
            return fail(input, OBJECT_CANCELLED, "stopped");
        if (!object_list(input->bucket, input->page_arena, input->options.prefix,
                         bytes_of(after, after_size), &input->page, &input->failure))
            return false;
        for (size_t i = 0; i < input->page.count; i++)
            input->total += input->page.entries[i].size;
        count += input->page.count;
        if (count > OBJECT_INPUT_OBJECTS_MAX)
            return fail(input, OBJECT_FAILED,
                        "There are more than 50000 objects with the prefix: merge some of them");
        more = input->page.more && input->page.count > 0;
        if (more) {
            struct bytes last = input->page.entries[input->page.count - 1].key;
            assert(last.len <= OBJECT_KEY_SIZE_MAX);
            memcpy(after, last.data, last.len);
            after_size = last.len;
        }
    }
    input->page.count = 0;
    return true;
}
static_assert(OBJECT_INPUT_OBJECTS_MAX == 50000, "as the message says");

static struct bytes key_of(const struct object_input *input)
{
    return bytes_of(input->position.key, input->position.key_size);
}

static struct bytes etag_of(const struct object_input *input)
{
    return bytes_of(input->position.etag, input->position.etag_size);
}

/* --- Objects --- */

static void begin_object(struct object_input *input, uint64_t size, uint64_t records)
{
    input->open = true;
    input->size = size;
    input->offset = 0;
    input->ended = false;
    item_reader_resume(input->reader, records);
}

static bool may_read(struct object_input *input, struct bytes key)
{
    if (input->options.may_read == NULL || input->options.may_read(input->options.context, key))
        return true;
    return fail(input, OBJECT_DENIED, "Access Denied");
}

/* Begins the next object that is not empty. False at the end of the list, and after a failure. */
static bool next_object(struct object_input *input)
{
    struct object_input_position *position = &input->position;
    for (;;) {
        if (input->page_at == input->page.count) {
            if (input->listed)
                return false;
            arena_reset(input->page_arena);
            input->page_at = 0;
            input->page.count = 0;
            if (!prepare_wait(input) ||
                !object_list(input->bucket, input->page_arena, input->options.prefix, key_of(input),
                             &input->page, &input->failure))
                return false;
            input->listed = !input->page.more;
            if (input->page.count == 0)
                return false;
        }
        const struct object_entry *entry = &input->page.entries[input->page_at++];
        if (entry->size == 0)
            continue; /* No records, and nothing to count. */
        if (!may_read(input, entry->key))
            return false;
        assert(entry->key.len <= OBJECT_KEY_SIZE_MAX && entry->etag.len <= OBJECT_ETAG_SIZE_MAX);
        memcpy(position->key, entry->key.data, entry->key.len);
        position->key_size = entry->key.len;
        memcpy(position->etag, entry->etag.data, entry->etag.len);
        position->etag_size = entry->etag.len;
        position->records = 0;
        position->finished = false;
        begin_object(input, entry->size, 0);
        return true;
    }
}

/* Goes back to the object of a stored position. */
static bool resume_object(struct object_input *input)
{
    struct object_entry entry;
    if (input->position.key_size == 0 || input->position.finished)
        return true;
    if (!may_read(input, key_of(input)))
        return false;
    bool found =
        object_stat(input->bucket, input->page_arena, key_of(input), &entry, &input->failure);
    if (!found && input->failure.status != OBJECT_NO_KEY)
        return false;
    if (!found || !bytes_equal(entry.etag, etag_of(input)))
        return fail(input, OBJECT_CHANGED,
                    "The S3 object could not be imported because it was "
                    "overwritten.");
    begin_object(input, entry.size, input->position.records);
    return true;
}

static void end_object(struct object_input *input)
{
    struct object_input_position *position = &input->position;
    position->finished = true;
    position->objects++;
    position->bytes += item_reader_offset(input->reader);
    position->stored += input->size;
    input->open = false;
}

/* Gives the reader the next piece, or the end. */
static bool feed(struct object_input *input)
{
    size_t got = 0;
    if (input->offset == input->size) {
        item_reader_end(input->reader);
        input->ended = true;
        return true;
    }
    uint64_t rest = input->size - input->offset;
    size_t wanted = rest < OBJECT_INPUT_PIECE_SIZE ? (size_t)rest : OBJECT_INPUT_PIECE_SIZE;
    if (!prepare_wait(input))
        return false;
    if (!object_read(input->bucket, key_of(input), etag_of(input), input->offset, input->piece,
                     wanted, &got, &input->failure)) {
        if (input->failure.status == OBJECT_NO_KEY)
            input->failure.status = OBJECT_CHANGED;
        return false;
    }
    if (got != wanted)
        return fail(input, OBJECT_CHANGED, "An object became shorter while it was read");
    input->offset += got;
    item_reader_feed(input->reader, bytes_of(input->piece, got));
    return true;
}

/* --- The input --- */

struct object_input *object_input_open(const struct object_input_options *options,
                                       const struct object_input_position *position,
                                       struct object_error *err)
{
    struct object_input *input = memory_checked(calloc(1, sizeof *input));
    input->options = *options;
    input->position = *position;
    input->piece = memory_checked(malloc(OBJECT_INPUT_PIECE_SIZE));
    input->page_arena = arena_create();
    input->reader = item_reader_create(&input->options.reader);
    const struct object_bucket_options bucket = { .name = options->bucket,
                                                  .owner = options->owner,
                                                  .is_cancelled = options->is_stopping,
                                                  .cancel_context = options->context };
    if (options->store != NULL)
        input->bucket = object_bucket_open(options->store, &bucket, &input->failure);
    else
        fail(input, OBJECT_NO_BUCKET, "The specified bucket does not exist");
    if (input->bucket != NULL && sum_up(input) && resume_object(input))
        return input;
    *err = input->failure;
    object_input_close(input);
    return NULL;
}

void object_input_close(struct object_input *input)
{
    if (input == NULL)
        return;
    object_bucket_close(input->bucket);
    item_reader_destroy(input->reader);
    arena_destroy(input->page_arena);
    free(input->piece);
    free(input);
}

enum object_input_step object_input_next(struct object_input *input, struct arena *arena,
                                         struct item_record *record)
{
    for (;;) {
        if (!input->open) {
            if (is_stopping(input))
                return OBJECT_INPUT_STOPPED;
            input->failure.status = OBJECT_OK;
            if (!next_object(input))
                return input->failure.status == OBJECT_OK ? OBJECT_INPUT_END : failed_step(input);
        }
        switch (item_reader_next(input->reader, arena, record)) {
        case ITEM_READER_INPUT:
            if (is_stopping(input))
                return OBJECT_INPUT_STOPPED;
            if (!feed(input))
                return failed_step(input);
            break;
        case ITEM_READER_PAUSED:
            if (is_stopping(input))
                return OBJECT_INPUT_STOPPED;
            break;
        case ITEM_READER_END:
            end_object(input);
            break;
        case ITEM_READER_BROKEN:
            input->position.records = record->index + 1;
            end_object(input);
            return OBJECT_INPUT_BAD;
        case ITEM_READER_BAD:
            input->position.records = record->index + 1;
            return OBJECT_INPUT_BAD;
        case ITEM_READER_ITEM:
            input->position.records = record->index + 1;
            return OBJECT_INPUT_ITEM;
        }
    }
}

const struct object_input_position *object_input_position(const struct object_input *input)
{
    return &input->position;
}

uint64_t object_input_bytes(const struct object_input *input)
{
    return input->position.bytes + (input->open ? item_reader_offset(input->reader) : 0);
}

uint64_t object_input_stored(const struct object_input *input)
{
    return input->position.stored + (input->open ? input->offset : 0);
}

uint64_t object_input_total(const struct object_input *input)
{
    return input->total;
}

const struct object_error *object_input_failure(const struct object_input *input)
{
    return &input->failure;
}

/* --- Stored positions: an item, like the records of jobs --- */

enum { POSITION_NUMBERS = 5 };

struct bytes object_input_encode(struct arena *arena, const struct object_input_position *position)
{
    const uint64_t numbers[POSITION_NUMBERS] = { position->records, position->finished,
                                                 position->objects, position->bytes,
                                                 position->stored };
    struct item_builder builder;
    item_builder_init(&builder, arena);
    item_record_add_numbers(&builder, "n", numbers, POSITION_NUMBERS);
    if (position->key_size > 0)
        item_record_add_text(&builder, "k", bytes_of(position->key, position->key_size));
    if (position->etag_size > 0)
        item_record_add_text(&builder, "e", bytes_of(position->etag, position->etag_size));
    return item_builder_finish(&builder).encoded;
}

bool object_input_decode(struct bytes stored, struct object_input_position *out)
{
    struct arena *arena = arena_create();
    struct bytes key = BYTES(""), etag = BYTES("");
    uint64_t *numbers;
    struct item item;
    struct value ignored;
    size_t count;
    *out = (struct object_input_position){ 0 };
    bool ok = item_open(stored, &item) && item_verify(&item) &&
              item_record_find_numbers(arena, &item, "n", POSITION_NUMBERS, &numbers, &count) &&
              count == POSITION_NUMBERS && numbers[1] <= 1 &&
              (!item_find(&item, BYTES("k"), &ignored) ||
               item_record_find_text(arena, &item, "k", OBJECT_KEY_SIZE_MAX, &key)) &&
              (!item_find(&item, BYTES("e"), &ignored) ||
               item_record_find_text(arena, &item, "e", OBJECT_ETAG_SIZE_MAX, &etag));
    if (ok) {
        memcpy(out->key, key.data, key.len);
        out->key_size = key.len;
        memcpy(out->etag, etag.data, etag.len);
        out->etag_size = etag.len;
        out->records = numbers[0];
        out->finished = numbers[1] != 0;
        out->objects = numbers[2];
        out->bytes = numbers[3];
        out->stored = numbers[4];
    }
    arena_destroy(arena);
    return ok;
}
