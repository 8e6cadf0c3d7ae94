/* attacker_request.c -- random requests about items, and what they ask for. */
#include <string.h>
#include "attacker.h"
#include "base/arena.h"
#include "base/compiler.h"

/* --- Parts --- */

size_t attack_pick_table(struct attacker *attacker)
{
    static const size_t tables[] = { ALPHA, ALPHA, BETA, SECRET, SECRET, SECRET, GAMMA };
    return tables[attack_below(attacker, COUNT_OF(tables))];
}

const char *attack_user(struct attacker *attacker)
{
    static const char *const users[] = { "alice", "alice", "bob", "carol", "nobody" };
    return users[attack_below(attacker, COUNT_OF(users))];
}

const char *attack_attribute(struct attacker *attacker)
{
    static const char *const names[] = { "nick", "pay", "l" };
    return names[attack_below(attacker, COUNT_OF(names))];
}

const char *attack_key(struct attacker *attacker, size_t table, const char *user)
{
    return attack_text(attacker, "{'pk':{'S':'%s'}%s}", user,
                       attack_tables[table].is_rich ? ",'sk':{'N':'1'}" : "");
}

struct attack_ask *attack_add_ask(struct attacker *attacker, struct attack_request *request,
                                  const char *action, size_t table, const char *behind)
{
    struct attack_ask *ask = &request->asks[request->ask_count++];
    *ask = (struct attack_ask){ .action = attack_text(attacker, "dynamodb:%s", action),
                                .table = table,
                                .resource = "*" };
    if (table != ATTACK_NO_TABLE)
        ask->resource = attack_text(attacker, ATTACK_ARN "%s%s", attack_tables[table].name, behind);
    return ask;
}

/* An ask about items, with what all of them have. */
static struct attack_ask *ask_items(struct attacker *attacker, struct attack_request *request,
                                    const char *action, size_t table)
{
    struct attack_ask *ask = attack_add_ask(attacker, request, action, table, "");
    attack_add(&ask->attributes, "pk");
    ask->capacity = "NONE";
    return ask;
}

const char *attack_name(struct attacker *attacker, struct attack_request *request,
                        struct attack_ask *ask)
{
    static const char *const odd[] = { ATTACK_ARN "%s/stream/" ATTACK_LABEL,
                                       ATTACK_ARN "%s/index/Ind",
                                       "arn:aws:dynamodb:us-west-2:" ATTACK_ACCOUNT ":table/%s",
                                       "arn:aws:dynamodb:eu-west-1:210987654321:table/%s" };
    const char *name = attack_tables[ask->table].name;
    size_t which = attack_below(attacker, COUNT_OF(odd));
    if (!attack_chance(attacker, 40))
        return attack_text(attacker, "%s%s", attack_chance(attacker, 6) ? ATTACK_ARN : "", name);
    const char *behind = strstr(odd[which], "%s") + 2;
    request->is_broken = true;
    ask->of_stream = which == 0;
    if (which < 2)
        ask->resource = attack_text(attacker, ATTACK_ARN "%s%s", name, behind);
    return attack_text(attacker, "%.*s%s%s", (int)(behind - 2 - odd[which]), odd[which], name,
                       behind);
}

/* A key of the table, or sometimes one that does not fit it. */
static const char *some_key(struct attacker *attacker, struct attack_request *request, size_t table,
                            struct attack_ask *ask)
{
    const char *user = attack_user(attacker);
    if (attack_chance(attacker, 10)) {
        request->is_broken = true;
        return attack_chance(attacker, 2) ? "{'wrong':{'S':'x'}}" : "{'pk':{'N':'1'}}";
    }
    attack_add(&ask->leading_keys, user);
    return attack_key(attacker, table, user);
}

/* A condition that fails on all items that exist, or holds; and whether the item is to be shown. */
static const char *some_condition(struct attacker *attacker, struct attack_ask *ask)
{
    const char *show = "";
    const char *attribute = attack_attribute(attacker);
    const char *other = attack_attribute(attacker);
    size_t kind = attack_below(attacker, 5);
    if (kind == 0)
        return "";
    if (attack_chance(attacker, 2)) {
        show = ",'ReturnValuesOnConditionCheckFailure':'ALL_OLD'";
        attack_add(&ask->return_values, "ALL_OLD");
        ask->shows = true;
        ask->shows_unnamed = true;
    }
    if (kind == 1)
        return attack_text(attacker, ",'ConditionExpression':'attribute_not_exists(pk)'%s", show);
    attack_add(&ask->attributes, attribute);
    if (kind == 4) {
        if (strcmp(attribute, other) == 0)
            other = "pk"; /* Operands must differ. */
        attack_add(&ask->attributes, other);
        return attack_text(attacker,
                           ",'ConditionExpression':'attribute_exists(pk) AND NOT %s<>%s'%s",
                           attribute, other, show);
    }
    return attack_text(attacker, ",'ConditionExpression':'attribute_%s(%s)'%s",
                       kind == 2 ? "exists" : "not_exists", attribute, show);
}

