/* model_check.h -- `stator model check`: judges a model, then loads its sample into a database in
 * memory, runs every pattern and compares. */
#ifndef STATOR_COMMAND_MODEL_CHECK_H
#define STATOR_COMMAND_MODEL_CHECK_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "schema/model_file.h"

struct arena;
struct json_node;
struct model_server;

/* What running a pattern showed. */
struct pattern_run {
    bool succeeded;
    struct bytes failure; /* "ValidationException: ..." */
    struct json_node **items;
    size_t item_count;
    int64_t scanned;
    int64_t pages;
    double units; /* Consumed, of the table and its indexes. */
};

/* Creates the tables and loads the rows. False with `*failure` set to a sentence. */
MUST_CHECK bool model_check_load(struct arena *arena, struct model_server *server,
                                 const struct model_file *file, struct bytes *failure);
/* All pages, unless the pattern has a limit. */
struct pattern_run model_check_run(struct arena *arena, struct model_server *server,
                                   const struct model_file *file,
                                   const struct model_pattern *pattern);
/* What is not as expected, as a sentence; data NULL: all is. */
struct bytes model_check_compare(struct arena *arena, const struct model_file *file,
                                 const struct model_pattern *pattern,
                                 const struct pattern_run *run);

/* Prints the report. Returns how much is wrong; a model server that does not open counts as one. */
size_t model_check(struct arena *arena, const struct model_file *file,
                   const struct model_report *report);

#endif
