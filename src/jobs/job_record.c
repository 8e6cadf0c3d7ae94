/* job_record.c -- see job_record.h. Layout: doc/disk-format-recovery.md, "Job records". */
#include "jobs/job_record.h"
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "model/item_record.h"
#include "model/limits.h"
#include "table/layout.h"

static const enum job_letter letters[] = { JOB_BACKUP, JOB_EXPORT,  JOB_IMPORT,
                                           JOB_BULK,   JOB_RESTORE, JOB_MODEL_SCAN };

static const char *const state_names[JOB_STATE_COUNT] = {
    [JOB_RUNNING] = "RUNNING",
    [JOB_COMPLETED] = "COMPLETED",
    [JOB_FAILED] = "FAILED",
    [JOB_CANCELLED] = "CANCELLED",
};

const struct engine_place job_record_place = { .owner = LAYOUT_CATALOGUE_OWNER,
                                               .partition = LAYOUT_JOBS_PARTITION,
                                               .space = ENGINE_SPACE_CATALOGUE };

bool job_letter_is_known(uint8_t letter)
{
    for (size_t i = 0; i < COUNT_OF(letters); i++) {
        if (letter == letters[i])
            return true;
    }
    return false;
}

const char *job_state_name(enum job_state state)
{
    assert(state < JOB_STATE_COUNT);
    return state_names[state];
}

/* --- Ids --- */

enum {
    ID_DIGITS = 14,
    KEY_SIZE = 1 + JOB_ID_SIZE,
};
#define ID_MS_MAX INT64_C(99999999999999)

void job_record_make_id(int64_t created_ms, uint32_t salt, char out[JOB_ID_SIZE + 1])
{
    assert(created_ms >= 0);
    snprintf(out, JOB_ID_SIZE + 1, "%014" PRId64 "-%08" PRIx32,
             created_ms > ID_MS_MAX ? ID_MS_MAX : created_ms, salt);
}

bool job_record_is_id(struct bytes text)
{
    if (text.len != JOB_ID_SIZE || text.data[ID_DIGITS] != '-')
        return false;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.data[i];
        bool digit = c >= '0' && c <= '9';
        bool letter = i > ID_DIGITS && c >= 'a' && c <= 'f';
        if (i != ID_DIGITS && !digit && !letter)
            return false;
    }
    return true;
}

static struct bytes key_of(struct arena *arena, enum job_letter letter, struct bytes rest)
{
    const uint8_t first = (uint8_t)letter;
    const struct bytes parts[] = { bytes_of(&first, 1), rest };
    return arena_join(arena, parts, COUNT_OF(parts));
}

struct engine_address job_record_address(struct arena *arena, enum job_letter letter,
                                         struct bytes id)
{
    return (struct engine_address){ .place = job_record_place, .key = key_of(arena, letter, id) };
}

/* --- Encoding --- */

enum {
    TIME_COUNT = 3,
    PROGRESS_COUNT = 5,
    HOLD_COUNT = 2,
    WORD_SIZE_MAX = 32,
    UUID_SIZE_MAX = 64,
    REQUEST_SIZE_MAX = 64,
};

static void add_optional(struct item_builder *builder, const char *name, struct bytes text)
{
    if (text.data != NULL && text.len > 0)
        item_record_add_text(builder, name, text);
}

/* Bytes that need not be text. */
static void add_binary(struct item_builder *builder, const char *name, struct bytes value)
{
    struct buffer encoded;
    if (value.data == NULL || value.len == 0)
        return;
    buffer_init(&encoded, builder->arena);
    value_append_binary(&encoded, value);
    item_builder_add(builder, bytes_from_text(name), buffer_bytes(&encoded));
}

