/* attacker_tables.c -- random requests about tables, streams and triggers, and what they ask for.
 */
#include <string.h>
#include "attacker.h"
#include "base/compiler.h"

/* --- Tables --- */

#define ANY_POLICY                                                                                 \
    "'{\\'Statement\\':{\\'Effect\\':\\'Allow\\',\\'Principal\\':{\\'AWS\\':"                      \
    "\\'" ATTACK_ACCOUNT "\\'},\\'Action\\':\\'*\\',\\'Resource\\':\\'*\\'}}',"                    \
    "'ConfirmRemoveSelfResourceAccess':true"

/* Bodies have the table's name in place of %s. */
static const struct {
    const char *operation;
    const char *body;
    bool spoils; /* The world, where it is allowed. */
} on_tables[] = {
    { "DescribeTable", "{'TableName':'%s'}", false },
    { "DescribeTimeToLive", "{'TableName':'%s'}", false },
    { "DescribeContinuousBackups", "{'TableName':'%s'}", false },
    { "DescribeContributorInsights", "{'TableName':'%s'}", false },
    { "DescribeKinesisStreamingDestination", "{'TableName':'%s'}", false },
    { "EnableKinesisStreamingDestination",
      "{'TableName':'%s','StreamArn':'arn:aws:kinesis:us-east-1:000000000000:stream/s'}", false },
    { "DisableKinesisStreamingDestination",
      "{'TableName':'%s','StreamArn':'arn:aws:kinesis:us-east-1:000000000000:stream/s'}", false },
    { "DeleteTable", "{'TableName':'%s'}", true },
    { "UpdateTable", "{'TableName':'%s','DeletionProtectionEnabled':true}", true },
    { "UpdateTable",
      "{'TableName':'%s','GlobalSecondaryIndexUpdates':[{'Delete':{'IndexName':'Ind'}}]}", true },
    { "UpdateTimeToLive",
      "{'TableName':'%s','TimeToLiveSpecification':{'AttributeName':'t','Enabled':true}}", false },
    { "UpdateContinuousBackups",
      "{'TableName':'%s','PointInTimeRecoverySpecification':{'PointInTimeRecoveryEnabled':true}}",
      false },
    { "ListTagsOfResource", "{'ResourceArn':'" ATTACK_ARN "%s'}", false },
    { "TagResource", "{'ResourceArn':'" ATTACK_ARN "%s','Tags':[{'Key':'k','Value':'v'}]}", false },
    { "UntagResource", "{'ResourceArn':'" ATTACK_ARN "%s','TagKeys':['team']}", true },
    { "GetResourcePolicy", "{'ResourceArn':'" ATTACK_ARN "%s'}", false },
    { "PutResourcePolicy", "{'ResourceArn':'" ATTACK_ARN "%s','Policy':" ANY_POLICY "}", true },
    { "DeleteResourcePolicy", "{'ResourceArn':'" ATTACK_ARN "%s'}", true },
    { "CreateTable",
      "{'TableName':'%s','AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}],"
      "'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],'BillingMode':'PAY_PER_REQUEST'}",
      true },
    { "CreateTable",
      "{'TableName':'%s','AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}],"
      "'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],'BillingMode':'PAY_PER_REQUEST',"
      "'Tags':[{'Key':'k','Value':'v'}],'ResourcePolicy':" ANY_POLICY "}",
      true },
};

/* The body with the table's name where %s stands. */
static const char *with_name(struct attacker *attacker, const char *body, const char *name)
{
    const char *at = strstr(body, "%s");
    return attack_text(attacker, "%.*s%s%s", (int)(at - body), body, name, at + 2);
}

static void make_on_table(struct attacker *attacker, struct attack_request *out)
{
    size_t which = attack_below(attacker, COUNT_OF(on_tables));
    size_t table = attack_pick_table(attacker);
    bool creates = strcmp(on_tables[which].operation, "CreateTable") == 0;
    bool tags = creates && strstr(on_tables[which].body, "'Tags'") != NULL;
    if (tags)
        table = GAMMA; /* The policy of a table that is there is not about a new one's. */
    const char *name = attack_tables[table].name;
    out->operation = on_tables[which].operation;
    out->is_skipped_if_allowed = on_tables[which].spoils;
    struct attack_ask *ask = attack_add_ask(attacker, out, out->operation, table, "");
    if (!creates && strstr(on_tables[which].body, "'TableName'") != NULL)
        name = attack_name(attacker, out, ask);
    out->body = with_name(attacker, on_tables[which].body, name);
    if (tags) {
        attack_add_ask(attacker, out, "TagResource", table, "");
        attack_add_ask(attacker, out, "PutResourcePolicy", table, "");
    }
}