static const char *some_projection(struct attacker *attacker, struct attack_ask *ask)
{
    const char *attribute = attack_attribute(attacker);
    ask->select = "ALL_ATTRIBUTES";
    ask->shows_unnamed = true;
    if (attack_chance(attacker, 2))
        return "";
    ask->shows_unnamed = false;
    ask->select = "SPECIFIC_ATTRIBUTES";
    ask->shown = attribute;
    attack_add(&ask->attributes, attribute);
    return attack_text(attacker, ",'ProjectionExpression':'pk,%s'", attribute);
}

static const char *some_capacity(struct attacker *attacker, struct attack_request *request)
{
    if (!attack_chance(attacker, 8))
        return "";
    for (size_t i = 0; i < request->ask_count; i++)
        request->asks[i].capacity = "TOTAL";
    return ",'ReturnConsumedCapacity':'TOTAL'";
}

/* --- One item --- */

static void make_get(struct attacker *attacker, struct attack_request *out)
{
    size_t table = attack_pick_table(attacker);
    struct attack_ask *ask = ask_items(attacker, out, "GetItem", table);
    ask->shows = true;
    out->operation = "GetItem";
    const char *key = some_key(attacker, out, table, ask);
    const char *projection = some_projection(attacker, ask);
    const char *name = attack_name(attacker, out, ask);
    out->body = attack_text(attacker, "{'TableName':'%s','Key':%s%s%s}", name, key, projection,
                            some_capacity(attacker, out));
}

/* ReturnValues that the operation takes, in their turn before those of a failed condition. */
static const char *some_return(struct attacker *attacker, struct attack_ask *ask, bool updates)
{
    static const char *const all[] = { "NONE",    "NONE",        "ALL_OLD",
                                       "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW" };
    size_t which = attack_below(attacker, updates ? COUNT_OF(all) : 3);
    attack_add(&ask->return_values, all[which]);
    ask->shows = which > 1;
    ask->shows_unnamed = which == 2 || which == 3;
    return which == 0 ? "" : attack_text(attacker, ",'ReturnValues':'%s'", all[which]);
}

/* A failed condition that shows the item is one more value; NONE beside it says nothing. */
static void drop_none(struct attack_ask *ask)
{
    if (ask->return_values.count == 2 && strcmp(ask->return_values.texts[0], "NONE") == 0) {
        ask->return_values.texts[0] = ask->return_values.texts[1];
        ask->return_values.count = 1;
    }
}

static void make_write(struct attacker *attacker, struct attack_request *out)
{
    static const char *const operations[] = { "PutItem", "UpdateItem", "DeleteItem" };
    size_t kind = attack_below(attacker, 3);
    size_t table = attack_pick_table(attacker);
    struct attack_ask *ask = ask_items(attacker, out, operations[kind], table);
    const char *attribute = attack_attribute(attacker);
    const char *more = "";
    ask->writes = true;
    out->operation = operations[kind];
    const char *key = some_key(attacker, out, table, ask);
    const char *returned = some_return(attacker, ask, kind == 1);
    const char *condition = some_condition(attacker, ask);
    drop_none(ask);
    if (kind == 1) {
        more = attack_text(attacker,
                           ",'UpdateExpression':'SET %s=if_not_exists(%s,:v)',"
                           "'ExpressionAttributeValues':{':v':{'S':'x'}}",
                           attribute, attribute); /* No marker may leave its attribute. */
        attack_add(&ask->attributes, attribute);
    } else if (kind == 0 && !out->is_broken) {
        key = attack_text(attacker, "%.*s,'%s':{'S':'x'}}", (int)strlen(key) - 1, key, attribute);
        attack_add(&ask->attributes, attribute);
    }
    const char *name = attack_name(attacker, out, ask);
    out->body = attack_text(attacker, "{'TableName':'%s','%s':%s%s%s%s%s}", name,
                            kind == 0 ? "Item" : "Key", key, more, returned, condition,
                            some_capacity(attacker, out));
}

/* --- Query and Scan --- */

