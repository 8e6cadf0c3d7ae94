/* rados_page.c -- see rados_page.h. */
#include "engine/rados/rados_page.h"
#include "engine/rados/rados_store.h"

enum { FORGOTTEN_PER_PAGE = 8 }; /* The share of what is remembered: one in so many. */

uint64_t rados_page_entries(uint32_t largest, size_t bytes_max, size_t count_max)
{
    uint64_t size = bytes_max > 0 && bytes_max < RADOS_PAGE_SIZE ? bytes_max : RADOS_PAGE_SIZE;
    uint64_t count = largest == 0 ? RADOS_PAGE_ENTRIES_UNKNOWN : size / largest + 1;
    count = count < RADOS_PAGE_ENTRIES_MAX ? count : RADOS_PAGE_ENTRIES_MAX;
    return count < count_max ? count : count_max;
}

uint32_t rados_page_remember(uint32_t largest, size_t size)
{
    uint32_t left = largest - largest / FORGOTTEN_PER_PAGE;
    if (size <= left)
        return left;
    return size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}
