/* value_json.c -- attribute values from DynamoDB's JSON, straight into the encoded form, and back.
 *
 * Elements are appended where they will stay; the head that needs their size is put before them
 * when they are complete, and maps and sets are sorted then (element_runs.c). What a rule forbids
 * is reported and still encoded as something well-formed, so that reading continues and finds
 * faults that make the request unreadable as a whole.
 */
#include "model/value_json.h"
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/give_way.h"
#include "json/base64.h"
#include "json/reader.h"
#include "json/writer.h"
#include "model/element_runs.h"
#include "model/error.h"
#include "model/limits.h"
#include "model/number.h"
#include "model/serialization.h"
#include "model/value_open.h"

/* Observed: rules of the first kind are reported before those of the second wherever they stand,
 * and those before the third; within one kind the first in the text is. */
enum rule_rank {
    RANK_GIVEN, /* The caller brought a broken rule along. */
    RANK_VALUE, /* Numbers, NULL, how many types. */
    RANK_SET,   /* Sets and names. */
    RANK_LIMIT, /* Depth and size of the whole. */
    RANK_NONE,
};

struct context {
    struct json_reader *reader;
    struct error *rule;
    struct error *err;
    enum rule_rank rank; /* Of what `rule` holds. */
    struct element_runs runs;
};

static void context_init(struct context *context, struct json_reader *reader, struct error *rule,
                         struct error *err)
{
    context->reader = reader;
    context->rule = rule;
    context->err = err;
    context->rank = error_is_set(rule) ? RANK_GIVEN : RANK_NONE;
    element_runs_init(&context->runs, reader->arena);
}

/* True if a rule of this rank is news; the caller then sets it. */
static bool rule_breaks(struct context *context, enum rule_rank rank)
{
    if (rank >= context->rank)
        return false;
    context->rank = rank;
    return true;
}

static void break_rule(struct context *context, enum rule_rank rank, const char *message)
{
    if (rule_breaks(context, rank))
        error_validation(context->rule, "%s", message);
}

/* The same for a rule whose message has the envelope of its family. */
static void break_enveloped(struct context *context, enum rule_rank rank, const char *message)
{
    if (rule_breaks(context, rank))
        error_fault(context->rule, "%s", message);
}

static void value_is_empty(struct context *context)
{
    break_rule(context, RANK_VALUE,
               "Supplied AttributeValue is empty, must contain exactly one of the supported "
               "datatypes");
}

/* Every member of an item, a map or a set adds to the item's size, so one with more than this is
 * refused whatever it holds. The rest is then read past, so that no request makes us remember more.
 */
enum { MEMBERS_MAX = ITEM_SIZE_MAX };

static bool skip_surplus(struct context *context, size_t count)
{
    if (LIKELY(count < MEMBERS_MAX))
        return false;
    break_rule(context, RANK_LIMIT, "Item size has exceeded the maximum allowed size");
    json_skip(context->reader);
    return true;
}

static void check_name(struct context *context, struct bytes name)
{
    if (name.len == 0)
        break_rule(context, RANK_SET, "Empty attribute name");
    if (name.len > ATTRIBUTE_NAME_SIZE_MAX)
        break_enveloped(context, RANK_SET,
                        "Attribute name is too large, must be less than 65536 bytes");
}
static_assert(ATTRIBUTE_NAME_SIZE_MAX == 65536 - 1, "as the message says");

/* --- Strings, binary values, numbers --- */

static bool read_string(struct context *context, struct bytes *out)
{
    if (LIKELY(json_peek(context->reader) == JSON_STRING))
        return json_read_string(context->reader, out);
    return serialization_mismatch(context->reader, EXPECT_STRING, context->err);
}

/* Decodes into the reader's arena. */
static bool read_binary(struct context *context, struct bytes *out)
{
    struct bytes text;
    if (json_peek(context->reader) != JSON_STRING)
        return serialization_mismatch(context->reader, EXPECT_BYTES, context->err);
    if (!json_read_string(context->reader, &text))
        return false;
    uint8_t *data = arena_alloc(context->reader->arena, base64_decoded_max(text.len));
    size_t size;
    if (!base64_decode(text, data, &size))
        return serialization_bad_base64(text, context->err);
    *out = bytes_of(data, size);
    return true;
}

