/* outbound_sockets.c -- see outbound_sockets.h. */
#include "outbound/outbound_sockets.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct outbound_sockets *sockets = context;
    (void)purpose;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd < 0)
        return CURL_SOCKET_BAD;
    if (sockets->count < OUTBOUND_SOCKETS_MAX)
        sockets->fds[sockets->count++] = fd;
    return fd;
}

static int close_socket(void *context, curl_socket_t fd)
{
    struct outbound_sockets *sockets = context;
    for (size_t i = 0; i < sockets->count; i++) {
        if (sockets->fds[i] == fd)
            sockets->fds[i--] = sockets->fds[--sockets->count];
    }
    return close(fd);
}

bool outbound_sockets_set(struct outbound_sockets *sockets, CURL *easy)
{
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, sockets) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, sockets) == CURLE_OK;
}

void outbound_sockets_acknowledge(const struct outbound_sockets *sockets)
{
    const int on = 1;
    for (size_t i = 0; i < sockets->count; i++)
        setsockopt(sockets->fds[i], IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}
