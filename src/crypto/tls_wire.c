/* tls_wire.c -- see tls_wire.h. */
#include "crypto/tls_wire.h"
#include <openssl/bio.h>
#include <stdlib.h>

static struct tls_wire *wire_of(BIO *bio)
{
    return *(struct tls_wire **)BIO_get_data(bio);
}

static int read_some(BIO *bio, char *out, size_t size, size_t *read)
{
    struct tls_wire *wire = wire_of(bio);
    BIO_clear_retry_flags(bio);
    *read = size < wire->in.len ? size : wire->in.len;
    if (*read == 0) {
        BIO_set_retry_read(bio);
        return 0;
    }
    memcpy(out, wire->in.data, *read);
    wire->in = bytes_of(wire->in.data + *read, wire->in.len - *read);
    return 1;
}

static int write_some(BIO *bio, const char *data, size_t size, size_t *written)
{
    struct tls_wire *wire = wire_of(bio);
    size_t room = wire->out_capacity - wire->out_len;
    BIO_clear_retry_flags(bio);
    *written = size < room ? size : room;
    if (*written == 0) {
        BIO_set_retry_write(bio);
        return 0;
    }
    memcpy(wire->out + wire->out_len, data, *written);
    wire->out_len += *written;
    return 1;
}

static long control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static int create(BIO *bio)
{
    BIO_set_init(bio, 1);
    return 1;
}

struct bio_method_st *tls_wire_create_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "wire");
    if (method == NULL || BIO_meth_set_read_ex(method, read_some) != 1 ||
        BIO_meth_set_write_ex(method, write_some) != 1 || BIO_meth_set_ctrl(method, control) != 1 ||
        BIO_meth_set_create(method, create) != 1)
        abort(); /* Out of memory. */
    return method;
}