/* A number that is none is reported and stands as zero. */
static struct bytes encode_number(struct context *context, struct bytes text,
                                  uint8_t encoded[NUMBER_ENCODED_MAX])
{
    static const struct number zero;
    size_t size;
    if (LIKELY(number_encode_text(text, encoded, &size, NULL)))
        return bytes_of(encoded, size);
    /* Again, for the message: only the first one is kept, and a request may hold millions. */
    if (rule_breaks(context, RANK_VALUE) && number_encode_text(text, encoded, &size, context->rule))
        return bytes_of(encoded, size);
    return bytes_of(encoded, number_encode(&zero, encoded));
}

/* --- Containers --- */

static bool read_value(struct context *context, struct buffer *out, unsigned depth);

static bool read_list(struct context *context, struct buffer *out, unsigned depth)
{
    if (json_peek(context->reader) != JSON_ARRAY)
        return serialization_mismatch(context->reader, EXPECT_LIST, context->err);
    size_t start = out->len;
    uint32_t count = 0;
    json_enter_array(context->reader);
    for (; json_next_element(context->reader); count++) {
        give_way_count(GIVE_WAY_ELEMENT);
        if (!read_value(context, out, depth))
            return false;
    }
    value_wrap_container(out, start, VALUE_L, count);
    return !json_failed(context->reader);
}

static bool read_map(struct context *context, struct buffer *out, unsigned depth)
{
    if (json_peek(context->reader) != JSON_OBJECT)
        return serialization_mismatch(context->reader, EXPECT_MAP, context->err);
    struct element_runs *runs = &context->runs;
    size_t start = out->len, first = runs->count;
    struct bytes name;
    json_enter_object(context->reader);
    while (json_next_member(context->reader, &name)) {
        give_way_count(GIVE_WAY_ELEMENT);
        if (skip_surplus(context, runs->count - first))
            continue;
        check_name(context, name);
        size_t at = out->len;
        value_append_length_prefixed(out, name);
        element_runs_add(runs, out, at, out->len - name.len);
        if (!read_value(context, out, depth))
            return false;
    }
    value_wrap_container(out, start, VALUE_M, element_runs_sort(runs, first, out));
    return !json_failed(context->reader);
}

/* The words of the service for the three sets. */
static const struct {
    const char *empty, *null_member;
} set_messages[VALUE_TYPE_COUNT] = {
    [VALUE_SS] = { "An string set  may not be empty",
                   "An string set may not have a null string as a member" },
    [VALUE_NS] = { "An number set  may not be empty", NULL },
    [VALUE_BS] = { "Binary sets should not be empty",
                   "An binary set may not have a null binary as a member" },
};

/* --- Sets with members that are equal --- */

/* Of a set with more members a message shows these: all of them would take more memory than the
 * request. */
enum { MEMBERS_SHOWN_MAX = 16 * 1024 };

struct set_member {
    struct bytes text;    /* As it was sent. */
    struct bytes content; /* What it means: for a binary set, decoded. */
    size_t index;         /* Where it stands in the request. */
};

/* Reads the first `count` members of a set once more. `from` stands before the array, which was
 * read without a mistake; a null, which was reported already, counts as empty. */
static struct set_member *read_members(struct context *context, struct json_reader from,
                                       enum value_type type, size_t count)
{
    struct arena *arena = context->rule->arena;
    struct set_member *members = arena_alloc_zeroed(arena, count * sizeof *members);
    json_enter_array(&from);
    for (size_t i = 0; i < count && json_next_element(&from); i++) {
        struct set_member *member = &members[i];
        member->index = i;
        if (json_peek(&from) != JSON_STRING || !json_read_string(&from, &member->text)) {
            json_skip(&from);
            continue;
        }
        member->content = member->text;
        if (type == VALUE_BS) {
            uint8_t *decoded = arena_alloc(arena, base64_decoded_max(member->text.len));
            size_t size;
            if (base64_decode(member->text, decoded, &size))
                member->content = bytes_of(decoded, size);
        }
    }
    return members;
}

