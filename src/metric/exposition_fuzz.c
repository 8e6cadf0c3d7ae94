/* exposition_fuzz.c -- any Accept header, and any label value: the page stays one page. */
#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "metric/exposition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input = bytes_of(data == NULL ? (const uint8_t *)"" : data, size);
    struct arena *arena = arena_create();
    bool open_metrics = exposition_wants_open_metrics(input);
    struct exposition *page = exposition_create(arena, open_metrics, 1 << 20);
    struct exposition_family *family =
        exposition_add(page, EXPOSITION_COUNTER, "stator_x", NULL, "Of a test.");
    const struct exposition_label label = { "table", input };
    exposition_integer(family, &label, 1, 1);
    struct bytes text = exposition_finish(page);
    size_t lines = 0;
    for (size_t i = 0; i < text.len; i++)
        lines += text.data[i] == '\n';
    assert(lines == (open_metrics ? 4u : 3u)); /* A value cannot begin a line of its own. */
    assert(text.data[text.len - 1] == '\n');
    arena_destroy(arena);
    return 0;
}
