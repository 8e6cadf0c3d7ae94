/* decisions_exports.c -- who may export tables, and see exports. */
#include "decisions.h"

/* clang-format off */

#define EXPORT(table) "{'TableArn':'" ARN(table) "','S3Bucket':'bkt','S3Prefix':'p'}"
#define OBJECTS "arn:aws:s3:::bkt/p/AWSDynamoDB/*"
#define S3(action, resource) "{'Effect':'Allow','Action':'s3:" action "','Resource':'" resource "'}"
#define MAY_EXPORT ONLY("ExportTableToPointInTime", "Tab")
/* Let through: Tab has no history. */
#define LET_THROUGH FAILS(ERROR_POINT_IN_TIME_RECOVERY_UNAVAILABLE)

const struct decision decisions_export_table_to_point_in_time[] = {
    { NOTHING, NULL, NULL, EXPORT("Tab"), NO("ExportTableToPointInTime", "Tab") },
    { ALL_BUT_ACTION("ExportTableToPointInTime"), NULL, NULL, EXPORT("Tab"), NO("ExportTableToPointInTime", "Tab") },
    { ALL_DENY("ExportTableToPointInTime", "Tab"), NULL, NULL, EXPORT("Tab"), DENIED("ExportTableToPointInTime", "Tab") },
    { ALL, NULL, NULL, EXPORT("Tab"), LET_THROUGH },
    /* The objects are asked for as well. */
    { MAY_EXPORT, NULL, NULL, EXPORT("Tab"), NO("s3:PutObject", OBJECTS) },
    { MAY_EXPORT "," S3("AbortMultipartUpload", "*"), NULL, NULL, EXPORT("Tab"), NO("s3:PutObject", OBJECTS) },
    { MAY_EXPORT "," S3("PutObject", "*"), NULL, NULL, EXPORT("Tab"), NO("s3:AbortMultipartUpload", OBJECTS) },
    { MAY_EXPORT "," S3("*", "arn:aws:s3:::other/*"), NULL, NULL, EXPORT("Tab"), NO("s3:PutObject", OBJECTS) },
    { MAY_EXPORT "," S3("*", "arn:aws:s3:::bkt/p*"), NULL, NULL, EXPORT("Tab"), LET_THROUGH },
    { MAY_EXPORT "," S3("*", "arn:aws:s3:::bkt/*"), NULL, NULL, EXPORT("Tab"), LET_THROUGH },
    { MAY_EXPORT "," S3("*", "arn:aws:s3:::bkt/p/*"), NULL, NULL, EXPORT("Tab"), LET_THROUGH },
    { MAY_EXPORT "," S3("*", "arn:aws:s3:::bkt/p"), NULL, NULL, EXPORT("Tab"), NO("s3:PutObject", OBJECTS) },
    { ALL ",{'Effect':'Deny','Action':'s3:PutObject','Resource':'arn:aws:s3:::bkt/*'}", NULL, NULL, EXPORT("Tab"), DENIED("s3:PutObject", OBJECTS) },
    { ALL ",{'Effect':'Deny','Action':'s3:PutObject','Resource':'arn:aws:s3:::bkt/p/*'}", NULL, NULL, EXPORT("Tab"), DENIED("s3:PutObject", OBJECTS) },
    /* A table's policy may allow the export, not the objects. */
    { S3("*", "*"), OF_RESOURCE("Allow", ALICE, "ExportTableToPointInTime"), NULL, EXPORT("Tab"), LET_THROUGH },
    { NOTHING, OF_RESOURCE("Allow", ALICE, "*"), NULL, EXPORT("Tab"), NO("s3:PutObject", OBJECTS) },
    { S3("*", "*"), OF_RESOURCE("Allow", BOB, "*"), NULL, EXPORT("Tab"), NO("ExportTableToPointInTime", "Tab") },
    { ALL, OF_RESOURCE("Deny", EVERYBODY, "*"), NULL, EXPORT("Tab"), DENIED_BY_RESOURCE("ExportTableToPointInTime", "Tab") },
    STRANGER(EXPORT("Secret"), EXPORT("Absent"), "ExportTableToPointInTime"),
    { ALL, NULL, NULL, EXPORT("Absent"), FAILS(ERROR_TABLE_NOT_FOUND) },
    END,
};

#define AN_EXPORT "Tab/export/01700000000000-0123abcd"
const struct decision decisions_describe_export[] = {
    ASKS("{'ExportArn':'" ARN(AN_EXPORT) "'}", "DescribeExport", AN_EXPORT, FAILS(ERROR_EXPORT_NOT_FOUND)),
    END,
};
const struct decision decisions_list_exports[] = { ASKS_ACCOUNT("{}", "ListExports"), END };
