/* table_definition.c -- the words for a table's properties, its lifecycle, and finding in it. */
#include "model/table_definition.h"
#include <assert.h>
#include "base/compiler.h"

static const char *const status_names[TABLE_STATUS_COUNT] = {
    [TABLE_CREATING] = "CREATING",
    [TABLE_ACTIVE] = "ACTIVE",
    [TABLE_UPDATING] = "UPDATING",
    [TABLE_DELETING] = "DELETING",
};
static const char *const billing_mode_names[] = {
    [BILLING_PROVISIONED] = "PROVISIONED",
    [BILLING_PAY_PER_REQUEST] = "PAY_PER_REQUEST",
};
static const char *const table_class_names[] = {
    [TABLE_CLASS_STANDARD] = "STANDARD",
    [TABLE_CLASS_STANDARD_INFREQUENT_ACCESS] = "STANDARD_INFREQUENT_ACCESS",
};
static const char *const projection_names[] = {
    [PROJECTION_ALL] = "ALL",
    [PROJECTION_KEYS_ONLY] = "KEYS_ONLY",
    [PROJECTION_INCLUDE] = "INCLUDE",
};

/* The index of `text` among `names`, or `count`. */
static size_t find_name(const char *const *names, size_t count, struct bytes text)
{
    size_t index = 0;
    while (index < count && !bytes_equal_text(text, names[index]))
        index++;
    return index;
}

const char *table_status_name(enum table_status status)
{
    assert(status < TABLE_STATUS_COUNT);
    return status_names[status];
}

const char *billing_mode_name(enum billing_mode mode)
{
    assert(mode < COUNT_OF(billing_mode_names));
    return billing_mode_names[mode];
}

const char *table_class_name(enum table_class table_class)
{
    assert(table_class < COUNT_OF(table_class_names));
    return table_class_names[table_class];
}

const char *projection_type_name(enum projection_type type)
{
    assert(type < COUNT_OF(projection_names));
    return projection_names[type];
}

bool table_status_parse(struct bytes text, enum table_status *out)
{
    size_t index = find_name(status_names, COUNT_OF(status_names), text);
    *out = (enum table_status)index;
    return index < COUNT_OF(status_names);
}

bool billing_mode_parse(struct bytes text, enum billing_mode *out)
{
    size_t index = find_name(billing_mode_names, COUNT_OF(billing_mode_names), text);
    *out = (enum billing_mode)index;
    return index < COUNT_OF(billing_mode_names);
}

bool table_class_parse(struct bytes text, enum table_class *out)
{
    size_t index = find_name(table_class_names, COUNT_OF(table_class_names), text);
    *out = (enum table_class)index;
    return index < COUNT_OF(table_class_names);
}

bool projection_type_parse(struct bytes text, enum projection_type *out)
{
    size_t index = find_name(projection_names, COUNT_OF(projection_names), text);
    *out = (enum projection_type)index;
    return index < COUNT_OF(projection_names);
}

bool table_status_may_follow(enum table_status from, enum table_status to)
{
    static const bool allowed[TABLE_STATUS_COUNT][TABLE_STATUS_COUNT] = {
        [TABLE_CREATING] = { [TABLE_ACTIVE] = true },
        [TABLE_ACTIVE] = { [TABLE_UPDATING] = true, [TABLE_DELETING] = true },
        [TABLE_UPDATING] = { [TABLE_ACTIVE] = true },
        [TABLE_DELETING] = { false },
    };
    assert(from < TABLE_STATUS_COUNT && to < TABLE_STATUS_COUNT);
    return allowed[from][to];
}

const struct index_definition *table_definition_index(const struct table_definition *definition,
                                                      struct bytes name)
{
    for (size_t i = 0; i < definition->index_count; i++) {
        if (bytes_equal(definition->indexes[i].name, name))
            return &definition->indexes[i];
    }
    return NULL;
}

bool table_definition_has_local_index(const struct table_definition *definition)
{
    return definition->index_count > 0 && !definition->indexes[0].global; /* Local ones first. */
}

const struct key_attribute *table_definition_attribute(const struct table_definition *definition,
                                                       struct bytes name)
{
    for (size_t i = 0; i < definition->attribute_count; i++) {
        if (bytes_equal(definition->attributes[i].name, name))
            return &definition->attributes[i];
    }
    return NULL;
}
