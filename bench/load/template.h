/* template.h -- a whole HTTP request in which some places change from one sending to the next.
 *
 * `~K07~~~~` stands for a key of eight digits, number 7 of the request's keys; `~T` and 34 more `~`
 * for a text that no other request has; `~R000200` and `~` up to 200 bytes for as many random
 * letters and digits, which no server compresses away. All have the length of what they stand for,
 * so the request's length never changes and only these places are written again.
 */
#ifndef STATOR_BENCH_LOAD_TEMPLATE_H
#define STATOR_BENCH_LOAD_TEMPLATE_H
#include <stddef.h>
#include <stdint.h>

struct random;

enum {
    TEMPLATE_KEY_SIZE = 8,
    TEMPLATE_TOKEN_SIZE = 36, /* As long as the UUIDs that SDKs send. */
    TEMPLATE_KEYS_MAX = 100,  /* Two digits number them. */
    TEMPLATE_PLACES_MAX = 256,
    TEMPLATE_RANDOM_SIZE_MIN = 8, /* `~R` and six digits. */
};
#define TEMPLATE_KEY_LIMIT UINT64_C(100000000) /* Eight digits. */

enum template_kind { TEMPLATE_KEY, TEMPLATE_TOKEN, TEMPLATE_RANDOM };

struct template_place {
    enum template_kind kind;
    size_t offset, size;
    unsigned key; /* Which of the request's keys. */
};

struct template
{
    char *text; /* Owned. */
    size_t size;
    struct template_place places[TEMPLATE_PLACES_MAX];
    size_t place_count;
    unsigned key_count; /* The highest number of a key in it, plus one. */
    unsigned weight;    /* How often it is sent, in proportion to the others. */
};

/* What differs from one sending to the next. Key number i is (`base` + i * `stride`) modulo
 * `key_range`. */
struct template_values {
    struct random *random;
    uint64_t base, stride, key_range;
    uint64_t token_high, token_low;
};

/* Reads `argument`, WEIGHT:FILE. Ends the program with a message if that cannot be done. */
void template_open(struct template *template, const char *argument);
void template_close(struct template *template);

/* Writes the values into `text`, a copy of the template's text. */
void template_fill(const struct template *template, const struct template_values *values,
                   char *text);

#endif
