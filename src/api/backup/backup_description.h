/* backup_description.h -- a backup as the service's BackupDetails, BackupDescription and
 * BackupSummary. */
#ifndef STATOR_API_BACKUP_BACKUP_DESCRIPTION_H
#define STATOR_API_BACKUP_BACKUP_DESCRIPTION_H
#include "base/bytes.h"

struct api_call;
struct backup_detail;
struct job_record;
struct json_writer;

/* What is shown of one backup. */
struct backup_shown {
    const struct job_record *record;
    const struct backup_detail *detail;
    struct bytes arn;   /* As the client sent it, or as ours. */
    const char *status; /* "CREATING", "AVAILABLE", "DELETED" */
};
/* The status of a backup that was not just deleted. */
const char *backup_description_status(const struct job_record *record);

/* The member BackupDetails. */
void backup_description_write_details(struct json_writer *writer, const struct backup_shown *shown);
/* The member BackupDescription: details, and the table as it was. */
void backup_description_write(struct json_writer *writer, struct api_call *call,
                              const struct backup_shown *shown);
/* An element of BackupSummaries. */
void backup_description_write_summary(struct json_writer *writer, struct api_call *call,
                                      const struct backup_shown *shown);

#endif
