/* model_repair.h -- makes DynamoDB's JSON of what public model files have instead. */
#ifndef STATOR_SCHEMA_MODEL_REPAIR_H
#define STATOR_SCHEMA_MODEL_REPAIR_H
#include <stdbool.h>

struct arena;
struct json_node;
struct model_report;

/* Whether the node is an attribute value, {"S": "..."}, all the way down. */
bool model_repair_is_value(const struct json_node *node);
/* Turns the node into an attribute value, and notes what was wrong. Plain JSON becomes the value of
 * its type; a map that is wrapped twice loses the outer wrapper. */
void model_repair_value(struct arena *arena, struct json_node *node, struct model_report *report);

#endif