static void make_on_account(struct attacker *attacker, struct attack_request *out)
{
    static const char *const operations[] = { "ListTables", "DescribeLimits", "DescribeEndpoints",
                                              "ListContributorInsights", "ListStreams" };
    out->operation = operations[attack_below(attacker, COUNT_OF(operations))];
    out->is_listing = strncmp(out->operation, "List", 4) == 0;
    attack_add_ask(attacker, out, out->operation, ATTACK_NO_TABLE, "");
    out->body = "{}";
    if (strcmp(out->operation, "ListStreams") == 0 && attack_chance(attacker, 2))
        out->body = with_name(attacker, "{'TableName':'%s'}",
                              attack_tables[attack_pick_table(attacker)].name);
}

/* --- Streams --- */

static void make_on_stream(struct attacker *attacker, struct attack_request *out)
{
    static const char *const operations[] = { "DescribeStream", "GetShardIterator", "GetRecords",
                                              "GetResourcePolicy" };
    static const char *const labels[] = { ATTACK_LABEL, ATTACK_LABEL, "2020-01-01T00:00:00.000" };
    size_t kind = attack_below(attacker, COUNT_OF(operations));
    size_t table = kind == 2 ? (attack_chance(attacker, 2) ? (size_t)ALPHA : (size_t)SECRET)
                             : attack_pick_table(attacker);
    const char *label = kind == 2 ? ATTACK_LABEL : labels[attack_below(attacker, 3)];
    const char *arn =
        attack_text(attacker, ATTACK_ARN "%s/stream/%s", attack_tables[table].name, label);
    out->operation = operations[kind];
    struct attack_ask *ask = attack_add_ask(attacker, out, out->operation, table,
                                            attack_text(attacker, "/stream/%s", label));
    ask->of_stream = true;
    ask->shows = kind == 2;
    ask->shows_unnamed = kind == 2;
    if (kind == 2)
        out->body = attack_text(attacker, "{'ShardIterator':'<iterator%zu>'}", table);
    else if (kind == 1)
        out->body = attack_text(
            attacker, "{'StreamArn':'%s','ShardId':'%s','ShardIteratorType':'LATEST'}", arn,
            attack_tables[table].is_rich && attack_chance(attacker, 2)
                ? attack_text(attacker, "<shard%zu>", table)
                : "shardId-00000001600000000000-00000001");
    else
        out->body =
            attack_text(attacker, "{'%s':'%s'}", kind == 0 ? "StreamArn" : "ResourceArn", arn);
}

/* --- Triggers --- */

static void make_on_trigger(struct attacker *attacker, struct attack_request *out)
{
    static const char *const reads[] = { "GetRecords", "GetShardIterator", "DescribeStream" };
    size_t table = attack_pick_table(attacker);
    const char *name = attack_tables[table].name;
    switch (attack_below(attacker, 3)) {
    case 0:
        out->operation = "AddTrigger";
        attack_add_ask(attacker, out, "AddTrigger", table, "");
        for (size_t i = 0; attack_tables[table].is_rich && i < COUNT_OF(reads); i++) {
            struct attack_ask *ask =
                attack_add_ask(attacker, out, reads[i], table, "/stream/" ATTACK_LABEL);
            ask->of_stream = true;
            ask->shows_unnamed = i == 0;
        }
        out->body = attack_text(attacker, "{'TableName':'%s','Url':'http://attacker:9/f'}", name);
        break;
    case 1:
        out->operation = "ListTriggers";
        out->form = ATTACK_LIST;
        attack_add_ask(attacker, out, "ListTriggers", ALPHA, "");
        attack_add_ask(attacker, out, "ListTriggers", SECRET, "");
        out->body = "{}";
        if (attack_chance(attacker, 2))
            out->body = attack_text(attacker, "{'TableName':'%s'}", name);
        break;
    default:
        table = attack_chance(attacker, 2) ? ALPHA : SECRET;
        out->operation = "RemoveTrigger";
        out->form = ATTACK_REMOVE;
        attack_add_ask(attacker, out, "RemoveTrigger", table, "");
        out->body = attack_text(attacker, "{'UUID':'<trigger%zu>'}", table);
        break;
    }
}

void attack_make_table_request(struct attacker *attacker, struct attack_request *out)
{
    out->is_control = true;
    switch (attack_below(attacker, 8)) {
    case 0:
        make_on_account(attacker, out);
        break;
    case 1:
    case 2:
    case 3:
        make_on_stream(attacker, out);
        break;
    case 4:
    case 5:
        make_on_table(attacker, out);
        break;
    default:
        make_on_trigger(attacker, out);
        break;
    }
}
