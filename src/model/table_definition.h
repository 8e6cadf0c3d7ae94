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
#include "model/insight_definition.h"
#include "model/item.h"
#include "model/key.h"
#include "model/limits.h"
#include "model/replica_definition.h"

struct arena;
struct entity_rules;
struct index_names;

enum table_status {
    TABLE_CREATING,
    TABLE_ACTIVE,
    TABLE_UPDATING,
    TABLE_DELETING,
    TABLE_STATUS_COUNT,
};
const char *table_status_name(enum table_status status);
MUST_CHECK bool table_status_parse(struct bytes text, enum table_status *out);

/* Which moves are allowed: control/table_life.h, index_life.h, expiry_life.h. */

/* What writes do about an index. A write may still hold the version of its table before the current
 * one, so each status asks for what keeps the index right while its neighbours are in use too. */
enum index_status {
    INDEX_ACTIVE, /* Each item has its entry. */
    /* CREATING. A write removes the item's old entry, should there be one, and stores none. */
    INDEX_ALLOCATING,
    /* CREATING. A write keeps the item's entry right; the old one may not have been stored yet. */
    INDEX_BACKFILLING,
    INDEX_DELETING, /* No write looks at it any more; its entries are about to go. */
    INDEX_STATUS_COUNT,
};
const char *index_status_name(enum index_status status);
MUST_CHECK bool index_status_parse(struct bytes text, enum index_status *out);

/* Time to live, and the queue of the times at which items expire. As with an index, a write may
 * hold the version of its table before the current one. */
enum expiry_status {
    EXPIRY_NONE, /* DISABLED; there is no queue. */
    /* ENABLING. A write takes the item's old entry out of the queue and puts none in. */
    EXPIRY_ALLOCATING,
    EXPIRY_FILLING,  /* ENABLING. A write keeps the queue right; older items may be missing. */
    EXPIRY_ACTIVE,   /* ENABLED. Each item that can expire is in the queue. */
    EXPIRY_REMOVING, /* DISABLING. No write looks at the queue any more; it is about to go. */
    EXPIRY_STATUS_COUNT,
};
const char *expiry_status_name(enum expiry_status status);
MUST_CHECK bool expiry_status_parse(struct bytes text, enum expiry_status *out);

/* The history of a table's items (history/history_entry.h), which recovery to a point in time
 * reads. As with an index, a write may hold the version of its table before the current one. */
enum history_status {
    HISTORY_NONE,
    HISTORY_OPENING, /* A write keeps it; an older one may not have done so. */
    HISTORY_ACTIVE,  /* It holds every change since `since_us`. */
    HISTORY_CLOSING, /* No write looks at it any more; it is about to be removed. */
    HISTORY_STATUS_COUNT,
};
const char *history_status_name(enum history_status status);
MUST_CHECK bool history_status_parse(struct bytes text, enum history_status *out);

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

/* Units that may be absent: -1 stands for absent. */
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
    /* When UpdateTable added it; 0: with its table, or before this was noted. */
    int64_t created_ms;
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
    enum index_status status;
    /* INDEX_BACKFILLING: items whose key is below this have their entries; empty: none has. */
    struct bytes backfilled;
    struct insight_definition insight; /* Global. */
    unsigned insight_rules;            /* insight_target_rules. Set by table_definition_decode. */
};

struct expiry_definition {
    enum expiry_status status;
    struct bytes attribute; /* Whose value is the time; NULL: EXPIRY_NONE. */
    /* EXPIRY_FILLING: items whose key is below this are in the queue; empty: none need be. */
    struct bytes filled;
};

struct history_definition {
    enum history_status status;
    uint64_t id; /* The owner of its entries; never reused. 0: HISTORY_NONE. */
    int64_t
        since_us; /* HISTORY_ACTIVE: every change with this commit time or a later one is there. */
};
/* Whether writes keep the history. */
static inline bool history_definition_is_kept(const struct history_definition *history)
{
    return history->status == HISTORY_OPENING || history->status == HISTORY_ACTIVE;
}

/* What fills a table that is being made by a job. Stored: the numbers stay. */
enum table_origin {
    TABLE_ORIGIN_NONE = 0, /* A client does, as usual. */
    TABLE_ORIGIN_BACKUP = 1,
    TABLE_ORIGIN_TIME = 2, /* The state of another table at a time. */
    TABLE_ORIGIN_IMPORT = 3,
};
/* The table is CREATING, without an end that is due, until the job ends: then it becomes ACTIVE and
 * all of this is forgotten, in the batch that stores the job's end. Nobody else can use its items
 * before that. */
