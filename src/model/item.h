/* item.h -- a stored item: attributes sorted by name, with its size and a checksum.
 *
 * `struct item` is a view of the stored bytes: opening one decodes only the header. Layout:
 * doc/disk-format.md, "Items".
 */
#ifndef STATOR_MODEL_ITEM_H
#define STATOR_MODEL_ITEM_H
#include <stdbool.h>
#include <stdint.h>
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/value.h"

struct arena;

struct item {
    struct bytes encoded;    /* The whole stored value, checksum included. */
    struct bytes attributes; /* Names and values, in order of the names. */
    uint32_t count;          /* Of attributes. */
    uint32_t size; /* DynamoDB's size: names and values, as limits and capacity count it. */
};

/* Opens stored bytes. False if the format is unknown, the checksum is wrong or the header is
 * damaged. Does not walk the attributes: the checksum vouches for them. */
MUST_CHECK bool item_open(struct bytes encoded, struct item *out);
/* The same item, in memory of the arena. */
struct item item_copy(struct arena *arena, const struct item *item);
/* Walks everything: for `stator check` and the fuzzers. */
MUST_CHECK bool item_verify(const struct item *item);

/* False if the item has no such attribute. */
bool item_find(const struct item *item, struct bytes name, struct value *out);

struct item_iter {
    struct bytes rest;
};
void item_iter_init(struct item_iter *iter, const struct item *item);
bool item_iter_next(struct item_iter *iter, struct bytes *name, struct value *out);

struct item_attribute {
    struct bytes name;
    struct bytes value; /* Encoded; borrowed. */
};

/* Sorts by name; attributes of the same name keep their order. `scratch` has room for as many. */
void item_sort_attributes(struct item_attribute *attributes, size_t count,
                          struct item_attribute *scratch);

/* Puts an item together from attributes in any order. A later attribute of the same name wins. */
struct item_builder {
    struct arena *arena;
    struct item_attribute *attributes;
    size_t count;
    size_t capacity;
};
void item_builder_init(struct item_builder *builder, struct arena *arena);
void item_builder_add(struct item_builder *builder, struct bytes name, struct bytes encoded_value);
/* Sorts, encodes and seals; the item lives in the arena. Does not check ITEM_SIZE_MAX. */
struct item item_builder_finish(struct item_builder *builder);
/* The same of attributes that are sorted and distinct already, and whose size, as DynamoDB counts
 * names and values, is known. */
struct item item_of_sorted(struct arena *arena, const struct item_attribute *attributes,
                           size_t count, size_t size);

/* Makes another item of one, by changes in the order of their names. What lies between them is
 * copied as it stands, however many attributes that are. */
struct item_edit {
    struct buffer out; /* Room for what stands before the attributes, then these. */
    struct bytes rest; /* Attributes of the old item that are to be copied, or changed. */
    size_t count;
    size_t size; /* As DynamoDB counts. */
};
/* Borrows `item` until the end. */
void item_edit_init(struct item_edit *edit, struct arena *arena, const struct item *item);
/* Takes an attribute out; false if the item had none of that name. Names ascend. */
bool item_edit_take(struct item_edit *edit, struct bytes name, struct value *out);
/* Puts an attribute where one of that name was taken, or would have been. */
void item_edit_put(struct item_edit *edit, struct bytes name, const struct value *value);
/* Seals; the item lives in the arena. Does not check ITEM_SIZE_MAX. */
struct item item_edit_finish(struct item_edit *edit);

#endif
