/* time_zone_fuzz.c -- files of the time zone database and schedules from arbitrary bytes.
 *
 * Whatever is read gives offsets within bounds, times that are later than asked, and never hangs.
 * The first byte says how many of the bytes that follow are the schedule; the rest is a file.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include "scaling/schedule.h"
#include "scaling/time_zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t times[] = { 0, 1, 1794816000, 1806280200, 4000000000, 7258118340 };
    enum { DAY_S = 86400 };
    struct schedule schedule;
    if (size == 0)
        return 0;
    size_t text_size = data[0] < size - 1 ? data[0] : size - 1;
    bool has_schedule = schedule_parse(bytes_of(data + 1, text_size), &schedule);
    struct time_zone *zone = time_zone_parse(bytes_of(data + 1 + text_size, size - 1 - text_size));
    if (zone == NULL)
        zone = time_zone_open(BYTES("UTC"));
    assert(zone != NULL);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        int64_t offset = time_zone_offset(zone, times[i]);
        assert(offset > -3 * DAY_S && offset < 3 * DAY_S);
        int64_t utc = time_zone_to_utc(zone, times[i]);
        assert(utc - times[i] > -3 * DAY_S && utc - times[i] < 3 * DAY_S);
        if (has_schedule)
            assert(schedule_next(&schedule, zone, 5, times[i]) > times[i]);
    }
    time_zone_close(zone);
    return 0;
}
