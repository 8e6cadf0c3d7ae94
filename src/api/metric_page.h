/* metric_page.h -- what the meter, the engine and the triggers tell, as families of an exposition.
 *
 * Shows names of tables and indexes that exist, and never keys, items or expressions.
 */
#ifndef STATOR_API_METRIC_PAGE_H
#define STATOR_API_METRIC_PAGE_H
#include <stddef.h>

struct api;
struct arena;
struct exposition;

enum {
    METRIC_PAGE_TABLES_DEFAULT = 200, /* Tables with series of their own on a page. */
    METRIC_PAGE_SIZE_MAX = 64 * 1024 * 1024,
};

/* Adds everything. Tables beyond `tables_max` share METER_OTHER_TABLES. Reads the store: not for a
 * loop's thread. */
void metric_page_add(struct api *api, struct arena *arena, struct exposition *page,
                     size_t tables_max);

#endif
