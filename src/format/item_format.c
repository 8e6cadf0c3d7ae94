/* item_format.c -- see item_format.h. */
#include "format/item_format.h"
#include <assert.h>

static const char *const names[ITEM_FORMAT_COUNT] = {
    [ITEM_FORMAT_DYNAMODB_JSON] = "DYNAMODB_JSON",
    [ITEM_FORMAT_ION] = "ION",
    [ITEM_FORMAT_CSV] = "CSV",
    [ITEM_FORMAT_PLAIN_JSON] = "JSON",
};

const char *item_format_name(enum item_format format)
{
    assert(format < ITEM_FORMAT_COUNT);
    return names[format];
}

bool item_format_parse(struct bytes name, enum item_format *out)
{
    for (unsigned i = 0; i < ITEM_FORMAT_COUNT; i++) {
        if (bytes_equal_text(name, names[i])) {
            *out = (enum item_format)i;
            return true;
        }
    }
    return false;
}
