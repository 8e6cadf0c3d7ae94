/* index_model.c -- see index_model.h. */
#include "index_model.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>
#include "base/compiler.h"

static const struct {
    const char *name;
    char type;
} attributes[MODEL_ATTRIBUTES] = {
    [MODEL_B] = { "b", 'B' }, [MODEL_G] = { "g", 'S' }, [MODEL_H] = { "h", 'N' },
    [MODEL_L] = { "l", 'S' }, [MODEL_M] = { "m", 'N' }, [MODEL_P] = { "p", 'S' },
    [MODEL_S] = { "s", 'N' }, [MODEL_X] = { "x", 'S' }, [MODEL_Y] = { "y", 'S' },
};

/* In rising order, with their sizes. */
struct valued {
    const char *text;
    int64_t size;
};
static const struct valued strings[MODEL_VALUES] = {
    { "A", 1 }, { "a", 1 }, { "a!", 2 }, { "b", 1 }, { "é", 2 },
};
static const struct valued numbers[MODEL_VALUES] = {
    { "-10", 3 }, { "-1.5", 4 }, { "0", 1 }, { "2", 2 }, { "10", 2 },
};
static const struct valued binaries[MODEL_VALUES] = {
    { "AA==", 1 }, { "AAA=", 2 }, { "AP8=", 2 }, { "AQ==", 1 }, { "/w==", 1 },
};

static const struct valued *valued_at(int attribute, int value)
{
    char type = attributes[attribute].type;
    return type == 'S' ? &strings[value] : type == 'N' ? &numbers[value] : &binaries[value];
}

#define BIT(attribute) (1u << (attribute))
#define KEYS(name, h, r)                                                                           \
    "{'IndexName':'" name "','KeySchema':[{'AttributeName':'" h                                    \
    "','KeyType':'HASH'},{'AttributeName':'" r "','KeyType':'RANGE'}],"

const struct model_index model_indexes[MODEL_INDEXES] = {
    { NULL, false, { MODEL_P }, { MODEL_S }, 1, 1, ~0u },
    { "local-keys", false, { MODEL_P }, { MODEL_L }, 1, 1, 0 },
    { "local-x", false, { MODEL_P }, { MODEL_M }, 1, 1, BIT(MODEL_X) },
    { "all", true, { MODEL_G }, { MODEL_H }, 1, 1, ~0u },
    { "hash-only", true, { MODEL_G }, { 0 }, 1, 0, 0 },
    { "binary", true, { MODEL_B }, { MODEL_S }, 1, 1, BIT(MODEL_Y) },
    { "multiple", true, { MODEL_G, MODEL_B }, { MODEL_H, MODEL_M }, 2, 2, ~0u },
    { "inverted", true, { MODEL_H }, { MODEL_P }, 1, 1, 0 },
};

const char model_create_table[] =
    "{'TableName':'model','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["
    "{'AttributeName':'b','AttributeType':'B'},{'AttributeName':'g','AttributeType':'S'},"
    "{'AttributeName':'h','AttributeType':'N'},{'AttributeName':'l','AttributeType':'S'},"
    "{'AttributeName':'m','AttributeType':'N'},{'AttributeName':'p','AttributeType':'S'},"
    "{'AttributeName':'s','AttributeType':'N'}],"
    "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'},{'AttributeName':'s','KeyType':'RANGE'}],"
    "'LocalSecondaryIndexes':[" KEYS(
        "local-keys", "p",
        "l") "'Projection':{'ProjectionType':"
             "'KEYS_ONLY'}}," KEYS(
                 "local-x", "p",
                 "m") "'Projection':{'ProjectionType':'INCLUDE',"
                      "'NonKeyAttributes':['x']}}],"
                      "'GlobalSecondaryIndexes':[" KEYS(
                          "all", "g",
                          "h") "'Projection':{'ProjectionType':'ALL'}},"
                               "{'IndexName':'hash-only','KeySchema':[{'AttributeName':'g','"
                               "KeyType':'HASH'}],"
                               "'Projection':{'ProjectionType':'KEYS_ONLY'}}," KEYS(
                                   "binary", "b",
                                   "s") "'Projection':"
                                        "{'ProjectionType':'INCLUDE','NonKeyAttributes':['y']}},"
                                        "{'IndexName':'multiple','KeySchema':[{'AttributeName':'g',"
                                        "'KeyType':'HASH'},"
                                        "{'AttributeName':'b','KeyType':'HASH'},{'AttributeName':'"
                                        "h','KeyType':'RANGE'},"
                                        "{'AttributeName':'m','KeyType':'RANGE'}],'Projection':{'"
                                        "ProjectionType':'ALL'}}," KEYS(
                                            "inverted", "h",
                                            "p") "'Projection':{'ProjectionType':'KEYS_ONLY'}}]}";

/* --- Text --- */

void model_text_clear(struct model_text *text)
{
    text->text[0] = '\0';
    text->len = 0;
}

void model_text_add(struct model_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text->text + text->len, sizeof text->text - text->len, format, arguments);
    va_end(arguments);
    assert_true(size >= 0 && text->len + (size_t)size < sizeof text->text);
    text->len += (size_t)size;
}

void model_text_add_value(struct model_text *text, int attribute, int value)
{
    model_text_add(text, "{'%c':'%s'}", attributes[attribute].type,
                   valued_at(attribute, value)->text);
}

static void add_member(struct model_text *text, int attribute, int value, bool *first)
{
    model_text_add(text, "%s'%s':", *first ? "" : ",", attributes[attribute].name);
    model_text_add_value(text, attribute, value);
    *first = false;
}

