/* check_tokens.c -- see check_tokens.h. How old a record may be is not judged: old ones go while a
 * server runs, and a store at rest may lie for years.
 */
#include "check/check_tokens.h"
#include "check/check_report.h"
#include "check/check_walk.h"
#include "table/token_record.h"

static bool visit(void *context, const struct engine_place *place, const struct engine_entry *entry)
{
    struct check_report *report = context;
    struct token_record record;
    const char *problem = NULL;
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    (void)place;
    if (!token_record_is_key(entry->key))
        problem = "is stored under a key that is no token's";
    else if (!token_record_decode(entry->value, &record))
        problem = "is damaged";
    if (problem == NULL)
        return true;
    check_report_format_key(entry->key, text);
    check_report_problem(report, "record of a token, %s: %s", text, problem);
    return true;
}

void check_tokens(struct engine_view *view, struct check_report *report)
{
    enum engine_status status = check_walk(view, &token_record_place, visit, report);
    if (status != ENGINE_OK)
        check_report_unreadable(report, status, "the records of tokens");
}
