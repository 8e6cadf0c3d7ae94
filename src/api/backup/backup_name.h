/* backup_name.h -- the ARNs of backups, and their details in the records of jobs. */
#ifndef STATOR_API_BACKUP_BACKUP_NAME_H
#define STATOR_API_BACKUP_BACKUP_NAME_H
#include <stdbool.h>
#include <stdint.h>
#include "archive/archive.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/table_definition.h"
#include "table/table_stats.h"

struct api_call;
struct arena;
struct job_record;

enum {
    BACKUP_ARN_SIZE_MIN = 37,
    BACKUP_ARN_SIZE_MAX = 1024,
    BACKUP_NAME_SIZE_MIN = 3,
    BACKUP_NAME_SIZE_MAX = 255,
};

/* --- ARNs --- */

/* "arn:aws:dynamodb:<region>:<account>:table/<table>/backup/<id>". All borrow the text. */
struct backup_arn {
    struct bytes text; /* As sent. */
    struct bytes region;
    struct bytes table;
    struct bytes id;
    bool is_other_region;
};
/* False with the service's error set if the text is none, or is one of another account. */
MUST_CHECK bool backup_arn_parse(struct api_call *call, struct bytes text, struct backup_arn *out);
/* The ARN of a backup of ours, in the arena. */
struct bytes backup_arn_of(struct api_call *call, struct bytes table, struct bytes id);
/* The same as our own region writes it, whatever region it was sent with. */
struct bytes backup_arn_own(struct api_call *call, const struct backup_arn *arn);

/* --- Details --- */

enum backup_type { BACKUP_USER, BACKUP_SYSTEM };

/* What the record of a backup holds besides what every job's has (`detail`). */
struct backup_detail {
    struct bytes name;
    enum backup_type type;
    bool deleting;                 /* Its files are being removed; for clients it is gone. */
    int64_t expires_ms;            /* Wall time that is shown; 0: never. */
    int64_t moment_ms;             /* Of what it holds, if that is not the request's; 0: it is. */
    struct bytes record;           /* The table's record, at the time of the request. */
    struct table_definition table; /* What that decodes to. */
    struct table_stats stats;
    struct archive_file *files; /* That are complete. */
    size_t file_count;
};
struct bytes backup_detail_encode(struct arena *arena, const struct backup_detail *detail);
/* False, logged, if the record is damaged. The result lives in the arena. */
MUST_CHECK bool backup_detail_decode(struct arena *arena, const struct job_record *record,
                                     struct backup_detail *out);
/* Loads a backup that clients can see, by an ARN that passed. False with the service's error set,
 * BackupNotFoundException if there is none. */
MUST_CHECK bool backup_operation_find(struct api_call *call, const struct backup_arn *arn,
                                      struct job_record *record, struct backup_detail *detail);
/* Whether a restore of the backup of that id is under way. */
bool backup_operation_is_restored(struct api_call *call, struct bytes id);
/* When the table was as the backup has it: the creation time that clients see. */
int64_t backup_moment_ms(const struct job_record *record, const struct backup_detail *detail);
/* Whether clients see the backup at all: it is being made or complete. */
bool backup_is_shown(const struct job_record *record, const struct backup_detail *detail);

#endif
