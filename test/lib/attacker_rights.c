/* attacker_rights.c -- random policies of a caller and of what it attacks.
 *
 * Conditions are made as the developer guide writes them: a list of attributes has all key
 * attributes and comes with rules for Select and ReturnValues, for by itself it does not limit
 * whole items.
 */
#include <stdarg.h>
#include <string.h>
#include "attacker.h"
#include "base/arena.h"
#include "base/compiler.h"

size_t attack_below(struct attacker *attacker, size_t bound)
{
    return (size_t)random_below(&attacker->random, bound);
}

bool attack_chance(struct attacker *attacker, size_t one_in)
{
    return attack_below(attacker, one_in) == 0;
}

const char *attack_text(struct attacker *attacker, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct bytes text = arena_vprintf(attacker->arena, format, arguments);
    va_end(arguments);
    return (const char *)text.data;
}

void attack_add(struct naive_list *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->texts[i], text) == 0)
            return;
    if (list->count < NAIVE_LIST_MAX)
        list->texts[list->count++] = text;
}

/* --- Conditions --- */

static void add_test(struct naive_statement *to, const struct naive_test *test)
{
    if (to->test_count < NAIVE_TESTS_MAX)
        to->tests[to->test_count++] = *test;
}

static struct naive_list list_of(const char *a, const char *b, const char *c)
{
    struct naive_list list = { .count = 0 };
    const char *const texts[] = { a, b, c };
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (texts[i] != NULL)
            attack_add(&list, texts[i]);
    return list;
}

static void allow_if(struct attacker *attacker, struct naive_statement *to)
{
    struct naive_list names = list_of("pk", "sk", "g");
    switch (attack_below(attacker, 8)) {
    case 0:
        add_test(to,
                 &(struct naive_test){ NAIVE_FOR_ALL, "StringEquals", false, "dynamodb:LeadingKeys",
                                       list_of("${aws:username}", NULL, NULL) });
        break;
    case 1:
        add_test(to, &(struct naive_test){ NAIVE_FOR_ALL, "StringLike", false,
                                           "dynamodb:LeadingKeys", list_of("a*", "c?rol", NULL) });
        break;
    case 2:
        attack_add(&names, "l");
        attack_add(&names, "nick");
        add_test(to, &(struct naive_test){ NAIVE_FOR_ALL, "StringEquals", false,
                                           "dynamodb:Attributes", names });
        add_test(to, &(struct naive_test){ NAIVE_SINGLE, "StringEquals", true, "dynamodb:Select",
                                           list_of("SPECIFIC_ATTRIBUTES", NULL, NULL) });
        add_test(to,
                 &(struct naive_test){ NAIVE_SINGLE, "StringLike", true, "dynamodb:ReturnValues",
                                       list_of("NONE", "UPDATED_*", NULL) });
        break;
    case 3:
        add_test(to, &(struct naive_test){
                         NAIVE_SINGLE, "StringEquals", true, "dynamodb:ReturnValues",
                         list_of("NONE", attack_chance(attacker, 2) ? "ALL_OLD" : NULL, NULL) });
        break;
    case 4:
        add_test(to, &(struct naive_test){ NAIVE_SINGLE, "Bool", true, "dynamodb:FullTableScan",
                                           list_of("false", NULL, NULL) });
        break;
    case 5:
        add_test(to, &(struct naive_test){
                         NAIVE_SINGLE, "StringEquals", false, "aws:ResourceTag/team",
                         list_of(attack_chance(attacker, 2) ? "blue" : "red", NULL, NULL) });
        break;
    case 6:
        add_test(to, &(struct naive_test){ NAIVE_SINGLE, "StringEquals", true,
                                           "dynamodb:ReturnConsumedCapacity",
                                           list_of("NONE", NULL, NULL) });
        break;
    default:
        add_test(to, &(struct naive_test){ NAIVE_SINGLE, "StringLike", true,
                                           "dynamodb:EnclosingOperation",
                                           list_of("Transact*", NULL, NULL) });
        break;
    }
}

