/* store_options.c -- how RocksDB is set up: each choice and its reason.
 *
 * RocksDB 7.8's own defaults hold where nothing is said. Left alone on purpose: manual_wal_flush
 * (off: a completed rocksdb_write must have reached the operating system), the compression of the
 * write-ahead log (off), asynchronous reads (off).
 */
#include <stdlib.h>
#include "engine/engine.h"
#include "engine/rocksdb/store.h"
#include "engine/rocksdb/store_key.h"

enum {
    BLOOM_BITS_PER_KEY = 10, /* One read in a hundred of a missing key touches a block in vain. */
    BLOCK_SIZE = 8 * 1024,   /* Holds a score of typical items; half the index of 4 KB blocks. */
    CACHE_SHARD_SIZE_MIN = 32 * 1024 * 1024,
    CACHE_SHARD_BITS_MAX = 6,
    WRITE_BUFFERS_MAX = 2, /* One filling, one being written out. */
    BACKGROUND_JOBS = 2,   /* One flush and one compaction at a time. */
    FILE_OPENING_THREADS = 2,
    LEVELS = 7,
    SYNC_CHUNK_SIZE = 1024 * 1024, /* Table files reach the disk evenly, not in one burst. */
    LOG_FILE_SIZE_MAX = 1024 * 1024,
    LOG_FILES_KEPT = 2,
    HEADERS_ONLY = 5, /* RocksDB's InfoLogLevel::HEADER_LEVEL. */
};

/* Of a write buffer: some thirty bits for each typical item in it. Most reads are of items that are
 * not there, and a look into a memtable costs as much as one into a cached block. */
#define MEMTABLE_FILTER_RATIO 0.01

/* A block that is larger than a shard is never kept, and the filter of a file with millions of
 * small items has ten megabytes: RocksDB would read it anew for every get. Its own choice is up to
 * 64 shards of half a megabyte or more. */
static rocksdb_cache_t *create_block_cache(size_t size)
{
    int shard_bits = 0;
    while (shard_bits < CACHE_SHARD_BITS_MAX && size >> (shard_bits + 1) >= CACHE_SHARD_SIZE_MIN)
        shard_bits++;
    rocksdb_lru_cache_options_t *options = rocksdb_lru_cache_options_create();
    rocksdb_lru_cache_options_set_capacity(options, size);
    rocksdb_lru_cache_options_set_num_shard_bits(options, shard_bits);
    rocksdb_cache_t *cache = rocksdb_cache_create_lru_opts(options);
    rocksdb_lru_cache_options_destroy(options);
    return cache;
}

static void set_tables(struct store_options *options, size_t block_cache_size)
{
    options->block_cache = create_block_cache(block_cache_size);
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_filter_policy(
        table, rocksdb_filterpolicy_create_bloom_full(BLOOM_BITS_PER_KEY));
    rocksdb_block_based_options_set_block_size(table, BLOCK_SIZE);
    rocksdb_block_based_options_set_format_version(table, 5);
    rocksdb_block_based_options_set_block_cache(table, options->block_cache);
    /* Filters and indexes count towards the cache, so memory stays bounded however large the store
     * grows; they are the last to leave it. */
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks_with_high_priority(table, 1);
    rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(table, 1);
    rocksdb_options_set_block_based_table_factory(options->db, table);
    rocksdb_options_set_prefix_extractor(
        options->db, rocksdb_slicetransform_create_fixed_prefix(STORE_KEY_FILTERED_SIZE));
    rocksdb_block_based_options_destroy(table);
}

