/* rados_library.h -- librados' functions, loaded when a cluster is first opened. Internal to
 * rados/.
 *
 * Linking librados would make every server load it and the 20 libraries below it, and make every
 * package depend on them. Few servers use a cluster. So the program is compiled against the header,
 * which checks each call, and the library is opened with the first store.
 */
#ifndef STATOR_ENGINE_RADOS_RADOS_LIBRARY_H
#define STATOR_ENGINE_RADOS_RADOS_LIBRARY_H
#include <rados/librados.h>
#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"

/* Everything that rados/ calls, without "rados_". */
#define RADOS_LIBRARY_FUNCTIONS(X)                                                                 \
    X(aio_create_completion2)                                                                      \
    X(aio_get_return_value)                                                                        \
    X(aio_get_version)                                                                             \
    X(aio_read_op_operate)                                                                         \
    X(aio_release)                                                                                 \
    X(aio_wait_for_complete)                                                                       \
    X(aio_write_op_operate)                                                                        \
    X(conf_read_file)                                                                              \
    X(conf_set)                                                                                    \
    X(connect)                                                                                     \
    X(create2)                                                                                     \
    X(create_read_op)                                                                              \
    X(create_write_op)                                                                             \
    X(ioctx_create)                                                                                \
    X(ioctx_destroy)                                                                               \
    X(ioctx_get_id)                                                                                \
    X(ioctx_set_namespace)                                                                         \
    X(omap_get_end)                                                                                \
    X(omap_get_next2)                                                                              \
    X(omap_iter_size)                                                                              \
    X(pool_lookup)                                                                                 \
    X(read)                                                                                        \
    X(read_op_assert_exists)                                                                       \
    X(read_op_omap_get_vals2)                                                                      \
    X(read_op_omap_get_vals_by_keys2)                                                              \
    X(release_read_op)                                                                             \
    X(release_write_op)                                                                            \
    X(shutdown)                                                                                    \
    X(write_op_assert_exists)                                                                      \
    X(write_op_create)                                                                             \
    X(write_op_omap_cmp2)                                                                          \
    X(write_op_omap_rm_keys2)                                                                      \
    X(write_op_omap_set2)                                                                          \
    X(write_op_operate)                                                                            \
    X(write_op_write_full)

#define RADOS_LIBRARY_MEMBER(name) __typeof__(&rados_##name) name;
struct rados_library {
    RADOS_LIBRARY_FUNCTIONS(RADOS_LIBRARY_MEMBER)
};
#undef RADOS_LIBRARY_MEMBER

/* The library's file name, as its ABI calls it. */
#define RADOS_LIBRARY_FILE "librados.so.2"

/* Opens the library, for as long as the process lives, and finds all functions. False with one line
 * for people if the file or a function is missing. */
MUST_CHECK bool rados_library_load(struct rados_library *out, const char *file, char *message,
                                   size_t message_size);

#endif