static void deny_if(struct attacker *attacker, struct naive_statement *to)
{
    switch (attack_below(attacker, 6)) {
    case 0:
        add_test(to, &(struct naive_test){ NAIVE_FOR_ANY, "StringEquals", false,
                                           "dynamodb:LeadingKeys", list_of("bob", "carol", NULL) });
        break;
    case 1:
        add_test(to, &(struct naive_test){ NAIVE_FOR_ANY, "StringEquals", false,
                                           "dynamodb:Attributes", list_of("pay", NULL, NULL) });
        break;
    case 2:
        add_test(to, &(struct naive_test){
                         NAIVE_SINGLE, "StringEquals", false, "dynamodb:ReturnValues",
                         attack_chance(attacker, 2) ? list_of("ALL_OLD", "ALL_NEW", NULL)
                                                    : list_of("UPDATED_NEW", NULL, NULL) });
        break;
    case 3:
        add_test(to, &(struct naive_test){ NAIVE_SINGLE, "Bool", false, "dynamodb:FullTableScan",
                                           list_of("true", NULL, NULL) });
        break;
    case 4:
        add_test(to, &(struct naive_test){ NAIVE_SINGLE, "StringEquals", false,
                                           "aws:ResourceTag/team", list_of("blue", NULL, NULL) });
        break;
    default:
        add_test(to, &(struct naive_test){
                         NAIVE_SINGLE, "StringEquals", false, "dynamodb:EnclosingOperation",
                         list_of("TransactWriteItems", "ExecuteTransaction", NULL) });
        break;
    }
}

/* --- Statements --- */

static void pick_actions(struct attacker *attacker, struct naive_list *out)
{
    static const char *const actions[] = {
        "dynamodb:*",
        "dynamodb:Get*",
        "dynamodb:*Item*",
        "dynamodb:PartiQL*",
        "dynamodb:*Trigger*",
        "dynamodb:Batch*",
        "dynamodb:Query",
        "dynamodb:Scan",
        "dynamodb:GetItem",
        "dynamodb:PutItem",
        "dynamodb:UpdateItem",
        "dynamodb:DeleteItem",
        "dynamodb:Describe*",
        "dynamodb:List*",
        "dynamodb:PartiQLSelect",
        "dynamodb:AddTrigger",
        "dynamodb:ListTriggers",
        "dynamodb:RemoveTrigger",
        "dynamodb:GetRecords",
        "dynamodb:DescribeStream",
        "dynamodb:GetShardIterator",
        "dynamodb:P*",
        "dynamodb:Up*",
        "dynamodb:ConditionCheckItem",
    };
    size_t count = 1 + attack_below(attacker, 3);
    if (attack_chance(attacker, 3)) {
        attack_add(out, "dynamodb:*");
        return;
    }
    for (size_t i = 0; i < count; i++)
        attack_add(out, actions[attack_below(attacker, COUNT_OF(actions))]);
}

static void pick_resources(struct attacker *attacker, struct naive_list *out)
{
    static const char *const resources[] = {
        "*",
        ATTACK_ARN "*",
        ATTACK_ARN "Alpha",
        ATTACK_ARN "Alpha*",
        ATTACK_ARN "Alpha/index/*",
        ATTACK_ARN "Alpha/stream/*",
        ATTACK_ARN "Beta",
        ATTACK_ARN "Beta*",
        ATTACK_ARN "Secret",
        ATTACK_ARN "Secret*",
        ATTACK_ARN "Secret/*",
        ATTACK_ARN "Secret/index/Ind",
        ATTACK_ARN "Secret/stream/*",
        ATTACK_ARN "Gamma*",
        ATTACK_ARN "*/stream/*",
        ATTACK_ARN "?????",
    };
    size_t count = 1 + attack_below(attacker, 3);
    for (size_t i = 0; i < count; i++)
        attack_add(out, resources[attack_below(attacker, COUNT_OF(resources))]);
}

static void make_statement(struct attacker *attacker, struct naive_statement *out)
{
    *out = (struct naive_statement){ .deny = attack_chance(attacker, 3),
                                     .not_action = attack_chance(attacker, 6),
                                     .not_resource = attack_chance(attacker, 6) };
    pick_actions(attacker, &out->actions);
    pick_resources(attacker, &out->resources);
    if (attack_chance(attacker, 2))
        return;
    if (out->deny)
        deny_if(attacker, out);
    else
        allow_if(attacker, out);
}

