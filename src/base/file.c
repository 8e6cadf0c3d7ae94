/* file.c -- see file.h. */
#include "base/file.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int file_open_at(int folder, const char *name, int flags, unsigned mode)
{
    int file;
    do
        file = openat(folder, name, flags, (mode_t)mode);
    while (file < 0 && errno == EINTR);
    return file;
}

/* Removes what a call wrote from the front of `data`. False if the call failed. Writing nothing is
 * a failure too: trying again would not help. */
static bool consume(struct bytes *data, ssize_t written)
{
    if (written < 0)
        return errno == EINTR;
    if (written == 0) {
        errno = ENOSPC;
        return false;
    }
    *data = bytes_of(data->data + written, data->len - (size_t)written);
    return true;
}

bool file_write(int file, struct bytes data)
{
    while (data.len > 0)
        if (!consume(&data, write(file, data.data, data.len)))
            return false;
    return true;
}

bool file_write_at(int file, struct bytes data, int64_t offset)
{
    assert(offset >= 0);
    int64_t end = offset + (int64_t)data.len;
    while (data.len > 0)
        if (!consume(&data, pwrite(file, data.data, data.len, end - (int64_t)data.len)))
            return false;
    return true;
}

void file_close(int file)
{
    int error = errno;
    if (file >= 0)
        close(file);
    errno = error;
}
