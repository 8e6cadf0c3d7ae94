/* decisions_reads.c -- rows of Query, Scan and the batches of items. */
#include <stddef.h>
#include "decisions.h"

/* clang-format off */
#define QUERY(table, name) IN(table, ",'KeyConditionExpression':'pk=:v'" VALUE(name))
#define QUERY_MORE(more) IN("Tab", ",'KeyConditionExpression':'pk=:v'" VALUE("alice") more)
#define QUERY_INDEX(table, index, name) IN(table, ",'IndexName':'" index "','KeyConditionExpression':'g=:v'" VALUE(name))
#define QUERY_KEY(table, attribute) IN(table, ",'KeyConditionExpression':'" attribute "=:v'" VALUE("x"))
#define NO_SCAN ALLOW_IF("'Bool':{'dynamodb:FullTableScan':'false'}")

const struct decision decisions_query[] = {
    ASKS(QUERY("Tab", "alice"), "Query", "Tab", YES),
    ASKS(QUERY_INDEX("Tab", "Ind", "alice"), "Query", "Tab/index/Ind", YES),
    ASKS(QUERY("Absent", "alice"), "Query", "Absent", NOT_FOUND),
    TABLE_POLICY(QUERY("Tab", "alice"), "Query", "Tab", YES),
    TABLE_POLICY(QUERY_INDEX("Tab", "Ind", "alice"), "Query", "Tab/index/Ind", YES),
    STRANGER(QUERY("Secret", "alice"), QUERY("Absent", "alice"), "Query"),
    /* Neither keys nor indexes are told to strangers. */
    STRANGER(QUERY_KEY("Secret", "wrong"), QUERY_KEY("Absent", "wrong"), "Query"),
    STRANGER(QUERY_KEY("Secret", "sk"), QUERY_KEY("Absent", "sk"), "Query"),
    { NOTHING, NULL, NULL, QUERY_INDEX("Secret", "Ind", "alice"), NO("Query", "Secret/index/Ind") },
    { NOTHING, NULL, NULL, QUERY_INDEX("Secret", "Nope", "alice"), NO("Query", "Secret/index/Nope") },
    { NOTHING, NULL, NULL, QUERY_INDEX("Absent", "Ind", "alice"), NO("Query", "Absent/index/Ind") },
    { NOT_SECRET, NULL, NULL, QUERY_INDEX("Secret", "Ind", "alice"), DENIED("Query", "Secret/index/Ind") },
    { NOT_SECRET, NULL, NULL, QUERY_INDEX("Secret", "Nope", "alice"), DENIED("Query", "Secret/index/Nope") },
    { NOT_SECRET, NULL, NULL, QUERY_INDEX("Secret", "Loc", "alice"), DENIED("Query", "Secret/index/Loc") },
    { ONLY("Query", "Secret"), NULL, NULL, QUERY_INDEX("Secret", "Ind", "alice"), NO("Query", "Secret/index/Ind") },
    { ONLY("Query", "Secret"), NULL, NULL, QUERY_INDEX("Secret", "Nope", "alice"), NO("Query", "Secret/index/Nope") },
    { NOTHING, NULL, NULL, IN("Secret", ",'ConsistentRead':true,'IndexName':'Ind','KeyConditionExpression':'g=:v'" VALUE("x")), NO("Query", "Secret/index/Ind") },
    { NOTHING, NULL, NULL, IN("Secret", ",'ConsistentRead':true,'IndexName':'Nope','KeyConditionExpression':'g=:v'" VALUE("x")), NO("Query", "Secret/index/Nope") },
    { NOTHING, NULL, NULL, IN("Secret", ",'Select':'ALL_ATTRIBUTES','IndexName':'Loc','KeyConditionExpression':'pk=:v'" VALUE("x")), NO("Query", "Secret/index/Loc") },
    { NOTHING, NULL, NULL, IN("Secret", ",'ExclusiveStartKey':{'wrong':{'S':'x'}},'KeyConditionExpression':'pk=:v'" VALUE("x")), NO("Query", "Secret") },
    { ALL, NULL, NULL, QUERY_INDEX("Tab", "Nope", "alice"), INVALID },
    { ALL, NULL, NULL, QUERY_KEY("Tab", "wrong"), INVALID },
    { ALL, NULL, NULL, QUERY_INDEX("Absent", "Ind", "alice"), NOT_FOUND },
    /* A table's right is none on its indexes, nor the other way round. */
    { ONLY("Query", "Tab"), NULL, NULL, QUERY_INDEX("Tab", "Ind", "alice"), NO("Query", "Tab/index/Ind") },
    { ONLY("Query", "Tab/index/*"), NULL, NULL, QUERY("Tab", "alice"), NO("Query", "Tab") },
    { ONLY("Query", "Tab/index/*"), NULL, NULL, QUERY_INDEX("Tab", "Ind", "alice"), YES },
    { ALL_DENY("Query", "Tab"), NULL, NULL, QUERY_INDEX("Tab", "Ind", "alice"), YES },
    { ALL_DENY("Query", "Tab/index/*"), NULL, NULL, QUERY_INDEX("Tab", "Ind", "alice"), DENIED("Query", "Tab/index/Ind") },
    { ALL_DENY("Query", "Tab/index/*"), NULL, NULL, QUERY("Tab", "alice"), YES },
    { OWN, NULL, NULL, QUERY("Tab", "alice"), YES },
    { OWN, NULL, NULL, QUERY("Tab", "bob"), NO("Query", "Tab") },
    { OWN, NULL, NULL, QUERY_INDEX("Tab", "Ind", "alice"), YES },
    { OWN, NULL, NULL, QUERY_INDEX("Tab", "Ind", "bob"), NO("Query", "Tab/index/Ind") },
    { OWN, NULL, NULL, IN("Tab", ",'KeyConditions':{'pk':{'ComparisonOperator':'EQ','AttributeValueList':[{'S':'bob'}]}}"), NO("Query", "Tab") },
    { NAMES, NULL, NULL, QUERY_MORE(",'ProjectionExpression':'pk'"), YES },
    { NAMES, NULL, NULL, QUERY_MORE(",'ProjectionExpression':'pay'"), NO("Query", "Tab") },
    { NAMES, NULL, NULL, QUERY_MORE(""), NO("Query", "Tab") },
    { NAMES, NULL, NULL, QUERY_MORE(",'Select':'COUNT'"), NO("Query", "Tab") },
    { NAMES, NULL, NULL, QUERY_MORE(",'ProjectionExpression':'pk','FilterExpression':'pay=:v'"), NO("Query", "Tab") },
    { NAMES, NULL, NULL, QUERY_INDEX("Tab", "Ind", "alice"), NO("Query", "Tab/index/Ind") },
    { SELECTS("'COUNT'"), NULL, NULL, QUERY_MORE(",'Select':'COUNT'"), YES },
    { SELECTS("'COUNT'"), NULL, NULL, QUERY_MORE(""), NO("Query", "Tab") },
    { SELECTS("'ALL_PROJECTED_ATTRIBUTES'"), NULL, NULL, QUERY_INDEX("Tab", "Ind", "alice"), YES },
    { NAMED, NULL, NULL, QUERY_MORE(""), NO("Query", "Tab") },
    { NAMED, NULL, NULL, QUERY_MORE(",'Select':'COUNT'"), YES },
    { NAMED, NULL, NULL, QUERY_MORE(",'ProjectionExpression':'l'"), YES },
    { NAMED, NULL, NULL, QUERY_INDEX("Tab", "Ind", "alice"), NO("Query", "Tab/index/Ind") },
    { NAMED, NULL, NULL, IN("Tab", ",'IndexName':'Loc','KeyConditionExpression':'pk=:v'" VALUE("alice")), YES },
    { NAMED, NULL, NULL, IN("Tab", ",'IndexName':'Loc','Select':'ALL_ATTRIBUTES','KeyConditionExpression':'pk=:v'" VALUE("alice")), NO("Query", "Tab/index/Loc") },
    { DENY_PAY, NULL, NULL, QUERY_MORE(""), DENIED("Query", "Tab") },
    { KEYS("['42']"), NULL, NULL, IN("Num", ",'KeyConditionExpression':'pk=:v','ExpressionAttributeValues':{':v':{'N':'42.0'}}"), YES },
    { KEYS("['42']"), NULL, NULL, IN("Num", ",'KeyConditionExpression':'pk=:v','ExpressionAttributeValues':{':v':{'N':'41'}}"), NO("Query", "Num") },
    { NO_SCAN, NULL, NULL, QUERY("Tab", "alice"), YES },
    { NO_CAPACITY, NULL, NULL, QUERY_MORE(",'ReturnConsumedCapacity':'TOTAL'"), NO("Query", "Tab") },
    { TAGGED("blue"), NULL, NULL, QUERY("Tab", "alice"), YES },
    { TAGGED("red"), NULL, NULL, QUERY("Tab", "alice"), NO("Query", "Tab") },
    END,
};

