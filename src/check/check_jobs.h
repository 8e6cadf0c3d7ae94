/* check_jobs.h -- the records of long work: whole, and under the keys that they belong to. */
#ifndef STATOR_CHECK_CHECK_JOBS_H
#define STATOR_CHECK_CHECK_JOBS_H

struct check_report;
struct engine_view;

void check_jobs(struct engine_view *view, struct check_report *report);

#endif
