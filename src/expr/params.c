/* params.c -- see params.h. Both maps arrive sorted by key, so lookups are binary searches and
 * messages name unused keys in that order. */
#include "expr/params.h"
#include <assert.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "model/error.h"
#include "model/item.h"
#include "model/limits.h"

static const char names_map[] = "ExpressionAttributeNames";
static const char values_map[] = "ExpressionAttributeValues";

static bool is_token(struct bytes key, uint8_t sign)
{
    if (key.len < 2 || key.data[0] != sign)
        return false;
    for (size_t i = 1; i < key.len; i++) {
        uint8_t byte = key.data[i];
        bool word = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                    (byte >= '0' && byte <= '9') || byte == '_';
        if (!word)
            return false;
    }
    return true;
}

static bool check_key(const char *map, struct bytes key, uint8_t sign, struct error *err)
{
    if (key.len == 0)
        return error_validation(err,
                                "%s contains invalid key: The expression attribute map contains "
                                "an empty key;",
                                map);
    if (key.len > EXPR_PARAMS_TOKEN_SIZE_MAX && map == names_map)
        return error_validation(err,
                                "%s contains invalid key: The expression attribute map contains "
                                "a key that is too long; size of key: %zu",
                                map, key.len);
    if (key.len > EXPR_PARAMS_TOKEN_SIZE_MAX)
        return error_validation(err,
                                "%s contains invalid key: The expression attribute map contains "
                                "a key that is too long;",
                                map);
    if (!is_token(key, sign))
        return error_validation(err, "%s contains invalid key: Syntax error; key: \"%.*s\"", map,
                                BYTES_FMT(key));
    return true;
}

static bool check_name(struct bytes key, struct bytes name, struct error *err)
{
    if (name.len == 0)
        return error_validation(err, "%s contains invalid value: Empty attribute name for key %.*s",
                                names_map, BYTES_FMT(key));
    if (name.len > ATTRIBUTE_NAME_SIZE_MAX)
        return error_validation(err,
                                "%s contains invalid value: Attribute name is too large, must be "
                                "less than %d bytes for key %.*s",
                                names_map, ATTRIBUTE_NAME_SIZE_MAX + 1, BYTES_FMT(key));
    return true;
}

static bool init_names(struct expr_params *params, struct arena *arena,
                       const struct expr_params_input *input, struct error *err)
{
    if (!input->names_present)
        return true;
    if (input->name_count == 0)
        return error_fault(err, "%s must not be empty", names_map);
    params->names = arena_alloc(arena, input->name_count * sizeof *params->names);
    params->name_count = input->name_count;
    size_t size = 0;
    for (size_t i = 0; i < input->name_count; i++) {
        struct bytes key = input->name_keys[i];
        struct bytes name = input->name_values[i];
        if (!check_key(names_map, key, '#', err) || !check_name(key, name, err))
            return false;
        params->names[i] = (struct expr_params_name){ .key = key, .name = name };
        size += key.len + name.len;
    }
    if (size > EXPR_PARAMS_MAP_SIZE_MAX)
        return error_validation(err, "%s exceeds max size", names_map);
    return true;
}

static bool init_values(struct expr_params *params, struct arena *arena,
                        const struct expr_params_input *input, struct error *err)
{
    if (input->values == NULL)
        return true;
    if (input->values->count == 0)
        return error_fault(err, "%s must not be empty", values_map);
    params->values = arena_alloc(arena, input->values->count * sizeof *params->values);
    struct item_iter iter;
    struct bytes key;
    struct value value;
    item_iter_init(&iter, input->values);
    while (item_iter_next(&iter, &key, &value)) {
        if (!check_key(values_map, key, ':', err))
            return false;
        params->values[params->value_count++] =
            (struct expr_params_value){ .key = key, .value = value };
    }
    if (input->values->size > EXPR_PARAMS_MAP_SIZE_MAX)
        return error_validation(err, "%s exceeds max size", values_map);
    return true;
}

