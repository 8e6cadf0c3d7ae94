/* batch_fixture.h -- two tables for the tests of batch operations, and parts of their requests. */
#ifndef STATOR_TEST_BATCH_FIXTURE_H
#define STATOR_TEST_BATCH_FIXTURE_H

struct api_fixture;

/* CreateTable of a table with the partition key pk (S). */
#define TABLE(name)                                                                                \
    "{'TableName':'" name "','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["             \
    "{'AttributeName':'pk','AttributeType':'S'}],'KeySchema':[{'AttributeName':'pk','KeyType':"    \
    "'HASH'}]}"
#define PLAIN_ARN "arn:aws:dynamodb:eu-west-1:123456789012:table/plain"

#define KEY(value) "{'pk':{'S':'" value "'}}"
#define SORTED_KEY(hash, range) "{'h':{'S':'" hash "'},'r':{'N':'" range "'}}"
#define PUT(item) "{'PutRequest':{'Item':" item "}}"
#define DELETE(key) "{'DeleteRequest':{'Key':" key "}}"
#define GET_PLAIN(rest) "{'RequestItems':{'plain':{'Keys':[" rest "}}}"
#define WRITE_PLAIN(requests) "{'RequestItems':{'plain':[" requests "]}}"

/* Fails the test unless the call succeeds. */
void batch_fixture_must(struct api_fixture *db, const char *operation, const char *body);
/* Creates "plain" with the key pk (S), and "sorted" with the key h (S), r (N). */
void batch_fixture_create_tables(struct api_fixture *db);

#endif
