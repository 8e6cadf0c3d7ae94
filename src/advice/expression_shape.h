/* expression_shape.h -- what a request's expressions look like once their values are removed.
 *
 * Names and structure stay: "key: pk = ? AND begins_with(sk, ?); filter: state = ?". Requests with
 * the same text are the same access pattern, which the adviser counts (shape_counter.h). Indexes of
 * lists are values, too, and so is how many values an IN has.
 */
#ifndef STATOR_ADVICE_EXPRESSION_SHAPE_H
#define STATOR_ADVICE_EXPRESSION_SHAPE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct condition;
struct index_definition;
struct key_condition;
struct path_node;
struct update;

enum {
    /* Of a text. A longer one ends in "...": all shapes that begin alike are one. Formatting stops
     * there, so an expression of any length costs no more than this. */
    EXPRESSION_SHAPE_SIZE_MAX = 384,
};

enum expression_shape_kind {
    SHAPE_QUERY,
    SHAPE_SCAN,               /* A read that names no partition key. */
    SHAPE_WRITE,              /* Of one item, with a condition or an update. */
    SHAPE_SINGLE_TRANSACTION, /* TransactWriteItems or TransactGetItems of one item. */
    SHAPE_REFUSED_CONSISTENT, /* A consistent read of a global index, which is refused. */
};

/* Noted by an operation in its call, and counted when the call ends. Everything is borrowed from
 * the call. */
struct expression_shape {
    enum expression_shape_kind kind;
    const struct index_definition *index; /* That is read; NULL: the table. */
    const struct key_condition *key;      /* NULL: none, as are all below. */
    const struct condition *filter;       /* Or the WHERE of a statement. */
    const struct condition *condition;    /* Of a write. */
    const struct update *update;
    const struct path_node *projection;
    bool is_count_only;
    bool is_cut; /* The page ended before everything was read. Set at its end. */
};

/* Returns the size of the text, which has no NUL at its end. */
size_t expression_shape_format(const struct expression_shape *shape,
                               char out[EXPRESSION_SHAPE_SIZE_MAX]);
/* Of a formatted text. */
uint64_t expression_shape_digest(const char *text, size_t size);

#endif
