/* setting_rules.c -- see setting_rules.h. */
#include "api/table/setting_rules.h"
#include <assert.h>
#include <strings.h>
#include "api/table/table_shapes.h"
#include "auth/policy.h"
#include "base/arena.h"
#include "json/reader.h"
#include "model/error.h"
#include "model/table_definition.h"

#define INVALID_VALUES "One or more parameter values were invalid: "

static bool refuse_unsupported(struct error *err, const char *field)
{
    return error_validation(err, "%s is not supported yet", field);
}

/* --- Tags --- */

/* Where `key` is among the sorted tags, or where it belongs. */
static size_t tag_position(const struct tag_list *tags, struct bytes key, bool *found)
{
    size_t first = 0;
    size_t end = tags->count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (bytes_compare(tags->elements[middle].key, key) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    *found = first < tags->count && bytes_equal(tags->elements[first].key, key);
    return first;
}

/* Letters, white space and numbers, plus + - = . _ : / and, though not documented, @. A character
 * beyond ASCII is not looked up. */
static bool is_tag_byte(uint8_t byte)
{
    return byte >= 0x80 || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte != '\0' && strchr("0123456789 \t\r\n+-=._:/@", byte) != NULL);
}

/* At most `length_max` characters that a tag may have. */
static bool is_tag_text(struct bytes text, size_t length_max)
{
    static const char symbols[] = "\xf0\x9f"; /* U+1F000 to U+1FFFF: emoji and the like. */
    size_t length = 0;
    if (memmem(text.data, text.len, symbols, sizeof symbols - 1) != NULL)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (!is_tag_byte(text.data[i]))
            return false;
        length += (text.data[i] & 0xc0) != 0x80; /* The bytes that begin a character of UTF-8. */
    }
    return length <= length_max;
}

static bool check_tag_key(struct bytes key, struct error *err)
{
    if (key.len == 0 || !is_tag_text(key, TAG_KEY_SIZE_MAX)) {
        struct bytes shown = key.data == NULL ? BYTES("null") : key;
        return error_validation(err, "The Tag Key provided is invalid, Key: %.*s",
                                BYTES_FMT(shown));
    }
    static const char reserved[] = "aws:"; /* In any case. */
    if (key.len >= sizeof reserved - 1 &&
        strncasecmp((const char *)key.data, reserved, sizeof reserved - 1) == 0)
        return error_validation(err, "Tag Key cannot be prefixed with aws:, Key: %.*s",
                                BYTES_FMT(key));
    return true;
}

static bool check_tag(const struct tag_request *tag, struct error *err)
{
    if (!check_tag_key(tag->key, err))
        return false;
    if (tag->value.data != NULL && is_tag_text(tag->value, TAG_VALUE_SIZE_MAX))
        return true;
    struct bytes shown = tag->value.data == NULL ? BYTES("null") : tag->value;
    return error_validation(err, "The Tag Value provided is invalid, Value: %.*s",
                            BYTES_FMT(shown));
}

static bool refuse_tag_count(struct error *err)
{
    return error_validation(err,
                            "Number of Tags exceed the current limit for the provided ResourceArn");
}

/* A tag of ours has a meaning, so a value that has none is refused. */
static bool check_capacity_tag(const struct tag_request *tag, struct error *err)
{
    enum capacity_setting setting;
    return !bytes_equal_text(tag->key, TABLE_CAPACITY_TAG) ||
           capacity_setting_parse(tag->value, &setting) ||
           error_validation(err,
                            "One or more parameter values were invalid: the tag " TABLE_CAPACITY_TAG
                            " must be off, account or enforce, not: %.*s",
                            BYTES_FMT(tag->value));
}

