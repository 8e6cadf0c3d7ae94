/* backup_service.h -- how a running server lets a process beside it copy its store.
 *
 * The server listens on a socket in the data directory. Only the owner and root can open it, who
 * may read the data anyway, so no access key is needed; and nobody can fill the disk over the
 * network. Each connection is one copy: the server makes a checkpoint in the data directory,
 * answers, and removes it when the connection ends, however it ends. One at a time; others wait.
 */
#ifndef STATOR_BACKUP_BACKUP_SERVICE_H
#define STATOR_BACKUP_BACKUP_SERVICE_H
#include <limits.h>
#include <stdbool.h>
#include "backup/backup_directory.h"
#include "base/compiler.h"

struct backup_service;
struct engine;

/* Removes what an earlier server left behind, and starts a thread. NULL with a line in the log if
 * there is no socket or thread: the server works without it. Borrows the engine. */
struct backup_service *backup_service_start(struct engine *engine, const char *data_dir);
/* Ends a copy that is under way. NULL is allowed. */
void backup_service_stop(struct backup_service *service);

enum backup_service_answer {
    BACKUP_SERVICE_ABSENT, /* No server has the directory open. */
    BACKUP_SERVICE_READY,
    BACKUP_SERVICE_REFUSED, /* With one line for people. */
};
struct backup_connection {
    int fd;              /* The caller closes it once the copy is no longer needed. */
    char path[PATH_MAX]; /* Of the copy. */
};
/* Asks the server that has `data_dir` open for a copy, and waits for it. */
MUST_CHECK enum backup_service_answer backup_service_ask(const char *data_dir,
                                                         struct backup_connection *connection,
                                                         char message[BACKUP_MESSAGE_MAX]);
/* True while the server keeps the copy. */
bool backup_service_holds(const struct backup_connection *connection);

#endif
