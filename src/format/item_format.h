/* item_format.h -- the text formats of items, one name each.
 *
 * DynamoDB JSON and Ion hold every item exactly. Plain JSON and CSV are for people and other
 * programs: binary values become base64, sets become lists, and CSV leaves out what is empty.
 */
#ifndef STATOR_FORMAT_ITEM_FORMAT_H
#define STATOR_FORMAT_ITEM_FORMAT_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

enum item_format {
    ITEM_FORMAT_DYNAMODB_JSON, /* {"Item":{"pk":{"S":"a"}}} */
    ITEM_FORMAT_ION,           /* $ion_1_0 {Item:{pk:"a"}} */
    ITEM_FORMAT_CSV,           /* RFC 4180, with a header */
    ITEM_FORMAT_PLAIN_JSON,    /* {"pk":"a"} */
    ITEM_FORMAT_COUNT,
};

/* "DYNAMODB_JSON", "ION", "CSV" as in requests; "JSON" is the plain one. */
const char *item_format_name(enum item_format format);
/* False if `name` names none. */
MUST_CHECK bool item_format_parse(struct bytes name, enum item_format *out);

#endif
