/* decisions_backups.c -- rows of on-demand backups and restores. */
#include <stddef.h>
#include "decisions.h"

/* clang-format off */
#define CREATE_BACKUP(table) "{'TableName':'" table "','BackupName':'nightly'}"
#define BACKUP(table) table "/backup/01700000000000-0123abcd"
#define OF_BACKUP(table) "{'BackupArn':'" ARN(BACKUP(table)) "'}"

const struct decision decisions_create_backup[] = {
    ASKS(CREATE_BACKUP("Tab"), "CreateBackup", "Tab", YES),
    ASKS(CREATE_BACKUP("Absent"), "CreateBackup", "Absent", FAILS(ERROR_TABLE_NOT_FOUND)),
    STRANGER(CREATE_BACKUP("Secret"), CREATE_BACKUP("Absent"), "CreateBackup"),
    TABLE_POLICY(CREATE_BACKUP("Tab"), "CreateBackup", "Tab", YES),
    { TAGGED("red"), NULL, NULL, CREATE_BACKUP("Tab"), NO("CreateBackup", "Tab") },
    END,
};

/* Backups are asked about by their own ARNs; none exists in this world. */
const struct decision decisions_describe_backup[] = {
    ASKS(OF_BACKUP("Tab"), "DescribeBackup", BACKUP("Tab"), FAILS(ERROR_BACKUP_NOT_FOUND)),
    { ONLY("DescribeBackup", "Tab"), NULL, NULL, OF_BACKUP("Tab"), NO("DescribeBackup", BACKUP("Tab")) },
    { ONLY("DescribeBackup", "Tab/backup/*"), NULL, NULL, OF_BACKUP("Secret"), NO("DescribeBackup", BACKUP("Secret")) },
    { NOT_SECRET, NULL, NULL, OF_BACKUP("Secret"), DENIED("DescribeBackup", BACKUP("Secret")) },
    END,
};
const struct decision decisions_delete_backup[] = {
    ASKS(OF_BACKUP("Tab"), "DeleteBackup", BACKUP("Tab"), FAILS(ERROR_BACKUP_NOT_FOUND)),
    { ONLY("DeleteBackup", "Tab"), NULL, NULL, OF_BACKUP("Tab"), NO("DeleteBackup", BACKUP("Tab")) },
    { NOT_SECRET, NULL, NULL, OF_BACKUP("Secret"), DENIED("DeleteBackup", BACKUP("Secret")) },
    END,
};
const struct decision decisions_list_backups[] = { ASKS_ACCOUNT("{}", "ListBackups"), END };

/* A restore also needs to read and write the new table. */
#define FILL(table)                                                                                \
    "{'Effect':'Allow','Action':['dynamodb:BatchWriteItem','dynamodb:DeleteItem','dynamodb:GetItem'," \
    "'dynamodb:PutItem','dynamodb:Query','dynamodb:Scan','dynamodb:UpdateItem'],"                  \
    "'Resource':'" ARN(table) "'}"
#define FROM_BACKUP(target) "{'BackupArn':'" ARN(BACKUP("Tab")) "','TargetTableName':'" target "'}"
const struct decision decisions_restore_table_from_backup[] = {
    { NOTHING, NULL, NULL, FROM_BACKUP("New"), NO("RestoreTableFromBackup", BACKUP("Tab")) },
    { ALL, NULL, NULL, FROM_BACKUP("New"), FAILS(ERROR_BACKUP_NOT_FOUND) },
    { ONLY("RestoreTableFromBackup", BACKUP("Tab")), NULL, NULL, FROM_BACKUP("New"), NO("RestoreTableFromBackup", "New") },
    { ONLY("RestoreTableFromBackup", BACKUP("Tab")) "," ONLY("RestoreTableFromBackup", "New"), NULL, NULL, FROM_BACKUP("New"), NO("BatchWriteItem", "New") },
    { ONLY("RestoreTableFromBackup", BACKUP("Tab")) "," ONLY("RestoreTableFromBackup", "New") "," FILL("New"), NULL, NULL, FROM_BACKUP("New"), FAILS(ERROR_BACKUP_NOT_FOUND) },
    { ALL_DENY("PutItem", "New"), NULL, NULL, FROM_BACKUP("New"), DENIED("PutItem", "New") },
    { ALL_DENY("RestoreTableFromBackup", "New"), NULL, NULL, FROM_BACKUP("New"), DENIED("RestoreTableFromBackup", "New") },
    END,
};
#define TO_TIME(source, target) "{'SourceTableName':'" source "','TargetTableName':'" target "','UseLatestRestorableTime':true}"
const struct decision decisions_restore_table_to_point_in_time[] = {
    { NOTHING, NULL, NULL, TO_TIME("Tab", "New"), NO("RestoreTableToPointInTime", "Tab") },
    { ALL, NULL, NULL, TO_TIME("Tab", "New"), FAILS(ERROR_POINT_IN_TIME_RECOVERY_UNAVAILABLE) },
    { ALL, NULL, NULL, TO_TIME("Absent", "New"), FAILS(ERROR_TABLE_NOT_FOUND) },
    { ONLY("RestoreTableToPointInTime", "Tab"), NULL, NULL, TO_TIME("Tab", "New"), NO("RestoreTableToPointInTime", "New") },
    { ONLY("RestoreTableToPointInTime", "Tab") "," ONLY("RestoreTableToPointInTime", "New"), NULL, NULL, TO_TIME("Tab", "New"), NO("BatchWriteItem", "New") },
    { ONLY("RestoreTableToPointInTime", "Tab") "," ONLY("RestoreTableToPointInTime", "New") "," FILL("New"), NULL, NULL, TO_TIME("Tab", "New"), FAILS(ERROR_POINT_IN_TIME_RECOVERY_UNAVAILABLE) },
    { ALL_DENY("Scan", "New"), NULL, NULL, TO_TIME("Tab", "New"), DENIED("Scan", "New") },
    STRANGER(TO_TIME("Secret", "New"), TO_TIME("Absent", "New"), "RestoreTableToPointInTime"),
    END,
};
/* clang-format on */