static int compare_members(const void *a, const void *b)
{
    const struct set_member *left = a, *right = b;
    int order = bytes_compare(left->content, right->content);
    return order != 0 ? order : left->index < right->index ? -1 : 1;
}

/* Observed of the newer family: it keeps the members that it has read in order, so those before the
 * first repeated one are shown sorted. */
static void sort_before_repetition(struct arena *arena, struct set_member *members, size_t count)
{
    struct set_member *sorted = arena_alloc(arena, count * sizeof *sorted);
    memcpy(sorted, members, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_members);
    size_t first = count;
    for (size_t i = 1; i < count; i++) {
        if (bytes_equal(sorted[i].content, sorted[i - 1].content) && sorted[i].index < first)
            first = sorted[i].index;
    }
    qsort(members, first, sizeof *members, compare_members);
}

static struct bytes duplicates_message(struct context *context, const struct set_member *members,
                                       size_t count, enum value_type type)
{
    bool newer = context->rule->family != ERROR_FAMILY_OLDER;
    struct buffer message;
    buffer_init(&message, context->rule->arena);
    buffer_append_bytes(&message,
                        BYTES("One or more parameter values were invalid: Input collection ["));
    for (size_t i = 0; i < count && message.len < REPEATED_TEXT_MAX; i++) {
        if (i > 0)
            buffer_append_bytes(&message, newer && type == VALUE_BS ? BYTES(",") : BYTES(", "));
        if (newer)
            buffer_append_byte(&message, '"');
        buffer_append_bytes(&message, members[i].text);
        if (newer)
            buffer_append_byte(&message, '"');
    }
    buffer_append_bytes(&message, type == VALUE_SS ? BYTES("] contains duplicates.")
                                                   : BYTES("]of type BS contains duplicates."));
    return buffer_bytes(&message);
}

static void report_duplicates(struct context *context, struct json_reader from,
                              enum value_type type, size_t count)
{
    bool newer = context->rule->family != ERROR_FAMILY_OLDER;
    if (!rule_breaks(context, RANK_SET))
        return;
    if (type == VALUE_NS) {
        error_fault(context->rule, "%s",
                    newer ? "One or more parameter values were invalid: Input collection contains "
                            "duplicates."
                          : "Input collection contains duplicates");
        return;
    }
    if (count > MEMBERS_SHOWN_MAX)
        count = MEMBERS_SHOWN_MAX;
    struct set_member *members = read_members(context, from, type, count);
    if (newer)
        sort_before_repetition(context->rule->arena, members, count);
    error_fault_bytes(context->rule, duplicates_message(context, members, count, type));
}

/* --- Sets --- */

/* Appends one element. A null, which no set may have, is reported and stands for nothing. */
static bool read_set_element(struct context *context, struct buffer *out, enum value_type type)
{
    size_t at = out->len, key_at = at;
    struct bytes content = BYTES("");
    if (json_peek(context->reader) == JSON_NULL) {
        uint8_t encoded[NUMBER_ENCODED_MAX];
        if (type == VALUE_NS)
            encode_number(context, content, encoded);
        else if (rule_breaks(context, RANK_SET))
            error_validation(context->rule, "One or more parameter values were invalid: %s",
                             set_messages[type].null_member);
        return json_read_null(context->reader);
    }
    if (!(type == VALUE_BS ? read_binary(context, &content) : read_string(context, &content)))
        return false;
    if (type == VALUE_NS) {
        uint8_t *encoded = buffer_reserve(out, NUMBER_ENCODED_MAX);
        out->len += encode_number(context, content, encoded).len;
    } else {
        value_append_length_prefixed(out, content);
        key_at = out->len - content.len;
    }
    element_runs_add(&context->runs, out, at, key_at);
    return true;
}

