/* decisions_imports.c -- rows of imports and bulk operations, which read from buckets. */
#include <stddef.h>
#include "decisions.h"

/* clang-format off */
#define S3_ON(effect, action, resource) "{'Effect':'" effect "','Action':'s3:" action "','Resource':'arn:aws:s3:::" resource "'}"
#define LISTS S3_ON("Allow", "ListBucket", "in")
#define GETS S3_ON("Allow", "GetObject", "in/data/*")
#define IMPORT(table)                                                                              \
    "{'ClientToken':'c','S3BucketSource':{'S3Bucket':'in','S3KeyPrefix':'data/'},'InputFormat':'CSV',"\
    "'TableCreationParameters':{'TableName':'" table "','AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}],"\
    "'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],'BillingMode':'PAY_PER_REQUEST'}}"
#define IMPORT_ARN "Tab/import/01700000000000-0123abcd"

const struct decision decisions_import_table[] = {
    { NOTHING, NULL, NULL, IMPORT("New"), NO("ImportTable", "New") },
    { LISTS "," GETS, NULL, NULL, IMPORT("New"), NO("ImportTable", "New") },
    { ONLY("ImportTable", "New"), NULL, NULL, IMPORT("New"), NO("s3:ListBucket", "arn:aws:s3:::in") },
    { ONLY("ImportTable", "New") "," LISTS, NULL, NULL, IMPORT("New"), NO("s3:GetObject", "arn:aws:s3:::in/data/*") },
    { ONLY("ImportTable", "New") "," GETS, NULL, NULL, IMPORT("New"), NO("s3:ListBucket", "arn:aws:s3:::in") },
    { ONLY("ImportTable", "New") "," LISTS "," GETS, NULL, NULL, IMPORT("New"), YES },
    { ONLY("ImportTable", "Tab") "," LISTS "," GETS, NULL, NULL, IMPORT("New"), NO("ImportTable", "New") },
    { ALL "," S3_ON("Allow", "*", "*"), NULL, NULL, IMPORT("New"), YES },
    { ALL "," S3_ON("Allow", "*", "*") "," S3_ON("Deny", "GetObject", "in/*"), NULL, NULL, IMPORT("New"), DENIED("s3:GetObject", "arn:aws:s3:::in/data/*") },
    { ALLOW_ON("*", "*"), NULL, NULL, IMPORT("New"), NO("s3:ListBucket", "arn:aws:s3:::in") },
    { ALL "," LISTS "," GETS, NULL, NULL, IMPORT("Tab"), FAILS(ERROR_RESOURCE_IN_USE) },
    STRANGER(IMPORT("Secret"), IMPORT("Absent"), "ImportTable"),
    END,
};

const struct decision decisions_describe_import[] = {
    ASKS("{'ImportArn':'" ARN(IMPORT_ARN) "'}", "DescribeImport", IMPORT_ARN, FAILS(ERROR_IMPORT_NOT_FOUND)),
    END,
};

const struct decision decisions_list_imports[] = { ASKS_ACCOUNT("{}", "ListImports"), END };

#define BULK(table)                                                                                \
    "{'TableName':'" table "','InputS3Configuration':{'S3Bucket':'in','S3KeyPrefix':'data/','InputFormat':'ION'},"\
    "'OutputS3Configuration':{'S3Bucket':'out','S3KeyPrefix':'p','OutputType':['ERROR']}}"
#define REPORTS "arn:aws:s3:::out/p/AWSDynamoDB/*"
#define PUTS S3_ON("Allow", "PutObject", "out/*")
#define BULK_ARN "Tab/bulk-operation/01700000000000-0123abcd"
#define BULK_OF "{'BulkOperationArn':'" ARN(BULK_ARN) "'}"

const struct decision decisions_start_bulk_put_items[] = {
    { NOTHING, NULL, NULL, BULK("Tab"), NO("StartBulkPutItems", "Tab") },
    { ONLY("StartBulkPutItems", "Tab"), NULL, NULL, BULK("Tab"), NO("s3:ListBucket", "arn:aws:s3:::in") },
    { ONLY("StartBulkPutItems", "Tab") "," LISTS, NULL, NULL, BULK("Tab"), NO("s3:GetObject", "arn:aws:s3:::in/data/*") },
    { ONLY("StartBulkPutItems", "Tab") "," LISTS "," GETS, NULL, NULL, BULK("Tab"), NO("s3:PutObject", REPORTS) },
    { ONLY("StartBulkPutItems", "Tab") "," LISTS "," GETS "," PUTS, NULL, NULL, BULK("Tab"), YES },
    { ONLY("PutItem", "Tab") "," LISTS "," GETS "," PUTS, NULL, NULL, BULK("Tab"), NO("StartBulkPutItems", "Tab") },
    { ALL, NULL, NULL, BULK("Tab"), YES },
    { ALL "," S3_ON("Deny", "PutObject", "*"), NULL, NULL, BULK("Tab"), DENIED("s3:PutObject", REPORTS) },
    { ALL "," S3_ON("Deny", "PutObject", "out/p/*"), NULL, NULL, BULK("Tab"), DENIED("s3:PutObject", REPORTS) },
    { ALL, NULL, NULL, BULK("Absent"), NOT_FOUND },
    STRANGER(BULK("Secret"), BULK("Absent"), "StartBulkPutItems"),
    END,
};

const struct decision decisions_describe_bulk_operation[] = {
    ASKS(BULK_OF, "DescribeBulkOperation", BULK_ARN, NOT_FOUND),
    END,
};

const struct decision decisions_cancel_bulk_operation[] = {
    ASKS(BULK_OF, "CancelBulkOperation", BULK_ARN, NOT_FOUND),
    END,
};

const struct decision decisions_list_bulk_operations[] = { ASKS_ACCOUNT("{}", "ListBulkOperations"), END };
