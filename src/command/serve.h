/* serve.h -- the server's life: opens the layers, waits for a signal, closes them.
 *
 * At the top of src/ with main.c, because only here all layers meet; nothing is decided here that a
 * layer could decide.
 */
#ifndef STATOR_COMMAND_SERVE_H
#define STATOR_COMMAND_SERVE_H
#include "base/compiler.h"

struct config;

/* Blocks the signals that are meant for the server, in this thread and in those it starts. Call it
 * before serve, so that a signal during the start is not lost but ends the server once it is up. */
void serve_block_signals(void);

/* SIGHUP has it read its certificate, key and client authorities again, for new connections.
 *
 * Returns the process's exit code: 0 after SIGTERM or SIGINT, 1 with one line on standard error if
 * the server could not start. A second signal, or taking longer than SERVE_STOP_SECONDS_MAX, ends
 * the process from within. */
MUST_CHECK int serve(const struct config *config);

enum {
    /* How long requests under way may take to finish. */
    SERVE_STOP_GRACE_MS = 5000,
    /* How long stopping may take in all. Every acknowledged write is safe by then as well. */
    SERVE_STOP_SECONDS_MAX = 10,
};

#endif