#define SCAN(table) IN(table, "")
#define SCAN_INDEX(table, index) IN(table, ",'IndexName':'" index "'")

const struct decision decisions_scan[] = {
    ASKS(SCAN("Tab"), "Scan", "Tab", YES),
    ASKS(SCAN_INDEX("Tab", "Ind"), "Scan", "Tab/index/Ind", YES),
    ASKS(SCAN("Absent"), "Scan", "Absent", NOT_FOUND),
    TABLE_POLICY(SCAN("Tab"), "Scan", "Tab", YES),
    STRANGER(SCAN("Secret"), SCAN("Absent"), "Scan"),
    { NOTHING, NULL, NULL, SCAN_INDEX("Secret", "Ind"), NO("Scan", "Secret/index/Ind") },
    { NOTHING, NULL, NULL, SCAN_INDEX("Secret", "Nope"), NO("Scan", "Secret/index/Nope") },
    { NOTHING, NULL, NULL, SCAN_INDEX("Absent", "Ind"), NO("Scan", "Absent/index/Ind") },
    { NOT_SECRET, NULL, NULL, SCAN_INDEX("Secret", "Ind"), DENIED("Scan", "Secret/index/Ind") },
    { NOT_SECRET, NULL, NULL, SCAN_INDEX("Secret", "Nope"), DENIED("Scan", "Secret/index/Nope") },
    { NOTHING, NULL, NULL, IN("Secret", ",'IndexName':'Ind','ConsistentRead':true"), NO("Scan", "Secret/index/Ind") },
    { NOTHING, NULL, NULL, IN("Secret", ",'ExclusiveStartKey':{'wrong':{'S':'x'}}"), NO("Scan", "Secret") },
    { NOTHING, NULL, NULL, IN("Absent", ",'ExclusiveStartKey':{'wrong':{'S':'x'}}"), NO("Scan", "Absent") },
    { ALL, NULL, NULL, SCAN_INDEX("Tab", "Nope"), INVALID },
    { ONLY("Scan", "Tab"), NULL, NULL, SCAN_INDEX("Tab", "Ind"), NO("Scan", "Tab/index/Ind") },
    { ONLY("Query", "*"), NULL, NULL, SCAN("Tab"), NO("Scan", "Tab") },
    { NO_SCAN, NULL, NULL, SCAN("Tab"), NO("Scan", "Tab") },
    { NO_SCAN, NULL, NULL, SCAN_INDEX("Tab", "Ind"), NO("Scan", "Tab/index/Ind") },
    { DENY_IF("'Bool':{'dynamodb:FullTableScan':'true'}"), NULL, NULL, SCAN("Tab"), DENIED("Scan", "Tab") },
    { NAMES, NULL, NULL, SCAN("Tab"), NO("Scan", "Tab") },
    { NAMED, NULL, NULL, SCAN("Tab"), NO("Scan", "Tab") },
    { NAMED, NULL, NULL, IN("Tab", ",'ProjectionExpression':'pk'"), YES },
    { NAMED, NULL, NULL, IN("Tab", ",'ProjectionExpression':'pk','FilterExpression':'pay=:v'" VALUE("x")), NO("Scan", "Tab") },
    { DENY_PAY, NULL, NULL, SCAN("Tab"), DENIED("Scan", "Tab") },
    { NAMES, NULL, NULL, IN("Tab", ",'AttributesToGet':['pk']"), YES },
    { NAMES, NULL, NULL, IN("Tab", ",'AttributesToGet':['pk'],'ScanFilter':{'pay':{'ComparisonOperator':'NOT_NULL'}}"), NO("Scan", "Tab") },
    { NAMES, NULL, NULL, IN("Tab", ",'ProjectionExpression':'pay'"), NO("Scan", "Tab") },
    { SELECTS("'COUNT'"), NULL, NULL, IN("Tab", ",'Select':'COUNT'"), YES },
    { SELECTS("'COUNT'"), NULL, NULL, SCAN("Tab"), NO("Scan", "Tab") },
    { TAGGED("red"), NULL, NULL, SCAN("Tab"), NO("Scan", "Tab") },
    /* All that a scan is about is every partition key: an absent key is no key of the caller's. */
    { ALLOW_IF("'Null':{'dynamodb:LeadingKeys':'false'},'ForAllValues:StringEquals':{'dynamodb:LeadingKeys':['alice']}"), NULL, NULL, SCAN("Tab"), NO("Scan", "Tab") },
    END,
};

