/* scripted_server.h -- an HTTP server that answers with the bytes it is given, right or wrong.
 *
 * Takes one connection at a time, on 127.0.0.1. Each request is read whole and noted.
 */
#ifndef STATOR_TEST_SCRIPTED_SERVER_H
#define STATOR_TEST_SCRIPTED_SERVER_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCRIPTED_SERVER_REQUEST_MAX = 4096 };

struct scripted_server {
    /* To be set before the start. */
    const char *answer;  /* NULL: none; the connection stays open until the client ends it. */
    const char *endless; /* Sent again and again behind the answer, until the client leaves. */
    bool keeps_open;     /* Waits for further requests on a connection. */

    uint16_t port;
    int fd;
    pthread_t thread;
    pthread_mutex_t mutex; /* Guards what follows. */
    pthread_cond_t changed;
    char request[SCRIPTED_SERVER_REQUEST_MAX]; /* The beginning of the last one. */
    size_t request_size;                       /* All of it. */
    size_t request_count;
    size_t connection_count;
    bool stopping;
};

void scripted_server_start(struct scripted_server *server);
/* The clients must have closed their connections. */
void scripted_server_stop(struct scripted_server *server);
/* Waits for so many requests since the start. */
void scripted_server_await(struct scripted_server *server, size_t request_count);

#endif
