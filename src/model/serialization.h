/* serialization.h -- what the service says of JSON that is not of the protocol's types. */
#ifndef STATOR_MODEL_SERIALIZATION_H
#define STATOR_MODEL_SERIALIZATION_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct error;
struct json_reader;

/* What should have come. */
enum expected {
    EXPECT_STRING,
    EXPECT_BOOLEAN,
    EXPECT_BYTES,
    EXPECT_LIST,
    EXPECT_MAP,   /* Of attribute values. */
    EXPECT_VALUE, /* One attribute value. */
};

/* Reports the value that comes next, which is of another type. Returns false. If the JSON is broken
 * there, `err` stays unset and the reader failed. */
bool serialization_mismatch(struct json_reader *reader, enum expected expected, struct error *err);

/* Reports text that base64_decode refused. Returns false. */
bool serialization_bad_base64(struct bytes text, struct error *err);

/* A Boolean that was sent as a string. Observed: the service takes a few words, in any case. */
MUST_CHECK bool serialization_boolean_text(struct bytes text, bool *out, struct error *err);

#endif