static void set_memory_and_levels(rocksdb_options_t *db, size_t write_buffer_size)
{
    /* Level 0 is read and rewritten soon; all that stays is worth LZ4's little time. */
    int compression[LEVELS] = { rocksdb_no_compression };
    for (int level = 1; level < LEVELS; level++)
        compression[level] = rocksdb_lz4_compression;
    rocksdb_options_set_write_buffer_size(db, write_buffer_size);
    rocksdb_options_set_memtable_prefix_bloom_size_ratio(db, MEMTABLE_FILTER_RATIO);
    /* Whole keys as well, as in files: the tokens of ten minutes all have the same prefix. */
    rocksdb_options_set_memtable_whole_key_filtering(db, 1);
    rocksdb_options_set_max_write_buffer_number(db, WRITE_BUFFERS_MAX);
    rocksdb_options_set_max_total_wal_size(db, 2 * WRITE_BUFFERS_MAX * write_buffer_size);
    rocksdb_options_set_num_levels(db, LEVELS);
    rocksdb_options_set_compression_per_level(db, compression, LEVELS);
    /* Sizes levels from the last one up: a tenth of the data at most is kept twice. */
    rocksdb_options_set_level_compaction_dynamic_level_bytes(db, 1);
    rocksdb_options_set_max_background_jobs(db, BACKGROUND_JOBS);
    rocksdb_options_set_bytes_per_sync(db, SYNC_CHUNK_SIZE);
}

static void set_log_and_files(rocksdb_options_t *db, unsigned open_files_max)
{
    rocksdb_options_set_max_open_files(db, (int)open_files_max);
    rocksdb_options_set_max_file_opening_threads(db, FILE_OPENING_THREADS);
    /* RocksDB's own log is a file in the data directory, and Debian's build asserts that a file
     * which failed to take a line is given no other: the log would be what ends a server whose disk
     * is full. So it holds the options, from the start, and nothing else; what it would say is the
     * status of some call, too, and goes into the server's log. */
    rocksdb_options_set_info_log_level(db, HEADERS_ONLY);
    rocksdb_options_set_max_log_file_size(db, LOG_FILE_SIZE_MAX);
    rocksdb_options_set_keep_log_file_num(db, LOG_FILES_KEPT);
    /* Nobody reads the statistics; without them no thread wakes up to collect any. */
    rocksdb_options_set_stats_dump_period_sec(db, 0);
    rocksdb_options_set_stats_persist_period_sec(db, 0);
    rocksdb_options_set_skip_stats_update_on_db_open(db, 1);
}

/* What happens to a write-ahead log whose end does not make sense.
 *
 * After a power cut the unsynced end may be short, zero or garbage, and, where a log was changed
 * just then, a later log may have reached the disk while the end of the one before did not. Only
 * point-in-time recovery copes with all of it: it keeps the longest unbroken beginning.
 * "Tolerate corrupted tail" would refuse garbage there, and would replay a later log over the gap,
 * bringing back writes without those they were decided upon; "absolute consistency" would refuse to
 * open after most power cuts.
 *
 * Its danger is that a log damaged in its synced part is cut short in silence, and acknowledged
 * writes are gone. The file SYNCED (store_synced.h) tells the two apart: rocksdb_engine.c refuses
 * to open a store that would recover to less than what was once synced. */
static void set_recovery(rocksdb_options_t *db)
{
    rocksdb_options_set_paranoid_checks(db, 1);
    rocksdb_options_set_wal_recovery_mode(db, rocksdb_point_in_time_recovery);
}

struct store_options *store_options_create(const struct engine_options *from)
{
    struct store_options *options = store_alloc(sizeof *options);
    options->db = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(options->db, 1);
    if (from->in_memory) {
        options->memory = rocksdb_create_mem_env();
        rocksdb_options_set_env(options->db, options->memory);
    }
    set_tables(options, from->block_cache_size);
    set_memory_and_levels(options->db, from->write_buffer_size);
    set_log_and_files(options->db,
                      from->open_files_max != 0 ? from->open_files_max : ENGINE_OPEN_FILES_MAX);
    set_recovery(options->db);
    return options;
}

void store_options_destroy(struct store_options *options)
{
    rocksdb_options_destroy(options->db);
    rocksdb_cache_destroy(options->block_cache);
    if (options->memory != NULL)
        rocksdb_env_destroy(options->memory);
    free(options);
}
