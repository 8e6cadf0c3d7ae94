/* backup_service.c -- see backup_service.h.
 *
 * The answer is one line: "ok", or what went wrong. The client sends nothing: the server only waits
 * for it to close the connection.
 */
#include "backup/backup_service.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "engine/engine.h"

#define SOCKET_NAME "backup.socket"
#define CHECKPOINT_NAME "checkpoint"
#define READY "ok"
enum { WAITING_MAX = 8, ANSWER_SIZE_MAX = 128, SOCKET_MODE = 0600, RETRY_MS = 100 };

struct backup_service {
    struct engine *engine;
    int listener;
    int stop; /* Readable once the thread must stop. */
    pthread_t thread;
    int directory;
    char checkpoint[PATH_MAX];
    char unfinished[PATH_MAX]; /* Where the engine makes it. */
};

/* Through /proc, because the path of a socket is limited to some 100 bytes. */
static struct sockaddr_un address_in(int directory)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" SOCKET_NAME, directory);
    return address;
}

static bool join(char out[PATH_MAX], const char *directory, const char *name)
{
    int size = snprintf(out, PATH_MAX, "%s/%s", directory, name);
    errno = ENAMETOOLONG;
    return size >= 0 && size < PATH_MAX;
}

/* --- Server --- */

static void remove_checkpoint(const struct backup_service *service)
{
    if (!backup_directory_remove(service->checkpoint) ||
        !backup_directory_remove(service->unfinished))
        log_write(LOG_WARN, "backup", "cannot remove %s: %s", service->checkpoint, strerror(errno));
}

/* Waits until `fd` (-1: none) is readable or closed, or for `timeout_ms` (-1: for ever). False if
 * the thread must stop. */
static bool wait_for(const struct backup_service *service, int fd, int timeout_ms)
{
    struct pollfd waiting[] = { { .fd = fd, .events = POLLIN },
                                { .fd = service->stop, .events = POLLIN } };
    while (poll(waiting, 2, timeout_ms) < 0 && errno == EINTR)
        continue;
    return waiting[1].revents == 0;
}

static void serve_connection(const struct backup_service *service, int fd)
{
    char answer[ANSWER_SIZE_MAX];
    remove_checkpoint(service);
    enum engine_status status = engine_checkpoint(service->engine, service->checkpoint);
    snprintf(answer, sizeof answer, "%s\n",
             status == ENGINE_OK ? READY : engine_status_name(status));
    if (send(fd, answer, strlen(answer), MSG_NOSIGNAL) >= 0 && status == ENGINE_OK) {
        log_write(LOG_INFO, "backup", "a copy of the store is being taken");
        bool ended = wait_for(service, fd, -1);
        log_write(LOG_INFO, "backup", "%s",
                  ended ? "the copy was taken" : "the copy was interrupted: the server stops");
    }
    remove_checkpoint(service);
}

static void *run(void *context)
{
    const struct backup_service *service = context;
    while (wait_for(service, service->listener, -1)) {
        int fd = accept4(service->listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) { /* Perhaps no descriptor is left: the connection is still in the queue. */
            wait_for(service, -1, RETRY_MS);
            continue;
        }
        serve_connection(service, fd);
        close(fd);
    }
    return NULL;
}

/* Sets the mode before the socket has a name, so that nobody else can ever connect. */
static bool listen_in(struct backup_service *service)
{
    struct sockaddr_un address = address_in(service->directory);
    service->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (service->listener < 0 || fchmod(service->listener, SOCKET_MODE) != 0)
        return false;
    if (unlinkat(service->directory, SOCKET_NAME, 0) != 0 && errno != ENOENT)
        return false;
    return bind(service->listener, (const struct sockaddr *)&address, sizeof address) == 0 &&
           listen(service->listener, WAITING_MAX) == 0;
}

static void destroy(struct backup_service *service)
{
    file_close(service->listener);
    file_close(service->stop);
    file_close(service->directory);
    free(service);
}

static bool prepare(struct backup_service *service, const char *data_dir)
{
    if (!join(service->checkpoint, data_dir, CHECKPOINT_NAME) ||
        !join(service->unfinished, data_dir, CHECKPOINT_NAME ".tmp"))
        return false;
    remove_checkpoint(service);
    service->directory = file_open_at(AT_FDCWD, data_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    service->stop = eventfd(0, EFD_CLOEXEC);
    if (service->directory < 0 || service->stop < 0 || !listen_in(service))
        return false;
    errno = pthread_create(&service->thread, NULL, run, service);
    return errno == 0;
}

struct backup_service *backup_service_start(struct engine *engine, const char *data_dir)
{
    assert(engine != NULL && data_dir != NULL);
    struct backup_service *service = memory_checked(malloc(sizeof *service));
    *service =
        (struct backup_service){ .engine = engine, .listener = -1, .stop = -1, .directory = -1 };
    if (prepare(service, data_dir))
        return service;
    log_write(LOG_WARN, "backup", "the running server cannot be backed up: %s", strerror(errno));
    destroy(service);
    return NULL;
}

void backup_service_stop(struct backup_service *service)
{
    if (service == NULL)
        return;
    uint64_t one = 1;
    while (write(service->stop, &one, sizeof one) < 0 && errno == EINTR)
        continue;
    pthread_join(service->thread, NULL);
    unlinkat(service->directory, SOCKET_NAME, 0);
    destroy(service);
}

/* --- Client --- */

/* Reads the line that the server answers; empty if the server ended instead. */
static void read_answer(int fd, char out[ANSWER_SIZE_MAX])
{
    size_t size = 0;
    while (size < ANSWER_SIZE_MAX - 1) {
        ssize_t got = read(fd, out + size, ANSWER_SIZE_MAX - 1 - size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        size += (size_t)got;
        if (out[size - 1] == '\n')
            break;
    }
    out[size] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

/* -1 with errno set; ENOENT and ECONNREFUSED: nobody is there. */
static int connect_in(const char *data_dir)
{
    int directory = file_open_at(AT_FDCWD, data_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (directory < 0)
        return -1;
    struct sockaddr_un address = address_in(directory);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        file_close(fd);
        fd = -1;
    }
    file_close(directory);
    return fd;
}

enum backup_service_answer backup_service_ask(const char *data_dir,
                                              struct backup_connection *connection,
                                              char message[BACKUP_MESSAGE_MAX])
{
    char answer[ANSWER_SIZE_MAX];
    connection->fd = connect_in(data_dir);
    if (connection->fd < 0 && (errno == ENOENT || errno == ECONNREFUSED))
        return BACKUP_SERVICE_ABSENT;
    if (connection->fd < 0 || !join(connection->path, data_dir, CHECKPOINT_NAME)) {
        backup_directory_refuse(message, data_dir, strerror(errno));
        file_close(connection->fd);
        return BACKUP_SERVICE_REFUSED;
    }
    read_answer(connection->fd, answer);
    if (strcmp(answer, READY) == 0)
        return BACKUP_SERVICE_READY;
    close(connection->fd);
    snprintf(message, BACKUP_MESSAGE_MAX, "%.300s: the server cannot copy its store: %s", data_dir,
             answer[0] == '\0' ? "it has ended" : answer);
    return BACKUP_SERVICE_REFUSED;
}

bool backup_service_holds(const struct backup_connection *connection)
{
    assert(connection->fd >= 0);
    struct pollfd ended = { .fd = connection->fd, .events = POLLIN };
    return poll(&ended, 1, 0) == 0;
}