static void make_document(struct attacker *attacker, bool of_resource, struct naive_document *out)
{
    static const char *const principals[] = { "*", ATTACK_USER, ATTACK_ACCOUNT,
                                              "arn:aws:iam::" ATTACK_ACCOUNT ":user/bob",
                                              "service" };
    *out = (struct naive_document){ .count = 1 + attack_below(attacker, 3) };
    for (size_t i = 0; i < out->count; i++) {
        struct naive_statement *statement = &out->statements[i];
        make_statement(attacker, statement);
        if (!of_resource)
            continue;
        statement->has_principals =
            statement->deny && attack_chance(attacker, 3) ? NAIVE_NOT_PRINCIPAL : NAIVE_PRINCIPAL;
        attack_add(&statement->principals,
                   principals[attack_below(attacker, COUNT_OF(principals))]);
    }
}

/* --- All rights of a caller --- */

/* May do everything, but not see all that a write can show: by ReturnValues and Select, or by a
 * list of attributes. */
static void limit_what_is_shown(struct attacker *attacker, struct naive_document *out)
{
    struct naive_statement *first = &out->statements[0];
    struct naive_statement *second = &out->statements[1];
    struct naive_list names = list_of("pk", "sk", "g");
    *first = (struct naive_statement){ .deny = false };
    *second = (struct naive_statement){ .deny = true };
    attack_add(&first->actions, "dynamodb:*");
    attack_add(&first->resources, "*");
    attack_add(&second->actions, "dynamodb:*");
    attack_add(&second->resources, "*");
    attack_add(&names, "l");
    attack_add(&names, "nick");
    out->count = 1;
    switch (attack_below(attacker, 4)) {
    case 0:
        add_test(first,
                 &(struct naive_test){ NAIVE_SINGLE, "StringLike", true, "dynamodb:ReturnValues",
                                       list_of("ALL_*", NULL, NULL) });
        break;
    case 1:
        add_test(first,
                 &(struct naive_test){ NAIVE_SINGLE, "StringEquals", true, "dynamodb:ReturnValues",
                                       list_of("NONE", NULL, NULL) });
        break;
    case 2:
        add_test(first, &(struct naive_test){ NAIVE_FOR_ALL, "StringEquals", false,
                                              "dynamodb:Attributes", names });
        break;
    default:
        add_test(second,
                 &(struct naive_test){ NAIVE_SINGLE, "StringLike", false, "dynamodb:ReturnValues",
                                       list_of("ALL_*", NULL, NULL) });
        out->count = 2;
        break;
    }
}

/* May do everything, but nothing to Secret. */
static void shut_out_of_secret(struct attacker *attacker, struct naive_document *out)
{
    struct naive_statement *first = &out->statements[0];
    struct naive_statement *second = &out->statements[1];
    *first = (struct naive_statement){ .deny = false };
    *second = (struct naive_statement){ .deny = true };
    attack_add(&first->actions, "dynamodb:*");
    attack_add(&second->actions, "dynamodb:*");
    if (attack_chance(attacker, 2)) {
        attack_add(&first->resources, "*");
        attack_add(&second->resources, ATTACK_ARN "Secret");
        attack_add(&second->resources, ATTACK_ARN "Secret/*");
        out->count = 2;
    } else {
        first->not_resource = true;
        attack_add(&first->resources, ATTACK_ARN "Secret*");
        out->count = 1;
    }
}

void attack_make_rights(struct attacker *attacker, struct attack_rights *out)
{
    *out = (struct attack_rights){ .identity_count = 1 + attack_below(attacker, 2) };
    for (size_t i = 0; i < out->identity_count; i++)
        make_document(attacker, false, &out->identity[i]);
    switch (attack_below(attacker, 8)) {
    case 0:
    case 1:
        shut_out_of_secret(attacker, &out->identity[0]);
        break;
    case 2:
    case 3:
        limit_what_is_shown(attacker, &out->identity[0]);
        out->identity_count = 1;
        break;
    case 4:
        out->identity_count = 0;
        break;
    default:
        break;
    }
    for (size_t i = 0; i < GAMMA; i++) {
        out->has_policy[i] = attack_chance(attacker, 4);
        if (out->has_policy[i])
            make_document(attacker, true, &out->of_table[i]);
        out->has_stream_policy[i] = attack_tables[i].is_rich && attack_chance(attacker, 4);
        if (out->has_stream_policy[i])
            make_document(attacker, true, &out->of_stream[i]);
    }
}
