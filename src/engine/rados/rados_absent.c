/* rados_absent.c -- takes the place of rados_store.c where librados' header is missing. */
#include <assert.h>
#include <stdio.h>
#include "engine/rados/rados_store.h"

struct partition_store *rados_store_open(const struct rados_options *options,
                                         char message[RADOS_MESSAGE_MAX])
{
    (void)options;
    snprintf(message, RADOS_MESSAGE_MAX,
             "this stator was built without librados: install librados-dev, and build it again");
    return NULL;
}

struct rados_counts rados_store_counts(struct partition_store *store)
{
    (void)store;
    assert(false && "there is no such store");
    return (struct rados_counts){ 0 };
}
