/* item_reader.h -- items from a stream of bytes in any of the formats, compressed or not.
 *
 * The caller feeds pieces of any size and pulls records:
 *
 *     item_reader_start(reader);
 *     for (;;) {
 *         switch (item_reader_next(reader, arena, &record)) {
 *         case ITEM_READER_INPUT: more ? item_reader_feed(reader, piece) : item_reader_end(reader);
 *         ...
 *
 * There are two kinds of mistakes, as in the service's imports. A record that is not of the format,
 * or has no item, breaks the stream: what follows it cannot be trusted and is not read. An item
 * that can be read but breaks a rule of items is reported, and the next record follows. The rules
 * of keys are the caller's, since only it knows the table. Blank lines are no records.
 *
 * Memory is bounded by ITEM_READER_RECORD_SIZE_MAX and the decompressor's. One thread at a time.
 */
#ifndef STATOR_FORMAT_ITEM_READER_H
#define STATOR_FORMAT_ITEM_READER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "compression/compressor.h"
#include "format/item_format.h"
#include "model/item.h"

struct arena;
struct item_reader;
struct key_attribute;

enum {
    /* Of one line, row or struct in text: as much as a request may have. */
    ITEM_READER_RECORD_SIZE_MAX = 16 * 1024 * 1024,
    /* Of CSV. An item of 400 KB whose every byte is a quote, which is written twice, is less.
     * Reading a row takes some times its size. */
    ITEM_READER_ROW_SIZE_MAX = 2 * 1024 * 1024,
    ITEM_READER_COLUMNS_MAX = 65536, /* Of a CSV header. */
    /* Text in which no record was found, before the caller has its turn. A few bytes of compressed
     * input may be gigabytes of empty lines. */
    ITEM_READER_TURN_SIZE = 32 * 1024 * 1024,
    /* Open structs and lists around a value: far beyond NESTING_DEPTH_MAX, which is a rule. */
    ITEM_READER_DEPTH_MAX = 100,
};

/* How the message of ITEM_READER_BROKEN ends where the stream could not be decompressed. */
#define ITEM_READER_DAMAGED "the compressed data is damaged"

/* Borrowed by the reader: must outlive it. */
struct item_reader_options {
    enum item_format format;
    enum compressor_kind compression;
    /* CSV and plain JSON: attributes whose type is known, i.e. those of keys. */
    const struct key_attribute *typed;
    size_t typed_count;
    uint8_t csv_delimiter;          /* 0: a comma. */
    const struct bytes *csv_header; /* NULL: the first row is the header. */
    size_t csv_header_count;
    bool conditions; /* A record may have a condition beside its item; otherwise it is ignored. */
};

enum item_reader_step {
    ITEM_READER_INPUT,  /* Feed more, or end. */
    ITEM_READER_PAUSED, /* Just call again, unless there is a reason to stop. */
    ITEM_READER_ITEM,   /* A record with a sound item. */
    ITEM_READER_BAD,    /* A record whose item breaks a rule; reading continues. */
    ITEM_READER_BROKEN, /* What follows is not read; only item_reader_start helps. */
    ITEM_READER_END,
};

struct item_record {
    uint64_t index; /* Of the record, from 0. */
    struct item item;
    struct bytes message; /* ITEM_READER_BAD and _BROKEN: what is wrong. */
    /* With `conditions`; data NULL: none. The other two are JSON as in requests. */
    struct bytes condition;
    struct bytes condition_names;
    struct bytes condition_values;
    struct bytes text; /* The record itself; valid until the next call of the reader. */
};

/* The owner calls item_reader_destroy; destroying NULL is allowed. */
struct item_reader *item_reader_create(const struct item_reader_options *options);
void item_reader_destroy(struct item_reader *reader);

/* Begins a stream; what is left of the one before is forgotten. */
void item_reader_start(struct item_reader *reader);
/* The same, where the first `count` records were read earlier: they are passed over. */
void item_reader_resume(struct item_reader *reader, uint64_t count);
/* Only after ITEM_READER_INPUT. `piece` is borrowed until the next ITEM_READER_INPUT. */
void item_reader_feed(struct item_reader *reader, struct bytes piece);
void item_reader_end(struct item_reader *reader);
/* `record` lives in the arena, except for its text. */
enum item_reader_step item_reader_next(struct item_reader *reader, struct arena *arena,
                                       struct item_record *record);

/* How many bytes of text, after decompression, the records so far have taken. */
uint64_t item_reader_offset(const struct item_reader *reader);

#endif