struct item job_record_encode(struct arena *arena, const struct job_record *record)
{
    const struct job_progress *progress = &record->progress;
    const uint64_t times[TIME_COUNT] = { (uint64_t)record->created_ms,
                                         (uint64_t)record->created_server_ms,
                                         (uint64_t)record->ended_ms };
    const uint64_t numbers[PROGRESS_COUNT] = { (uint64_t)progress->items_done,
                                               (uint64_t)progress->items_total,
                                               (uint64_t)progress->bytes_done,
                                               (uint64_t)progress->bytes_total,
                                               (uint64_t)progress->error_count };
    const uint64_t hold[HOLD_COUNT] = { record->source_id, (uint64_t)record->hold_us };
    struct item_builder builder;
    assert(record->position.len <= JOB_POSITION_SIZE_MAX &&
           record->detail.len <= JOB_DETAIL_SIZE_MAX && record->token.len <= JOB_TOKEN_SIZE_MAX &&
           record->caller.len <= JOB_CALLER_SIZE_MAX);
    item_builder_init(&builder, arena);
    item_record_add_text(&builder, "s", bytes_from_text(job_state_name(record->state)));
    item_record_add_numbers(&builder, "t", times, TIME_COUNT);
    item_record_add_numbers(&builder, "g", numbers, PROGRESS_COUNT);
    item_record_add_numbers(&builder, "h", hold, HOLD_COUNT);
    add_optional(&builder, "n", record->table_name);
    add_optional(&builder, "u", record->table_uuid);
    add_binary(&builder, "k", record->token);
    add_binary(&builder, "q", record->request);
    add_binary(&builder, "a", record->caller);
    add_binary(&builder, "p", record->position);
    add_binary(&builder, "d", record->detail);
    add_optional(&builder, "c", record->failure_code);
    add_optional(&builder, "m", record->failure_message);
    return item_builder_finish(&builder);
}

/* --- Decoding --- */

static bool find_optional(struct arena *arena, const struct item *item, const char *name,
                          size_t size_max, struct bytes *out)
{
    struct value ignored;
    *out = (struct bytes){ 0 };
    return !item_find(item, bytes_from_text(name), &ignored) ||
           item_record_find_text(arena, item, name, size_max, out);
}

static bool find_binary(struct arena *arena, const struct item *item, const char *name,
                        size_t size_max, struct bytes *out)
{
    struct value value;
    *out = (struct bytes){ 0 };
    if (!item_find(item, bytes_from_text(name), &value))
        return true;
    if (value.type != VALUE_B)
        return false;
    *out = arena_copy(arena, value.data);
    return out->len > 0 && out->len <= size_max;
}

static bool find_numbers(struct arena *arena, const struct item *item, const char *name,
                         size_t count, uint64_t **out)
{
    size_t found;
    if (!item_record_find_numbers(arena, item, name, count, out, &found) || found != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if ((*out)[i] > INT64_MAX)
            return false;
    }
    return true;
}

static bool find_state(struct arena *arena, const struct item *item, enum job_state *out)
{
    struct bytes word;
    if (!item_record_find_text(arena, item, "s", WORD_SIZE_MAX, &word))
        return false;
    for (int state = 0; state < JOB_STATE_COUNT; state++) {
        *out = (enum job_state)state;
        if (bytes_equal_text(word, state_names[state]))
            return true;
    }
    return false;
}

static bool decode_numbers(struct arena *arena, const struct item *item, struct job_record *out)
{
    uint64_t *times, *numbers, *hold;
    if (!find_numbers(arena, item, "t", TIME_COUNT, &times) ||
        !find_numbers(arena, item, "g", PROGRESS_COUNT, &numbers) ||
        !find_numbers(arena, item, "h", HOLD_COUNT, &hold))
        return false;
    out->created_ms = (int64_t)times[0];
    out->created_server_ms = (int64_t)times[1];
    out->ended_ms = (int64_t)times[2];
    out->progress = (struct job_progress){ .items_done = (int64_t)numbers[0],
                                           .items_total = (int64_t)numbers[1],
                                           .bytes_done = (int64_t)numbers[2],
                                           .bytes_total = (int64_t)numbers[3],
                                           .error_count = (int64_t)numbers[4] };
    out->source_id = hold[0];
    out->hold_us = (int64_t)hold[1];
    return true;
}

