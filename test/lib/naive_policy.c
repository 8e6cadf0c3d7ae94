/* naive_policy.c -- see naive_policy.h. */
#include "naive_policy.h"
#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"

enum { RESOLVED_MAX = 600, ARN_PARTS = 6 };

/* --- Texts --- */

/* UNKNOWN: a policy variable has no value in this request. */
enum truth { FALSE, TRUE, UNKNOWN };

static enum truth negate(enum truth truth)
{
    return truth == UNKNOWN ? UNKNOWN : truth == TRUE ? FALSE : TRUE;
}

/* A policy's text with its variables replaced. A wildcard is one only where it was written. */
struct resolved {
    char text[RESOLVED_MAX];
    bool is_wild[RESOLVED_MAX];
    size_t size;
};

static const struct naive_key *find_key(const struct naive_request *request, const char *name)
{
    for (size_t i = 0; i < request->key_count; i++)
        if ((request->keys[i].count > 0 || request->keys[i].has_unknown) &&
            strcasecmp(request->keys[i].name, name) == 0)
            return &request->keys[i];
    return NULL;
}

static void append(struct resolved *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        assert(out->size < RESOLVED_MAX);
        out->is_wild[out->size] = false;
        out->text[out->size++] = text[i];
    }
}

/* "aws:username" or "aws:username, 'default'", between the braces. */
static bool append_variable(struct resolved *out, const char *inside, size_t size,
                            const struct naive_request *request)
{
    char name[100];
    const char *comma = memchr(inside, ',', size);
    snprintf(name, sizeof name, "%.*s", (int)(comma == NULL ? size : (size_t)(comma - inside)),
             inside);
    const struct naive_key *key = find_key(request, name);
    if (key != NULL && key->count == 1 && !key->has_unknown) {
        append(out, key->values[0], strlen(key->values[0]));
        return true;
    }
    if (comma == NULL)
        return false;
    const char *start = memchr(inside, '\'', size);
    append(out, start + 1, (size_t)(inside + size - 1 - (start + 1)));
    return true;
}

/* False if a variable has no value. */
static bool resolve(const char *text, bool wildcards, const struct naive_request *request,
                    struct resolved *out)
{
    out->size = 0;
    while (*text != '\0') {
        const char *close = strncmp(text, "${", 2) == 0 ? strchr(text, '}') : NULL;
        if (close == NULL) {
            append(out, text, 1);
            out->is_wild[out->size - 1] = wildcards && (*text == '*' || *text == '?');
            text++;
            continue;
        }
        size_t size = (size_t)(close - text) - 2;
        if (size == 1)
            append(out, text + 2, 1); /* ${*} is a plain *. */
        else if (!append_variable(out, text + 2, size, request))
            return false;
        text = close + 1;
    }
    return true;
}

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static bool matches(const struct resolved *pattern, size_t at, size_t end, const char *text,
                    size_t size, bool ignore_case)
{
    if (at == end)
        return size == 0;
    if (pattern->is_wild[at] && pattern->text[at] == '*')
        return matches(pattern, at + 1, end, text, size, ignore_case) ||
               (size > 0 && matches(pattern, at, end, text + 1, size - 1, ignore_case));
    if (size == 0)
        return false;
    bool same = pattern->is_wild[at] || pattern->text[at] == *text ||
                (ignore_case && lower(pattern->text[at]) == lower(*text));
    return same && matches(pattern, at + 1, end, text + 1, size - 1, ignore_case);
}

static enum truth text_matches(const char *pattern, bool wildcards, const char *text,
                               bool ignore_case, const struct naive_request *request)
{
    struct resolved resolved;
    if (!resolve(pattern, wildcards, request, &resolved))
        return UNKNOWN;
    return matches(&resolved, 0, resolved.size, text, strlen(text), ignore_case) ? TRUE : FALSE;
}

/* --- Values of conditions --- */

/* "Each of the six colon-delimited components of the ARN is checked separately and each can include
 * wildcards." */