bool setting_rules_check_tags(const struct shape_list *tags, struct error *err)
{
    const struct tag_request *const *requests = tags->elements;
    if (tags->count > TAGS_MAX)
        return refuse_tag_count(err);
    for (size_t i = 0; i < tags->count; i++) {
        if (!check_tag(requests[i], err) || !check_capacity_tag(requests[i], err))
            return false;
        for (size_t j = 0; j < i; j++) {
            if (bytes_equal(requests[i]->key, requests[j]->key))
                return error_validation(
                    err, "Duplicate Tag Keys provided as input: Duplicate Tag Key found %.*s",
                    BYTES_FMT(requests[i]->key));
        }
    }
    return true;
}

bool setting_rules_check_tag_keys(const struct shape_list *keys, struct error *err)
{
    const struct bytes *requests = keys->elements;
    if (keys->count > TAGS_MAX)
        return refuse_tag_count(err);
    for (size_t i = 0; i < keys->count; i++) {
        if (!check_tag_key(requests[i], err))
            return false;
    }
    return true;
}

/* Observed: it is the tags that there would be that count. */
static bool check_tag_size(const struct tag_list *tags, struct error *err)
{
    size_t size = 0;
    for (size_t i = 0; i < tags->count; i++)
        size += tags->elements[i].key.len + tags->elements[i].value.len;
    return size <= TAG_SET_SIZE_MAX ||
           error_validation(err, "Tag set size %zu bytes is above max size limit of %d bytes", size,
                            TAG_SET_SIZE_MAX);
}

bool setting_rules_add_tags(struct arena *arena, const struct shape_list *added,
                            struct tag_list *tags, struct error *err)
{
    const struct tag_request *const *requests = added->elements;
    struct tag *merged = arena_alloc(arena, TAGS_MAX * sizeof(*merged));
    if (tags->count > 0)
        memcpy(merged, tags->elements, tags->count * sizeof(*merged));
    tags->elements = merged;
    for (size_t i = 0; i < added->count; i++) {
        bool found;
        size_t position = tag_position(tags, requests[i]->key, &found);
        if (!found) {
            if (tags->count == TAGS_MAX)
                return refuse_tag_count(err);
            memmove(&merged[position + 1], &merged[position],
                    (tags->count - position) * sizeof(*merged));
            tags->count++;
        }
        merged[position] = (struct tag){ .key = requests[i]->key, .value = requests[i]->value };
    }
    return check_tag_size(tags, err);
}

void setting_rules_remove_tags(struct arena *arena, const struct shape_list *keys,
                               struct tag_list *tags)
{
    const struct bytes *requests = keys->elements;
    struct tag *kept = arena_alloc(arena, tags->count * sizeof(*kept));
    if (tags->count > 0)
        memcpy(kept, tags->elements, tags->count * sizeof(*kept));
    tags->elements = kept;
    for (size_t i = 0; i < keys->count; i++) {
        bool found;
        size_t position = tag_position(tags, requests[i], &found);
        if (!found)
            continue;
        tags->count--;
        memmove(&kept[position], &kept[position + 1], (tags->count - position) * sizeof(*kept));
    }
}

/* --- Stream and encryption --- */

static bool create_stream(const struct stream_request *request, struct table_definition *draft,
                          struct error *err)
{
    if (!request->stream_enabled.value) {
        if (request->stream_view_type.data != NULL)
            return error_validation(err,
                                    INVALID_VALUES "Table is being created with a stream disabled, "
                                                   "UpdateViewType should not be specified");
        return true;
    }
    if (request->stream_view_type.data == NULL)
        return error_validation(err, INVALID_VALUES "Table is being created with a stream enabled, "
                                                    "UpdateViewType is required");
    draft->stream_enabled = true;
    draft->stream_view_type = request->stream_view_type;
    return true;
}

static bool update_stream(const struct stream_request *request, struct table_definition *table,
                          struct error *err)
{
    if (!request->stream_enabled.value) {
        if (request->stream_view_type.data != NULL)
            return error_validation(err, INVALID_VALUES "If stream is being disabled, then "
                                                        "UpdateViewType must not be specified");
        if (!table->stream_enabled)
            return error_validation(err, "Table has no stream to disable: TableName: %.*s",
                                    BYTES_FMT(table->name));
        table->stream_enabled = false;
        return true;
    }
    if (request->stream_view_type.data == NULL)
        return error_validation(err, INVALID_VALUES "If stream is being enabled then "
                                                    "UpdateViewType is required");
    if (table->stream_enabled)
        return error_validation(err, "Table already has an enabled stream: TableName: %.*s",
                                BYTES_FMT(table->name));
    table->stream_enabled = true;
    table->stream_view_type = request->stream_view_type;
    return true;
}

