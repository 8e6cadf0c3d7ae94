/* check_server_time.h -- the record of the server time: there is at most one, and it is whole. */
#ifndef STATOR_CHECK_CHECK_SERVER_TIME_H
#define STATOR_CHECK_CHECK_SERVER_TIME_H

struct check_report;
struct engine_view;

void check_server_time(struct engine_view *view, struct check_report *report);

#endif