static bool read_set(struct context *context, struct buffer *out, enum value_type type)
{
    if (json_peek(context->reader) != JSON_ARRAY)
        return serialization_mismatch(context->reader, EXPECT_LIST, context->err);
    struct json_reader before = *context->reader;
    struct element_runs *runs = &context->runs;
    size_t start = out->len, first = runs->count, elements = 0;
    json_enter_array(context->reader);
    for (; json_next_element(context->reader); elements++) {
        give_way_count(GIVE_WAY_ELEMENT);
        if (!skip_surplus(context, runs->count - first) && !read_set_element(context, out, type))
            return false;
    }
    if (json_failed(context->reader))
        return false;
    size_t members = runs->count - first;
    uint32_t count = element_runs_sort(runs, first, out);
    value_wrap_container(out, start, type, count);
    if (elements == 0 && rule_breaks(context, RANK_SET))
        error_fault(context->rule, "One or more parameter values were invalid: %s",
                    set_messages[type].empty);
    if (count < members)
        report_duplicates(context, before, type, elements);
    return true;
}

/* --- Values --- */

static bool read_boolean(struct context *context, bool *out)
{
    struct bytes text;
    enum json_type found = json_peek(context->reader);
    if (found == JSON_BOOL)
        return json_read_bool(context->reader, out);
    if (found != JSON_STRING)
        return serialization_mismatch(context->reader, EXPECT_BOOLEAN, context->err);
    return json_read_string(context->reader, &text) &&
           serialization_boolean_text(text, out, context->err);
}

/* Appends what stands behind the name of a type. */
static bool read_content(struct context *context, struct buffer *out, enum value_type type,
                         unsigned depth)
{
    struct bytes text;
    bool truth;
    uint8_t encoded[NUMBER_ENCODED_MAX];
    switch (type) {
    case VALUE_S:
        if (!read_string(context, &text))
            return false;
        value_append_string(out, text);
        return true;
    case VALUE_N:
        if (!read_string(context, &text))
            return false;
        value_append_number(out, encode_number(context, text, encoded));
        return true;
    case VALUE_B:
        if (!read_binary(context, &text))
            return false;
        value_append_binary(out, text);
        return true;
    case VALUE_BOOL:
        if (!read_boolean(context, &truth))
            return false;
        value_append_bool(out, truth);
        return true;
    case VALUE_NULL:
        if (!read_boolean(context, &truth))
            return false;
        if (!truth)
            break_enveloped(context, RANK_VALUE,
                            "One or more parameter values were invalid: Null attribute value "
                            "types must have the value of true");
        value_append_null(out);
        return true;
    case VALUE_L:
        return read_list(context, out, depth + 1);
    case VALUE_M:
        return read_map(context, out, depth + 1);
    default:
        return read_set(context, out, type);
    }
}

/* Reads {"S": ...}. A null counts as not given, members of other names are ignored, and of one type
 * given twice the last counts: so does the service's reader. */
static bool read_value(struct context *context, struct buffer *out, unsigned depth)
{
    struct json_reader *reader = context->reader;
    enum json_type found = json_peek(reader);
    if (found == JSON_NULL) {
        value_is_empty(context);
        value_append_null(out);
        return json_read_null(reader);
    }
    if (found != JSON_OBJECT)
        return serialization_mismatch(context->reader, EXPECT_VALUE, context->err);
    if (depth > NESTING_DEPTH_MAX) {
        break_rule(context, RANK_LIMIT,
                   "Nesting Levels have exceeded supported limits: Attributes in the item have "
                   "nested levels beyond supported limit");
        value_append_null(out);
        return json_skip(reader);
    }
    size_t start = out->len;
    unsigned types_given = 0;
    struct bytes name;
    json_enter_object(reader);
    while (json_next_member(reader, &name)) {
        enum value_type type;
        if (!value_type_parse(name, &type) || json_peek(reader) == JSON_NULL) {
            json_skip(reader);
            continue;
        }
        out->len = start;
        types_given |= 1u << type;
        if (!read_content(context, out, type, depth))
            return false;
    }
    if (types_given == 0) {
        value_is_empty(context);
        value_append_null(out);
    } else if ((types_given & (types_given - 1)) != 0) {
        break_rule(context, RANK_VALUE,
                   "Supplied AttributeValue has more than one datatypes set, must contain exactly "
                   "one of the supported datatypes");
    }
    return !json_failed(reader);
}

