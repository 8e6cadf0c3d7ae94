/* key_template.h -- templates of key values such as "ORDER#<date>#<orderId>".
 *
 * A template is text with parameters in it. `<name>` stands for one or more bytes other than '#',
 * the usual separator; `<name*>`, only at the end, for one or more bytes of any kind. `${name}` is
 * another spelling of `<name>`. Between two parameters there is text. So it is clear where each
 * parameter ends: at the first occurrence of the text behind it, or, of the last text, where it
 * ends the value.
 */
#ifndef STATOR_SCHEMA_KEY_TEMPLATE_H
#define STATOR_SCHEMA_KEY_TEMPLATE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;

enum {
    KEY_TEMPLATE_SIZE_MAX = 1024,
    KEY_TEMPLATE_PARAMETERS_MAX = 16,
    KEY_TEMPLATE_SEPARATOR = '#',
};

/* Text, then perhaps a parameter. */
struct key_template_part {
    struct bytes text;
    struct bytes parameter; /* data NULL: none, which only the last part has. */
    bool takes_all;         /* `<name*>` */
};

struct key_template {
    struct bytes source; /* As written. */
    struct key_template_part parts[KEY_TEMPLATE_PARAMETERS_MAX + 1];
    size_t part_count; /* At least 1. */
    size_t size_min;   /* Of a value that follows it. */
};

/* False with `*failure` set to a sentence. The template borrows `text`. */
MUST_CHECK bool key_template_parse(struct arena *arena, struct bytes text, struct key_template *out,
                                   struct bytes *failure);
/* Whether a value follows the template. */
bool key_template_matches(const struct key_template *template, struct bytes value);
/* The same, with what each parameter stands for, in their order: `values` has room for
 * KEY_TEMPLATE_PARAMETERS_MAX. */
bool key_template_extract(const struct key_template *template, struct bytes value,
                          struct bytes *values);
/* Whether matching has to look for a text between two parameters that may begin at any byte, since
 * it does not begin with the separator. That takes time by the size of the value. */
bool key_template_searches(const struct key_template *template);
/* Whether some value follows both. */
bool key_template_overlaps(const struct key_template *a, const struct key_template *b);
/* Whether it is one parameter and nothing else: what a key that is a number or binary has. */
bool key_template_is_bare(const struct key_template *template);
size_t key_template_parameter_count(const struct key_template *template);
bool key_template_has_parameter(const struct key_template *template, struct bytes name);

/* Finds the value of a parameter; false if there is none. */
typedef bool key_template_lookup(const void *context, struct bytes name, struct bytes *value);
/* The value with all parameters replaced, in the arena. False with `*missing` set to the first
 * parameter that has no value; the text before it is then in `*out`. */
MUST_CHECK bool key_template_fill(struct arena *arena, const struct key_template *template,
                                  key_template_lookup *lookup, const void *context,
                                  struct bytes *out, struct bytes *missing);

#endif