#define BATCH_GET(table, name) "{'RequestItems':{'" table "':{'Keys':[" KEY(name) "]}}}"
#define BATCH_GET_2(table, other) "{'RequestItems':{'" table "':{'Keys':[" KEY("alice") "]},'" other "':{'Keys':[" KEY("alice") "]}}}"
#define BATCH_GET_WRONG(table) "{'RequestItems':{'" table "':{'Keys':[{'wrong':{'S':'x'}}]}}}"

const struct decision decisions_batch_get_item[] = {
    ASKS(BATCH_GET("Tab", "alice"), "BatchGetItem", "Tab", YES),
    ASKS(BATCH_GET("Absent", "alice"), "BatchGetItem", "Absent", NOT_FOUND),
    TABLE_POLICY(BATCH_GET("Tab", "alice"), "BatchGetItem", "Tab", YES),
    STRANGER(BATCH_GET("Secret", "alice"), BATCH_GET("Absent", "alice"), "BatchGetItem"),
    STRANGER(BATCH_GET_WRONG("Secret"), BATCH_GET_WRONG("Absent"), "BatchGetItem"),
    STRANGER(BATCH_GET(ARN("Secret"), "alice"), BATCH_GET(ARN("Absent"), "alice"), "BatchGetItem"),
    { ONLY("GetItem", "Tab"), NULL, NULL, BATCH_GET("Tab", "alice"), NO("BatchGetItem", "Tab") },
    { ALL, NULL, NULL, BATCH_GET_WRONG("Tab"), INVALID },
    /* One table that is refused refuses all. */
    { ONLY("BatchGetItem", "Tab"), NULL, NULL, BATCH_GET_2("Tab", "Secret"), NO("BatchGetItem", "Secret") },
    { ONLY("BatchGetItem", "Tab"), NULL, NULL, BATCH_GET_2("Secret", "Tab"), NO("BatchGetItem", "Secret") },
    { ONLY("BatchGetItem", "Tab"), NULL, NULL, BATCH_GET_2("Tab", "Absent"), NO("BatchGetItem", "Absent") },
    { NOT_SECRET, NULL, NULL, BATCH_GET_2("Tab", "Secret"), DENIED("BatchGetItem", "Secret") },
    { NOT_SECRET, NULL, NULL, BATCH_GET_2("Tab", "Absent"), NOT_FOUND },
    { NOTHING, OF_RESOURCE("Allow", ALICE, "BatchGetItem"), NULL, BATCH_GET_2("Tab", "Secret"), NO("BatchGetItem", "Secret") },
    { ALL, NULL, NULL, BATCH_GET_2("Tab", "Secret"), YES },
    { OWN, NULL, NULL, "{'RequestItems':{'Tab':{'Keys':[" KEY("alice") "," KEY("bob") "]}}}", NO("BatchGetItem", "Tab") },
    { OWN, NULL, NULL, BATCH_GET("Tab", "alice"), YES },
    { NAMED, NULL, NULL, BATCH_GET("Tab", "alice"), NO("BatchGetItem", "Tab") },
    { DENY_PAY, NULL, NULL, BATCH_GET("Tab", "alice"), DENIED("BatchGetItem", "Tab") },
    { NAMES, NULL, NULL, BATCH_GET("Tab", "alice"), NO("BatchGetItem", "Tab") },
    { NAMES, NULL, NULL, "{'RequestItems':{'Tab':{'Keys':[" KEY("alice") "],'ProjectionExpression':'pk'}}}", YES },
    { NAMES, NULL, NULL, "{'RequestItems':{'Tab':{'Keys':[" KEY("alice") "],'ProjectionExpression':'pay'}}}", NO("BatchGetItem", "Tab") },
    { NO_CAPACITY, NULL, NULL, "{'ReturnConsumedCapacity':'TOTAL','RequestItems':{'Tab':{'Keys':[" KEY("alice") "]}}}", NO("BatchGetItem", "Tab") },
    { TAGGED("red"), NULL, NULL, BATCH_GET("Tab", "alice"), NO("BatchGetItem", "Tab") },
    END,
};

