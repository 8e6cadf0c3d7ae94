/* backup_service.h -- how a running server lets a process beside it copy its store.
 *
 * A socket in the data directory, which only its owner and root can open: whoever can may read the
 * data anyway, so no key is asked for, nothing is sent over a network, and nobody far away can
 * have disks filled. A connection is a copy: the server makes a checkpoint in the data directory,
 * says so, and removes it when the connection ends, however it ends. One at a time; others wait.
 */
#ifndef STATOR_BACKUP_BACKUP_SERVICE_H
#define STATOR_BACKUP_BACKUP_SERVICE_H
#include <limits.h>
#include <stdbool.h>
#include "backup/backup_directory.h"
#include "base/compiler.h"

struct backup_service;
struct engine;

/* Removes what an earlier server left behind, and starts a thread. NULL if the socket or the thread
 * cannot be had, which is logged: a server does not need it. Borrows the engine. */
struct backup_service *backup_service_start(struct engine *engine, const char *data_dir);
/* Ends a copy that is under way. NULL is allowed. */
void backup_service_stop(struct backup_service *service);

enum backup_service_answer {
    BACKUP_SERVICE_ABSENT, /* No server has the directory open. */
    BACKUP_SERVICE_READY,
    BACKUP_SERVICE_REFUSED, /* With one line for people. */
};
struct backup_connection {
    int fd; /* Whoever got BACKUP_SERVICE_READY closes it once the copy is no longer needed. */
    char path[PATH_MAX]; /* Of the copy. */
};
/* Asks the server that has `data_dir` open for a copy, and waits for it. */
MUST_CHECK enum backup_service_answer backup_service_ask(const char *data_dir,
                                                         struct backup_connection *connection,
                                                         char message[BACKUP_MESSAGE_MAX]);
/* Whether the copy is still there. */
bool backup_service_holds(const struct backup_connection *connection);

#endif
