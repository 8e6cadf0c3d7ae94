/* accounts.c -- see accounts.h. */
#include "accounts.h"
#include <assert.h>
#include "base/bytes.h"
#include "engine_fixture.h"

static struct engine_address account(uint64_t number)
{
    static const char names[ACCOUNTS_MAX + 1] = "abcdefgh";
    assert(number < ACCOUNTS_MAX);
    return (struct engine_address){ { 1, number % 3, ENGINE_SPACE_ITEMS },
                                    bytes_of(names + number, 1) };
}

static uint8_t balance(struct engine_write *write, const struct engine_address *address,
                       enum engine_status *status)
{
    struct engine_value value;
    uint8_t units = 0;
    enum engine_status found = engine_write_get(write, address, &value);
    if (found == ENGINE_OK)
        units = value.bytes.data[0];
    else
        *status = found;
    engine_value_release(&value);
    return units;
}

void accounts_create(struct engine *engine, size_t count, uint8_t units)
{
    for (uint64_t i = 0; i < count; i++) {
        struct engine_address address = account(i);
        engine_fixture_put(engine, address.place, address.key, bytes_of(&units, 1));
    }
}

enum engine_status accounts_move(struct engine *engine, uint64_t from, uint64_t to,
                                 struct engine_write **write)
{
    struct engine_address addresses[] = { account(from), account(to) };
    enum engine_status status = engine_write_begin(engine, addresses, 2, write);
    if (status != ENGINE_OK)
        return status;
    uint8_t left = balance(*write, &addresses[0], &status);
    uint8_t right = balance(*write, &addresses[1], &status);
    if (status != ENGINE_OK) {
        engine_write_abandon(*write);
        return status;
    }
    if (left > 0) {
        left--;
        right++;
    }
    engine_write_put(*write, &addresses[0], bytes_of(&left, 1));
    engine_write_put(*write, &addresses[1], bytes_of(&right, 1));
    return ENGINE_OK;
}

enum engine_status accounts_sum(struct engine *engine, size_t count, unsigned *total)
{
    struct engine_address addresses[ACCOUNTS_MAX] = { 0 };
    struct engine_write *write;
    assert(count <= ACCOUNTS_MAX);
    for (uint64_t i = 0; i < count; i++)
        addresses[i] = account(i);
    enum engine_status status = engine_write_begin(engine, addresses, count, &write);
    if (status != ENGINE_OK)
        return status;
    *total = 0;
    for (size_t i = 0; i < count; i++)
        *total += balance(write, &addresses[i], &status);
    if (status == ENGINE_OK)
        return engine_write_commit_wait(write);
    engine_write_abandon(write);
    return status;
}
