/* xml_fuzz.c -- any JSON at all. What is encoded is well-formed XML: tags are balanced, text has no
 * bare markup, and every character is one that XML 1.0 allows. */
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "codec/xml.h"
#include "json/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each container may open its own element and an entry around it. */
enum { OPEN_MAX = 2 * CODEC_DEPTH_MAX + 4 };

static const struct codec_member members[] = {
    { "b", CODEC_BLOB },      { "d", CODEC_DOUBLE },         { "m", CODEC_MAP },
    { "t", CODEC_TIMESTAMP }, { "x", CODEC_MAP_OF_DOUBLES },
};
static const struct codec_names names = { members, COUNT_OF(members) };

static size_t tag_size(struct bytes rest)
{
    const uint8_t *end = memchr(rest.data, '>', rest.len);
    assert(end != NULL);
    return (size_t)(end - rest.data) + 1;
}

static size_t check_text(struct bytes rest)
{
    static const char *const entities[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#xD;" };
    if (rest.data[0] == '&') {
        for (size_t i = 0; i < COUNT_OF(entities); i++)
            if (bytes_starts_with(rest, bytes_from_text(entities[i])))
                return strlen(entities[i]);
        assert(false);
    }
    assert(rest.data[0] != '>');
    assert(rest.data[0] >= ' ' || rest.data[0] == '\t' || rest.data[0] == '\n');
    size_t size = rest.data[0] < 0x80 ? 1 : utf8_size(rest.data, rest.data + rest.len);
    assert(size > 0);
    return size;
}

static void check_document(struct bytes rest)
{
    struct bytes open[OPEN_MAX];
    size_t depth = 0;
    do {
        if (rest.data[0] != '<') {
            size_t size = check_text(rest);
            rest = bytes_of(rest.data + size, rest.len - size);
            continue;
        }
        size_t size = tag_size(rest);
        struct bytes name = bytes_of(rest.data + 1, size - 2);
        assert(name.len > 0);
        if (name.data[0] == '/') {
            assert(depth > 0);
            depth--;
            assert(bytes_equal(open[depth], bytes_of(name.data + 1, name.len - 1)));
        } else if (name.data[name.len - 1] != '/') {
            assert(depth < OPEN_MAX);
            open[depth++] = name;
        }
        rest = bytes_of(rest.data + size, rest.len - size);
    } while (depth > 0);
    assert(rest.len == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct buffer out;
    buffer_init(&out, arena);
    if (xml_encode(&out, &names, BYTES("Result"), bytes_of(data, size)))
        check_document(buffer_bytes(&out));
    buffer_init(&out, arena);
    xml_append_element(&out, "Text", bytes_of(data, size));
    check_document(buffer_bytes(&out));
    arena_destroy(arena);
    return 0;
}
