/* table_requests.h -- the requests that make a table of its canonical form, or change one aspect of
 * it. Private to template/.
 */
#ifndef STATOR_TEMPLATE_TABLE_REQUESTS_H
#define STATOR_TEMPLATE_TABLE_REQUESTS_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"

struct arena;
struct node;
struct template_request;

/* A list of requests that grows. */
struct table_requests {
    struct arena *arena;
    struct template_request *list;
    size_t count, capacity;
};

void table_requests_add(struct table_requests *requests, const char *operation,
                        const struct node *body);

/* The body of CreateTable. */
struct node *table_requests_create(struct arena *arena, const struct node *state);
/* All requests that make a table: CreateTable, and what follows once it is ACTIVE. */
void table_requests_make(struct table_requests *requests, const struct node *state);

/* An index as CreateTable and UpdateTable take it. */
struct node *table_requests_index(struct arena *arena, const struct node *index);
/* {"TableName": name}, for more members to be added. */
struct node *table_requests_body(struct arena *arena, struct bytes table_name);
/* `specification` NULL disables. `index_name` data NULL: of the table. */
struct node *table_requests_insights(struct arena *arena, struct bytes table_name,
                                     struct bytes index_name, const struct node *specification);
struct node *table_requests_kinesis(struct arena *arena, struct bytes table_name,
                                    const struct node *specification);
struct node *table_requests_ttl(struct arena *arena, struct bytes table_name,
                                struct bytes attribute, bool enabled);
/* As CreateTable and UpdateTable take it; `specification` NULL disables. */
struct node *table_requests_stream(struct arena *arena, const struct node *specification);
struct node *table_requests_encryption(struct arena *arena, const struct node *specification);
/* Requests of a GlobalTable's auto scaling settings. */
void table_requests_scaling(struct table_requests *requests, const struct node *scaling);

#endif