/* Observed: without Enabled, a type enables it; nothing at all does not. */
bool setting_rules_set_encryption(const struct encryption_request *request,
                                  struct table_definition *table, struct error *err)
{
    bool disables = request->enabled.present && !request->enabled.value;
    bool typed = request->sse_type.data != NULL;
    if (disables && typed)
        return error_validation(err,
                                INVALID_VALUES "SSEType can not be specified if Enabled is false");
    if (disables && request->kms_master_key_id.data != NULL)
        return error_validation(err, INVALID_VALUES
                                "KMSMasterKeyId can not be specified if Enabled is false");
    if (bytes_equal_text(request->sse_type, "AES256"))
        return error_validation(err, INVALID_VALUES "SSEType AES256 is not supported");
    if (!typed && request->kms_master_key_id.data != NULL)
        return error_validation(err, INVALID_VALUES
                                "SSEType KMS is required if KMSMasterKeyId is specified");
    table->encryption_given = request->enabled.value || typed;
    table->encryption_key = (struct bytes){ 0 };
    if (table->encryption_given)
        table->encryption_key = request->kms_master_key_id;
    return true;
}

static void set_table_class(struct bytes text, struct table_definition *table)
{
    bool known = table_class_parse(text, &table->table_class);
    assert(known); /* The shape's enumeration. */
    table->table_class_given = true;
}

/* --- Resource policies --- */

static bool is_json_object(struct arena *arena, struct bytes text)
{
    struct json_reader reader;
    json_reader_init(&reader, arena, text, JSON_DEPTH_LIMIT);
    bool object = json_peek(&reader) == JSON_OBJECT;
    json_skip(&reader);
    return json_finish(&reader) && object;
}

static bool check_form(struct arena *arena, struct bytes text, struct error *err)
{
    if (text.len > RESOURCE_POLICY_SIZE_MAX)
        return error_validation(err, INVALID_VALUES "Maximum policy size of %d bytes exceeded",
                                RESOURCE_POLICY_SIZE_MAX);
    if (bytes_equal_text(text, "null"))
        return error_validation(err, INVALID_VALUES
                                "Invalid policy document: This text appears not to be a policy");
    if (!is_json_object(arena, text))
        return error_validation(err, INVALID_VALUES
                                "Invalid policy document: This policy contains invalid Json");
    return true;
}

/* Observed: one text stands without the words that the others begin with. */
static bool refuse_policy(const struct error *why, struct error *err)
{
    bool bare = bytes_equal_text(why->message, policy_invalid_principal_text);
    return error_validation(err, INVALID_VALUES "%s%.*s",
                            bare ? "" : "Invalid policy document: ", BYTES_FMT(why->message));
}

bool setting_rules_check_policy(struct arena *arena, struct bytes text, enum policy_subject subject,
                                struct error *err)
{
    struct error why;
    error_init(&why, arena);
    if (!check_form(arena, text, err))
        return false;
    const struct policy *policy = policy_parse(arena, text, POLICY_OF_RESOURCE, &why);
    if (policy == NULL || !policy_document_check(arena, text, subject, &why))
        return refuse_policy(&why, err);
    return !policy_allows_everybody(policy) ||
           error_validation(err, "Resource-based policy grants unbounded access in one or more "
                                 "elements. Please revise the policy to ensure least-privilege "
                                 "form of access");
}

/* --- CreateTable --- */

