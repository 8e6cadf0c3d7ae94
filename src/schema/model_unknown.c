/* model_unknown.c -- notes what a model file has and nobody here reads. Such members are kept in
 * their places. Below a table's rows, and in our own lists, nothing is looked at. */
#include "base/arena.h"
#include "base/compiler.h"
#include "schema/model_parts.h"

static const char *const of_file[] = { "ModelName",   "ModelMetadata", "DataModel",
                                       "ModelSchema", "SavedQuery",    "Stator" };
static const char *const of_metadata[] = { "Author",      "DateCreated", "DateLastModified",
                                           "Description", "AWSService",  "Version" };
static const char *const of_table[] = {
    "TableName",   "KeyAttributes", "NonKeyAttributes",  "GlobalSecondaryIndexes",
    "TableData",   "TableFacets",   "DataAccess",        "ProvisionedCapacitySettings",
    "BillingMode", "ModelSchema",   "SampleDataFormats", "SavedQuery",
};
static const char *const of_index[] = { "IndexName", "KeyAttributes", "Projection" };
static const char *const of_facet[] = { "FacetName", "KeyAttributeAlias", "NonKeyAttributes",
                                        "TableData", "DataAccess" };
static const char *const of_additions[] = { "Entities", "Patterns", "Tables" };

static void note_others(struct model_reader *reader, const struct json_node *object,
                        const char *const *known, size_t count)
{
    if (object == NULL || object->type != JSON_OBJECT)
        return;
    for (const struct json_node *at = object->first; at != NULL; at = at->next) {
        size_t i = 0;
        while (i < count && !bytes_equal_text(at->name, known[i]))
            i++;
        if (i == count)
            model_report_add_at(reader->arena, reader->report, at,
                                BYTES("it is not known here, and is kept as it is"));
    }
}

static void note_elements(struct model_reader *reader, const struct json_node *list,
                          const char *const *known, size_t count)
{
    for (const struct json_node *at = list == NULL ? NULL : list->first; at != NULL; at = at->next)
        note_others(reader, at, known, count);
}

void model_unknown_note(struct model_reader *reader)
{
    const struct json_node *root = reader->file->root;
    const struct json_node *tables = json_tree_member(root, "DataModel");
    note_others(reader, root, of_file, COUNT_OF(of_file));
    note_others(reader, json_tree_member(root, "ModelMetadata"), of_metadata,
                COUNT_OF(of_metadata));
    note_others(reader, json_tree_member(root, "Stator"), of_additions, COUNT_OF(of_additions));
    note_elements(reader, tables, of_table, COUNT_OF(of_table));
    for (const struct json_node *table = tables->first; table != NULL; table = table->next) {
        note_elements(reader, json_tree_member(table, "GlobalSecondaryIndexes"), of_index,
                      COUNT_OF(of_index));
        note_elements(reader, json_tree_member(table, "TableFacets"), of_facet, COUNT_OF(of_facet));
    }
}