void model_text_add_item(struct model_text *text, const struct model_item *item, unsigned wanted)
{
    bool first = true;
    model_text_add(text, "{");
    for (int i = 0; i < MODEL_ATTRIBUTES; i++) {
        if ((wanted & BIT(i)) != 0 && item->values[i] != MODEL_ABSENT)
            add_member(text, i, item->values[i], &first);
    }
    model_text_add(text, "}");
}

void model_text_add_key(struct model_text *text, const struct model_index *index,
                        const struct model_item *item)
{
    int keys[6];
    size_t count = 0;
    for (size_t i = 0; i < index->hash_count; i++)
        keys[count++] = index->hash[i];
    for (size_t i = 0; i < index->range_count; i++)
        keys[count++] = index->range[i];
    keys[count++] = MODEL_P;
    keys[count++] = MODEL_S;
    unsigned written = 0;
    bool first = true;
    model_text_add(text, "{");
    for (size_t i = 0; i < count; i++) {
        if ((written & BIT(keys[i])) == 0)
            add_member(text, keys[i], item->values[keys[i]], &first);
        written |= BIT(keys[i]);
    }
    model_text_add(text, "}");
}

/* --- Items --- */

const char *model_name(int attribute)
{
    return attributes[attribute].name;
}

/* Each of the index's key attributes with its type, or with its part in the key. */
static void add_key_attributes(struct model_text *text, const struct model_index *index,
                               bool as_definitions)
{
    for (size_t i = 0; i < index->hash_count + index->range_count; i++) {
        bool is_hash = i < index->hash_count;
        int attribute = is_hash ? index->hash[i] : index->range[i - index->hash_count];
        model_text_add(text, "%s{'AttributeName':'%s',", i == 0 ? "" : ",",
                       attributes[attribute].name);
        if (as_definitions)
            model_text_add(text, "'AttributeType':'%c'}", attributes[attribute].type);
        else
            model_text_add(text, "'KeyType':'%s'}", is_hash ? "HASH" : "RANGE");
    }
}

void model_text_add_creation(struct model_text *text, const struct model_index *index)
{
    model_text_add(text, "{'TableName':'model','AttributeDefinitions':[");
    add_key_attributes(text, index, true);
    model_text_add(text,
                   "],'GlobalSecondaryIndexUpdates':[{'Create':{'IndexName':'%s',"
                   "'KeySchema':[",
                   index->name);
    add_key_attributes(text, index, false);
    model_text_add(text, "],'Projection':{");
    if (index->projected == ~0u || index->projected == 0) {
        model_text_add(text, "'ProjectionType':'%s'", index->projected == 0 ? "KEYS_ONLY" : "ALL");
    } else {
        model_text_add(text, "'ProjectionType':'INCLUDE','NonKeyAttributes':[");
        const char *between = "";
        for (int i = 0; i < MODEL_ATTRIBUTES; i++) {
            if ((index->projected & BIT(i)) == 0)
                continue;
            model_text_add(text, "%s'%s'", between, attributes[i].name);
            between = ",";
        }
        model_text_add(text, "]");
    }
    model_text_add(text, "}}}]}");
}

size_t model_place(int p, int s)
{
    return (size_t)(p * MODEL_VALUES + s);
}

static bool has_entry(const struct model_index *index, const struct model_item *item)
{
    for (size_t i = 0; i < index->hash_count; i++) {
        if (item->values[index->hash[i]] == MODEL_ABSENT)
            return false;
    }
    for (size_t i = 0; i < index->range_count; i++) {
        if (item->values[index->range[i]] == MODEL_ABSENT)
            return false;
    }
    return true;
}

size_t model_entries(const struct model *model, const struct model_index *index,
                     const struct model_item *out[MODEL_ITEMS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < MODEL_ITEMS_MAX; i++) {
        if (model->exists[i] && has_entry(index, &model->items[i]))
            out[count++] = &model->items[i];
    }
    return count;
}

unsigned model_projected(const struct model_index *index)
{
    unsigned projected = index->projected | BIT(MODEL_P) | BIT(MODEL_S);
    for (size_t i = 0; i < index->hash_count; i++)
        projected |= BIT(index->hash[i]);
    for (size_t i = 0; i < index->range_count; i++)
        projected |= BIT(index->range[i]);
    return projected;
}

/* Which comes first among entries with equal keys: the rank of each partition key and sort key by
 * their MD5 (doc/disk-format.md, "Hashes"), computed by another program. */
static const int tie_ranks[MODEL_VALUES][MODEL_VALUES] = {
    { 8, 12, 11, 9, 3 },   /* A */
    { 16, 7, 10, 19, 0 },  /* a */
    { 2, 14, 23, 18, 20 }, /* a! */
    { 24, 21, 17, 4, 6 },  /* b */
    { 22, 15, 1, 13, 5 },  /* é */
};

int model_compare(const struct model_index *index, const struct model_item *a,
                  const struct model_item *b)
{
    for (size_t i = 0; i < index->range_count; i++) {
        int attribute = index->range[i];
        if (a->values[attribute] != b->values[attribute])
            return a->values[attribute] - b->values[attribute];
    }
    return tie_ranks[a->values[MODEL_P]][a->values[MODEL_S]] -
           tie_ranks[b->values[MODEL_P]][b->values[MODEL_S]];
}

int64_t model_size(const struct model_index *index, const struct model_item *item)
{
    int64_t size = 0;
    for (int i = 0; i < MODEL_ATTRIBUTES; i++) {
        if ((model_projected(index) & BIT(i)) != 0 && item->values[i] != MODEL_ABSENT)
            size += 1 + valued_at(i, item->values[i])->size;
    }
    return size;
}