static bool check_create_fields(const struct create_table_request *request, struct error *err)
{
    if (request->vector_indexes.present)
        return refuse_unsupported(err, "VectorIndexes");
    if (request->global_table_source_arn.data != NULL)
        return refuse_unsupported(err, "GlobalTableSourceArn");
    if (request->global_table_settings_replication_mode.data != NULL)
        return refuse_unsupported(err, "GlobalTableSettingsReplicationMode");
    return true;
}

bool setting_rules_create(struct arena *arena, const struct create_table_request *request,
                          struct table_definition *draft, struct error *err)
{
    if (!check_create_fields(request, err))
        return false;
    if (request->table_class.data != NULL)
        set_table_class(request->table_class, draft);
    draft->deletion_protected = request->deletion_protection_enabled.value;
    if (request->stream_specification != NULL &&
        !create_stream(request->stream_specification, draft, err))
        return false;
    if (request->sse_specification != NULL &&
        !setting_rules_set_encryption(request->sse_specification, draft, err))
        return false;
    if (request->resource_policy.data != NULL) {
        if (!setting_rules_check_policy(arena, request->resource_policy, POLICY_SUBJECT_TABLE, err))
            return false;
        draft->resource_policy = (struct resource_policy){ .text = request->resource_policy,
                                                           .revision = draft->created_ms };
    }
    return setting_rules_check_tags(&request->tags, err) &&
           setting_rules_add_tags(arena, &request->tags, &draft->tags, err);
}

/* --- UpdateTable --- */

static bool asks_for_units(const struct units_request *request)
{
    return request != NULL && (request->read_units.present || request->write_units.present);
}

bool setting_rules_asks_for_change(const struct update_table_request *request)
{
    return request->provisioned_throughput != NULL || request->billing_mode.data != NULL ||
           asks_for_units(request->on_demand_throughput) ||
           asks_for_units(request->warm_throughput) ||
           request->global_secondary_index_updates.count > 0 || request->table_class.data != NULL ||
           request->deletion_protection_enabled.present || request->sse_specification != NULL ||
           request->stream_specification != NULL || request->replica_updates.count > 0 ||
           request->multi_region_consistency.data != NULL ||
           request->global_table_witness_updates.count > 0 ||
           request->global_table_settings_replication_mode.data != NULL ||
           request->disassociation_protection_enabled.present ||
           request->vector_index_updates.count > 0;
}

static bool check_update_fields(const struct update_table_request *request, struct error *err)
{
    if (request->vector_index_updates.count > 0)
        return refuse_unsupported(err, "UpdateTable: VectorIndexUpdates");
    return true;
}

/* --- What UpdateTable does not do at once --- */

enum update_part {
    PART_ENCRYPTION = 1 << 0,
    PART_TABLE_CLASS = 1 << 1,
    PART_PROTECTION = 1 << 2,
    PART_WARM = 1 << 3,
    PART_ON_DEMAND = 1 << 4,
    PART_BILLING_MODE = 1 << 5,
    PART_PROVISIONED = 1 << 6,
    PART_STREAM = 1 << 7,
    PART_INDEX_LIST = 1 << 8, /* An index is created or deleted. */
    PART_INDEX_CREATED = 1 << 9,
    PART_INDEX_UPDATED = 1 << 10,
};

static unsigned index_parts(const struct shape_list *list)
{
    const struct index_update_request *const *updates = list->elements;
    unsigned parts = 0;
    for (size_t i = 0; i < list->count; i++) {
        parts |= updates[i]->update != NULL ? PART_INDEX_UPDATED : 0;
        parts |= updates[i]->create != NULL ? PART_INDEX_LIST | PART_INDEX_CREATED : 0;
        parts |= updates[i]->remove != NULL ? PART_INDEX_LIST : 0;
    }
    return parts;
}

