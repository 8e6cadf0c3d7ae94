/* index_model.h -- a table with two local and five global indexes as plain arrays.
 *
 * The model knows nothing of keys, bytes or pages: an attribute's value is the place of a text in a
 * sorted list, and whatever is asked for is found by looking at all items. It writes requests and
 * the responses they must have as text with ' in place of ", so that answers are compared byte for
 * byte.
 */
#ifndef STATOR_TEST_INDEX_MODEL_H
#define STATOR_TEST_INDEX_MODEL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /* Attributes in the order of their names: b, g, h, l, m, p, s, x, y. */
    MODEL_B,
    MODEL_G,
    MODEL_H,
    MODEL_L,
    MODEL_M,
    MODEL_P, /* The table's partition key, */
    MODEL_S, /* and its sort key. */
    MODEL_X,
    MODEL_Y,
    MODEL_ATTRIBUTES,
    MODEL_ABSENT = -1,
    MODEL_VALUES = 5, /* Of each attribute, in rising order. */
    MODEL_ITEMS_MAX = MODEL_VALUES * MODEL_VALUES,
    MODEL_TEXT_MAX = 16 * 1024,
};

struct model_item {
    int values[MODEL_ATTRIBUTES]; /* MODEL_ABSENT: not there. */
};

/* Items by their key; `exists` tells which there are. */
struct model {
    struct model_item items[MODEL_ITEMS_MAX];
    bool exists[MODEL_ITEMS_MAX];
};

struct model_index {
    const char *name; /* NULL: the table itself. */
    bool global;
    int hash[2], range[2]; /* Attributes. */
    size_t hash_count, range_count;
    unsigned projected; /* A bit for each attribute besides the keys; ~0u: all. */
};
enum { MODEL_INDEXES = 8 };
extern const struct model_index model_indexes[MODEL_INDEXES]; /* The first is the table. */

/* The body of CreateTable. */
extern const char model_create_table[];

/* Text with a bound; too much of it fails the test. */
struct model_text {
    char text[MODEL_TEXT_MAX];
    size_t len;
};
void model_text_clear(struct model_text *text);
void model_text_add(struct model_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* {'a':{'S':'...'},...} of some attributes, a bit each. */
void model_text_add_item(struct model_text *text, const struct model_item *item,
                         unsigned attributes);
/* {'S':'...'} */
void model_text_add_value(struct model_text *text, int attribute, int value);
/* The attributes of LastEvaluatedKey. */
void model_text_add_key(struct model_text *text, const struct model_index *index,
                        const struct model_item *item);

/* The body of UpdateTable that creates a global index. */
void model_text_add_creation(struct model_text *text, const struct model_index *index);

/* Where the item of that key is in the model. */
size_t model_place(int p, int s);
const char *model_name(int attribute);

/* The items that an index holds, in no order. Returns how many. */
size_t model_entries(const struct model *model, const struct model_index *index,
                     const struct model_item *out[MODEL_ITEMS_MAX]);
/* What one entry holds. */
unsigned model_projected(const struct model_index *index);
/* Below, above or at 0: the order of two entries of one partition key. */
int model_compare(const struct model_index *index, const struct model_item *a,
                  const struct model_item *b);
/* DynamoDB's size of what the index has of an item. */
int64_t model_size(const struct model_index *index, const struct model_item *item);

#endif