bool expr_params_init(struct expr_params *params, struct arena *arena,
                      const struct expr_params_input *input, struct error *err)
{
    *params = (struct expr_params){ 0 };
    params->nested_end = &params->nested;
    return init_names(params, arena, input, err) && init_values(params, arena, input, err);
}

bool expr_params_check_absent(const struct expr_params_input *input, const char *expressions,
                              struct error *err)
{
    if (input->names_present)
        return error_fault(err, "%s can only be specified when using expressions", names_map);
    if (input->values == NULL)
        return true;
    if (err->family == ERROR_FAMILY_ENVELOPED)
        return error_fault(err, "%s can only be specified when using expressions", values_map);
    return error_fault(err, "%s can only be specified when using expressions: %s", values_map,
                       expressions);
}

/* A binary search in `count` entries of `size` bytes that begin with their key. Returns the index
 * of the entry with this key; `count` if there is none. */
static size_t find_key(const void *entries, size_t count, size_t size, struct bytes key)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct bytes *found = (const void *)((const char *)entries + middle * size);
        int order = bytes_compare(key, *found);
        if (order == 0)
            return middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return count;
}
static_assert(offsetof(struct expr_params_name, key) == 0, "find_key looks at the start");
static_assert(offsetof(struct expr_params_value, key) == 0, "find_key looks at the start");

bool expr_params_find_name(struct expr_params *params, struct bytes key, struct bytes *out)
{
    size_t index = find_key(params->names, params->name_count, sizeof *params->names, key);
    if (index == params->name_count)
        return false;
    params->names[index].used = true;
    *out = params->names[index].name;
    return true;
}

bool expr_params_find_value(struct expr_params *params, struct bytes key, struct value *out)
{
    size_t index = find_key(params->values, params->value_count, sizeof *params->values, key);
    if (index == params->value_count)
        return false;
    params->values[index].used = true;
    *out = params->values[index].value;
    return true;
}

void expr_params_add_nested(struct expr_params *params, struct arena *arena, struct bytes root)
{
    assert(params->nested_end != NULL);
    struct expr_params_nested *nested = arena_alloc(arena, sizeof *nested);
    *nested = (struct expr_params_nested){ .root = root };
    *params->nested_end = nested;
    params->nested_end = &nested->next;
}

bool expr_params_check_key_paths(const struct expr_params *params, const struct bytes *key_names,
                                 size_t count, struct error *err)
{
    assert(count > 0);
    for (const struct expr_params_nested *at = params->nested; at != NULL; at = at->next) {
        for (size_t i = 0; i < count; i++) {
            if (bytes_equal(at->root, key_names[i]))
                return error_validation(err,
                                        "Key attributes must be scalars; list random access '[]' "
                                        "and map lookup '.' are not allowed: Key: %.*s",
                                        BYTES_FMT(at->root));
        }
    }
    return true;
}

/* --- Unused keys --- */

static void list_key(struct buffer *keys, struct bytes key)
{
    if (keys->len > 0)
        buffer_append(keys, ", ", 2);
    buffer_append_bytes(keys, key);
}

static bool report_unused(const struct buffer *keys, const char *map, struct error *err)
{
    if (keys->len == 0)
        return true;
    return error_fault(err, "Value provided in %s unused in expressions: keys: {%.*s}", map,
                       BYTES_FMT(buffer_bytes(keys)));
}

bool expr_params_check_unused(const struct expr_params *params, struct arena *arena,
                              struct error *err)
{
    struct buffer keys;
    buffer_init(&keys, arena);
    for (size_t i = 0; i < params->name_count; i++) {
        if (!params->names[i].used)
            list_key(&keys, params->names[i].key);
    }
    if (!report_unused(&keys, names_map, err))
        return false;
    for (size_t i = 0; i < params->value_count; i++) {
        if (!params->values[i].used)
            list_key(&keys, params->values[i].key);
    }
    return report_unused(&keys, values_map, err);
}
