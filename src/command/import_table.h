/* import_table.h -- what `stator import` knows of the table that it fills. */
#ifndef STATOR_COMMAND_IMPORT_TABLE_H
#define STATOR_COMMAND_IMPORT_TABLE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/key.h"

struct arena;
struct json_writer;

enum { IMPORT_ATTRIBUTES_MAX = 256 };

struct import_table {
    struct bytes name;
    struct bytes status;                               /* "ACTIVE" */
    struct key_attribute keys[2];                      /* The partition key first. */
    size_t key_count;                                  /* 0: not known. */
    struct key_attribute typed[IMPORT_ATTRIBUTES_MAX]; /* AttributeDefinitions. */
    size_t typed_count;
};

/* Reads "p:S" or "p:S,s:N". False if it is neither. */
MUST_CHECK bool import_table_parse_key(const char *text, struct import_table *out);
/* Reads an answer of DescribeTable or CreateTable, the texts of which live in the arena. */
MUST_CHECK bool import_table_read(struct arena *arena, struct bytes answer,
                                  struct import_table *out);
/* The members of CreateTable, or of TableCreationParameters: an on-demand table of that key. */
void import_table_write(struct json_writer *json, const struct import_table *table);

#endif
