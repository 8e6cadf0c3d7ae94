/* console.h -- serves the console: the web pages below /console/, out of the binary.
 *
 * The pages are static and the same for everybody. What they show, they fetch by ordinary calls of
 * the API, signed in the browser; the server gives them no powers. The one thing that is not a file
 * is /console/server.json, which tells a page how to sign its calls.
 *
 * Answers never wait: an asset is bytes of the binary, inflated on the loop if the client does not
 * accept gzip (CONSOLE_ASSET_SIZE_MAX bounds that).
 */
#ifndef STATOR_CONSOLE_CONSOLE_H
#define STATOR_CONSOLE_CONSOLE_H
#include <stdbool.h>

struct console;
struct router;

enum { CONSOLE_ASSET_SIZE_MAX = 256 * 1024 };

#define CONSOLE_PATH "/console/"

/* Texts are copied. */
struct console_options {
    bool auth; /* Calls must be signed. */
    const char *region;
    const char *version;
};

/* Adds its routes, before the server starts. Destroy it after the HTTP server has stopped. */
struct console *console_create(const struct console_options *options, struct router *router);
/* NULL is allowed. */
void console_destroy(struct console *console);

#endif
