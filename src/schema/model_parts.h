/* model_parts.h -- what the readers of parts of a model file share; for this folder only. */
#ifndef STATOR_SCHEMA_MODEL_PARTS_H
#define STATOR_SCHEMA_MODEL_PARTS_H
#include "base/compiler.h"
#include "schema/json_tree.h"
#include "schema/model_file.h"

/* While a file is read. The first failure stays in the report. */
struct model_reader {
    struct arena *arena;
    struct model_file *file;
    struct model_report *report;
    /* Of entities that are stored with a table: keys of indexes that it does not have any more, or
     * has with keys of other types, are left out. */
    bool is_lenient;
};

/* Returns false. `node` tells the place; NULL: the file. */
bool model_reader_fail(struct model_reader *reader, const struct json_node *node,
                       const char *format, ...) PRINTF_LIKE(3, 4);
static inline bool model_reader_failed(const struct model_reader *reader)
{
    return reader->report->failure.data != NULL;
}

/* Members of an object. Absent ones read as absent: data NULL, NULL, false, 0. One of another type
 * is a failure. */
struct bytes model_reader_text(struct model_reader *reader, const struct json_node *object,
                               const char *name);
/* Not empty, and of at most MODEL_NAME_SIZE_MAX bytes. */
struct bytes model_reader_name(struct model_reader *reader, const struct json_node *object,
                               const char *name);
/* Of at most MODEL_EXPRESSION_SIZE_MAX bytes. */
struct bytes model_reader_expression(struct model_reader *reader, const struct json_node *object,
                                     const char *name);
struct json_node *model_reader_array(struct model_reader *reader, const struct json_node *object,
                                     const char *name, size_t count_max);
struct json_node *model_reader_object(struct model_reader *reader, const struct json_node *object,
                                      const char *name);
bool model_reader_flag(struct model_reader *reader, const struct json_node *object,
                       const char *name);
bool model_reader_integer(struct model_reader *reader, const struct json_node *object,
                          const char *name, int64_t *out); /* False if it is absent. */
/* From 0 to MODEL_NUMBER_MAX: costs that are made of it stay finite. */
double model_reader_number(struct model_reader *reader, const struct json_node *object,
                           const char *name);

/* The parts: false with the failure set. */
MUST_CHECK bool model_tables_read(struct model_reader *reader, struct json_node *tables);
MUST_CHECK bool model_entities_read(struct model_reader *reader, struct json_node *entities);
MUST_CHECK bool model_patterns_read(struct model_reader *reader, struct json_node *patterns);
/* Of a file that was read: adds a note for each member that nothing reads. */
void model_unknown_note(struct model_reader *reader);

#endif
