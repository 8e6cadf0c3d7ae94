/* ion_write.c -- items as Ion text, to the byte as ion-java writes them. See ion.h.
 *
 * Numbers are decimals in the form of Java's BigDecimal without trailing zeros. Field names are
 * bare where Ion's grammar allows it, and quoted otherwise.
 */
#include <assert.h>
#include "base/arena.h"
#include "format/ion.h"
#include "json/base64.h"
#include "model/item.h"
#include "model/number.h"
#include "model/value.h"

static void write_value(struct buffer *out, const struct value *value);

/* --- Strings and names --- */

/* The letter of an escape, or 0 if the byte has none of one letter. */
static char escape_letter(uint8_t byte, char quote)
{
    switch (byte) {
    case 0:
        return '0';
    case '\a':
        return 'a';
    case '\b':
        return 'b';
    case '\t':
        return 't';
    case '\n':
        return 'n';
    case '\v':
        return 'v';
    case '\f':
        return 'f';
    case '\r':
        return 'r';
    case '\\':
        return '\\';
    default:
        return byte == (uint8_t)quote ? quote : 0;
    }
}

static void write_hex_escape(struct buffer *out, uint8_t code)
{
    static const char digits[] = "0123456789abcdef";
    const char text[] = { '\\', 'x', digits[code >> 4], digits[code & 15] };
    buffer_append(out, text, sizeof text);
}

/* Escapes the control characters of ASCII and Latin 1; the rest stands as UTF-8. */
static void write_quoted(struct buffer *out, struct bytes text, char quote)
{
    buffer_append_byte(out, (uint8_t)quote);
    size_t plain = 0;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t byte = text.data[i];
        if (LIKELY(byte >= 0x20 && byte < 0x7F && byte != (uint8_t)quote && byte != '\\'))
            continue;
        bool latin = byte == 0xC2 && i + 1 < text.len && text.data[i + 1] < 0xA0;
        if (byte > 0x7F && !latin)
            continue;
        buffer_append(out, text.data + plain, i - plain);
        char letter = escape_letter(byte, quote);
        if (letter != 0) {
            buffer_append_byte(out, '\\');
            buffer_append_byte(out, (uint8_t)letter);
        } else {
            i += latin ? 1 : 0;
            write_hex_escape(out, text.data[i]);
        }
        plain = i + 1;
    }
    buffer_append(out, text.data + plain, text.len - plain);
    buffer_append_byte(out, (uint8_t)quote);
}

static bool is_identifier(struct bytes name)
{
    if (name.len == 0 || (name.data[0] >= '0' && name.data[0] <= '9'))
        return false;
    bool digits_only = true;
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.data[i];
        bool digit = c >= '0' && c <= '9';
        if (!digit && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && c != '_' && c != '$')
            return false;
        digits_only = digits_only && (i == 0 || digit);
    }
    if (name.data[0] == '$' && digits_only && name.len > 1) /* A symbol by its number. */
        return false;
    return !bytes_equal(name, BYTES("null")) && !bytes_equal(name, BYTES("true")) &&
           !bytes_equal(name, BYTES("false")) && !bytes_equal(name, BYTES("nan"));
}

static void write_name(struct buffer *out, struct bytes name)
{
    if (is_identifier(name))
        buffer_append_bytes(out, name);
    else
        write_quoted(out, name, '\'');
    buffer_append_byte(out, ':');
}

/* --- Numbers --- */

static void write_exponent(struct buffer *out, int exponent)
{
    char text[8];
    size_t at = sizeof text;
    unsigned rest = (unsigned)(exponent < 0 ? -exponent : exponent);
    for (; rest > 0 || at == sizeof text; rest /= 10)
        text[--at] = (char)('0' + rest % 10);
    buffer_append_byte(out, 'd');
    if (exponent < 0)
        buffer_append_byte(out, '-');
    buffer_append(out, text + at, sizeof text - at);
}

