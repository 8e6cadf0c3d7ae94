/* shape_fuzz.c -- arbitrary text through every operation's request shape.
 *
 * The first line names the operation, the rest is its body. Reading either fails with
 * SerializationException or fills the structure; validating either passes or leaves a message;
 * doing both twice gives the same.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include "api/operation.h"
#include "shape/shape.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "model/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct error judge(struct arena *arena, const struct shape *shape, struct bytes text)
{
    struct error err;
    error_init(&err, arena);
    void *request = arena_alloc(arena, shape->size);
    if (!shape_read(arena, text, shape, request, &err)) {
        assert(err.code == ERROR_SERIALIZATION);
    } else if (!shape_validate(arena, shape, request, &err)) {
        assert(err.code == ERROR_VALIDATION);
        assert(err.message.len > 0);
    } else {
        assert(!error_is_set(&err));
    }
    return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line_end = size == 0 ? NULL : memchr(data, '\n', size);
    if (line_end == NULL)
        return 0;
    size_t name_size = (size_t)(line_end - data);
    const struct operation *operation = operation_find_action(bytes_of(data, name_size));
    if (operation == NULL)
        return 0;
    struct bytes text = bytes_of(line_end + 1, size - name_size - 1);
    struct arena *arena = arena_create();
    struct error first = judge(arena, operation->request, text);
    struct error second = judge(arena, operation->request, text);
    assert(first.code == second.code && bytes_equal(first.message, second.message));
    arena_destroy(arena);
    return 0;
}
