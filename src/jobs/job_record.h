/* job_record.h -- durable records of long work: backups, exports, imports, bulk operations and
 * restores.
 *
 * A record is stored before its job begins, carries the job's position and progress while it runs,
 * and stays afterwards as what Describe and List operations show. Its id is made of the time of the
 * request, so that the records of a kind are stored in the order of their times, and is what the
 * service's ARNs end with. The record of a backup is the backup's entry in the list of backups: it
 * stays until the backup is deleted. All others are removed after 90 days.
 *
 * Times that are shown are wall times. How long a token or a record lasts is measured by server
 * time (base/clock.h). Layout: doc/disk-format-recovery.md, "Job records".
 */
#ifndef STATOR_JOBS_JOB_RECORD_H
#define STATOR_JOBS_JOB_RECORD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "model/item.h"

struct arena;
struct clock;

/* The first byte of a record's key: values never change. */
enum job_letter {
    JOB_BACKUP = 'B',
    JOB_EXPORT = 'E',
    JOB_IMPORT = 'I',
    JOB_BULK = 'O',
    JOB_RESTORE = 'R',
    JOB_MODEL_SCAN = 'M',
};
bool job_letter_is_known(uint8_t letter);

enum job_state {
    JOB_RUNNING, /* Or waiting for its turn. */
    JOB_COMPLETED,
    JOB_FAILED,
    JOB_CANCELLED,
    JOB_STATE_COUNT,
};
const char *job_state_name(enum job_state state); /* "RUNNING" */

enum {
    JOB_ID_SIZE = 14 + 1 + 8,    /* "01763300000000-0123abcd": milliseconds, then hex digits. */
    JOB_TOKEN_LENGTH_MAX = 1024, /* In units of UTF-16, as the shapes of requests count, */
    JOB_TOKEN_SIZE_MAX = 3 * JOB_TOKEN_LENGTH_MAX, /* each of which has up to three bytes. */
    JOB_TOKEN_LIFETIME_MS = 8 * 60 * 60 * 1000,
    JOB_RECORD_LIFETIME_DAYS = 90,
    JOB_POSITION_SIZE_MAX = 8 * 1024,
    JOB_DETAIL_SIZE_MAX = 1024 * 1024,
    JOB_FAILURE_SIZE_MAX = 4 * 1024,
    JOB_CALLER_SIZE_MAX = 128 * 1024,
    /* Of one kind. A request beyond is refused, so that clients cannot fill the store with them. */
    JOB_RECORDS_MAX = 100 * 1000,
};

/* Numbers that everybody may see. A total of 0 is not known. */
struct job_progress {
    int64_t items_done;
    int64_t items_total;
    int64_t bytes_done;
    int64_t bytes_total;
    int64_t error_count; /* Items that were refused. */
};

/* A plain value; what it points to lives in the arena it was decoded or built in. */
struct job_record {
    enum job_letter letter;
    char id[JOB_ID_SIZE + 1]; /* With its NUL. */
    enum job_state state;
    int64_t created_ms;
    int64_t created_server_ms;
    int64_t ended_ms; /* 0: it has not ended. */
    /* The table that the job is about: its name and TableId. Data NULL: there is none yet. */
    struct bytes table_name;
    struct bytes table_uuid;
    /* The owner whose items and history the job reads; its data is not removed, and its history
     * from `hold_us` on is not trimmed, while the job runs. 0: none. */
    uint64_t source_id;
    int64_t hold_us;
    struct bytes token;   /* ClientToken; data NULL: none. */
    struct bytes request; /* A hash of the request's parameters, for repeated tokens. Or NULL. */
    /* Who asked for the job, for decisions about access that only the job can ask for
     * (api/job_access.h). Data NULL: callers were not distinguished. */
    struct bytes caller;
    struct job_progress progress;
    /* How far the job has come, in its own terms; empty: at the beginning. */
    struct bytes position;
    /* What only the job's kind understands, such as the request as JSON. Data NULL: nothing. */
    struct bytes detail;
    struct bytes failure_code; /* JOB_FAILED; else data NULL. */
    struct bytes failure_message;
};

