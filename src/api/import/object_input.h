/* object_input.h -- the records of all objects of a bucket whose keys begin with a prefix.
 *
 * What imports and bulk operations have in common: it lists the objects in the order of their keys,
 * reads each in pieces, and hands out its records (format/item_reader.h). A record that cannot be
 * read ends its object and no other. It can begin at a position that was stored earlier, and
 * notices if an object is no longer the one that the position is about.
 *
 * Waits for disk and network, so it belongs to a job's thread. Memory is one piece, one page of the
 * list and the reader's.
 */
#ifndef STATOR_API_IMPORT_OBJECT_INPUT_H
#define STATOR_API_IMPORT_OBJECT_INPUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "format/item_reader.h"
#include "object/object_store.h"

struct arena;
struct object_input;

enum {
    OBJECT_INPUT_PIECE_SIZE = 4 * 1024 * 1024,
    OBJECT_INPUT_OBJECTS_MAX = 50 * 1000, /* The service's. */
};

struct object_input_options {
    struct object_store *store;
    struct bytes bucket;
    struct bytes owner;  /* data NULL: any. */
    struct bytes prefix; /* May be empty. */
    struct item_reader_options reader;
    /* Asked before an object is opened, with its key: false ends the reading, with OBJECT_DENIED.
     * NULL: all may be read. */
    bool (*may_read)(void *context, struct bytes key);
    /* Called before the bucket is waited for, for minutes perhaps: for a piece of an object, or for
     * a page of the list. False ends the reading, as OBJECT_INPUT_STOPPED. NULL: none. */
    bool (*before_wait)(void *context);
    /* Whether to stop soon; asked between pieces, and while a server is waited for. */
    bool (*is_stopping)(void *context);
    void *context;
};

/* Behind which record an input is. A plain value; zero: at the beginning. */
struct object_input_position {
    char key[OBJECT_KEY_SIZE_MAX + 1]; /* Of the object; "": none was begun. */
    size_t key_size;
    char etag[OBJECT_ETAG_SIZE_MAX + 1];
    size_t etag_size;
    uint64_t records; /* Of the object. */
    bool finished;    /* Nothing more of the object is to be read. */
    uint64_t objects; /* How many were finished. */
    uint64_t bytes;   /* Of text in objects that were finished. */
    uint64_t stored;  /* Of those objects, as they are stored. */
};

enum object_input_step {
    OBJECT_INPUT_ITEM,
    OBJECT_INPUT_BAD, /* A record that is no item; its message says why. */
    OBJECT_INPUT_END,
    OBJECT_INPUT_STOPPED,
    OBJECT_INPUT_FAILED, /* object_input_failure tells. */
};

/* Copies the options, except for what they point to, which must outlive the input. Lists all
 * objects once. NULL with `err` set, or OBJECT_CANCELLED if it is to stop. */
MUST_CHECK struct object_input *object_input_open(const struct object_input_options *options,
                                                  const struct object_input_position *position,
                                                  struct object_error *err);
void object_input_close(struct object_input *input); /* Closing NULL is allowed. */

/* The record lives in the arena. */
enum object_input_step object_input_next(struct object_input *input, struct arena *arena,
                                         struct item_record *record);
/* Where the record handed out last ends. */
const struct object_input_position *object_input_position(const struct object_input *input);
/* How many bytes of text were read, of all objects. */
uint64_t object_input_bytes(const struct object_input *input);
/* How many bytes of objects were read, as they are stored, and how many there are. */
uint64_t object_input_stored(const struct object_input *input);
uint64_t object_input_total(const struct object_input *input);
/* After OBJECT_INPUT_FAILED. */
const struct object_error *object_input_failure(const struct object_input *input);

/* The stored form of a position, and back. */
struct bytes object_input_encode(struct arena *arena, const struct object_input_position *position);
MUST_CHECK bool object_input_decode(struct bytes stored, struct object_input_position *out);

#endif
