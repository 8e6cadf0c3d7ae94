/* names.c -- see names.h. */
#include "codec/names.h"

enum codec_type codec_names_find(const struct codec_names *names, struct bytes name)
{
    size_t low = 0;
    size_t high = names->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = bytes_compare(name, bytes_from_text(names->members[middle].name));
        if (order == 0)
            return names->members[middle].type;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return CODEC_PLAIN;
}

enum codec_type codec_element_type(enum codec_type type)
{
    if (type == CODEC_MAP)
        return CODEC_PLAIN;
    return type == CODEC_MAP_OF_DOUBLES ? CODEC_DOUBLE : type;
}