extern const struct engine_place job_record_place;

/* An id of a request at a time. `salt` distinguishes those of one millisecond. */
void job_record_make_id(int64_t created_ms, uint32_t salt, char out[JOB_ID_SIZE + 1]);
bool job_record_is_id(struct bytes text);

struct engine_address job_record_address(struct arena *arena, enum job_letter letter,
                                         struct bytes id);
struct item job_record_encode(struct arena *arena, const struct job_record *record);
/* False if the bytes are no such record, or not of that key. The result lives in the arena. */
MUST_CHECK bool job_record_decode(struct arena *arena, struct bytes key, struct bytes stored,
                                  struct job_record *out);

/* --- Reading and writing. All wait for the disk, and log what is damaged. --- */

/* ENGINE_NOT_FOUND if there is none. */
MUST_CHECK enum engine_status job_record_load(struct engine *engine, struct arena *arena,
                                              enum job_letter letter, struct bytes id,
                                              struct job_record *out);
/* Adds the record to a write of somebody else. */
void job_record_put(struct arena *arena, const struct job_record *record,
                    struct engine_write *write);
MUST_CHECK enum engine_status job_record_store(struct engine *engine, struct arena *arena,
                                               const struct job_record *record);
MUST_CHECK enum engine_status job_record_remove(struct engine *engine, struct arena *arena,
                                                enum job_letter letter, struct bytes id);

struct job_record_query {
    enum job_letter letter;
    int64_t first_ms;   /* created_ms from here on; */
    int64_t end_ms;     /* up to here, exclusive. 0: no bound. */
    struct bytes after; /* An id, behind which to begin, in the order asked for; data NULL: none. */
    bool newest_first;
    /* Called for each record in turn; false ends the reading. The record is valid during the call:
     * copy what outlives it. */
    bool (*visit)(void *context, const struct job_record *record);
    void *context;
};
/* Visits records in the order of their ids, which is that of their times. A damaged one is logged
 * and passed over: it keeps neither others from being seen nor a server from starting. */
MUST_CHECK enum engine_status job_record_visit(struct engine *engine,
                                               const struct job_record_query *query);
/* How many records of a kind there are, or JOB_RECORDS_MAX if there are more. */
MUST_CHECK enum engine_status job_record_count(struct engine *engine, enum job_letter letter,
                                               size_t *out);
/* Whether there is any record at all. */
MUST_CHECK enum engine_status job_record_find_any(struct engine *engine, bool *out);
/* Removes the records that ended and are older than JOB_RECORD_LIFETIME_DAYS; of backups only those
 * that failed. At most JOB_REMOVALS_MAX at a time, and looks at JOB_SWEEP_VISITS_MAX backups at
 * most; `*more`: call again soon. `sweep` is all zero at first. */
enum { JOB_REMOVALS_MAX = 1000, JOB_SWEEP_VISITS_MAX = 1000 };
struct job_record_sweep {
    char after[JOB_ID_SIZE + 1]; /* The backup that was looked at last; "": begin anew. */
};
MUST_CHECK enum engine_status job_record_remove_old(struct engine *engine,
                                                    const struct clock *clock,
                                                    struct job_record_sweep *sweep, bool *more);

/* --- Requests to cancel a job ---
 *
 * A record belongs to the thread that runs its job, so the request is stored beside it. It is
 * removed with the end of the job. */

struct engine_address job_cancel_address(struct arena *arena, struct bytes id);
/* Of a job whose kind can be cancelled. Returns when it is durable. */
MUST_CHECK enum engine_status job_cancel_store(struct engine *engine, const struct clock *clock,
                                               struct bytes id);
MUST_CHECK enum engine_status job_cancel_remove(struct engine *engine, struct bytes id);
MUST_CHECK enum engine_status job_cancel_find(struct engine *engine, struct bytes id, bool *out);
/* Whether stored bytes are such a request. */
bool job_cancel_decode(struct bytes key, struct bytes stored);

#endif
