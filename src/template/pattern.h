/* pattern.h -- regular expressions of AllowedPattern, in the part of Java's syntax that templates
 * use, in bounded time. Private to template/.
 *
 * Literals, ., classes, \d \w \s and their opposites, groups, |, * + ? {n,m} with lazy forms, ^ and
 * $. Text must match as a whole. Look-around and back-references are not supported.
 */
#ifndef STATOR_TEMPLATE_PATTERN_H
#define STATOR_TEMPLATE_PATTERN_H
#include "base/bytes.h"

enum {
    PATTERN_SIZE_MAX = 1024,
    PATTERN_STEPS_MAX = 1000 * 1000, /* Of all matches that share a budget. */
    PATTERN_DEPTH_MAX = 600,
};

enum pattern_result {
    PATTERN_MATCHES,
    PATTERN_DIFFERS,
    PATTERN_UNSUPPORTED, /* The pattern is malformed, or has something that is not supported. */
    PATTERN_TOO_LONG, /* More than PATTERN_SIZE_MAX bytes or PATTERN_STEPS_MAX steps, or too deep.
                       */
};

/* Adds the steps it takes to `*steps`, 0 at first: the values of a list, and the parameters of a
 * template, share one budget. */
enum pattern_result pattern_match(struct bytes pattern, struct bytes text, unsigned *steps);

#endif
