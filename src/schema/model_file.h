/* model_file.h -- the model file: tables, sample data, entities and access patterns in one JSON.
 *
 * The form is that of NoSQL Workbench, with our additions under one key, "Stator". Files of all
 * its versions are read, and repaired where they are not DynamoDB's JSON; version 3.0 is written.
 * The tree of the file is kept, so that whatever is unknown here survives in its place. Other forms
 * (model_import.h) are turned into this one first.
 *
 * Everything lives in the arena that the file was loaded into, and borrows the text.
 */
#ifndef STATOR_SCHEMA_MODEL_FILE_H
#define STATOR_SCHEMA_MODEL_FILE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "model/value.h"
#include "schema/key_template.h"

struct arena;
struct json_node;
struct model_budget;

enum {
    MODEL_FILE_SIZE_MAX = 64 * 1024 * 1024,
    MODEL_TABLES_MAX = 100,
    MODEL_ENTITIES_MAX = 200,          /* Of all tables together. */
    MODEL_ENTITY_ATTRIBUTES_MAX = 200, /* Of one entity. */
    MODEL_PATTERNS_MAX = 1000,
    MODEL_NOTES_MAX = 1000, /* Further ones are only counted. */
    MODEL_NAME_SIZE_MAX = 255,
    MODEL_EXPRESSION_SIZE_MAX = 4096,                               /* The service's own. */
    MODEL_INDEXES_MAX = 1 + GLOBAL_INDEXES_MAX + LOCAL_INDEXES_MAX, /* With the table itself. */
};

#define MODEL_FILE_VERSION "3.0"
#define MODEL_NUMBER_MAX 1e12 /* Of calls per second. */

/* What was repaired or is worth knowing, in the order in which it was found. */
struct model_note {
    struct bytes place; /* "DataModel[0].TableData[3].stats" */
    struct bytes text;
};

struct model_report {
    struct bytes failure; /* data NULL: the file was loaded. */
    struct bytes format;  /* "NoSQL Workbench 3.0" */
    struct model_note *notes;
    size_t note_count;    /* Of those that are kept. */
    size_t notes_dropped; /* Beyond MODEL_NOTES_MAX. */
};

/* An index, or the table itself. */
struct model_index {
    struct bytes name; /* data NULL: the table. */
    bool local;
    struct key_attribute hash;
    struct key_attribute range;
    bool has_range;
    enum projection_type projection; /* The table has all. */
    struct bytes *included;
    size_t included_count;
    int64_t read_units, write_units; /* Of a global index of a table that is provisioned. */
};

struct model_table {
    struct json_node *node;
    struct bytes name;
    struct model_index *indexes; /* The first is the table itself. */
    size_t index_count;
    struct bytes *other_indexes; /* Names of global indexes that have no form in a model file. */
    size_t other_index_count;
    bool provisioned;
    int64_t read_units, write_units;
    struct bytes ttl_attribute; /* data NULL: none. */
    /* Rows of the sample: each an object of attribute values. Of rows with the same key only the
     * last one is here. */
    struct json_node **rows;
    size_t row_count;
};

/* The keys that an entity's items have in an index. */
struct model_entity_key {
    struct bytes index; /* data NULL: of the table. */
    struct key_template hash;
    struct key_template range;
    bool has_hash, has_range;
};

struct model_attribute {
    struct bytes name;
    enum value_type type;
    bool has_type;
    bool required;
};

struct model_entity {
    struct json_node *node;
    struct bytes name;
    struct bytes table;
    struct bytes discriminator; /* The attribute; data NULL: none. */
    struct bytes discriminator_value;
    struct model_entity_key *keys;
    size_t key_count;
    struct model_attribute *attributes;
    size_t attribute_count;
};

