/* discard.h -- gives the memory of a request back, inside http/.
 *
 * The system takes milliseconds to take back a hundred megabytes. A loop has that done by a thread
 * of libuv's pool.
 */
#ifndef STATOR_HTTP_DISCARD_H
#define STATOR_HTTP_DISCARD_H

struct arena;
struct http_body;
struct http_loop;

enum { HTTP_DISCARD_APART_SIZE = 4 * 1024 * 1024 }; /* From here on. */

/* The arena goes back to the loop's pool if it is small. */
void http_discard_arena(struct http_loop *loop, struct arena *arena);
/* The body is empty after that. */
void http_discard_body(struct http_loop *loop, struct http_body *body);

#endif
