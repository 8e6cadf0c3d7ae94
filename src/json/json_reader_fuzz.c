/* json_reader_fuzz.c -- any text at all, read in every way the reader offers.
 *
 * Properties: json_skip accepts exactly the texts that a walk over every value accepts, and each
 * value it skips ends where reading it ends; an accepted text written again through the writer is
 * accepted and has the same values in the same order; a failure is final and has a reason.
 */
#include <assert.h>
#include "base/arena.h"
#include "json/reader.h"
#include "json/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DEPTH_MAX = 12 }; /* Low, so that small inputs reach it. */

/* One step of a walk: a value begins, or a container ends. */
struct event {
    enum json_type type; /* JSON_INVALID at the end of a container. */
    bool boolean;
    struct bytes name; /* `data` NULL outside of an object. */
    struct bytes text; /* Of a string or a number. */
};

struct walk {
    struct json_reader reader;
    enum json_type open[DEPTH_MAX + 1]; /* The containers around the reader, by depth. */
};

static void walk_init(struct walk *walk, struct arena *arena, struct bytes text)
{
    *walk = (struct walk){ 0 };
    json_reader_init(&walk->reader, arena, text, DEPTH_MAX);
}

static bool walk_read_value(struct walk *walk, struct event *event)
{
    struct json_reader *reader = &walk->reader;
    event->type = json_peek(reader);
    switch (event->type) {
    case JSON_NULL:
        return json_read_null(reader);
    case JSON_BOOL:
        return json_read_bool(reader, &event->boolean);
    case JSON_NUMBER:
        return json_read_number(reader, &event->text);
    case JSON_STRING:
        return json_read_string(reader, &event->text);
    case JSON_OBJECT:
    case JSON_ARRAY:
        if (!(event->type == JSON_OBJECT ? json_enter_object : json_enter_array)(reader))
            return false;
        walk->open[reader->depth] = event->type;
        return true;
    case JSON_INVALID:
        break;
    }
    return false;
}

/* The same value passed by json_skip, from a bookmark, must end at the same place. */
static void check_skip(struct json_reader bookmark, const struct walk *walk, enum json_type type)
{
    bool skipped = json_skip(&bookmark);
    if (type == JSON_OBJECT || type == JSON_ARRAY)
        return; /* The walk has only entered it; the outermost value covers these. */
    assert(skipped != json_failed(&walk->reader));
    assert(json_offset(&bookmark) == json_offset(&walk->reader));
}

/* False at the end of the outermost value and after a failure. */
static bool walk_step(struct walk *walk, struct event *event)
{
    struct json_reader *reader = &walk->reader;
    *event = (struct event){ 0 };
    if (reader->depth == 0 && !reader->value_due)
        return false;
    if (reader->depth > 0) {
        bool in_object = walk->open[reader->depth] == JSON_OBJECT;
        if (in_object ? !json_next_member(reader, &event->name) : !json_next_element(reader))
            return !json_failed(reader);
    }
    struct json_reader bookmark = *reader;
    bool read = walk_read_value(walk, event);
    check_skip(bookmark, walk, event->type);
    return read;
}

static void write_event(struct json_writer *writer, const struct event *event,
                        enum json_type container)
{
    if (event->name.data != NULL)
        json_write_name_bytes(writer, event->name);
    switch (event->type) {
    case JSON_NULL:
        json_write_null(writer);
        break;
    case JSON_BOOL:
        json_write_bool(writer, event->boolean);
        break;
    case JSON_NUMBER:
        json_write_raw(writer, event->text);
        break;
    case JSON_STRING:
        json_write_string(writer, event->text);
        break;
    case JSON_OBJECT:
        json_open_object(writer);
        break;
    case JSON_ARRAY:
        json_open_array(writer);
        break;
    case JSON_INVALID:
        (container == JSON_OBJECT ? json_close_object : json_close_array)(writer);
        break;
    }
}

/* Whether the text is accepted; then `copy` holds it written again. */
static bool rewrite(struct arena *arena, struct bytes text, struct buffer *copy)
{
    struct walk walk;
    struct json_writer writer;
    struct event event;
    walk_init(&walk, arena, text);
    json_writer_init(&writer, copy);
    for (;;) {
        enum json_type container = walk.open[walk.reader.depth];
        if (!walk_step(&walk, &event))
            break;
        write_event(&writer, &event, container);
    }
    bool accepted = json_finish(&walk.reader);
    assert(accepted == !json_failed(&walk.reader));
    assert(json_offset(&walk.reader) <= text.len);
    return accepted;
}

static void check_same_values(struct arena *arena, struct bytes a, struct bytes b)
{
    struct walk walk_a, walk_b;
    struct event event_a, event_b;
    bool more_a, more_b;
    walk_init(&walk_a, arena, a);
    walk_init(&walk_b, arena, b);
    do {
        more_a = walk_step(&walk_a, &event_a);
        more_b = walk_step(&walk_b, &event_b);
        assert(more_a == more_b);
        assert(event_a.type == event_b.type);
        assert(event_a.boolean == event_b.boolean);
        assert(bytes_equal(event_a.name, event_b.name));
        assert(bytes_equal(event_a.text, event_b.text));
    } while (more_a);
    assert(json_finish(&walk_a.reader));
    assert(json_finish(&walk_b.reader));
}

static void check_failure_is_final(struct json_reader *reader)
{
    struct bytes ignored;
    bool boolean;
    const char *failure = reader->failure;
    size_t offset = json_offset(reader);
    assert(failure != NULL);
    assert(json_peek(reader) == JSON_INVALID);
    assert(!json_read_string(reader, &ignored));
    assert(!json_read_number(reader, &ignored));
    assert(!json_read_bool(reader, &boolean));
    assert(!json_read_null(reader));
    assert(!json_enter_object(reader));
    assert(!json_enter_array(reader));
    assert(!json_next_member(reader, &ignored));
    assert(!json_next_element(reader));
    assert(!json_skip(reader));
    assert(!json_finish(reader));
    assert(reader->failure == failure && json_offset(reader) == offset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct bytes text = bytes_of(data, size);
    struct json_reader skipper;
    struct buffer copy;
    buffer_init(&copy, arena);
    json_reader_init(&skipper, arena, text, DEPTH_MAX);
    bool skipped = json_skip(&skipper) && json_finish(&skipper);
    bool walked = rewrite(arena, text, &copy);
    assert(skipped == walked);
    if (walked)
        check_same_values(arena, text, buffer_bytes(&copy));
    else
        check_failure_is_final(&skipper);
    arena_destroy(arena);
    return 0;
}
