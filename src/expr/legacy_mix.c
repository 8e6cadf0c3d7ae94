/* legacy_mix.c -- see legacy_mix.h. */
#include "expr/legacy_mix.h"
#include <string.h>
#include "base/buffer.h"
#include "expr/params.h"
#include "model/error.h"

static void list_present(struct buffer *out, const struct legacy_mix_parameter *parameters,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!parameters[i].present)
            continue;
        if (out->len > 0)
            buffer_append(out, ", ", 2);
        buffer_append(out, parameters[i].name, strlen(parameters[i].name));
    }
}

static bool check(const char *envelope, const struct legacy_mix_parameter *legacy,
                  size_t legacy_count, const struct legacy_mix_parameter *expressions,
                  size_t expression_count, struct error *err)
{
    struct buffer left;
    struct buffer right;
    buffer_init(&left, err->arena);
    buffer_init(&right, err->arena);
    list_present(&left, legacy, legacy_count);
    list_present(&right, expressions, expression_count);
    if (left.len == 0 || right.len == 0)
        return true;
    return error_validation(err,
                            "%sCan not use both expression and non-expression parameters in the "
                            "same request: Non-expression parameters: {%.*s} Expression "
                            "parameters: {%.*s}",
                            envelope, BYTES_FMT(buffer_bytes(&left)),
                            BYTES_FMT(buffer_bytes(&right)));
}

bool legacy_mix_check(const struct legacy_mix_parameter *legacy, size_t legacy_count,
                      const struct legacy_mix_parameter *expressions, size_t expression_count,
                      struct error *err)
{
    return check("", legacy, legacy_count, expressions, expression_count, err);
}

bool legacy_mix_check_enveloped(const struct legacy_mix_parameter *legacy, size_t legacy_count,
                                const struct legacy_mix_parameter *expressions,
                                size_t expression_count, struct error *err)
{
    return check(ERROR_ENVELOPE, legacy, legacy_count, expressions, expression_count, err);
}
