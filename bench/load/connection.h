/* connection.h -- one kept-alive connection: sends a request, then receives its answer. */
#ifndef STATOR_BENCH_LOAD_CONNECTION_H
#define STATOR_BENCH_LOAD_CONNECTION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CONNECTION_BUFFER_SIZE = 64 * 1024 };

struct ssl_st;
struct ssl_ctx_st;

struct connection {
    int socket;
    struct ssl_st *tls; /* Owned; NULL: plain HTTP. */
    char **texts;       /* A request of its own for each template; owned. */
    int64_t begin_ns;   /* From when on this request's time counts. */
    const char *unsent; /* What is left of the request. */
    size_t unsent_size; /* 0: all of it was sent. */
    char *buffer;       /* Where answers are received, a text that ends with NUL; owned. */
    size_t received;    /* Of the head, as long as it is not complete. */
    uint64_t body_size; /* Once the head is complete. */
    uint64_t body_left;
    unsigned status;         /* 0 until the head is complete. */
    struct connection *next; /* Of those that have nothing to do. */
};

enum connection_state { CONNECTION_SENDING, CONNECTION_RECEIVING, CONNECTION_ANSWERED };

/* For connections through TLS, which take any certificate. The caller frees it with SSL_CTX_free
 * after the last of them. */
struct ssl_ctx_st *connection_tls_create(void);

/* Connects to 127.0.0.1, through TLS unless `tls` is NULL. Like all functions here, it ends the
 * program with a message if the server does not keep its side: what is measured would mean nothing.
 */
void connection_open(struct connection *connection, uint16_t port, struct ssl_ctx_st *tls);
void connection_close(struct connection *connection);

/* Begins to send `size` bytes, which stay as they are until the answer is there. */
enum connection_state connection_send(struct connection *connection, const char *text, size_t size);
/* The socket can be written to or read from: goes on with what is under way. Once ANSWERED,
 * `status` and `body_size` are of the answer. */
enum connection_state connection_go_on(struct connection *connection);

#endif
