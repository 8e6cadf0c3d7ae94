/* answer.c -- see answer.h. */
#include "command/answer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "json/reader.h"
#include "model/limits.h"

enum {
    /* An attribute of NESTING_DEPTH_MAX levels has two containers for each, and the item around it
     * is a few levels deep in the answer. */
    ANSWER_DEPTH_MAX = 2 * NESTING_DEPTH_MAX + 16,
    NUMBER_TEXT_MAX = 64,
};

/* The JSON of the reader's next value, within the `text` that it reads. */
static struct bytes next_json(struct json_reader *reader, struct bytes text)
{
    json_peek(reader); /* Passes over white space. */
    size_t first = json_offset(reader);
    if (!json_skip(reader))
        return (struct bytes){ 0 };
    return bytes_of(text.data + first, json_offset(reader) - first);
}

struct bytes answer_json(struct arena *arena, struct bytes object, const char *wanted)
{
    struct json_reader reader;
    struct bytes name;
    if (object.data == NULL)
        return (struct bytes){ 0 };
    json_reader_init(&reader, arena, object, ANSWER_DEPTH_MAX);
    json_enter_object(&reader);
    while (json_next_member(&reader, &name)) {
        struct bytes json = next_json(&reader, object);
        if (bytes_equal_text(name, wanted))
            return json;
    }
    return (struct bytes){ 0 };
}

struct bytes answer_text(struct arena *arena, struct bytes object, const char *name)
{
    struct json_reader reader;
    struct bytes json = answer_json(arena, object, name), text;
    if (json.len == 0 || json.data[0] != '"')
        return BYTES("");
    json_reader_init(&reader, arena, json, 1);
    return json_read_string(&reader, &text) ? text : BYTES("");
}

double answer_number_of(struct bytes json)
{
    char text[NUMBER_TEXT_MAX];
    if (json.len == 0 || json.len >= sizeof text || json.data[0] == '"')
        return 0;
    memcpy(text, json.data, json.len);
    text[json.len] = '\0';
    return strtod(text, NULL);
}

double answer_number(struct arena *arena, struct bytes object, const char *name)
{
    return answer_number_of(answer_json(arena, object, name));
}

bool answer_flag(struct arena *arena, struct bytes object, const char *name)
{
    return bytes_equal_text(answer_json(arena, object, name), "true");
}

size_t answer_visit(struct arena *arena, struct bytes array, answer_visitor *visit, void *context)
{
    struct json_reader reader;
    size_t count = 0;
    if (array.data == NULL)
        return 0;
    json_reader_init(&reader, arena, array, ANSWER_DEPTH_MAX);
    json_enter_array(&reader);
    while (json_next_element(&reader)) {
        struct bytes element = next_json(&reader, array);
        if (element.data == NULL)
            break;
        if (visit != NULL)
            visit(context, element);
        count++;
    }
    return count;
}

/* The byte to show for the next character, or the next part of one, which is taken. */
static uint8_t take_shown(struct bytes *rest)
{
    uint8_t byte = rest->data[0];
    /* U+0080 to U+009F in UTF-8: terminals take U+009B for ESC [. */
    bool is_pair = byte == 0xC2 && rest->len > 1 && rest->data[1] >= 0x80 && rest->data[1] < 0xA0;
    size_t size = is_pair ? 2 : 1;
    *rest = bytes_of(rest->data + size, rest->len - size);
    return byte < 0x20 || byte == 0x7F || is_pair ? '?' : byte;
}

void answer_print(struct bytes text)
{
    while (text.len > 0)
        putchar(take_shown(&text));
}

struct bytes answer_clean(struct arena *arena, struct bytes text)
{
    uint8_t *shown = arena_alloc(arena, text.len);
    size_t size = 0;
    while (text.len > 0)
        shown[size++] = take_shown(&text);
    return bytes_of(shown, size);
}

bool answer_is_object(struct arena *arena, struct bytes text)
{
    struct json_reader reader;
    json_reader_init(&reader, arena, text, ANSWER_DEPTH_MAX);
    return json_peek(&reader) == JSON_OBJECT && json_skip(&reader) && json_finish(&reader);
}
