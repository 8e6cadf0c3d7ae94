/* discard.h -- gives the memory of requests back, inside http/.
 *
 * The system takes milliseconds to take back a hundred megabytes. Loops have that done by a thread
 * of its own. Not of libuv's pool: that is started with its first work, and ends the process if the
 * system has no thread left at that moment.
 */
#ifndef STATOR_HTTP_DISCARD_H
#define STATOR_HTTP_DISCARD_H
#include "base/compiler.h"

struct arena;
struct http_body;
struct http_discard;
struct http_loop;

enum { HTTP_DISCARD_APART_SIZE = 4 * 1024 * 1024 }; /* From here on. */

/* One for all loops of a server. NULL if the system refuses a thread. */
MUST_CHECK struct http_discard *http_discard_start(void);
/* When no loop runs any more; all is given back then. Stopping NULL is allowed. */
void http_discard_stop(struct http_discard *discard);

/* The arena goes back to the loop's pool if it is small. */
void http_discard_arena(struct http_loop *loop, struct arena *arena);
/* The body is empty after that. */
void http_discard_body(struct http_loop *loop, struct http_body *body);

#endif