#define BATCH_PUT(table, name) "{'RequestItems':{'" table "':[{'PutRequest':{'Item':" KEY(name) "}}]}}"
#define BATCH_DELETE(table, name) "{'RequestItems':{'" table "':[{'DeleteRequest':{'Key':" KEY(name) "}}]}}"
#define BATCH_PUT_2(table, other) "{'RequestItems':{'" table "':[{'PutRequest':{'Item':" KEY("alice") "}}],'" other "':[{'PutRequest':{'Item':" KEY("alice") "}}]}}"
#define BATCH_PUT_WRONG(table) "{'RequestItems':{'" table "':[{'PutRequest':{'Item':{'wrong':{'S':'x'}}}}]}}"

const struct decision decisions_batch_write_item[] = {
    ASKS(BATCH_PUT("Tab", "alice"), "BatchWriteItem", "Tab", YES),
    ASKS(BATCH_DELETE("Tab", "alice"), "BatchWriteItem", "Tab", YES),
    ASKS(BATCH_PUT("Absent", "alice"), "BatchWriteItem", "Absent", NOT_FOUND),
    TABLE_POLICY(BATCH_PUT("Tab", "alice"), "BatchWriteItem", "Tab", YES),
    STRANGER(BATCH_PUT("Secret", "alice"), BATCH_PUT("Absent", "alice"), "BatchWriteItem"),
    STRANGER(BATCH_DELETE("Secret", "alice"), BATCH_DELETE("Absent", "alice"), "BatchWriteItem"),
    STRANGER(BATCH_PUT_WRONG("Secret"), BATCH_PUT_WRONG("Absent"), "BatchWriteItem"),
    { ONLY("PutItem", "Tab"), NULL, NULL, BATCH_PUT("Tab", "alice"), NO("BatchWriteItem", "Tab") },
    { ONLY("DeleteItem", "Tab"), NULL, NULL, BATCH_DELETE("Tab", "alice"), NO("BatchWriteItem", "Tab") },
    { ONLY("BatchWriteItem", "Tab"), NULL, NULL, BATCH_PUT_2("Tab", "Secret"), NO("BatchWriteItem", "Secret") },
    { ONLY("BatchWriteItem", "Tab"), NULL, NULL, BATCH_PUT_2("Tab", "Absent"), NO("BatchWriteItem", "Absent") },
    { NOT_SECRET, NULL, NULL, BATCH_PUT_2("Tab", "Secret"), DENIED("BatchWriteItem", "Secret") },
    { OWN, NULL, NULL, BATCH_PUT("Tab", "alice"), YES },
    { OWN, NULL, NULL, BATCH_PUT("Tab", "bob"), NO("BatchWriteItem", "Tab") },
    { OWN, NULL, NULL, BATCH_DELETE("Tab", "bob"), NO("BatchWriteItem", "Tab") },
    { OWN, NULL, NULL, "{'RequestItems':{'Tab':[{'PutRequest':{'Item':" KEY("alice") "}},{'DeleteRequest':{'Key':" KEY("bob") "}}]}}", NO("BatchWriteItem", "Tab") },
    { NAMES, NULL, NULL, BATCH_PUT("Tab", "alice"), YES },
    { NAMES, NULL, NULL, "{'RequestItems':{'Tab':[{'PutRequest':{'Item':" ITEM("alice", ",'pay':{'S':'x'}") "}}]}}", NO("BatchWriteItem", "Tab") },
    { NO_CAPACITY, NULL, NULL, "{'ReturnConsumedCapacity':'TOTAL','RequestItems':{'Tab':[{'DeleteRequest':{'Key':" KEY("alice") "}}]}}", NO("BatchWriteItem", "Tab") },
    { TAGGED("red"), NULL, NULL, BATCH_PUT("Tab", "alice"), NO("BatchWriteItem", "Tab") },
    END,
};
/* clang-format on */