enum pattern_operation {
    PATTERN_GET_ITEM,
    PATTERN_QUERY,
    PATTERN_SCAN,
    PATTERN_PUT_ITEM,
    PATTERN_UPDATE_ITEM,
    PATTERN_DELETE_ITEM,
    PATTERN_OPERATION_COUNT,
};
const char *pattern_operation_name(enum pattern_operation operation);
bool pattern_operation_writes(enum pattern_operation operation);

/* What a Query asks of the sort key. */
enum pattern_compare {
    PATTERN_ANY,
    PATTERN_EQUALS,
    PATTERN_BEGINS_WITH,
    PATTERN_BETWEEN,
    PATTERN_LESS,
    PATTERN_AT_MOST,
    PATTERN_GREATER,
    PATTERN_AT_LEAST,
    PATTERN_COMPARE_COUNT,
};
const char *pattern_compare_name(enum pattern_compare compare); /* "BeginsWith" */

struct model_expectation {
    bool has_count;
    int64_t count;
    struct json_node *keys;     /* Of items, in their order; NULL: not given. */
    struct json_node *entities; /* Names; NULL: not given. */
    bool refused;               /* The operation fails. */
    bool has_pages;
    int64_t pages;
};

struct model_pattern {
    struct json_node *node;
    struct bytes name;
    struct bytes table;
    struct bytes index; /* data NULL: the table. */
    enum pattern_operation operation;
    bool has_hash;
    struct key_template hash;
    enum pattern_compare compare;
    struct key_template range[2];
    struct bytes filter; /* data NULL: none, like what follows. */
    struct bytes update;
    struct bytes condition;
    struct json_node *names;
    struct json_node *values;
    struct json_node *item;
    struct json_node *attributes; /* Those that are needed; NULL: all. */
    struct json_node *entities;   /* Those that it reads or writes; NULL: not given. */
    bool consistent;
    bool descending;
    int64_t limit; /* 0: none. */
    struct json_node *parameters;
    double calls_per_second; /* From 0 to MODEL_NUMBER_MAX. */
    bool allows_scan;        /* The author knows. */
    struct model_expectation expect;
};

struct model_file {
    struct json_node *root;
    struct bytes name;
    struct bytes version; /* As found; data NULL: none. */
    struct model_table *tables;
    size_t table_count;
    struct model_entity *entities;
    size_t entity_count;
    /* The entities are notes of another tool, of which the file has no more than an idea: rows that
     * do not follow them are no fault. */
    bool entities_are_derived;
    struct model_pattern *patterns;
    size_t pattern_count;
    struct model_budget *budget; /* For judging it, see model_budget.h; NULL: without a bound. */
};

/* NULL with report->failure set to a sentence if the file makes no sense. */
MUST_CHECK struct model_file *model_file_load(struct arena *arena, struct bytes text,
                                              struct model_report *report);
/* The file as text, of version 3.0. */
struct bytes model_file_save(struct arena *arena, const struct model_file *file);

/* NULL if there is none. An index whose name has data NULL is the table itself. */
const struct model_table *model_file_table(const struct model_file *file, struct bytes name);
const struct model_index *model_table_index(const struct model_table *table, struct bytes name);
bool model_table_has_other_index(const struct model_table *table, struct bytes name);
const struct model_entity *model_file_entity(const struct model_file *file, struct bytes name);
/* The templates that the entity has for an index; NULL: none. */
const struct model_entity_key *model_entity_key(const struct model_entity *entity,
                                                struct bytes index);
/* The value of a pattern's parameter; false if it has none. A key_template_lookup. */
bool model_pattern_parameter(const void *pattern, struct bytes name, struct bytes *value);

/* For the files of this room: adds a note. */
void model_report_add(struct arena *arena, struct model_report *report, struct bytes place,
                      struct bytes text);
/* The same with the path of a node as the place. That is made only for a note that is kept: it
 * walks the siblings of the node, so that a long list would take time by its square. */
void model_report_add_at(struct arena *arena, struct model_report *report,
                         const struct json_node *node, struct bytes text);

#endif
