/* alarm_record_fuzz.c -- arbitrary bytes as the records of alarms and dashboards, with the checksum
 * made right, and as the body of a dashboard.
 *
 * The first byte chooses. The rest is what stands behind the item's checksum. What decodes, encodes
 * and decodes again, is the same record.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "cloudwatch/alarm_record.h"
#include "cloudwatch/dashboards.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ITEM_FORMAT = 1, COVERED_AT = 5 };

static struct bytes seal(struct arena *arena, struct bytes content)
{
    uint8_t *bytes = arena_alloc(arena, COVERED_AT + content.len);
    bytes[0] = ITEM_FORMAT;
    store_u32_le(bytes + 1, crc32c(content));
    memcpy(bytes + COVERED_AT, content.data, content.len);
    return bytes_of(bytes, COVERED_AT + content.len);
}

static void try_alarm(struct arena *arena, struct bytes stored)
{
    struct alarm alarm, again;
    struct alarm_rule rule;
    if (!alarm_decode(arena, stored, &alarm))
        return;
    struct bytes encoded = alarm_encode(arena, &alarm);
    bool decodes = alarm_decode(arena, encoded, &again);
    assert(decodes);
    assert(bytes_equal(encoded, alarm_encode(arena, &again)));
    alarm_definition_rule(&alarm.definition, &rule);
    assert(alarm_definition_pace_s(&alarm.definition) > 0);
    alarm_message(arena, "r", "1", &alarm, ALARM_STATE_OK);
}

static void try_history(struct arena *arena, struct bytes stored)
{
    struct alarm_history entry, again;
    if (!alarm_history_decode(arena, stored, &entry))
        return;
    bool decodes = alarm_history_decode(arena, alarm_history_encode(arena, &entry), &again);
    assert(decodes);
    assert(again.time_ms == entry.time_ms && again.type == entry.type);
}

static void try_action(struct arena *arena, struct bytes stored)
{
    struct alarm_action action, again;
    if (!alarm_action_decode(arena, stored, &action))
        return;
    bool decodes = alarm_action_decode(arena, alarm_action_encode(arena, &action), &again);
    assert(decodes);
    assert(bytes_equal(again.target, action.target));
}

static void try_dashboard(struct arena *arena, struct bytes stored)
{
    struct dashboard dashboard, again;
    if (!dashboard_decode(arena, stored, &dashboard))
        return;
    bool decodes = dashboard_decode(arena, dashboard_encode(arena, &dashboard), &again);
    assert(decodes);
    assert(bytes_equal(again.body, dashboard.body));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct bytes content = size == 0 ? BYTES("") : bytes_of(data + 1, size - 1);
    struct dashboard_messages messages;
    switch (size == 0 ? 0 : data[0]) {
    case 'A':
        try_alarm(arena, seal(arena, content));
        break;
    case 'H':
        try_history(arena, seal(arena, content));
        break;
    case 'P':
        try_action(arena, seal(arena, content));
        break;
    case 'B':
        try_dashboard(arena, seal(arena, content));
        break;
    case 'J':
        if (!dashboard_check_body(arena, content, &messages))
            assert(messages.count > 0 && messages.count <= DASHBOARD_MESSAGES_MAX);
        break;
    default:
        break;
    }
    arena_destroy(arena);
    return 0;
}
