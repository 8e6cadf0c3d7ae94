/* answer.h -- the head of an answer, as text. */
#ifndef STATOR_HTTP_ANSWER_H
#define STATOR_HTTP_ANSWER_H
#include <time.h>
#include "base/bytes.h"

struct arena;
struct http_answer;

/* The Date header's value, formatted once a second. All zero at first. */
struct http_date {
    time_t second;
    char text[sizeof "Sun, 06 Nov 1994 08:49:37 GMT"];
};
struct bytes http_date_at(struct http_date *date, time_t second);

/* `connection` is the Connection header's value, NULL for none. In the arena. The names and values
 * of headers are the program's own and hold no control bytes. */
struct bytes http_answer_format_head(struct arena *arena, const struct http_answer *answer,
                                     struct bytes date, const char *connection);

#endif
