/* metric_page_engine.h -- the families about the storage engine and about triggers. */
#ifndef STATOR_API_METRIC_PAGE_ENGINE_H
#define STATOR_API_METRIC_PAGE_ENGINE_H

struct api;
struct arena;
struct exposition;

void metric_page_add_engine(struct api *api, struct exposition *page);
void metric_page_add_triggers(struct api *api, struct arena *arena, struct exposition *page);

#endif
