/* replica_description.h -- what a TableDescription shows of a global table. */
#ifndef STATOR_API_TABLE_REPLICA_DESCRIPTION_H
#define STATOR_API_TABLE_REPLICA_DESCRIPTION_H
#include <stdbool.h>

struct json_writer;
struct table_description;

/* The members that only a global table has; nothing for a regional one. */
void replica_description_write(struct json_writer *writer,
                               const struct table_description *description);

#endif
