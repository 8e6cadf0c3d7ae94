/* value_json.h -- attribute values and items between DynamoDB's JSON and the encoded form.
 *
 * Reading distinguishes two failures, because the service reports them at different times: text
 * that is not of the protocol's shape (SerializationException, the request is unreadable) and a
 * well-formed value that breaks a rule of values (ValidationException, reported only after the
 * request's other shape rules). The second kind is kept in `rule` and reading goes on; what is
 * encoded where a rule was broken can be walked, but must not be stored.
 */
#ifndef STATOR_MODEL_VALUE_JSON_H
#define STATOR_MODEL_VALUE_JSON_H
#include <stdbool.h>
#include "base/buffer.h"
#include "base/compiler.h"
#include "model/item.h"
#include "model/value.h"

struct arena;
struct error;
struct json_reader;
struct json_writer;

/* Appends the encoding of the attribute value that comes next. False with `err` set to a
 * SerializationException (or the reader failed: then the caller reports broken JSON). The first
 * broken rule goes to `rule`, unless one is there already. */
MUST_CHECK bool value_json_read(struct json_reader *reader, struct buffer *out, struct error *rule,
                                struct error *err);
/* Reads an object of attribute values ("Item", "Key") into a sealed item in the arena. */
MUST_CHECK bool item_json_read(struct json_reader *reader, struct arena *arena, struct item *out,
                               struct error *rule, struct error *err);

/* {"S":"..."} */
void value_json_write(struct json_writer *writer, const struct value *value);
/* {"name":{"S":"..."},...} */
void item_json_write(struct json_writer *writer, const struct item *item);

/* The content of an S, N or B as messages show it. The service shows a number as it was written;
 * its canonical form is what is left of that. Lives in the arena, or is borrowed. */
struct bytes value_json_scalar_text(struct arena *arena, const struct value *value);

#endif
