/* attacker_statements.c -- random statements of PartiQL, and what they ask for. */
#include <string.h>
#include "attacker.h"
#include "base/compiler.h"

#define QUOTE "\\u0027"

struct statement {
    const char *text;
    const char *more; /* Members beside Statement. */
};

/* Where the item is; sometimes not quite. */
static const char *where_key(struct attacker *attacker, struct attack_request *request,
                             size_t table, const char *user)
{
    if (request->form != ATTACK_STATEMENTS && attack_chance(attacker, 12)) {
        request->is_broken = true;
        return "WHERE wrong=1";
    }
    return attack_text(attacker, "WHERE pk=" QUOTE "%s" QUOTE "%s", user,
                       attack_tables[table].is_rich ? " AND sk=1" : "");
}

static struct attack_ask *ask_statement(struct attacker *attacker, struct attack_request *request,
                                        const char *action, size_t table)
{
    struct attack_ask *ask = attack_add_ask(attacker, request, action, table, "");
    attack_add(&ask->attributes, "pk");
    ask->capacity = "NONE";
    if (strcmp(request->operation, "ExecuteTransaction") == 0)
        ask->enclosing = request->operation;
    return ask;
}

static struct statement make_select(struct attacker *attacker, struct attack_request *request,
                                    size_t table, const char *user)
{
    struct attack_ask *ask = ask_statement(attacker, request, "PartiQLSelect", table);
    const char *attribute = attack_attribute(attacker);
    const char *columns = "*";
    bool alone = strcmp(request->operation, "ExecuteStatement") == 0;
    const char *from = attack_tables[table].name;
    const char *where = where_key(attacker, request, table, user);
    ask->shows = true;
    ask->full_scan = "false";
    ask->select = "ALL_ATTRIBUTES";
    ask->shows_unnamed = true;
    if (attack_chance(attacker, 2)) {
        ask->shows_unnamed = false;
        columns = attribute;
        ask->select = "SPECIFIC_ATTRIBUTES";
        ask->shown = attribute;
        attack_add(&ask->attributes, attribute);
    }
    if (alone && attack_chance(attacker, 4)) {
        const char *index = attack_chance(attacker, 3) ? "Nope" : "Ind";
        ask->resource = attack_text(attacker, ATTACK_ARN "%s/index/%s", from, index);
        request->is_broken = request->is_broken || !attack_tables[table].is_rich || *index == 'N';
        from = attack_text(attacker, "%s.%s", from, index);
        where = attack_text(attacker, "WHERE g=" QUOTE "%s" QUOTE, user);
    } else if (alone && attack_chance(attacker, 4)) {
        ask->full_scan = "true";
        where = "";
        user = NULL;
    }
    if (user != NULL)
        attack_add(&ask->leading_keys, user);
    return (struct statement){ attack_text(attacker, "SELECT %s FROM %s %s", columns, from, where),
                               "" };
}

static struct statement make_insert(struct attacker *attacker, struct attack_request *request,
                                    size_t table, const char *user)
{
    struct attack_ask *ask = ask_statement(attacker, request, "PartiQLInsert", table);
    const char *attribute = attack_attribute(attacker);
    ask->writes = true;
    attack_add(&ask->leading_keys, user);
    attack_add(&ask->attributes, attribute);
    attack_add(&ask->return_values, "NONE");
    return (struct statement){
        attack_text(attacker,
                    "INSERT INTO %s VALUE {" QUOTE "pk" QUOTE ":" QUOTE "%s" QUOTE "%s," QUOTE
                    "%s" QUOTE ":" QUOTE "x" QUOTE "}",
                    attack_tables[table].name, user,
                    attack_tables[table].is_rich ? "," QUOTE "sk" QUOTE ":1" : "", attribute),
        ""
    };
}

