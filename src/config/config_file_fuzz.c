/* config_file_fuzz.c -- any bytes as a file of settings: either refused in one line, or accepted.
 * Accepted settings are printed and read back as the same settings.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>
#include "base/arena.h"
#include "config/config.h"
#include "config/setting.h"

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

static bool read_settings(struct arena *arena, struct bytes text, struct config *config,
                          struct config_error *err)
{
    static const char *const no_variables[] = { NULL };
    const struct config_flag flag = { setting_find(BYTES("config")), BYTES("file"), "--config" };
    struct config_input input = { .flags = &flag,
                                  .flag_count = 1,
                                  .listens = true,
                                  .environment = no_variables,
                                  .read_file = read_text,
                                  .context = &text };
    return config_read(arena, &input, config, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct config first, second;
    struct config_error err = { "" };
    if (read_settings(arena, bytes_of(data, size), &first, &err)) {
        struct bytes printed = config_print(arena, &first);
        assert(read_settings(arena, printed, &second, &err));
        assert(bytes_equal(printed, config_print(arena, &second)));
    } else {
        assert(err.text[0] != '\0' && strchr(err.text, '\n') == NULL);
    }
    arena_destroy(arena);
    return 0;
}
