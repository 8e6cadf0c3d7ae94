/* numbered_records.c -- see numbered_records.h. */
#include "numbered_records.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "engine_fixture.h"

static const struct engine_place items = { 7, 1, ENGINE_SPACE_ITEMS };
static const struct engine_place stats = { 7, 2, ENGINE_SPACE_STATS };
#define HEAD BYTES("head")

static struct bytes record_value(uint32_t number, uint8_t space[NUMBERED_RECORDS_VALUE_SIZE])
{
    struct random random;
    random_init(&random, number);
    random_fill(&random, space, NUMBERED_RECORDS_VALUE_SIZE);
    return bytes_of(space, NUMBERED_RECORDS_VALUE_SIZE);
}

void numbered_records_put(struct engine *engine, uint32_t number,
                          struct engine_completion *completion)
{
    uint8_t value[NUMBERED_RECORDS_VALUE_SIZE];
    struct engine_address record = { items, bytes_of(&number, sizeof number) };
    struct engine_address head = { stats, HEAD };
    struct engine_write *write;
    if (engine_write_begin(engine, &head, 1, &write) != ENGINE_OK)
        abort();
    engine_write_put(write, &record, record_value(number, value));
    /* The log ends with a byte that is neither zero nor fill, so that damage by either is damage.
     */
    uint32_t head_value[2] = { number, 0x55555555 };
    engine_write_put(write, &head, bytes_of(head_value, sizeof head_value));
    if (completion != NULL)
        engine_write_commit(write, completion);
    else if (engine_write_commit_wait(write) != ENGINE_OK)
        abort();
}

void numbered_records_put_all(struct engine *engine, uint32_t first, uint32_t last)
{
    for (uint32_t number = first; number <= last; number++)
        numbered_records_put(engine, number, NULL);
}

uint32_t numbered_records_head(struct engine *engine)
{
    struct engine_view *view = engine_fixture_view(engine);
    struct engine_address address = { stats, HEAD };
    struct engine_value value;
    uint32_t head = 0;
    if (engine_view_get(view, &address, &value) == ENGINE_OK)
        memcpy(&head, value.bytes.data, sizeof head);
    engine_value_release(&value);
    engine_view_close(view);
    return head;
}

uint32_t numbered_records_check(struct engine *engine)
{
    uint32_t head = numbered_records_head(engine);
    struct engine_view *view = engine_fixture_view(engine);
    for (uint32_t number = 1; number <= head; number++) {
        uint8_t value[NUMBERED_RECORDS_VALUE_SIZE];
        if (!engine_fixture_view_has(view, items, bytes_of(&number, sizeof number),
                                     record_value(number, value)))
            fail_msg("record %u of %u is missing", number, head);
    }
    struct engine_range all = { .place = items };
    struct engine_scan *scan;
    struct engine_entry entry;
    uint32_t count = 0;
    assert_int_equal(engine_scan_open(view, &all, &scan), ENGINE_OK);
    while (engine_scan_next(scan, &entry) == ENGINE_OK)
        count++;
    assert_int_equal(count, head);
    engine_scan_close(scan);
    engine_view_close(view);
    return head;
}
