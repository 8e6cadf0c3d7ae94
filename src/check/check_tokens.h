/* check_tokens.h -- the records of ClientRequestTokens: each whole and under a token's key. */
#ifndef STATOR_CHECK_CHECK_TOKENS_H
#define STATOR_CHECK_CHECK_TOKENS_H

struct check_report;
struct engine_view;

void check_tokens(struct engine_view *view, struct check_report *report);

#endif