static enum truth arn_matches(const char *pattern, const char *text,
                              const struct naive_request *request)
{
    struct resolved resolved;
    size_t at = 0;
    if (!resolve(pattern, true, request, &resolved))
        return UNKNOWN;
    for (int part = 0; part < ARN_PARTS; part++) {
        bool last = part == ARN_PARTS - 1;
        const char *colon = last ? text + strlen(text) : strchr(text, ':');
        size_t end = at;
        while (end < resolved.size && (last || resolved.text[end] != ':'))
            end++;
        if (colon == NULL || !matches(&resolved, at, end, text, (size_t)(colon - text), false))
            return FALSE;
        at = end + 1;
        text = colon + 1;
    }
    return TRUE;
}

static bool parse_number(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0';
}

/* Days since 1970-01-01 in the Gregorian calendar, counted month by month. */
static long days_until(int year, int month, int day)
{
    static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    long days = 0;
    for (int i = 1970; i < year; i++)
        days += (i % 4 == 0 && i % 100 != 0) || i % 400 == 0 ? 366 : 365;
    for (int i = 1; i < month; i++)
        days += lengths[i - 1] +
                (i == 2 && ((year % 4 == 0 && year % 100 != 0) || year % 400 == 0) ? 1 : 0);
    return days + day - 1;
}