bool value_json_read(struct json_reader *reader, struct buffer *out, struct error *rule,
                     struct error *err)
{
    struct context context;
    context_init(&context, reader, rule, err);
    return read_value(&context, out, 1);
}

bool item_json_read(struct json_reader *reader, struct arena *arena, struct item *out,
                    struct error *rule, struct error *err)
{
    struct context context;
    struct item_builder builder;
    struct buffer values;
    struct bytes name;

    context_init(&context, reader, rule, err);
    if (json_peek(reader) != JSON_OBJECT)
        return serialization_mismatch(reader, EXPECT_MAP, err);
    item_builder_init(&builder, arena);
    buffer_init(&values, arena);
    json_enter_object(reader);
    while (json_next_member(reader, &name)) {
        give_way_count(GIVE_WAY_ELEMENT);
        if (skip_surplus(&context, builder.count))
            continue;
        size_t start = values.len;
        enum rule_rank rank = context.rank;
        check_name(&context, name);
        if (!read_value(&context, &values, 1))
            return false;
        if (context.rank != rank && context.rank != RANK_LIMIT) /* Limits are the item's own. */
            rule->attribute = name;
        item_builder_add(&builder, name, bytes_of(NULL, values.len - start));
    }
    if (json_failed(reader))
        return false;
    /* The buffer moves while it grows, so where the values are is known only now. */
    const uint8_t *at = values.data;
    for (size_t i = 0; i < builder.count; i++) {
        builder.attributes[i].value.data = at;
        at += builder.attributes[i].value.len;
    }
    *out = item_builder_finish(&builder);
    return true;
}

/* --- Writing: encoded values and items as JSON, member by member --- */

/* A set's string or number as it is, one that stands alone with its type around it. */
static const struct json_frame member_frame = JSON_FRAME("\"", "\"");
static const struct json_frame string_frame = JSON_FRAME("{\"S\":\"", "\"}");
static const struct json_frame number_frame = JSON_FRAME("{\"N\":\"", "\"}");
/* The same behind a name. */
static const struct json_frame string_member = JSON_FRAME("\":{\"S\":\"", "\"}");
static const struct json_frame number_member = JSON_FRAME("\":{\"N\":\"", "\"}");
/* Values without content. */
static const struct json_frame true_member = JSON_FRAME("\":{\"BOOL", "\":true}");
static const struct json_frame false_member = JSON_FRAME("\":{\"BOOL", "\":false}");
static const struct json_frame null_member = JSON_FRAME("\":{\"NULL", "\":true}");

static void write_number(struct json_writer *writer, const struct json_frame *frame,
                         struct bytes encoded)
{
    char text[NUMBER_TEXT_MAX];
    size_t size = number_format_encoded(encoded, text);
    json_write_framed(writer, frame, bytes_of(text, size));
}

static void write_set_member(struct json_writer *writer, const struct value *value)
{
    if (value->type == VALUE_S)
        json_write_framed(writer, &member_frame, value->data);
    else if (value->type == VALUE_N)
        write_number(writer, &member_frame, value->data);
    else
        json_write_base64(writer, value->data);
}

/* Apart, so that members that are no numbers need no room for one. */
static __attribute__((noinline)) void write_number_member(struct json_writer *writer,
                                                          struct bytes name, struct bytes encoded,
                                                          const uint8_t *readable)
{
    char text[NUMBER_TEXT_MAX + JSON_BLOCK_SIZE];
    size_t size = number_format_encoded(encoded, text);
    json_write_made_member(writer, name, &number_member, bytes_of(text, size), readable);
}

