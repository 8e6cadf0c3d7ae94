/* number_digits.h -- a number as decimal digits. Private to number.c and number_arithmetic.c. */
#ifndef STATOR_MODEL_NUMBER_DIGITS_H
#define STATOR_MODEL_NUMBER_DIGITS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"
#include "model/limits.h"
#include "model/number.h"

struct error;

struct digits {
    /* Most significant first, no zero at either end; zeros up to the end of the array. Two more
     * than a number has, since 20 pairs hold 40 before they are found to be too many. */
    uint8_t digit[NUMBER_DIGITS_MAX + 2];
    unsigned count; /* 0: the number is zero. */
    int exponent;   /* Of the first digit. */
    bool negative;
};

struct number number_from_digits(const struct digits *digits);
/* The coefficient is below 10^38. */
void number_to_digits(const struct number *number, struct digits *out);

/* Is this the exponent of a number's first digit? */
bool number_is_in_range(int64_t exponent);

#define NUMBER_OVERFLOW_TEXT                                                                       \
    "Number overflow. Attempting to store a number with magnitude larger than supported range"
#define NUMBER_UNDERFLOW_TEXT                                                                      \
    "Number underflow. Attempting to store a number with magnitude smaller than supported range"

#endif
