/* check_places.h -- what is stored where nobody looks: under owners, in partitions or in spaces
 * that no table and no index has.
 */
#ifndef STATOR_CHECK_CHECK_PLACES_H
#define STATOR_CHECK_CHECK_PLACES_H
#include "engine/engine.h"

struct check_catalogue;
struct check_report;

void check_places(struct engine_view *view, const struct check_catalogue *catalogue,
                  struct check_report *report);

#endif