struct origin_definition {
    enum table_origin kind;
    struct bytes job_id;     /* Of its record (jobs/job_record.h). */
    struct bytes backup_arn; /* RestoreSummary.SourceBackupArn; data NULL: none. */
    struct bytes table_arn;  /* RestoreSummary.SourceTableArn; data NULL: none. */
    int64_t restored_ms;     /* RestoreSummary.RestoreDateTime; 0: none. */
};

/* What becomes of items that do not follow their table's model. Stored: the numbers stay. */
enum model_mode {
    MODEL_NONE = 0,    /* The table has no model. */
    MODEL_OBSERVE = 1, /* They are counted. */
    MODEL_ENFORCE = 2, /* And refused. */
};
/* "OBSERVE" and "ENFORCE"; parsing is false for any other text. */
const char *model_mode_name(enum model_mode mode);
MUST_CHECK bool model_mode_parse(struct bytes text, enum model_mode *out);

/* The entities that the items of a table are of (schema/entity_rules.h). */
struct model_definition {
    enum model_mode mode;
    struct bytes text; /* As JSON; NULL: MODEL_NONE. */
    int64_t updated_ms;
};
enum { MODEL_TEXT_SIZE_MAX = 128 * 1024 };

struct resource_policy {
    struct bytes text; /* As given; NULL: none. */
    int64_t revision;  /* Of the text, or of the last one there was; 0: none yet. */
};

struct tag {
    struct bytes key;
    struct bytes value;
};

struct tag_list {
    struct tag *elements; /* Sorted by key. */
    size_t count;
};

/* What becomes of requests that need more throughput than their table has. */
enum capacity_setting {
    CAPACITY_UNSET,   /* Of a table: as the server's setting says. */
    CAPACITY_OFF,     /* Nothing is counted and nothing refused. */
    CAPACITY_ACCOUNT, /* Units are counted for metrics. */
    CAPACITY_ENFORCE, /* And requests beyond the limits are refused. */
};
/* "off", "account" and "enforce"; false for any other text. */
MUST_CHECK bool capacity_setting_parse(struct bytes text, enum capacity_setting *out);
/* The tag by which a table has its own. */
#define TABLE_CAPACITY_TAG "stator:capacity"

/* By which the items of a table are ordered (table/key_hash.h). Stored: the numbers stay. */
enum table_hash {
    TABLE_HASH_XXH3 = 0, /* Of tables that were created before the other one was known. */
    TABLE_HASH_MD5 = 1,  /* The service's. Entries of an index with equal keys follow it, too. */
};

enum {
    PARTITIONS_MAX = 4096,   /* Of a table, with those that were split off; of an index. */
    ON_DEMAND_TURNS_MAX = 4, /* The service allows so many in 24 hours. */
    INDEXES_MAX = GLOBAL_INDEXES_MAX + LOCAL_INDEXES_MAX,
    /* Every key attribute of the table and of all indexes may be another one. */
    ATTRIBUTES_MAX = 2 + INDEXES_MAX * (INDEX_HASH_KEYS_MAX + INDEX_RANGE_KEYS_MAX),
    ORIGIN_JOB_ID_SIZE_MAX = 64,
    ORIGIN_ARN_SIZE_MAX = 1024,
    STREAM_LABEL_SIZE_MAX = 64,
    STREAM_VIEW_TYPE_SIZE_MAX = 32,
    INCLUDED_NAMES_PER_INDEX_MAX = 20,
    INCLUDED_NAMES_PER_TABLE_MAX = 100, /* A name counts once for each index that includes it. */
    BACKFILLED_SIZE_MIN = 8,            /* A hash. */
    /* The longest key of an item and the byte that comes behind it: a hash, and two parts whose
       bytes are all escaped, with their end marks. */
    BACKFILLED_SIZE_MAX = 8 + 2 * PARTITION_KEY_SIZE_MAX + 2 + 2 * SORT_KEY_SIZE_MAX + 2 + 1,
};

struct table_definition {
    struct bytes name;
    uint64_t id;       /* The owner of its places; never reused. 0 until the catalogue gave one. */
    struct bytes uuid; /* DescribeTable's TableId, 36 characters. */
    int64_t created_ms;
    enum table_status status;
    /* When a transient status ends; 0: it is not transient, or a job ends it (`origin`). */
    int64_t transition_at_ms;
    struct origin_definition origin;

