/* plain_json.h -- items as JSON without types: {"pk":"a","n":1.5}. Private to format/.
 *
 * For people and for programs that know nothing of DynamoDB. Numbers keep all their digits. Binary
 * values are base64 and sets are lists; reading gives strings and lists back, except for
 * attributes whose type is known.
 */
#ifndef STATOR_FORMAT_PLAIN_JSON_H
#define STATOR_FORMAT_PLAIN_JSON_H
#include <stdbool.h>
#include <stddef.h>
#include "base/buffer.h"
#include "base/compiler.h"

struct item;
struct json_reader;
struct json_writer;
struct key_attribute;
struct value;

void plain_json_write_item(struct json_writer *writer, const struct item *item);
void plain_json_write_value(struct json_writer *writer, const struct value *value);

/* Appends the object that comes next as DynamoDB's JSON: {"pk":{"S":"a"},"n":{"N":"1.5"}}. A
 * string becomes a number or a binary value where the type is known to be one. False if it is no
 * object, or the reader failed. */
MUST_CHECK bool plain_json_read_item(struct json_reader *reader, struct buffer *json,
                                     const struct key_attribute *typed, size_t typed_count);

#endif