static unsigned update_parts(const struct update_table_request *request)
{
    unsigned parts = index_parts(&request->global_secondary_index_updates);
    parts |= request->sse_specification != NULL ? PART_ENCRYPTION : 0;
    parts |= request->table_class.data != NULL ? PART_TABLE_CLASS : 0;
    parts |= request->deletion_protection_enabled.present ? PART_PROTECTION : 0;
    parts |= asks_for_units(request->warm_throughput) ? PART_WARM : 0;
    parts |= asks_for_units(request->on_demand_throughput) ? PART_ON_DEMAND : 0;
    parts |= request->billing_mode.data != NULL ? PART_BILLING_MODE : 0;
    parts |= request->provisioned_throughput != NULL ||
                     bytes_equal_text(request->billing_mode, "PROVISIONED")
                 ? PART_PROVISIONED
                 : 0;
    parts |= request->stream_specification != NULL ? PART_STREAM : 0;
    return parts;
}

/* In the order in which they are reported. Observed: encryption, table class, deletion protection,
 * warm throughput; the order of the others is not known. */
static const struct {
    unsigned part;
    unsigned with; /* Any of these beside it is refused. */
    const char *text;
} refused_combinations[] = {
    { PART_ENCRYPTION, ~(unsigned)PART_ENCRYPTION,
      "Server-Side Encryption modification must be the only operation in the request" },
    { PART_TABLE_CLASS, ~(unsigned)PART_TABLE_CLASS,
      "TableClass modification must be the only operation in the request" },
    { PART_PROTECTION, ~(unsigned)PART_PROTECTION,
      "DeletionProtection modification must be the only operation in the request" },
    { PART_WARM, PART_INDEX_CREATED,
      "Create global secondary index cannot be specified when updating WarmThroughput" },
    { PART_WARM, ~(unsigned)PART_WARM, "WarmThroughput must be the only operation in the request" },
    { PART_ON_DEMAND, ~(unsigned)(PART_ON_DEMAND | PART_BILLING_MODE),
      "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request" },
    { PART_STREAM, PART_PROVISIONED, "You cannot modify stream status while updating table IOPS" },
    { PART_INDEX_LIST, PART_PROVISIONED,
      "You cannot create or delete index while updating table IOPS" },
    { PART_INDEX_LIST, PART_STREAM,
      "You cannot create or delete index while changing stream status" },
};

static bool check_combination(const struct update_table_request *request, struct error *err)
{
    unsigned parts = update_parts(request);
    for (size_t i = 0; i < COUNT_OF(refused_combinations); i++) {
        if ((parts & refused_combinations[i].part) && (parts & refused_combinations[i].with))
            return error_validation(err, INVALID_VALUES "%s", refused_combinations[i].text);
    }
    return true;
}

bool setting_rules_refuse_nothing(struct error *err)
{
    return error_validation(
        err, "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
             "GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, "
             "MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, "
             "DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is "
             "required");
}

bool setting_rules_check_update(const struct update_table_request *request, struct error *err)
{
    bool has_member = request->on_demand_throughput != NULL || request->warm_throughput != NULL;
    if (!has_member && !setting_rules_asks_for_change(request))
        return setting_rules_refuse_nothing(err);
    return check_update_fields(request, err) && check_combination(request, err);
}

bool setting_rules_changes_class(const struct update_table_request *request,
                                 const struct table_definition *table)
{
    return request->table_class.data != NULL &&
           !bytes_equal_text(request->table_class, table_class_name(table->table_class));
}

bool setting_rules_update(const struct update_table_request *request, int64_t now_ms,
                          struct table_definition *table, struct error *err)
{
    if (setting_rules_changes_class(request, table)) {
        set_table_class(request->table_class, table);
        table->table_class_updated_ms = now_ms;
    }
    if (request->deletion_protection_enabled.present)
        table->deletion_protected = request->deletion_protection_enabled.value;
    if (request->stream_specification != NULL &&
        !update_stream(request->stream_specification, table, err))
        return false;
    if (request->sse_specification == NULL)
        return true;
    bool was_encrypted = table->encryption_given;
    if (!setting_rules_set_encryption(request->sse_specification, table, err))
        return false;
    if (!was_encrypted && !table->encryption_given)
        return error_validation(err, INVALID_VALUES "Table is already encrypted by default");
    return true;
}