/* UPDATE or DELETE, perhaps on a condition that fails, with what is shown then. */
static struct statement make_change(struct attacker *attacker, struct attack_request *request,
                                    size_t table, const char *user)
{
    bool deletes = attack_chance(attacker, 2);
    bool alone = strcmp(request->operation, "ExecuteStatement") == 0;
    struct attack_ask *ask =
        ask_statement(attacker, request, deletes ? "PartiQLDelete" : "PartiQLUpdate", table);
    const char *attribute = attack_attribute(attacker);
    const char *condition = "", *returning = "", *more = "";
    const char *where = where_key(attacker, request, table, user);
    ask->writes = true;
    attack_add(&ask->leading_keys, user);
    if (attack_chance(attacker, 2)) {
        condition = " AND nick=" QUOTE "wrong" QUOTE;
        attack_add(&ask->attributes, "nick");
    }
    if (alone && attack_chance(attacker, 4)) {
        returning = deletes || attack_chance(attacker, 2) ? " RETURNING ALL OLD *"
                                                          : " RETURNING MODIFIED NEW *";
        ask->shows_unnamed = strchr(returning, 'M') == NULL;
        attack_add(&ask->return_values, ask->shows_unnamed ? "ALL_OLD" : "UPDATED_NEW");
        ask->shows = true;
    }
    if (*condition != '\0' && request->form != ATTACK_STATEMENTS && attack_chance(attacker, 2)) {
        more = ",'ReturnValuesOnConditionCheckFailure':'ALL_OLD'";
        attack_add(&ask->return_values, "ALL_OLD");
        ask->shows = true;
        ask->shows_unnamed = true;
    }
    if (ask->return_values.count == 0)
        attack_add(&ask->return_values, "NONE");
    if (deletes)
        return (struct statement){ attack_text(attacker, "DELETE FROM %s %s%s%s",
                                               attack_tables[table].name, where, condition,
                                               returning),
                                   more };
    attack_add(&ask->attributes, attribute);
    return (struct statement){ attack_text(attacker, "UPDATE %s SET %s=" QUOTE "x" QUOTE " %s%s%s",
                                           attack_tables[table].name, attribute, where, condition,
                                           returning),
                               more };
}

/* EXISTS shows nothing, but whether its condition holds. */
static struct statement make_exists(struct attacker *attacker, struct attack_request *request,
                                    size_t table, const char *user)
{
    struct attack_ask *ask = ask_statement(attacker, request, "PartiQLSelect", table);
    attack_add(&ask->leading_keys, user);
    attack_add(&ask->attributes, "pay");
    attack_add(&ask->return_values, "NONE");
    return (struct statement){ attack_text(attacker,
                                           "EXISTS(SELECT * FROM %s WHERE pk=" QUOTE "%s" QUOTE
                                           "%s AND pay=" QUOTE "wrong" QUOTE ")",
                                           attack_tables[table].name, user,
                                           attack_tables[table].is_rich ? " AND sk=1" : ""),
                               "" };
}

static const char *some_statement(struct attacker *attacker, struct attack_request *request,
                                  size_t table, const char *user, bool reads)
{
    struct statement made;
    if (reads)
        made = make_select(attacker, request, table, user);
    else if (strcmp(request->operation, "ExecuteTransaction") == 0 && attack_chance(attacker, 4))
        made = make_exists(attacker, request, table, user);
    else if (attack_chance(attacker, 4))
        made = make_insert(attacker, request, table, user);
    else
        made = make_change(attacker, request, table, user);
    return attack_text(attacker, "{'Statement':'%s'%s}", made.text, made.more);
}

void attack_make_statements(struct attacker *attacker, struct attack_request *out)
{
    static const char *const operations[] = { "ExecuteStatement", "BatchExecuteStatement",
                                              "ExecuteTransaction" };
    static const char *const members[] = { NULL, "Statements", "TransactStatements" };
    size_t kind = attack_below(attacker, COUNT_OF(operations));
    size_t first = attack_pick_table(attacker);
    bool reads = attack_chance(attacker, 2);
    out->operation = operations[kind];
    out->form = kind == 1 ? ATTACK_STATEMENTS : ATTACK_WHOLE;
    const char *statement = some_statement(attacker, out, first, attack_user(attacker), reads);
    if (kind == 0) {
        out->body = statement;
        return;
    }
    const char *second = "";
    if (attack_chance(attacker, 2)) {
        size_t table = (first + 1 + attack_below(attacker, 2)) % ATTACK_TABLES;
        second = some_statement(attacker, out, table, attack_user(attacker), reads);
    }
    out->body =
        attack_text(attacker, "{'%s':[%s%s%s]%s}", members[kind], statement,
                    *second == '\0' ? "" : ",", second, kind == 2 ? attack_token(attacker) : "");
}
