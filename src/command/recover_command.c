/* recover_command.c -- `stator recover`: a table as it was at a moment, as another table; or one
 * that was deleted, or is in a backup.
 *
 * The server restores by itself, and continues if the command is interrupted. The command shows how
 * far it has come, and waits for the end.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "command/admin_client.h"
#include "command/answer.h"
#include "command/command.h"
#include "command/command_time.h"
#include "command/progress_bar.h"
#include "json/writer.h"

enum { POLL_US = 100 * 1000 };

struct recovery {
    const struct command_call *call;
    struct admin_client_call request; /* Endpoint and authorities. */
    struct arena *arena;              /* Of one answer at a time. */
    const char *table;
    const char *target;
    struct progress_bar bar;
};

static int send(struct recovery *recovery, const char *operation, struct bytes body,
                struct bytes *answer)
{
    recovery->request.operation = operation;
    recovery->request.body = body;
    return admin_client_send(recovery->arena, &recovery->request, answer);
}

/* --- Requests --- */

static void write_member(struct json_writer *json, const char *name, const char *text)
{
    json_write_name(json, name);
    json_write_text(json, text);
}

/* From the history of the table. */
static int request_moment(struct recovery *recovery, const char *to, struct bytes *body)
{
    struct json_writer json;
    struct buffer out;
    int64_t to_ms;
    buffer_init(&out, recovery->call->arena);
    json_writer_init(&json, &out);
    json_open_object(&json);
    write_member(&json, "SourceTableName", recovery->table);
    write_member(&json, "TargetTableName", recovery->target);
    if (to == NULL) {
        json_write_name(&json, "UseLatestRestorableTime");
        json_write_bool(&json, true);
    } else {
        if (!command_time_parse(to, &to_ms))
            return command_fail(COMMAND_MISUSED, "to", COMMAND_TIME_EXPECTED);
        json_write_name(&json, "RestoreDateTime");
        json_write_seconds(&json, to_ms);
    }
    json_close_object(&json);
    *body = buffer_bytes(&out);
    return COMMAND_OK;
}

static struct bytes request_backup(struct recovery *recovery, struct bytes arn)
{
    struct json_writer json;
    struct buffer out;
    buffer_init(&out, recovery->call->arena);
    json_writer_init(&json, &out);
    json_open_object(&json);
    write_member(&json, "TargetTableName", recovery->target);
    json_write_name(&json, "BackupArn");
    json_write_string(&json, arn);
    json_close_object(&json);
    return buffer_bytes(&out);
}

struct backup_search {
    struct recovery *recovery;
    struct bytes arn; /* Of the newest; empty: none was found. */
};

/* They come in the order of their times. */
static void keep_backup(void *context, struct bytes element)
{
    struct backup_search *search = context;
    struct recovery *recovery = search->recovery;
    search->arn =
        arena_copy(recovery->call->arena, answer_text(recovery->arena, element, "BackupArn"));
}

/* What the server kept when the table was deleted last. */
static int find_deleted(struct recovery *recovery, struct bytes *arn)
{
    struct backup_search search = { .recovery = recovery, .arn = BYTES("") };
    struct bytes answer, after = BYTES("");
    do {
        struct json_writer json;
        struct buffer body;
        buffer_init(&body, recovery->call->arena);
        json_writer_init(&json, &body);
        json_open_object(&json);
        write_member(&json, "TableName", recovery->table);
        write_member(&json, "BackupType", "SYSTEM");
        if (after.len > 0) {
            json_write_name(&json, "ExclusiveStartBackupArn");
            json_write_string(&json, after);
        }
        json_close_object(&json);
        int code = send(recovery, "ListBackups", buffer_bytes(&body), &answer);
        if (code != COMMAND_OK)
            return code;
        answer_visit(recovery->arena, answer_json(recovery->arena, answer, "BackupSummaries"),
                     keep_backup, &search);
        after = arena_copy(recovery->call->arena,
                           answer_text(recovery->arena, answer, "LastEvaluatedBackupArn"));
    } while (after.len > 0);
    *arn = search.arn;
    return search.arn.len > 0 ? COMMAND_OK
                              : command_fail(COMMAND_FAILED, recovery->table,
                                             "no deleted table of that name had recovery");
}

/* --- Waiting --- */

/* The newest restore into the target. */
struct restore_job {
    struct recovery *recovery;
    struct bytes id, status, code, message;
    uint64_t done, total;
};