bool job_record_decode(struct arena *arena, struct bytes key, struct bytes stored,
                       struct job_record *out)
{
    struct item item;
    *out = (struct job_record){ 0 };
    if (key.len != KEY_SIZE || !job_letter_is_known(key.data[0]) ||
        !job_record_is_id(bytes_of(key.data + 1, JOB_ID_SIZE)) || !item_open(stored, &item) ||
        !item_verify(&item))
        return false;
    out->letter = (enum job_letter)key.data[0];
    memcpy(out->id, key.data + 1, JOB_ID_SIZE);
    return find_state(arena, &item, &out->state) && decode_numbers(arena, &item, out) &&
           find_optional(arena, &item, "n", TABLE_NAME_SIZE_MAX, &out->table_name) &&
           find_optional(arena, &item, "u", UUID_SIZE_MAX, &out->table_uuid) &&
           find_binary(arena, &item, "k", JOB_TOKEN_SIZE_MAX, &out->token) &&
           find_binary(arena, &item, "q", REQUEST_SIZE_MAX, &out->request) &&
           find_binary(arena, &item, "a", JOB_CALLER_SIZE_MAX, &out->caller) &&
           find_binary(arena, &item, "p", JOB_POSITION_SIZE_MAX, &out->position) &&
           find_binary(arena, &item, "d", JOB_DETAIL_SIZE_MAX, &out->detail) &&
           find_optional(arena, &item, "c", JOB_FAILURE_SIZE_MAX, &out->failure_code) &&
           find_optional(arena, &item, "m", JOB_FAILURE_SIZE_MAX, &out->failure_message);
}

/* --- Reading and writing --- */

static enum engine_status take(struct arena *arena, struct bytes key, struct bytes stored,
                               struct job_record *out)
{
    if (job_record_decode(arena, key, stored, out))
        return ENGINE_OK;
    log_write(LOG_ERROR, "jobs", "damaged record of a job");
    return ENGINE_CORRUPT;
}

