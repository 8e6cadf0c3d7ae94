/* config_file_fuzz.c -- any bytes as a file of settings: refused in one line, or taken; what was
 * taken is printed and read back as the same settings.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>
#include "base/arena.h"
#include "config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The context is the file's text. */
static bool read_text(void *context, struct arena *arena, const char *path, struct bytes *text,
                      const char **reason)
{
    (void)arena;
    (void)path;
    (void)reason;
    *text = *(struct bytes *)context;
    return true;
}

static bool read_settings(struct arena *arena, struct bytes text, struct config_result *result,
                          struct config_error *err)
{
    static const char *const no_variables[] = { NULL };
    char program[] = "stator", flag[] = "--config", path[] = "file";
    char *const argv[] = { program, flag, path };
    struct config_input input = { .argc = 3,
                                  .argv = argv,
                                  .environment = no_variables,
                                  .read_file = read_text,
                                  .context = &text };
    return config_read(arena, &input, result, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct config_result first, second;
    struct config_error err = { "" };
    if (read_settings(arena, bytes_of(data, size), &first, &err)) {
        struct bytes printed = config_print(arena, &first.config);
        assert(read_settings(arena, printed, &second, &err));
        assert(bytes_equal(printed, config_print(arena, &second.config)));
    } else {
        assert(err.text[0] != '\0' && strchr(err.text, '\n') == NULL);
    }
    arena_destroy(arena);
    return 0;
}
