/* notify.c -- see notify.h. */
#include "base/notify.h"
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "base/file.h"

/* False with errno set if the name is neither a path nor an abstract name. */
static bool make_address(const char *name, struct sockaddr_un *address, socklen_t *size)
{
    size_t length = strlen(name);
    *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    if ((name[0] != '/' && name[0] != '@') || length < 2) {
        errno = EAFNOSUPPORT;
        return false;
    }
    if (length >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(address->sun_path, name, length);
    if (name[0] == '@')
        address->sun_path[0] = '\0';
    /* Without a NUL: in an abstract name it would be part of the name. */
    *size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    return true;
}

bool notify_send(const char *socket_name, const char *state)
{
    struct sockaddr_un address;
    socklen_t address_size;
    assert(state != NULL && state[0] != '\0');
    if (socket_name == NULL)
        return true;
    if (!make_address(socket_name, &address, &address_size))
        return false;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    size_t size = strlen(state);
    bool ok = sendto(fd, state, size, MSG_NOSIGNAL, (const struct sockaddr *)&address,
                     address_size) == (ssize_t)size;
    file_close(fd);
    return ok;
}
