/* table_definition.h -- all that is known of a table besides its items: what CreateTable and
 * UpdateTable set, what DescribeTable tells, and what the catalogue stores.
 *
 * A plain value: every pointer leads into the arena it was built or decoded in. The stored form
 * is an item (item.h) whose attributes are the fields; doc/disk-format.md, "Catalogue".
 */
#ifndef STATOR_MODEL_TABLE_DEFINITION_H
#define STATOR_MODEL_TABLE_DEFINITION_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/item.h"
#include "model/key.h"
#include "model/limits.h"

struct arena;

enum table_status {
    TABLE_CREATING,
    TABLE_ACTIVE,
    TABLE_UPDATING,
    TABLE_DELETING,
    TABLE_STATUS_COUNT,
};
const char *table_status_name(enum table_status status);
MUST_CHECK bool table_status_parse(struct bytes text, enum table_status *out);
/* The lifecycle: may a table go from one status to the other? */
bool table_status_may_follow(enum table_status from, enum table_status to);

enum billing_mode { BILLING_PROVISIONED, BILLING_PAY_PER_REQUEST };
enum table_class { TABLE_CLASS_STANDARD, TABLE_CLASS_STANDARD_INFREQUENT_ACCESS };
enum projection_type { PROJECTION_ALL, PROJECTION_KEYS_ONLY, PROJECTION_INCLUDE };
/* The service's words for them; parsing is false for any other. */
const char *billing_mode_name(enum billing_mode mode);
const char *table_class_name(enum table_class table_class);
const char *projection_type_name(enum projection_type type);
MUST_CHECK bool billing_mode_parse(struct bytes text, enum billing_mode *out);
MUST_CHECK bool table_class_parse(struct bytes text, enum table_class *out);
MUST_CHECK bool projection_type_parse(struct bytes text, enum projection_type *out);

struct throughput {
    int64_t read_units;
    int64_t write_units;
    int64_t last_increase_ms; /* 0: never. */
    int64_t last_decrease_ms;
    int64_t decreases_today; /* On the day of last_decrease_ms. */
};

/* A cap or a figure that may be absent: -1 stands for absent. */
enum { UNITS_UNSET = -1 };
struct unit_pair {
    int64_t read_units;
    int64_t write_units;
};

/* A range of the hash of partition keys: from `first_hash` up to the next one's. */
struct partition {
    uint64_t id; /* Never reused. */
    uint64_t first_hash;
    uint64_t parent_id; /* 0: none. */
};

struct index_definition {
    struct bytes name;
    bool global;
    uint64_t id; /* The owner of its entries; never reused. */
    struct key_attribute hash[INDEX_HASH_KEYS_MAX];
    struct key_attribute range[INDEX_RANGE_KEYS_MAX];
    size_t hash_count;
    size_t range_count;
    /* Global: its own, by first_hash; the first one's is 0. A local index lies in the table's. */
    struct partition *partitions;
    size_t partition_count;
    enum projection_type projection;
    struct bytes *included; /* PROJECTION_INCLUDE: the attributes' names, as given. */
    size_t included_count;
    struct throughput throughput;     /* Global, provisioned tables. */
    struct unit_pair on_demand_max;   /* Global. */
    struct unit_pair warm_throughput; /* Global. UNITS_UNSET: the default of the billing mode. */
    bool built;                       /* Entries exist for every item written before. */
};

struct tag {
    struct bytes key;
    struct bytes value;
};

enum {
    PARTITIONS_PER_TABLE = 4, /* And per global index, when it is created. */
    PARTITIONS_MAX = 4096,
    INDEXES_MAX = GLOBAL_INDEXES_MAX + LOCAL_INDEXES_MAX,
    /* Every key attribute of the table and of all indexes may be another one. */
    ATTRIBUTES_MAX = 2 + INDEXES_MAX * (INDEX_HASH_KEYS_MAX + INDEX_RANGE_KEYS_MAX),
    INCLUDED_NAMES_PER_INDEX_MAX = 20,
    INCLUDED_NAMES_PER_TABLE_MAX = 100, /* A name counts once for each index that includes it. */
};

struct table_definition {
    struct bytes name;
    uint64_t id;       /* The owner of its places; never reused. 0 until the catalogue gave one. */
    struct bytes uuid; /* DescribeTable's TableId, 36 characters. */
    int64_t created_ms;
    enum table_status status;
    int64_t transition_at_ms; /* When a transient status ends; 0: not transient. */

    struct key_schema key;
    struct key_attribute *attributes; /* AttributeDefinitions, in the order given. */
    size_t attribute_count;
    struct index_definition *indexes; /* In the order given, local ones first. */
    size_t index_count;
    struct partition *partitions; /* By first_hash; the first one's is 0. */
    size_t partition_count;

    enum billing_mode billing_mode;
    int64_t
        on_demand_since_ms;  /* BillingModeSummary.LastUpdateToPayPerRequestDateTime; 0: never. */
    bool billing_mode_given; /* BillingModeSummary is shown only once a mode was named. */
    struct throughput throughput;
    struct unit_pair on_demand_max;
    struct unit_pair warm_throughput;

    enum table_class table_class;
    bool table_class_given;
    int64_t table_class_updated_ms; /* 0: never. */
    bool deletion_protected;

    bool encryption_given;       /* SSESpecification.Enabled true: an SSEDescription is shown. */
    struct bytes encryption_key; /* KMSMasterKeyId as given; NULL: the account's default key. */

    bool stream_enabled;
    struct bytes stream_view_type; /* As given: "KEYS_ONLY", "NEW_IMAGE", ... */
    struct bytes stream_label;     /* LatestStreamLabel; NULL: never had a stream. */

    struct bytes resource_policy; /* As given; NULL: none. */
    struct tag *tags;             /* Sorted by key. */
    size_t tag_count;
};

/* The catalogue's record of a definition, and back. Decoding refuses what encoding would not have
 * written, and ignores attributes it does not know. Both results live in the arena. */
struct item table_definition_encode(struct arena *arena, const struct table_definition *definition);
MUST_CHECK bool table_definition_decode(struct arena *arena, const struct item *record,
                                        struct table_definition *out);

/* NULL if AttributeDefinitions has none of that name. */
const struct key_attribute *table_definition_attribute(const struct table_definition *definition,
                                                       struct bytes name);
/* NULL if the table has no such index. */
const struct index_definition *table_definition_index(const struct table_definition *definition,
                                                      struct bytes name);
/* Only such a table has item collections. */
bool table_definition_has_local_index(const struct table_definition *definition);

#endif
