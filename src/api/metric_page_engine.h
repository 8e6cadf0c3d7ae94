/* metric_page_engine.h -- the families about the storage engine, triggers and Kinesis destinations.
 */
#ifndef STATOR_API_METRIC_PAGE_ENGINE_H
#define STATOR_API_METRIC_PAGE_ENGINE_H

struct api;
struct arena;
struct exposition;

void metric_page_add_engine(struct api *api, struct exposition *page);
/* Alarms by state; targets and activities of auto scaling. Waits for changes of alarms. */
void metric_page_add_alarms(struct api *api, struct exposition *page);
void metric_page_add_triggers(struct api *api, struct arena *arena, struct exposition *page);
void metric_page_add_destinations(struct api *api, struct arena *arena, struct exposition *page);
/* Global tables, by the other region. */
void metric_page_add_replicas(struct api *api, struct exposition *page);

/* Long work: backups, restores, exports, imports. */
void metric_page_add_jobs(struct api *api, struct exposition *page);

#endif