/* Seconds since 1970, or "YYYY-MM-DD" with "Thh:mm:ssZ" behind it or without. */
static bool parse_time(const char *text, double *out)
{
    int year, month, day, hour = 0, minute = 0, second = 0;
    if (strspn(text, "0123456789") == strlen(text) && *text != '\0')
        return parse_number(text, out);
    if (sscanf(text, "%d-%d-%dT%d:%d:%dZ", &year, &month, &day, &hour, &minute, &second) < 3)
        return false;
    *out = (double)days_until(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    return true;
}

/* Is the address within "address/bits"? Bit by bit. */
static bool address_matches(const char *range, const char *text)
{
    char network[100];
    unsigned char wanted[16], given[16];
    const char *slash = strchr(range, '/');
    int family = strchr(range, ':') != NULL ? AF_INET6 : AF_INET;
    int bits = family == AF_INET ? 32 : 128;
    snprintf(network, sizeof network, "%.*s",
             (int)(slash == NULL ? strlen(range) : (size_t)(slash - range)), range);
    if (slash != NULL)
        bits = atoi(slash + 1);
    if (inet_pton(family, network, wanted) != 1 || inet_pton(family, text, given) != 1)
        return false;
    for (int i = 0; i < bits; i++)
        if (((wanted[i / 8] ^ given[i / 8]) >> (7 - i % 8) & 1) != 0)
            return false;
    return true;
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(end);
    return strlen(text) >= size && strcmp(text + strlen(text) - size, end) == 0;
}

static bool in_order(const char *operator, double given, double wanted)
{
    if (ends_with(operator, "LessThan"))
        return given < wanted;
    if (ends_with(operator, "LessThanEquals"))
        return given <= wanted;
    if (ends_with(operator, "GreaterThan"))
        return given > wanted;
    if (ends_with(operator, "GreaterThanEquals"))
        return given >= wanted;
    return given == wanted;
}

/* One value of the request and one of the policy, the operator without its "Not". */
static enum truth compare(const char *operator, const char * wanted, const char *given,
                          const struct naive_request *request)
{
    double a, b;
    if (strstr(operator, "Like") != NULL && strncmp(operator, "String", 6) == 0)
        return text_matches(wanted, true, given, false, request);
    if (strncmp(operator, "String", 6) == 0)
        return text_matches(wanted, false, given, ends_with(operator, "IgnoreCase"), request);
    if (strncmp(operator, "Numeric", 7) == 0)
        return parse_number(given, &a) && parse_number(wanted, &b) && in_order(operator, a, b)
                   ? TRUE
                   : FALSE;
    if (strncmp(operator, "Date", 4) == 0)
        return parse_time(given, &a) && parse_time(wanted, &b) && in_order(operator, a, b) ? TRUE
                                                                                           : FALSE;
    if (strcmp(operator, "Bool") == 0)
        return strcasecmp(wanted, given) == 0 ? TRUE : FALSE;
    if (strncmp(operator, "Arn", 3) == 0)
        return arn_matches(wanted, given, request);
    return address_matches(wanted, given) ? TRUE : FALSE;
}

/* "StringNotEquals" and its kin, with the word that they deny. */
static bool is_negated(const char *operator)
{
    return strstr(operator, "Not") != NULL;
}

/* "For a single condition key with multiple values: a logical OR; with a negated operator: NOR." */
static enum truth value_passes(const struct naive_test *test, const char *given,
                               const struct naive_request *request)
{
    enum truth any = FALSE;
    for (size_t i = 0; i < test->values.count; i++) {
        enum truth one = compare(test->operator, test->values.texts[i], given, request);
        if (one == TRUE)
            any = TRUE;
        else if (one == UNKNOWN && any == FALSE)
            any = UNKNOWN;
    }
    return is_negated(test->operator) ? negate(any) : any;
}

/* The value that nobody knows is like any other, so it passes if every value would. */
static enum truth unknown_passes(const struct naive_test *test)
{
    for (size_t i = 0; i < test->values.count; i++)
        if (strcmp(test->operator, "StringLike") == 0 && test->values.texts[i][0] != '\0' &&
            strspn(test->values.texts[i], "*") == strlen(test->values.texts[i]))
            return TRUE;
    return UNKNOWN;
}

/* Where a request leaves a test open, a permission does not apply and a denial does. */
static bool holds(const struct naive_test *test, bool deny, const struct naive_request *request)
{
    const struct naive_key *key = find_key(request, test->key);
    if (strcmp(test->operator, "Null") == 0) {
        for (size_t i = 0; i < test->values.count; i++)
            if (strcmp(test->values.texts[i], key == NULL ? "true" : "false") == 0)
                return true;
        return false;
    }
    if (key == NULL) {
        if (test->if_exists || test->quantifier == NAIVE_FOR_ALL)
            return true;
        return test->quantifier == NAIVE_SINGLE && is_negated(test->operator);
    }
    size_t passed = 0;
    for (size_t i = 0; i < key->count; i++) {
        enum truth truth = value_passes(test, key->values[i], request);
        passed += truth == TRUE || (truth == UNKNOWN && deny);
    }
    if (key->has_unknown)
        passed += unknown_passes(test) == TRUE || deny;
    if (test->quantifier == NAIVE_FOR_ANY || (test->quantifier == NAIVE_SINGLE && deny))
        return passed > 0;
    return passed == key->count + key->has_unknown;
}

/* --- Statements --- */

static bool is_account(const char *text)
{
    return strlen(text) == 12 && strspn(text, "0123456789") == 12;
}

/* An account in a permission leaves it to the policies of its users whom of them to allow. In
 * NotPrincipal it exempts nobody: only the user's own ARN does. */
static bool is_named(const struct naive_statement *statement, const char *principal,
                     const struct naive_request *request)
{
    char root[100];
    snprintf(root, sizeof root, "arn:aws:iam::%s:root", request->account);
    if (strcmp(principal, "*") == 0 || strcmp(principal, request->principal) == 0)
        return true;
    bool account = (is_account(principal) && strcmp(principal, request->account) == 0) ||
                   strcmp(principal, root) == 0;
    return account && statement->deny && statement->has_principals == NAIVE_PRINCIPAL;
}

static bool principals_match(const struct naive_statement *statement,
                             const struct naive_request *request)
{
    bool named = false;
    if (statement->has_principals == NAIVE_NO_PRINCIPALS)
        return true;
    for (size_t i = 0; i < statement->principals.count; i++)
        named = named || is_named(statement, statement->principals.texts[i], request);
    return named == (statement->has_principals == NAIVE_PRINCIPAL);
}

static enum truth any_matches(const struct naive_list *list, const char *text, bool ignore_case,
                              const struct naive_request *request)
{
    enum truth any = FALSE;
    for (size_t i = 0; i < list->count; i++) {
        enum truth one = text_matches(list->texts[i], true, text, ignore_case, request);
        if (one == TRUE)
            return TRUE;
        any = one == UNKNOWN ? UNKNOWN : any;
    }
    return any;
}

bool naive_concerns(const struct naive_statement *statement, const struct naive_request *request)
{
    enum truth action = any_matches(&statement->actions, request->action, true, request);
    enum truth resource = any_matches(&statement->resources, request->resource, false, request);
    if (statement->not_action)
        action = negate(action);
    if (statement->not_resource)
        resource = negate(resource);
    return action == TRUE && (resource == TRUE || (resource == UNKNOWN && statement->deny)) &&
           principals_match(statement, request);
}

static void read_document(const struct naive_document *document,
                          const struct naive_request *request, bool *allows, bool *denies)
{
    for (size_t i = 0; i < document->count; i++) {
        const struct naive_statement *statement = &document->statements[i];
        bool applies = naive_concerns(statement, request);
        for (size_t j = 0; j < statement->test_count; j++)
            applies = applies && holds(&statement->tests[j], statement->deny, request);
        *denies = *denies || (applies && statement->deny);
        *allows = *allows || (applies && !statement->deny);
    }
}

struct naive_decision naive_decide(const struct naive_document *identity, size_t identity_count,
                                   const struct naive_document *resource,
                                   const struct naive_request *request)
{
    struct naive_decision decision = { 0 };
    for (size_t i = 0; i < identity_count; i++)
        read_document(&identity[i], request, &decision.identity_allows,
                      &decision.denied_by_identity);
    if (resource != NULL)
        read_document(resource, request, &decision.resource_allows, &decision.denied_by_resource);
    decision.allowed = (decision.identity_allows || decision.resource_allows) &&
                       !decision.denied_by_identity && !decision.denied_by_resource;
    return decision;
}

/* --- As JSON --- */

static void print(struct buffer *out, const char *text)
{
    buffer_append_bytes(out, bytes_from_text(text));
}

/* A list of one may stand without its brackets. */
static void print_list(struct buffer *out, const struct naive_list *list)
{
    print(out, list->count == 1 ? "" : "[");
    for (size_t i = 0; i < list->count; i++) {
        print(out, i == 0 ? "\"" : ",\"");
        print(out, list->texts[i]);
        print(out, "\"");
    }
    print(out, list->count == 1 ? "" : "]");
}

static void print_principals(struct buffer *out, const struct naive_statement *statement)
{
    struct naive_list users = { .count = 0 };
    bool service = false;
    if (statement->has_principals == NAIVE_NO_PRINCIPALS)
        return;
    for (size_t i = 0; i < statement->principals.count; i++) {
        if (strcmp(statement->principals.texts[i], "service") == 0)
            service = true;
        else
            users.texts[users.count++] = statement->principals.texts[i];
    }
    print(out,
          statement->has_principals == NAIVE_PRINCIPAL ? "\"Principal\":{" : "\"NotPrincipal\":{");
    if (users.count > 0) {
        print(out, "\"AWS\":");
        print_list(out, &users);
    }
    if (service)
        print(out, users.count > 0 ? ",\"Service\":\"lambda.amazonaws.com\""
                                   : "\"Service\":\"lambda.amazonaws.com\"");
    print(out, "},");
}

static void print_test(struct buffer *out, const struct naive_test *test)
{
    static const char *const quantifiers[] = { "", "ForAllValues:", "ForAnyValue:" };
    print(out, "\"");
    print(out, quantifiers[test->quantifier]);
    print(out, test->operator);
    print(out, test->if_exists ? "IfExists\":{\"" : "\":{\"");
    print(out, test->key);
    print(out, "\":");
    print_list(out, &test->values);
    print(out, "}");
}

static void print_statement(struct buffer *out, const struct naive_statement *statement)
{
    print(out, statement->deny ? "{\"Effect\":\"Deny\"," : "{\"Effect\":\"Allow\",");
    print_principals(out, statement);
    print(out, statement->not_action ? "\"NotAction\":" : "\"Action\":");
    print_list(out, &statement->actions);
    print(out, statement->not_resource ? ",\"NotResource\":" : ",\"Resource\":");
    print_list(out, &statement->resources);
    if (statement->test_count > 0) {
        print(out, ",\"Condition\":{");
        for (size_t i = 0; i < statement->test_count; i++) {
            print(out, i == 0 ? "" : ",");
            print_test(out, &statement->tests[i]);
        }
        print(out, "}");
    }
    print(out, "}");
}

struct bytes naive_print(struct arena *arena, const struct naive_document *document)
{
    struct buffer out;
    buffer_init(&out, arena);
    print(&out, "{\"Version\":\"2012-10-17\",\"Statement\":[");
    for (size_t i = 0; i < document->count; i++) {
        print(&out, i == 0 ? "" : ",");
        print_statement(&out, &document->statements[i]);
    }
    print(&out, "]}");
    return buffer_bytes(&out);
}
