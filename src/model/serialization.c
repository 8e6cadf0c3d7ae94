/* serialization.c -- see serialization.h. The texts are those of the service's Java reader. */
#include "model/serialization.h"
#include <string.h>
#include <strings.h>
#include "base/compiler.h"
#include "json/reader.h"
#include "model/error.h"

#define STRUCTURE_FOUND "Start of structure or map found where not expected"
#define COLLECTION_FOUND "Unrecognized collection type "
#define ATTRIBUTE_VALUE "com.amazonaws.dynamodb.v20120810.AttributeValue"

/* NULL under `scalar`: see convert_failure. NULL elsewhere: that is what was expected. */
static const struct {
    const char *scalar, *object, *array;
} mismatches[] = {
    [EXPECT_STRING] = { NULL, STRUCTURE_FOUND, COLLECTION_FOUND "class java.lang.String" },
    [EXPECT_BOOLEAN] = { NULL, STRUCTURE_FOUND, COLLECTION_FOUND "class java.lang.Boolean" },
    [EXPECT_BYTES] = { "only base-64-encoded strings are convertible to bytes", STRUCTURE_FOUND,
                       COLLECTION_FOUND "class java.nio.ByteBuffer" },
    [EXPECT_LIST] = { "Unexpected field type", STRUCTURE_FOUND, NULL },
    [EXPECT_MAP] = { "Unexpected field type", NULL,
                     COLLECTION_FOUND "java.util.Map<java.lang.String, " ATTRIBUTE_VALUE ">" },
    [EXPECT_VALUE] = { "Unexpected value type in payload", NULL,
                       COLLECTION_FOUND "class " ATTRIBUTE_VALUE },
};

static bool is_decimal(struct bytes number)
{
    for (size_t i = 0; i < number.len; i++) {
        if (number.data[i] == '.' || number.data[i] == 'e' || number.data[i] == 'E')
            return true;
    }
    return false;
}

/* A scalar where a string or a boolean was expected: the message names the kind of token. */
static bool convert_failure(struct json_reader *reader, enum json_type found, const char *target,
                            struct error *err)
{
    const char *token;
    struct bytes text;
    bool truth;
    if (found == JSON_NUMBER) {
        if (!json_read_number(reader, &text))
            return false;
        token = is_decimal(text) ? "DECIMAL_VALUE" : "NUMBER_VALUE";
    } else if (found == JSON_BOOL) {
        if (!json_read_bool(reader, &truth))
            return false;
        token = truth ? "TRUE_VALUE" : "FALSE_VALUE";
    } else {
        return error_set(err, ERROR_SERIALIZATION, "Unexpected token received from parser");
    }
    return error_set(err, ERROR_SERIALIZATION, "%s cannot be converted to %s", token, target);
}

bool serialization_mismatch(struct json_reader *reader, enum expected expected, struct error *err)
{
    const char *message = NULL;
    enum json_type found = json_peek(reader);
    switch (found) {
    case JSON_INVALID:
        return false;
    case JSON_OBJECT:
        message = mismatches[expected].object;
        break;
    case JSON_ARRAY:
        message = mismatches[expected].array;
        break;
    default:
        message = mismatches[expected].scalar;
    }
    if (message == NULL)
        return convert_failure(reader, found, expected == EXPECT_STRING ? "String" : "Boolean",
                               err);
    return error_set(err, ERROR_SERIALIZATION, "%s", message);
}

/* Names the first character of `text`, which is valid UTF-8, whole. */
static bool bad_character(struct bytes text, struct error *err)
{
    int size = 1;
    while ((size_t)size < text.len && (text.data[size] & 0xC0) == 0x80)
        size++;
    if (size == 1) /* It may be NUL. */
        return error_set(err, ERROR_SERIALIZATION, "Invalid Base64 character: '%c'", text.data[0]);
    return error_set(err, ERROR_SERIALIZATION, "Invalid Base64 character: '%.*s'", size,
                     (const char *)text.data);
}

bool serialization_bad_base64(struct bytes text, struct error *err)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (text.len % 4 != 0)
        return error_set(err, ERROR_SERIALIZATION,
                         "Base64 encoded length is expected a multiple of 4 bytes but found: %zu",
                         text.len);
    size_t end = text.len;
    while (end > 0 && text.len - end < 2 && text.data[end - 1] == '=')
        end--;
    /* Observed: the end is judged before the characters in front of it. Of the last one before the
     * padding, the bits that no byte takes must be zero. */
    const char *last = end == 0 ? NULL : memchr(alphabet, text.data[end - 1], sizeof alphabet - 1);
    unsigned surplus = (1u << 2 * (text.len - end)) - 1;
    bool bad_end = last != NULL && ((unsigned)(last - alphabet) & surplus) != 0;
    for (size_t i = 0; i < end && !bad_end; i++) {
        if (memchr(alphabet, text.data[i], sizeof alphabet - 1) == NULL)
            return bad_character(bytes_of(text.data + i, text.len - i), err);
    }
    /* The spelling is the service's. */
    return error_set(err, ERROR_SERIALIZATION, "Invalid last non-pad Base64 character dectected");
}

bool serialization_boolean_text(struct bytes text, bool *out, struct error *err)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = { { "true", true },   { "1", true },  { "yes", true },
                  { "false", false }, { "0", false }, { "no", false } };
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (text.len == strlen(words[i].word) &&
            strncasecmp((const char *)text.data, words[i].word, text.len) == 0) {
            *out = words[i].value;
            return true;
        }
    }
    return error_set(err, ERROR_SERIALIZATION, "Unexpected token received from parser");
}
