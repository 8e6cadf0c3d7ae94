/* advice_gather_items.c -- a look at a few hundred items: their size, their names, their times.
 *
 * Items are stored in the order of a hash, so the first ones are a fair sample. Nothing of them is
 * kept but numbers and the name of an attribute.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "api/advice/advice_gather.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "model/item.h"
#include "model/number.h"
#include "model/rendered_item.h"
#include "model/value.h"
#include "read/read_page.h"
#include "read/read_source.h"
#include "table/item_range.h"

enum {
    SAMPLE_ITEMS = 200,
    NAMES_MAX = 16, /* Attributes that may hold times of expiry. */
    UNIT_SIZE = 1024,
    BORDER_SIZE = 100,
};
#define EPOCH_MIN 1e9 /* September 2001: smaller numbers are something else. */

struct look {
    struct arena *arena;
    struct advice_sample *sample;
    int64_t now_s;
    double attributes, size, name_size;
    struct {
        struct bytes name;
        size_t count;
    } names[NAMES_MAX];
    size_t name_count;
};

/* A time of creation is in the past as well, so the name has to speak of an end. */
static bool speaks_of_expiry(struct bytes name)
{
    static const char *const words[] = { "ttl", "expir", "until", "delete" };
    char text[64];
    size_t size = name.len < sizeof text - 1 ? name.len : sizeof text - 1;
    for (size_t i = 0; i < size; i++)
        text[i] =
            (char)(name.data[i] >= 'A' && name.data[i] <= 'Z' ? name.data[i] | 0x20 : name.data[i]);
    text[size] = '\0';
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (strstr(text, words[i]) != NULL)
            return true;
    }
    return false;
}

static void note_expired(struct look *look, struct bytes name, const struct value *value)
{
    char text[NUMBER_TEXT_MAX + 1];
    if (value->type != VALUE_N || !speaks_of_expiry(name))
        return;
    text[number_format_encoded(value->data, text)] = '\0';
    double time_s = strtod(text, NULL);
    if (time_s < EPOCH_MIN || time_s >= (double)look->now_s)
        return;
    size_t i = 0;
    while (i < look->name_count && !bytes_equal(look->names[i].name, name))
        i++;
    if (i == NAMES_MAX)
        return;
    if (i == look->name_count) {
        look->names[i].name = arena_copy(look->arena, name);
        look->name_count++;
    }
    look->names[i].count++;
}

static uint64_t look_at_item(void *context, const struct shown_item *shown)
{
    struct look *look = context;
    struct item_iter iter;
    struct bytes name;
    struct value value;
    uint64_t attributes = 0;
    look->sample->count++;
    look->size += (double)shown->item.size;
    look->sample->barely_above += shown->item.size > UNIT_SIZE &&
                                  shown->item.size % UNIT_SIZE > 0 &&
                                  shown->item.size % UNIT_SIZE < BORDER_SIZE;
    item_iter_init(&iter, &shown->item);
    while (item_iter_next(&iter, &name, &value)) {
        attributes++;
        look->name_size += (double)name.len;
        note_expired(look, name, &value);
    }
    look->attributes += (double)attributes;
    return attributes;
}

static void sum_up(struct look *look)
{
    struct advice_sample *sample = look->sample;
    double count = (double)sample->count;
    if (sample->count == 0)
        return;
    sample->attribute_average = look->attributes / count;
    sample->size_average = look->size / count;
    sample->name_size_average = look->name_size / count;
    for (size_t i = 0; i < look->name_count; i++) {
        if (look->names[i].count <= sample->expired_count)
            continue;
        sample->expired_count = look->names[i].count;
        sample->expired_name = look->names[i].name;
    }
}

bool advice_gather_items(struct advice_gather *gather, const struct index_definition *index,
                         struct advice_sample *out)
{
    struct api_call *call = gather->gathering->call;
    struct arena *scratch = gather->scratch;
    const struct table_definition *table = gather->out->definition;
    const struct read_source_name name = { .index_name =
                                               index == NULL ? (struct bytes){ 0 } : index->name };
    const struct item_range_segment whole = { .index = 0, .total = 1 };
    struct look look = { .arena = call->arena,
                         .sample = out,
                         .now_s = gather->gathering->now_ms / 1000 };
    struct read_source source;
    struct item_range *ranges;
    if (!read_source_find(scratch, table, &name, &source, &call->error))
        return false;
    size_t range_count = item_range_of_segment(scratch, table, source.index, &whole, &ranges);
    struct read_page *page =
        read_page_open(&(struct read_page_request){ .arena = scratch,
                                                    .engine = api_options(call->api)->engine,
                                                    .index_delay = api_index_delay(call->api),
                                                    .purpose = "GetAdvice",
                                                    .source = &source,
                                                    .ranges = ranges,
                                                    .range_count = range_count,
                                                    .count_max = SAMPLE_ITEMS,
                                                    .show = look_at_item,
                                                    .context = &look },
                       &call->error);
    if (page == NULL)
        return false;
    enum read_page_status status = read_page_run(page, &call->error);
    assert(status != READ_PAGE_PAUSED);
    read_page_close(page);
    sum_up(&look);
    return status == READ_PAGE_ENDED;
}