static void keep_job(void *context, struct bytes element)
{
    struct restore_job *job = context;
    struct arena *arena = job->recovery->arena;
    struct bytes id = answer_text(arena, element, "JobId");
    if (!bytes_equal_text(answer_text(arena, element, "TableName"), job->recovery->target))
        return;
    job->id = id;
    job->status = answer_text(arena, element, "Status");
    job->code = answer_text(arena, element, "FailureCode");
    job->message = answer_text(arena, element, "FailureMessage");
    job->done = (uint64_t)answer_number(arena, element, "ItemsDone");
    job->total = (uint64_t)answer_number(arena, element, "ItemsTotal");
}

/* Asks for the one job, however many were started since. */
static struct bytes request_job(struct recovery *recovery)
{
    struct json_writer json;
    struct buffer out;
    buffer_init(&out, recovery->call->arena);
    json_writer_init(&json, &out);
    json_open_object(&json);
    write_member(&json, "Kind", "restore");
    write_member(&json, "TableName", recovery->target);
    json_write_name(&json, "MaxResults");
    json_write_integer(&json, 1);
    json_close_object(&json);
    return buffer_bytes(&out);
}

static int wait_for_end(struct recovery *recovery, struct restore_job *job)
{
    struct bytes body = request_job(recovery);
    for (;;) {
        struct bytes answer;
        arena_reset(recovery->arena);
        int code = send(recovery, "ListJobs", body, &answer);
        if (code != COMMAND_OK)
            return code;
        *job = (struct restore_job){ .recovery = recovery, .id = BYTES("") };
        answer_visit(recovery->arena, answer_json(recovery->arena, answer, "Jobs"), keep_job, job);
        if (job->id.len == 0)
            return command_fail(COMMAND_FAILED, recovery->target, "the server knows no restore");
        if (!bytes_equal_text(job->status, "RUNNING"))
            return COMMAND_OK;
        progress_bar_show(&recovery->bar, job->done, job->total, job->done, 0);
        usleep(POLL_US);
    }
}

static int finish(struct recovery *recovery)
{
    struct restore_job job;
    progress_bar_init(&recovery->bar, command_value_of(recovery->call, "quiet") != NULL);
    int code = wait_for_end(recovery, &job);
    progress_bar_end(&recovery->bar);
    if (code != COMMAND_OK)
        return code;
    if (!bytes_equal_text(job.status, "COMPLETED")) {
        fprintf(stderr, "stator: %s: %.*s: %.*s\n", recovery->target, BYTES_FMT(job.code),
                BYTES_FMT(job.message));
        return COMMAND_FAILED;
    }
    printf("%s: %" PRIu64 " items in %.1f s\n", recovery->target, job.done,
           progress_bar_seconds(&recovery->bar));
    return command_flush();
}

/* --- The command --- */

static int recover(struct recovery *recovery)
{
    const struct command_call *call = recovery->call;
    const char *to = command_value_of(call, "to"), *backup = command_value_of(call, "backup");
    bool deleted = command_value_of(call, "deleted") != NULL;
    struct bytes body, arn, answer;
    int code;
    if ((to != NULL) + (backup != NULL) + deleted > 1)
        return command_fail(COMMAND_MISUSED, "recover",
                            "give one of --to, --backup and --deleted at most");
    if (deleted || backup != NULL) {
        code = deleted ? find_deleted(recovery, &arn) : COMMAND_OK;
        if (code == COMMAND_OK)
            body = request_backup(recovery, deleted ? arn : bytes_from_text(backup));
    } else {
        code = request_moment(recovery, to, &body);
    }
    if (code == COMMAND_OK)
        code =
            send(recovery,
                 deleted || backup != NULL ? "RestoreTableFromBackup" : "RestoreTableToPointInTime",
                 body, &answer);
    return code == COMMAND_OK ? finish(recovery) : code;
}

int recover_command(const struct command_call *call)
{
    struct recovery recovery = { .call = call,
                                 .request = admin_client_call_of(call, "ListJobs"),
                                 .arena = arena_create(),
                                 .table = call->words[0],
                                 .target = command_value_of(call, "as") };
    if (recovery.target == NULL && command_value_of(call, "deleted") == NULL)
        recovery.target =
            (const char *)arena_printf(call->arena, "%s-recovered", call->words[0]).data;
    else if (recovery.target == NULL)
        recovery.target = call->words[0];
    int code = recover(&recovery);
    arena_destroy(recovery.arena);
    return code;
}