static __attribute__((noinline)) bool write_other_member(struct json_writer *writer,
                                                         struct bytes name, struct bytes *in)
{
    struct value value;
    if (!value_open(in, &value))
        return false;
    json_write_name_bytes(writer, name);
    value_json_write(writer, &value);
    return true;
}

/* The members of a map or an item: most are written in one step each. Ends where the bytes are no
 * member. */
static void write_members(struct json_writer *writer, struct bytes members)
{
    const uint8_t *end = members.data + members.len;
    struct bytes name, data;
    while (value_take_prefixed(&members, &name) && members.len > 0) {
        struct bytes rest = value_behind(members, 1);
        const struct json_frame *frame;
        switch (members.data[0]) {
        case TAG_S:
            if (!value_take_prefixed(&rest, &data))
                return;
            frame = &string_member;
            break;
        case TAG_N:
            if (!value_take_number(&rest, &data))
                return;
            write_number_member(writer, name, data, end);
            members = rest;
            continue;
        case TAG_TRUE:
        case TAG_FALSE:
            frame = members.data[0] == TAG_TRUE ? &true_member : &false_member;
            data = bytes_of(rest.data, 0);
            break;
        case TAG_NULL:
            frame = &null_member;
            data = bytes_of(rest.data, 0);
            break;
        default:
            if (!write_other_member(writer, name, &members))
                return;
            continue;
        }
        json_write_framed_member(writer, name, frame, data, end);
        members = rest;
    }
}

static void write_elements(struct json_writer *writer, const struct value *container)
{
    struct value_iter iter;
    struct value element;
    value_iter_init(&iter, container);
    while (value_iter_next(&iter, NULL, &element)) {
        if (container->type == VALUE_L)
            value_json_write(writer, &element); /* NESTING_DEPTH_MAX deep at most. */
        else
            write_set_member(writer, &element);
    }
}

static void write_container(struct json_writer *writer, const struct value *value)
{
    json_open_object(writer);
    json_write_name(writer, value_type_name(value->type));
    if (value->type == VALUE_M) {
        json_open_object(writer);
        write_members(writer, value->data);
        json_close_object(writer);
    } else {
        json_open_array(writer);
        write_elements(writer, value);
        json_close_array(writer);
    }
    json_close_object(writer);
}

void value_json_write(struct json_writer *writer, const struct value *value)
{
    switch (value->type) {
    case VALUE_S:
        json_write_framed(writer, &string_frame, value->data);
        break;
    case VALUE_N:
        write_number(writer, &number_frame, value->data);
        break;
    case VALUE_B:
        json_open_object(writer);
        json_write_name(writer, "B");
        json_write_base64(writer, value->data);
        json_close_object(writer);
        break;
    case VALUE_BOOL:
        json_write_raw(writer,
                       value->boolean ? BYTES("{\"BOOL\":true}") : BYTES("{\"BOOL\":false}"));
        break;
    case VALUE_NULL:
        json_write_raw(writer, BYTES("{\"NULL\":true}"));
        break;
    default:
        write_container(writer, value);
    }
}

void item_json_write(struct json_writer *writer, const struct item *item)
{
    json_open_object(writer);
    write_members(writer, item->attributes);
    json_close_object(writer);
}

struct bytes value_json_scalar_text(struct arena *arena, const struct value *value)
{
    assert(value->type == VALUE_S || value->type == VALUE_N || value->type == VALUE_B);
    if (value->type == VALUE_N) {
        char text[NUMBER_TEXT_MAX];
        size_t len = number_format_encoded(value->data, text);
        return arena_copy(arena, bytes_of(text, len));
    }
    if (value->type == VALUE_B) {
        size_t len = base64_encoded_size(value->data.len);
        char *text = arena_alloc(arena, len);
        base64_encode(value->data, text);
        return bytes_of(text, len);
    }
    return value->data;
}