static const char *some_filter(struct attacker *attacker, struct attack_ask *ask)
{
    const char *attribute = attack_attribute(attacker);
    if (!attack_chance(attacker, 4) || strcmp(attribute, "l") == 0)
        return "";
    attack_add(&ask->attributes, attribute);
    return attack_text(attacker, ",'FilterExpression':'attribute_exists(%s)'", attribute);
}

static const char *some_select(struct attacker *attacker, struct attack_ask *ask)
{
    if (attack_chance(attacker, 4)) {
        ask->select = "COUNT";
        return ",'Select':'COUNT'";
    }
    return some_projection(attacker, ask);
}

static void make_read(struct attacker *attacker, struct attack_request *out)
{
    static const char *const indexes[] = { "Ind", "Loc", "Nope" };
    bool scans = attack_chance(attacker, 3);
    size_t table = attack_pick_table(attacker);
    size_t index = attack_below(attacker, 6);
    const char *user = attack_user(attacker);
    const char *hash = index == 0 ? "g" : "pk";
    const char *index_name = "", *condition = "";
    struct attack_ask *ask = ask_items(attacker, out, scans ? "Scan" : "Query", table);
    ask->shows = true;
    ask->full_scan = scans ? "true" : "false";
    out->operation = scans ? "Scan" : "Query";
    if (index < COUNT_OF(indexes)) {
        index_name = attack_text(attacker, ",'IndexName':'%s'", indexes[index]);
        ask->resource = attack_text(attacker, ATTACK_ARN "%s/index/%s", attack_tables[table].name,
                                    indexes[index]);
        out->is_broken = index == 2 || !attack_tables[table].is_rich;
    }
    if (!scans && attack_chance(attacker, 8)) {
        hash = "wrong";
        out->is_broken = true;
    }
    if (!scans) {
        condition = attack_text(attacker,
                                ",'KeyConditionExpression':'%s=:k','ExpressionAttributeValues':"
                                "{':k':{'S':'%s'}}",
                                hash, user);
        attack_add(&ask->leading_keys, user);
    }
    const char *select = some_select(attacker, ask);
    const char *filter = some_filter(attacker, ask);
    if (attack_chance(attacker, 12)) {
        filter = ",'ExclusiveStartKey':{'wrong':{'S':'x'}}";
        out->is_broken = true;
    }
    const char *name =
        *index_name == '\0' ? attack_name(attacker, out, ask) : attack_tables[table].name;
    out->body = attack_text(attacker, "{'TableName':'%s'%s%s%s%s%s}", name, index_name, condition,
                            select, filter, some_capacity(attacker, out));
}

/* --- Batches --- */

/* One table's part, of one key or two. */
static const char *some_batch(struct attacker *attacker, struct attack_request *out, size_t table,
                              bool writes)
{
    struct attack_ask *ask = ask_items(attacker, out, out->operation, table);
    const char *name = attack_tables[table].name;
    const char *second = "";
    bool puts = attack_chance(attacker, 2);
    const char *form = puts ? "{'PutRequest':{'Item':" : "{'DeleteRequest':{'Key':";
    ask->shows = !writes;
    ask->writes = writes;
    const char *key = some_key(attacker, out, table, ask);
    if (attack_chance(attacker, 2)) {
        attack_add(&ask->leading_keys, "dave");
        second = attack_text(attacker, ",%s%s%s", writes ? form : "",
                             attack_key(attacker, table, "dave"), writes ? "}}" : "");
    }
    if (writes)
        return attack_text(attacker, "'%s':[%s%s}}%s]", name, form, key, second);
    return attack_text(attacker, "'%s':{'Keys':[%s%s]%s}", name, key, second,
                       some_projection(attacker, ask));
}

static void make_batch(struct attacker *attacker, struct attack_request *out)
{
    bool writes = attack_chance(attacker, 2);
    size_t first = attack_pick_table(attacker);
    out->operation = writes ? "BatchWriteItem" : "BatchGetItem";
    const char *part = some_batch(attacker, out, first, writes);
    const char *other = "";
    if (attack_chance(attacker, 2))
        other = attack_text(attacker, ",%s",
                            some_batch(attacker, out, (first + 1) % ATTACK_TABLES, writes));
    out->body = attack_text(attacker, "{'RequestItems':{%s%s}%s}", part, other,
                            some_capacity(attacker, out));
}

/* --- Transactions --- */

const char *attack_token(struct attacker *attacker)
{
    if (!attack_chance(attacker, 4))
        return "";
    return attack_text(attacker, ",'ClientRequestToken':'token-%zu'", attack_below(attacker, 3));
}

