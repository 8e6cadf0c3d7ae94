/* condition_value.h -- the values of a policy's conditions, by the family of their operator: texts,
 * numbers, times, ARNs, ranges of addresses. Private to auth/.
 */
#ifndef STATOR_AUTH_CONDITION_VALUE_H
#define STATOR_AUTH_CONDITION_VALUE_H
#include <stdbool.h>
#include <stdint.h>
#include "auth/pattern.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/number.h"

struct arena;
struct policy_request;

enum condition_family {
    FAMILY_STRING,
    FAMILY_STRING_IGNORING_CASE,
    FAMILY_STRING_LIKE,
    FAMILY_NUMBER,
    FAMILY_TIME,
    FAMILY_BOOL,
    FAMILY_ARN,
    FAMILY_ADDRESS,
    FAMILY_ABSENCE, /* Null: is the key absent? */
};

enum { ARN_PARTS = 6, ADDRESS_SIZE_MAX = 16 };

struct address_range {
    uint8_t bytes[ADDRESS_SIZE_MAX];
    unsigned size;        /* 4 or 16. */
    unsigned prefix_bits; /* How many of its bits count. */
};

struct condition_value {
    union {
        struct pattern text;
        struct pattern arn[ARN_PARTS]; /* Each part is compared on its own. */
        struct number number;
        int64_t time_ms;
        bool boolean; /* Also of FAMILY_ABSENCE. */
        struct address_range address;
    };
};

/* False if the text is no value of that family. */
MUST_CHECK bool condition_value_parse(struct arena *arena, enum condition_family family,
                                      struct bytes text, bool variables,
                                      struct condition_value *out);

enum value_result {
    RESULT_LESS,
    RESULT_EQUAL, /* Equal, alike, or within the range. */
    RESULT_GREATER,
    RESULT_OTHER,      /* Not equal, and without order. */
    RESULT_UNRESOLVED, /* A variable in it has no value in this request. */
};
/* How a request's value compares with that of a policy. */
enum value_result condition_value_compare(struct arena *arena, enum condition_family family,
                                          const struct condition_value *value, struct bytes text,
                                          const struct policy_request *request);

#endif
