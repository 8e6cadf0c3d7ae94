/* cbor.h -- CBOR (RFC 8949) as the protocol rpc-v2-cbor uses it, from and to JSON text.
 *
 * What JSON lacks is written as JSON protocols of the same services write it: byte strings as
 * base64 text, times (tag 1) as numbers of seconds, and numbers that are none as "NaN", "Infinity"
 * and "-Infinity".
 */
#ifndef STATOR_CODEC_CBOR_H
#define STATOR_CODEC_CBOR_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "codec/names.h"

struct arena;
struct error;

/* Accepts one data item of any form: lengths definite or not, integers and floats of any size.
 * Other tags than 1 are passed over. No bytes at all are an empty map. False with a
 * SerializationException if the item is malformed, too deep, has a map key that is no text, or is
 * followed by more bytes, and with another error if it is too large. */
MUST_CHECK bool cbor_decode(struct arena *arena, struct bytes cbor, struct bytes *json,
                            struct error *err);

/* Writes lengths and integers in their shortest form, and floats as doubles. False if `json` is not
 * valid JSON, too deep, or a blob in it is not base64. */
MUST_CHECK bool cbor_encode(struct arena *arena, const struct codec_names *names, struct bytes json,
                            struct bytes *cbor);

#endif