static void write_number(struct buffer *out, struct bytes encoded)
{
    struct number number;
    size_t size;
    bool sound = number_decode(encoded, &number, &size);
    assert(sound); /* A stored item was verified. */
    char digits[NUMBER_DIGITS_MAX];
    size_t first = sizeof digits;
    for (unsigned __int128 rest = number.coefficient; rest > 0 || first == sizeof digits;
         rest /= 10)
        digits[--first] = (char)('0' + (unsigned)(rest % 10));
    int count = (int)(sizeof digits - first);
    int scale = -number.exponent;
    const char *text = digits + first;
    if (number.negative)
        buffer_append_byte(out, '-');
    if (scale <= 0) {
        buffer_append(out, text, (size_t)count);
        if (scale == 0)
            buffer_append_byte(out, '.');
        else
            write_exponent(out, -scale);
        return;
    }
    int adjusted = count - 1 - scale; /* The power of ten of the first digit. */
    if (adjusted >= 0) {
        buffer_append(out, text, (size_t)(count - scale));
        buffer_append_byte(out, '.');
        buffer_append(out, text + count - scale, (size_t)scale);
    } else if (adjusted >= -6) {
        buffer_append_bytes(out, BYTES("0."));
        buffer_append(out, "000000", (size_t)(scale - count));
        buffer_append(out, text, (size_t)count);
    } else {
        buffer_append(out, text, (size_t)count);
        write_exponent(out, -scale);
    }
}

/* --- Values --- */

static void write_blob(struct buffer *out, struct bytes data)
{
    size_t size = base64_encoded_size(data.len);
    buffer_append_bytes(out, BYTES("{{"));
    base64_encode(data, (char *)buffer_reserve(out, size));
    out->len += size;
    buffer_append_bytes(out, BYTES("}}"));
}

static void write_elements(struct buffer *out, const struct value *container)
{
    struct value_iter iter;
    struct value element;
    struct bytes name;
    bool first = true;
    value_iter_init(&iter, container);
    while (value_iter_next(&iter, &name, &element)) {
        if (!first)
            buffer_append_byte(out, ',');
        first = false;
        if (container->type == VALUE_M)
            write_name(out, name);
        write_value(out, &element); /* NESTING_DEPTH_MAX deep at most. */
    }
}

static void write_list(struct buffer *out, const struct value *container)
{
    buffer_append_byte(out, '[');
    write_elements(out, container);
    buffer_append_byte(out, ']');
}

static void write_value(struct buffer *out, const struct value *value)
{
    switch (value->type) {
    case VALUE_S:
        write_quoted(out, value->data, '"');
        break;
    case VALUE_N:
        write_number(out, value->data);
        break;
    case VALUE_B:
        write_blob(out, value->data);
        break;
    case VALUE_BOOL:
        buffer_append_bytes(out, value->boolean ? BYTES("true") : BYTES("false"));
        break;
    case VALUE_NULL:
        buffer_append_bytes(out, BYTES("null"));
        break;
    case VALUE_M:
        buffer_append_byte(out, '{');
        write_elements(out, value);
        buffer_append_byte(out, '}');
        break;
    case VALUE_L:
        write_list(out, value);
        break;
    default:
        buffer_append_bytes(out, BYTES("$dynamodb_"));
        buffer_append_bytes(out, bytes_from_text(value_type_name(value->type)));
        buffer_append_bytes(out, BYTES("::"));
        write_list(out, value);
    }
}

void ion_write_item(struct buffer *out, const struct item *item)
{
    struct item_iter iter;
    struct bytes name;
    struct value value;
    bool first = true;
    buffer_append_byte(out, '{');
    item_iter_init(&iter, item);
    while (item_iter_next(&iter, &name, &value)) {
        if (!first)
            buffer_append_byte(out, ',');
        first = false;
        write_name(out, name);
        write_value(out, &value);
    }
    buffer_append_byte(out, '}');
}