    struct key_schema key;
    struct key_attribute *attributes; /* AttributeDefinitions, in the order given. */
    size_t attribute_count;
    struct index_definition *indexes; /* In the order given, local ones first. */
    size_t index_count;
    /* What the indexes look at (index_names.h). Set by table_definition_decode, so that writes need
     * not sort; NULL: no index, or a definition that is being made or changed. */
    const struct index_names *index_names;
    enum table_hash hash;
    struct partition *partitions; /* By first_hash; the first one's is 0. */
    size_t partition_count;
    /* Those that were split off, by first_hash, with logs of their own: table/partition_map.h.
     * Their items stay where they were, in `partitions`. */
    struct partition *splits;
    size_t split_count;
    uint64_t splitting_id; /* The one whose split is under way; 0: none. */

    enum billing_mode billing_mode;
    int64_t
        on_demand_since_ms; /* BillingModeSummary.LastUpdateToPayPerRequestDateTime; 0: never. */
    /* When it became on-demand, the last times, newest first; 0: no more often. */
    int64_t on_demand_turns_ms[ON_DEMAND_TURNS_MAX];
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
    /* A Kinesis destination (kinesis/destinations.h) reads the log of its changes. */
    bool feeds_kinesis;
    /* The owner of the log of its changes, where writers look for its heads; 0: it has none. */
    uint64_t log_id;

    /* Point-in-time recovery: since when, and how many days back at most; both 0: disabled. Since
     * when the table can really be restored: history/history_window.h. */
    int64_t recovery_since_ms;
    int64_t recovery_days;
    /* Also there while a job needs it (history/history_holds.h). */
    struct history_definition history;

    struct resource_policy resource_policy;
    struct resource_policy stream_policy;
    struct bytes stream_policy_label; /* Which stream has it; another one has none. */

    struct expiry_definition expiry;

    struct insight_definition insight;
    /* Set by table_definition_decode: insight_target_rules, and whether the table or one of its
     * indexes has any. */
    unsigned insight_rules;
    bool counts_keys;

    /* The group of regions that a global table is replicated in. */
    struct replica_definition replicas;

    struct model_definition model;
    /* The model compiled, in the arena of the version. Set by the catalogue; NULL: no model, or a
     * definition that is no version of a table. */
    const struct entity_rules *entity_rules;

    struct tag_list tags;
    struct tag_list stream_tags; /* Of the stream whose label is `stream_label`. */
    /* What the tag TABLE_CAPACITY_TAG says. Set by table_definition_decode, so that requests need
     * not look for it. */
    enum capacity_setting capacity;
};

/* Notes that the table becomes on-demand. */
void table_definition_turn_on_demand(struct table_definition *definition, int64_t now_ms);

/* The setting, found among the tags: for a definition that is being made or changed. */
enum capacity_setting table_definition_capacity(const struct table_definition *definition);

/* The catalogue's record of a definition, and back. Decoding refuses what encoding would not have
 * written, and ignores attributes it does not know. Both results live in the arena. */
struct item table_definition_encode(struct arena *arena, const struct table_definition *definition);
MUST_CHECK bool table_definition_decode(struct arena *arena, const struct item *record,
                                        struct table_definition *out);

/* A copy whose indexes may be changed, and one more added; everything else is borrowed. */
struct table_definition table_definition_copy(struct arena *arena,
                                              const struct table_definition *definition);
/* Takes out an index, and the AttributeDefinitions that nothing refers to without it. */
void table_definition_remove_index(struct arena *arena, struct table_definition *definition,
                                   uint64_t index_id);
/* What the readers of the log of a table's changes need. The one place that knows who they are. */
struct log_needs {
    bool changes;    /* Anybody reads it at all. */
    unsigned images; /* enum change_image */
};
struct log_needs table_definition_log_needs(const struct table_definition *definition);

/* NULL if AttributeDefinitions has none of that name. */
const struct key_attribute *table_definition_attribute(const struct table_definition *definition,
                                                       struct bytes name);
/* Is it one of the key attributes of the index? */
bool index_definition_has_key(const struct index_definition *index, struct bytes name);
/* Is it a key attribute of the table or of an index that is there to stay? */
bool table_definition_uses_attribute(const struct table_definition *definition, struct bytes name);
/* NULL if the table has no such index. */
const struct index_definition *table_definition_index(const struct table_definition *definition,
                                                      struct bytes name);
/* Only such a table has item collections. */
bool table_definition_has_local_index(const struct table_definition *definition);

#endif
