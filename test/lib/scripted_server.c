/* scripted_server.c -- see scripted_server.h. */
#include "scripted_server.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_SIZE = 64 * 1024, BACKLOG = 8 };

static bool send_text(int fd, const char *text)
{
    size_t size = strlen(text);
    while (size > 0) {
        ssize_t sent = send(fd, text, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        text += sent;
        size -= (size_t)sent;
    }
    return true;
}

/* The size of a request whose head is there; 0: it is not yet. */
static size_t size_of_request(const char *text)
{
    const char *end = strstr(text, "\r\n\r\n");
    const char *length = strstr(text, "Content-Length: ");
    if (end == NULL)
        return 0;
    size_t body = length != NULL && length < end ? strtoul(length + 16, NULL, 10) : 0;
    return (size_t)(end - text) + 4 + body;
}

/* Reads a request. False if the connection ends first. */
static bool read_request(struct scripted_server *server, int fd, char *room)
{
    char head[SCRIPTED_SERVER_REQUEST_MAX] = "";
    size_t size = 0, wanted = 0;
    while (wanted == 0 || size < wanted) {
        ssize_t got = recv(fd, room, READ_SIZE, 0);
        if (got <= 0)
            return false;
        for (ssize_t i = 0; i < got; i++, size++) {
            if (size < sizeof head - 1)
                head[size] = room[i];
        }
        wanted = size_of_request(head);
    }
    pthread_mutex_lock(&server->mutex);
    memcpy(server->request, head, sizeof head);
    server->request_size = size;
    server->request_count++;
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->mutex);
    return true;
}

static void await_end(int fd, char *room)
{
    while (recv(fd, room, READ_SIZE, 0) > 0)
        continue;
}

static void serve(struct scripted_server *server, int fd, char *room)
{
    do {
        if (!read_request(server, fd, room))
            return;
        if (server->answer == NULL) {
            await_end(fd, room);
            return;
        }
        if (!send_text(fd, server->answer))
            return;
        while (server->endless != NULL) {
            if (!send_text(fd, server->endless))
                return;
        }
    } while (server->keeps_open);
    shutdown(fd, SHUT_WR);
    await_end(fd, room); /* So that a reset does not overtake the answer. */
}

static void *server_main(void *context)
{
    struct scripted_server *server = context;
    char *room = malloc(READ_SIZE);
    for (;;) {
        int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC);
        pthread_mutex_lock(&server->mutex);
        bool stopping = server->stopping;
        server->connection_count += fd >= 0 && !stopping ? 1 : 0;
        pthread_mutex_unlock(&server->mutex);
        if (!stopping && fd >= 0)
            serve(server, fd, room);
        if (fd >= 0)
            close(fd);
        if (stopping)
            break;
    }
    free(room);
    return NULL;
}

void scripted_server_start(struct scripted_server *server)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t size = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    pthread_mutex_init(&server->mutex, NULL);
    pthread_cond_init(&server->changed, NULL);
    server->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server->fd < 0 || bind(server->fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(server->fd, BACKLOG) != 0 ||
        getsockname(server->fd, (struct sockaddr *)&address, &size) != 0 ||
        pthread_create(&server->thread, NULL, server_main, server) != 0) {
        perror("scripted_server");
        abort();
    }
    server->port = ntohs(address.sin_port);
}

void scripted_server_stop(struct scripted_server *server)
{
    pthread_mutex_lock(&server->mutex);
    server->stopping = true;
    pthread_mutex_unlock(&server->mutex);
    shutdown(server->fd, SHUT_RDWR); /* Ends accept. */
    pthread_join(server->thread, NULL);
    close(server->fd);
    pthread_cond_destroy(&server->changed);
    pthread_mutex_destroy(&server->mutex);
}

void scripted_server_await(struct scripted_server *server, size_t request_count)
{
    pthread_mutex_lock(&server->mutex);
    while (server->request_count < request_count)
        pthread_cond_wait(&server->changed, &server->mutex);
    pthread_mutex_unlock(&server->mutex);
}
