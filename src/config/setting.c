/* setting.c -- parses and formats values of settings.
 *
 * setting_parse reads the output of setting_format as the same value. So texts may not begin or end
 * with a space, which a file cannot express.
 */
#include "config/setting.h"
#include <arpa/inet.h>
#include <string.h>
#include <stdlib.h>
#include <errno.h>
#include <assert.h>
#include <inttypes.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "config/config.h"

enum { QUOTED_MAX = 80 }; /* A message repeats at most so much of a refused value. */

static const struct {
    char letters[3]; /* As written, and as also read. */
    unsigned shift;
} size_units[] = { { "Gg", 30 }, { "Mm", 20 }, { "Kk", 10 } };

const struct setting *setting_find(struct bytes name)
{
    assert(name.data != NULL);
    for (size_t i = 0; i < setting_count; i++)
        if (bytes_equal_text(name, setting_table[i].name))
            return &setting_table[i];
    return NULL;
}

static void *field_of(const struct setting *setting, const struct config *config)
{
    assert(setting->offset < sizeof *config);
    return (char *)config + setting->offset;
}

static struct bytes quoted(struct bytes value)
{
    return bytes_of(value.data, value.len < QUOTED_MAX ? value.len : QUOTED_MAX);
}

/* Decimal digits only: no sign, no space, no overflow. */
static bool digits_parse(struct bytes text, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        uint64_t digit = (uint64_t)(text.data[i] - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return text.len > 0;
}

static bool size_parse(struct bytes text, uint64_t *out)
{
    unsigned shift = 0;
    if (text.len > 0) {
        uint8_t last = text.data[text.len - 1];
        for (size_t i = 0; i < COUNT_OF(size_units); i++)
            if (last != '\0' && strchr(size_units[i].letters, last) != NULL)
                shift = size_units[i].shift;
    }
    if (shift != 0)
        text.len--;
    uint64_t value;
    if (!digits_parse(text, &value) || value > UINT64_MAX >> shift)
        return false;
    *out = value << shift;
    return true;
}

static void size_format(uint64_t value, struct buffer *out)
{
    for (size_t i = 0; i < COUNT_OF(size_units); i++) {
        uint64_t whole = value >> size_units[i].shift;
        if (value != 0 && whole << size_units[i].shift == value) {
            struct bytes text =
                arena_printf(out->arena, "%" PRIu64 "%c", whole, size_units[i].letters[0]);
            buffer_append_bytes(out, text);
            return;
        }
    }
    buffer_append_bytes(out, arena_printf(out->arena, "%" PRIu64, value));
}

static bool parse_number(struct arena *arena, const struct setting *setting, struct bytes value,
                         const char *origin, uint64_t *out, struct config_error *err)
{
    bool is_size = setting->kind == SETTING_SIZE;
    uint64_t number;
    bool ok = is_size ? size_parse(value, &number) : digits_parse(value, &number);
    if (ok && number >= setting->min && number <= setting->max) {
        *out = number;
        return true;
    }
    struct buffer range;
    buffer_init(&range, arena);
    if (is_size) {
        size_format(setting->min, &range);
        buffer_append_bytes(&range, BYTES(" to "));
        size_format(setting->max, &range);
        buffer_append_bytes(&range, BYTES(" (bytes, or with K, M or G)"));
    } else {
        buffer_append_bytes(
            &range, arena_printf(arena, "%" PRIu64 " to %" PRIu64, setting->min, setting->max));
    }
    return config_error_set(err, "%s: '%.*s' is not a number from %.*s", origin,
                            BYTES_FMT(quoted(value)), BYTES_FMT(buffer_bytes(&range)));
}

static bool parse_flag(struct bytes value, const char *origin, bool *out, struct config_error *err)
{
    bool yes = bytes_equal_text(value, "true") || bytes_equal_text(value, "1");
    bool no = bytes_equal_text(value, "false") || bytes_equal_text(value, "0");
    if (!yes && !no)
        return config_error_set(err, "%s: '%.*s' is neither true nor false", origin,
                                BYTES_FMT(quoted(value)));
    *out = yes;
    return true;
}

static bool parse_choice(struct arena *arena, const struct setting *setting, struct bytes value,
                         const char *origin, unsigned *out, struct config_error *err)
{
    struct buffer list;
    buffer_init(&list, arena);
    for (unsigned i = 0; setting->choices[i] != NULL; i++) {
        if (bytes_equal_text(value, setting->choices[i])) {
            *out = i;
            return true;
        }
        if (i > 0)
            buffer_append_bytes(&list, BYTES(", "));
        buffer_append_bytes(&list, bytes_from_text(setting->choices[i]));
    }
    return config_error_set(err, "%s: '%.*s' is none of %.*s", origin, BYTES_FMT(quoted(value)),
                            BYTES_FMT(buffer_bytes(&list)));
}

static bool is_one_line(struct bytes value)
{
    for (size_t i = 0; i < value.len; i++)
        if (value.data[i] < 0x20 || value.data[i] == 0x7F)
            return false;
    return value.len == 0 || (value.data[0] != ' ' && value.data[value.len - 1] != ' ');
}

static bool parse_text(struct arena *arena, const struct setting *setting, struct bytes value,
                       const char *origin, const char **out, struct config_error *err)
{
    if (value.len < setting->min)
        return config_error_set(err, "%s: must not be empty", origin);
    if (value.len > setting->max)
        return config_error_set(err, "%s: longer than %" PRIu64 " bytes", origin, setting->max);
    if (!is_one_line(value))
        return config_error_set(err, "%s: control characters or spaces around the value", origin);
    struct bytes copy = arena_printf(arena, "%.*s", BYTES_FMT(value));
    const char *text = (const char *)copy.data;
    if (setting->accepts != NULL && !setting->accepts(text))
        return config_error_set(err, "%s: '%.*s' is not %s", origin, BYTES_FMT(quoted(value)),
                                setting->expects);
    *out = text;
    return true;
}

static bool parse_address(struct arena *arena, const struct setting *setting, struct bytes value,
                          const char *origin, const char **out, struct config_error *err)
{
    if (bytes_equal_text(value, "localhost"))
        value = BYTES("127.0.0.1");
    return parse_text(arena, setting, value, origin, out, err);
}

bool setting_parse(struct arena *arena, const struct setting *setting, struct bytes value,
                   const char *origin, struct config *config, struct config_error *err)
{
    assert(setting != NULL && origin != NULL);
    void *field = field_of(setting, config);
    switch (setting->kind) {
    case SETTING_NUMBER:
    case SETTING_SIZE:
        return parse_number(arena, setting, value, origin, field, err);
    case SETTING_FLAG:
        return parse_flag(value, origin, field, err);
    case SETTING_CHOICE:
        return parse_choice(arena, setting, value, origin, field, err);
    case SETTING_TEXT:
    case SETTING_PATH:
        return parse_text(arena, setting, value, origin, field, err);
    case SETTING_ADDRESS:
        return parse_address(arena, setting, value, origin, field, err);
    }
    assert(false);
    return false;
}

void setting_format(const struct setting *setting, const struct config *config, struct buffer *out)
{
    const void *field = field_of(setting, config);
    switch (setting->kind) {
    case SETTING_NUMBER:
        buffer_append_bytes(out, arena_printf(out->arena, "%" PRIu64, *(const uint64_t *)field));
        return;
    case SETTING_SIZE:
        size_format(*(const uint64_t *)field, out);
        return;
    case SETTING_FLAG:
        buffer_append_bytes(out, *(const bool *)field ? BYTES("true") : BYTES("false"));
        return;
    case SETTING_CHOICE:
        buffer_append_bytes(out, bytes_from_text(setting->choices[*(const unsigned *)field]));
        return;
    case SETTING_TEXT:
    case SETTING_PATH:
    case SETTING_ADDRESS:
        buffer_append_bytes(out, bytes_from_text(*(const char *const *)field));
        return;
    }
    assert(false);
}

bool setting_address_is_loopback(const char *address)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, address, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, address, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

bool setting_split_address(const char *text, char address[SETTING_ADDRESS_SIZE], uint16_t *port)
{
    struct in_addr v4;
    struct in6_addr v6;
    bool has_brackets = text[0] == '[';
    const char *colon = strrchr(text, ':');
    const char *first = has_brackets ? text + 1 : text;
    const char *last = has_brackets && colon != NULL ? colon - 1 : colon;
    if (colon == NULL || last < first || last - first >= SETTING_ADDRESS_SIZE ||
        (has_brackets && *last != ']'))
        return false;
    memcpy(address, first, (size_t)(last - first));
    address[last - first] = '\0';
    char *end;
    errno = 0;
    unsigned long number = strtoul(colon + 1, &end, 10);
    if (colon[1] < '0' || colon[1] > '9' || *end != '\0' || errno != 0 || number > UINT16_MAX)
        return false;
    *port = (uint16_t)number;
    return has_brackets ? inet_pton(AF_INET6, address, &v6) == 1
                        : inet_pton(AF_INET, address, &v4) == 1;
}
