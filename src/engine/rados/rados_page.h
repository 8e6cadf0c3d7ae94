/* rados_page.h -- how many entries of a range to ask for at once.
 *
 * RADOS bounds a page by the number of its entries only, and values have up to some hundred KB. So
 * the store remembers how large the largest entry was that it met lately, and asks for as many of
 * those as make RADOS_PAGE_SIZE. The mean would do for the usual page, but one large item among
 * many small ones, or the first of many large ones, would make a page of any size in memory.
 */
#ifndef STATOR_ENGINE_RADOS_RADOS_PAGE_H
#define STATOR_ENGINE_RADOS_RADOS_PAGE_H
#include <stddef.h>
#include <stdint.h>

/* `largest`: what is remembered; 0: nothing. `bytes_max` and `count_max` are the range's. */
uint64_t rados_page_entries(uint32_t largest, size_t bytes_max, size_t count_max);
/* What to remember after a page whose largest entry had this size: that, or most of what was
 * remembered before. */
uint32_t rados_page_remember(uint32_t largest, size_t size);

#endif
