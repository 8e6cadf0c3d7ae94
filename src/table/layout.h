/* layout.h -- the constants of doc/disk-format.md that this layer stores under. */
#ifndef STATOR_TABLE_LAYOUT_H
#define STATOR_TABLE_LAYOUT_H

enum {
    /* The catalogue is an owner and a partition of its own; tables and indexes count from here. */
    LAYOUT_CATALOGUE_OWNER = 0,
    LAYOUT_CATALOGUE_PARTITION = 0,
    LAYOUT_FIRST_ID = 1,

    /* First byte of a catalogue key. */
    LAYOUT_KEY_DROPPED = 'D', /* Then the table's id, big-endian. */
    LAYOUT_KEY_NEXT_ID = 'N', /* Nothing behind it. */
    LAYOUT_KEY_TABLE = 'T',   /* Then the table's name. */

    /* Tokens are beside the catalogue's records, in a partition of their own. */
    LAYOUT_TOKENS_PARTITION = 1,
    LAYOUT_TOKEN_WRITE = 'W',      /* In the key: a token of TransactWriteItems, */
    LAYOUT_TOKEN_STATEMENTS = 'S', /* or of ExecuteTransaction. */
    LAYOUT_TOKEN_OF_CALLER =
        0x20, /* Added to either: 'w', 's'. A caller stands before the token. */
    LAYOUT_TOKEN_CALLER_SIZE_MAX = 255,
    LAYOUT_TOKEN_FORMAT = 1,
    LAYOUT_TOKEN_HASH_SIZE = 16,
    LAYOUT_TOKEN_SIZE = 1 + 4 + 8 + LAYOUT_TOKEN_HASH_SIZE,

    /* Triggers are beside them (trigger/trigger_definition.h), with their positions. */
    LAYOUT_TRIGGERS_PARTITION = 2,

    /* So is the record of the server time. */
    LAYOUT_SERVER_TIME_PARTITION = 3,
    LAYOUT_SERVER_TIME_FORMAT = 1,
    LAYOUT_SERVER_TIME_SIZE = 1 + 4 + 8 + 8,

    /* And what commit times have not reached (history/commit_ceiling.h). */
    LAYOUT_COMMIT_CEILING_PARTITION = 4,

    /* So are the records of long work (jobs/job_record.h). */
    LAYOUT_JOBS_PARTITION = 5,

    /* Scaling targets and policies, in a partition of the monitors' space. */
    LAYOUT_SCALING_PARTITION = 16,
    /* And the stacks of CloudFormation beside them. */
    LAYOUT_STACKS_PARTITION = 17,

    LAYOUT_HASH_SIZE = 8, /* Before the partition key in an item's key, big-endian. */

    LAYOUT_EXPIRY_SECOND_SIZE = 8, /* Before the item's key in the expiry queue, big-endian. */

    LAYOUT_STATS_FORMAT = 1,
    LAYOUT_STATS_SIZE = 1 + 4 + 8 + 8,   /* Of the table's part, which comes first. */
    LAYOUT_STATS_INDEX_SIZE = 8 + 8 + 8, /* Of each index's part. */
    /* Per partition. A writer holds one shard while it commits, so more shards wait less. */
    LAYOUT_STATS_SHARDS = 16,

    LAYOUT_COLLECTION_FORMAT = 1,
    LAYOUT_COLLECTION_SIZE = 1 + 4 + 8, /* Of the record. */
};

#endif
