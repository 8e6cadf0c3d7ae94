/* event_filter_tree.h -- a parsed pattern. For event_filter.c and event_filter_match.c only. */
#ifndef STATOR_TRIGGER_EVENT_FILTER_TREE_H
#define STATOR_TRIGGER_EVENT_FILTER_TREE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "model/number.h"

enum filter_rule_kind {
    FILTER_TEXT, /* `text`, as the next three. */
    FILTER_PREFIX,
    FILTER_SUFFIX,
    FILTER_IGNORE_CASE,
    FILTER_NUMBER, /* `low` */
    FILTER_BOOL,   /* `flag` */
    FILTER_NULL,
    FILTER_EXISTS,       /* `flag`: is to be there, or not. */
    FILTER_ANYTHING_BUT, /* None of `rules`, which are of the kinds TEXT and NUMBER. */
    FILTER_NUMERIC,      /* Between `low` and `high`. */
};

struct filter_rule {
    enum filter_rule_kind kind;
    bool flag;
    bool has_low, low_excluded, has_high, high_excluded; /* FILTER_NUMERIC */
    struct bytes text;
    struct number low, high;
    struct filter_rule *rules;
    size_t rule_count;
};

/* A field of an object: a list of rules, an object of its own, or the alternatives of a "$or". */
enum filter_field_kind { FILTER_LEAF, FILTER_OBJECT, FILTER_ANY_OF };

struct event_filter {
    struct filter_field *fields;
    size_t field_count;
};

struct filter_field {
    enum filter_field_kind kind;
    struct bytes name;
    struct filter_rule *rules; /* FILTER_LEAF: at least one. */
    size_t rule_count;
    struct event_filter *objects; /* FILTER_OBJECT: one; FILTER_ANY_OF: at least one. */
    size_t object_count;
};

#endif