enum engine_status job_record_load(struct engine *engine, struct arena *arena,
                                   enum job_letter letter, struct bytes id, struct job_record *out)
{
    struct engine_view *view = NULL;
    struct engine_value value = { 0 };
    const struct engine_address address = job_record_address(arena, letter, id);
    enum engine_status status = engine_view_open(engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = engine_view_get(view, &address, &value);
    if (status == ENGINE_OK)
        status = take(arena, address.key, value.bytes, out);
    engine_value_release(&value);
    engine_view_close(view);
    return status;
}

void job_record_put(struct arena *arena, const struct job_record *record,
                    struct engine_write *write)
{
    const struct engine_address address =
        job_record_address(arena, record->letter, bytes_of(record->id, JOB_ID_SIZE));
    engine_write_put(write, &address, job_record_encode(arena, record).encoded);
}

enum engine_status job_record_store(struct engine *engine, struct arena *arena,
                                    const struct job_record *record)
{
    struct engine_write *write = NULL;
    enum engine_status status = engine_write_begin(engine, NULL, 0, &write);
    if (status != ENGINE_OK)
        return status;
    job_record_put(arena, record, write);
    return engine_write_commit_wait(write);
}

enum engine_status job_record_remove(struct engine *engine, struct arena *arena,
                                     enum job_letter letter, struct bytes id)
{
    struct engine_write *write = NULL;
    const struct engine_address address = job_record_address(arena, letter, id);
    enum engine_status status = engine_write_begin(engine, NULL, 0, &write);
    if (status != ENGINE_OK)
        return status;
    engine_write_delete(write, &address);
    return engine_write_commit_wait(write);
}

/* Ids of a millisecond or later. */
static struct bytes first_key(struct arena *arena, enum job_letter letter, int64_t first_ms)
{
    char id[JOB_ID_SIZE + 1];
    job_record_make_id(first_ms < 0 ? 0 : first_ms, 0, id);
    return key_of(arena, letter, bytes_of(id, JOB_ID_SIZE));
}

static struct engine_range range_of(struct arena *arena, const struct job_record_query *query)
{
    static const uint8_t zero;
    struct engine_range range = { .place = job_record_place,
                                  .first = first_key(arena, query->letter, query->first_ms),
                                  .last = query->end_ms == 0
                                              ? key_of(arena, query->letter + 1, BYTES(""))
                                              : first_key(arena, query->letter, query->end_ms),
                                  .reverse = query->newest_first };
    if (query->after.data == NULL)
        return range;
    struct bytes after = key_of(arena, query->letter, query->after);
    if (query->newest_first && bytes_compare(after, range.last) < 0)
        range.last = after;
    if (!query->newest_first && bytes_compare(after, range.first) >= 0) {
        const struct bytes parts[] = { after, bytes_of(&zero, 1) };
        range.first = arena_join(arena, parts, COUNT_OF(parts));
    }
    return range;
}

enum engine_status job_record_visit(struct engine *engine, const struct job_record_query *query)
{
    struct engine_view *view = NULL;
    struct engine_scan *scan = NULL;
    struct arena *arena = arena_create();
    struct arena *scratch = arena_create();
    struct engine_range range = range_of(arena, query);
    enum engine_status status = engine_view_open(engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = engine_scan_open(view, &range, &scan);
    bool more = true;
    while (status == ENGINE_OK && more) {
        struct engine_entry entry;
        struct job_record record;
        status = engine_scan_next(scan, &entry);
        if (status == ENGINE_OK && take(scratch, entry.key, entry.value, &record) == ENGINE_OK)
            more = query->visit(query->context, &record);
        arena_reset(scratch);
    }
    engine_scan_close(scan);
    engine_view_close(view);
    arena_destroy(scratch);
    arena_destroy(arena);
    return status == ENGINE_END ? ENGINE_OK : status;
}

/* Does not look at the values. */
enum engine_status job_record_count(struct engine *engine, enum job_letter letter, size_t *out)
{
    struct engine_view *view = NULL;
    struct engine_scan *scan = NULL;
    struct engine_entry ignored;
    struct arena *arena = arena_create();
    struct engine_range range = range_of(arena, &(struct job_record_query){ .letter = letter });
    enum engine_status status = engine_view_open(engine, ENGINE_STRONG, &view);
    *out = 0;
    if (status == ENGINE_OK)
        status = engine_scan_open(view, &range, &scan);
    while (status == ENGINE_OK && *out < JOB_RECORDS_MAX) {
        status = engine_scan_next(scan, &ignored);
        *out += status == ENGINE_OK;
    }
    engine_scan_close(scan);
    engine_view_close(view);
    arena_destroy(arena);
    return status == ENGINE_END ? ENGINE_OK : status;
}

enum engine_status job_record_find_any(struct engine *engine, bool *out)
{
    const struct engine_range range = { .place = job_record_place, .count_max = 1 };
    struct engine_view *view = NULL;
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    enum engine_status status = engine_view_open(engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = engine_scan_open(view, &range, &scan);
    if (status == ENGINE_OK)
        status = engine_scan_next(scan, &entry);
    engine_scan_close(scan);
    engine_view_close(view);
    *out = status == ENGINE_OK;
    return status == ENGINE_END ? ENGINE_OK : status;
}

/* --- Old records --- */

struct removal {
    struct arena *arena;
    const struct clock *clock;
    struct engine_write *write;
    size_t count;
    struct job_record_sweep *sweep;
    size_t visits; /* Of backups. */
};

static bool is_old(const struct removal *removal, const struct job_record *record)
{
    int64_t lifetime_ms = INT64_C(86400000) * JOB_RECORD_LIFETIME_DAYS;
    return clock_server_age_ms(removal->clock, record->created_server_ms) >= lifetime_ms;
}

static void remove_record(struct removal *removal, const struct job_record *record)
{
    struct engine_address address =
        job_record_address(removal->arena, record->letter, bytes_of(record->id, JOB_ID_SIZE));
    engine_write_delete(removal->write, &address);
    removal->count++;
}

static bool remove_old(void *context, const struct job_record *record)
{
    struct removal *removal = context;
    if (!is_old(removal, record))
        return false;
    if (record->state != JOB_RUNNING)
        remove_record(removal, record);
    return removal->count < JOB_REMOVALS_MAX;
}

/* There may be many old backups that stay, so a sweep goes through them in steps. */
static bool remove_failed_backup(void *context, const struct job_record *record)
{
    struct removal *removal = context;
    struct job_record_sweep *sweep = removal->sweep;
    if (!is_old(removal, record)) {
        sweep->after[0] = '\0';
        return false;
    }
    memcpy(sweep->after, record->id, sizeof sweep->after);
    if (record->state == JOB_FAILED)
        remove_record(removal, record);
    return removal->count < JOB_REMOVALS_MAX && ++removal->visits < JOB_SWEEP_VISITS_MAX;
}

static enum engine_status sweep_backups(struct engine *engine, struct removal *removal, bool *more)
{
    struct job_record_sweep *sweep = removal->sweep;
    char after[JOB_ID_SIZE + 1];
    struct job_record_query query = { .letter = JOB_BACKUP,
                                      .visit = remove_failed_backup,
                                      .context = removal };
    memcpy(after, sweep->after, sizeof after);
    if (after[0] != '\0')
        query.after = bytes_of(after, JOB_ID_SIZE);
    enum engine_status status = job_record_visit(engine, &query);
    *more = removal->visits >= JOB_SWEEP_VISITS_MAX || removal->count >= JOB_REMOVALS_MAX;
    if (!*more)
        sweep->after[0] = '\0'; /* Every old one was seen. */
    return status;
}

enum engine_status job_record_remove_old(struct engine *engine, const struct clock *clock,
                                         struct job_record_sweep *sweep, bool *more)
{
    struct removal removal = { .clock = clock, .sweep = sweep };
    *more = false;
    enum engine_status status = engine_write_begin(engine, NULL, 0, &removal.write);
    if (status != ENGINE_OK)
        return status;
    removal.arena = arena_create();
    for (size_t i = 0; i < COUNT_OF(letters) && status == ENGINE_OK; i++) {
        if (letters[i] != JOB_BACKUP)
            status = job_record_visit(engine, &(struct job_record_query){ .letter = letters[i],
                                                                          .visit = remove_old,
                                                                          .context = &removal });
    }
    if (status == ENGINE_OK && removal.count < JOB_REMOVALS_MAX)
        status = sweep_backups(engine, &removal, more);
    *more = *more || removal.count >= JOB_REMOVALS_MAX;
    if (status == ENGINE_OK && removal.count > 0) {
        status = engine_write_commit_wait(removal.write);
    } else {
        engine_write_abandon(removal.write);
    }
    arena_destroy(removal.arena);
    return status;
}

/* --- Requests to cancel a job --- */

enum { CANCEL_LETTER = 'C' }; /* No kind of job: readers of records never meet it. */

struct engine_address job_cancel_address(struct arena *arena, struct bytes id)
{
    return (struct engine_address){ .place = job_record_place,
                                    .key = key_of(arena, (enum job_letter)CANCEL_LETTER, id) };
}

enum engine_status job_cancel_store(struct engine *engine, const struct clock *clock,
                                    struct bytes id)
{
    struct arena *arena = arena_create();
    const uint64_t now_ms = (uint64_t)clock_server_ms(clock);
    const struct engine_address address = job_cancel_address(arena, id);
    struct engine_write *write = NULL;
    struct item_builder builder;
    item_builder_init(&builder, arena);
    item_record_add_numbers(&builder, "t", &now_ms, 1);
    enum engine_status status = engine_write_begin(engine, NULL, 0, &write);
    if (status == ENGINE_OK) {
        engine_write_put(write, &address, item_builder_finish(&builder).encoded);
        status = engine_write_commit_wait(write);
    }
    arena_destroy(arena);
    return status;
}

enum engine_status job_cancel_remove(struct engine *engine, struct bytes id)
{
    struct arena *arena = arena_create();
    enum engine_status status =
        job_record_remove(engine, arena, (enum job_letter)CANCEL_LETTER, id);
    arena_destroy(arena);
    return status;
}

enum engine_status job_cancel_find(struct engine *engine, struct bytes id, bool *out)
{
    struct arena *arena = arena_create();
    struct engine_view *view = NULL;
    struct engine_value value = { 0 };
    const struct engine_address address = job_cancel_address(arena, id);
    enum engine_status status = engine_view_open(engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = engine_view_get(view, &address, &value);
    *out = status == ENGINE_OK;
    engine_value_release(&value);
    engine_view_close(view);
    arena_destroy(arena);
    return status == ENGINE_NOT_FOUND ? ENGINE_OK : status;
}

bool job_cancel_decode(struct bytes key, struct bytes stored)
{
    struct arena *arena = arena_create();
    struct item item;
    uint64_t *times;
    bool ok = key.len == KEY_SIZE && key.data[0] == CANCEL_LETTER &&
              job_record_is_id(bytes_of(key.data + 1, JOB_ID_SIZE)) && item_open(stored, &item) &&
              item_verify(&item) && find_numbers(arena, &item, "t", 1, &times);
    arena_destroy(arena);
    return ok;
}