static const char *some_transact_write(struct attacker *attacker, struct attack_request *out,
                                       size_t table, const char *user)
{
    static const char *const kinds[] = { "Put", "Update", "Delete", "ConditionCheck" };
    static const char *const actions[] = { "PutItem", "UpdateItem", "DeleteItem",
                                           "ConditionCheckItem" };
    size_t kind = attack_below(attacker, COUNT_OF(kinds));
    struct attack_ask *ask = ask_items(attacker, out, actions[kind], table);
    const char *more = "";
    ask->writes = kind != 3;
    ask->enclosing = "TransactWriteItems";
    attack_add(&ask->leading_keys, user);
    const char *condition = some_condition(attacker, ask);
    if (ask->return_values.count == 0)
        attack_add(&ask->return_values, "NONE");
    if (kind == 3 && *condition == '\0')
        condition = ",'ConditionExpression':'attribute_not_exists(pk)'";
    if (kind == 1) {
        more = ",'UpdateExpression':'SET nick=:v','ExpressionAttributeValues':{':v':{'S':'x'}}";
        attack_add(&ask->attributes, "nick");
    }
    return attack_text(attacker, "{'%s':{'TableName':'%s','%s':%s%s%s}}", kinds[kind],
                       attack_tables[table].name, kind == 0 ? "Item" : "Key",
                       attack_key(attacker, table, user), more, condition);
}

static void make_transaction(struct attacker *attacker, struct attack_request *out)
{
    bool writes = attack_chance(attacker, 2);
    const char *parts[2] = { "", "" };
    size_t count = 1 + attack_below(attacker, 2);
    size_t first = attack_pick_table(attacker);
    out->operation = writes ? "TransactWriteItems" : "TransactGetItems";
    for (size_t i = 0; i < count; i++) {
        size_t table = (first + i * attack_below(attacker, 3)) % ATTACK_TABLES;
        const char *user = i == 0 ? "alice" : attack_chance(attacker, 2) ? "bob" : "carol";
        if (writes) {
            parts[i] = some_transact_write(attacker, out, table, user);
        } else {
            struct attack_ask *ask = ask_items(attacker, out, "GetItem", table);
            ask->shows = true;
            ask->enclosing = "TransactGetItems";
            attack_add(&ask->leading_keys, user);
            parts[i] = attack_text(attacker, "{'Get':{'TableName':'%s','Key':%s%s}}",
                                   attack_tables[table].name, attack_key(attacker, table, user),
                                   some_projection(attacker, ask));
        }
    }
    out->body =
        attack_text(attacker, "{'TransactItems':[%s%s%s]%s%s}", parts[0], count == 2 ? "," : "",
                    parts[1], some_capacity(attacker, out), writes ? attack_token(attacker) : "");
}

/* --- Any --- */

/* Names of tables stay as they are: they say what is asked for. */
static bool is_in_name(const char *body, size_t at)
{
    for (size_t i = 0; i < ATTACK_TABLES; i++) {
        const char *name = attack_tables[i].name;
        for (const char *from = body; (from = strstr(from, name)) != NULL; from++) {
            size_t start = (size_t)(from - body);
            if (at >= start && at <= start + strlen(name))
                return true;
        }
    }
    return false;
}

/* One character more or less makes most requests unreadable, and some another request. */
static void spoil(struct attacker *attacker, struct attack_request *out)
{
    size_t at = attack_below(attacker, strlen(out->body));
    /* Without its index a request asks for the table; random names make random errors. */
    if (is_in_name(out->body, at) || strchr(out->body, '<') != NULL ||
        strstr(out->asks[0].resource, "/index/") != NULL)
        return;
    out->is_broken = true;
    if (attack_chance(attacker, 2))
        out->body = attack_text(attacker, "%.*s%s", (int)at, out->body, out->body + at + 1);
    else
        out->body = attack_text(attacker, "%.*s%c%s", (int)at, out->body,
                                "x'}0"[attack_below(attacker, 4)], out -> body + at);
}

void attack_make_request(struct attacker *attacker, struct attack_request *out)
{
    static void (*const makers[])(struct attacker *, struct attack_request *) = {
        make_get,
        make_write,
        make_write,
        make_write,
        make_read,
        make_read,
        make_batch,
        make_transaction,
        make_transaction,
        attack_make_statements,
        attack_make_statements,
        attack_make_statements,
        attack_make_table_request,
        attack_make_table_request,
        attack_make_table_request,
    };
    *out = (struct attack_request){ .form = ATTACK_WHOLE };
    makers[attack_below(attacker, COUNT_OF(makers))](attacker, out);
    if (attack_chance(attacker, 25))
        spoil(attacker, out);
}
