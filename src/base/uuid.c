/* uuid.c -- see uuid.h. */
#include "base/uuid.h"
#include <assert.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/random.h"

struct bytes uuid_create(struct arena *arena)
{
    struct random random;
    random_init_from_system(&random);
    uint64_t high = random_next(&random);
    uint64_t low = random_next(&random);
    high = (high & ~UINT64_C(0xF000)) | UINT64_C(0x4000);     /* Version 4. */
    low = (low & ~(UINT64_C(3) << 62)) | (UINT64_C(2) << 62); /* Variant 1. */
    struct bytes text = arena_printf(
        arena, "%08llx-%04llx-%04llx-%04llx-%012llx", (unsigned long long)(high >> 32),
        (unsigned long long)(high >> 16 & 0xFFFF), (unsigned long long)(high & 0xFFFF),
        (unsigned long long)(low >> 48), (unsigned long long)(low & UINT64_C(0xFFFFFFFFFFFF)));
    assert(text.len == UUID_TEXT_SIZE);
    return text;
}
