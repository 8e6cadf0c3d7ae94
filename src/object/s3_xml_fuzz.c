/* s3_xml_fuzz.c -- any bytes. What is read stays within the document: names are parts of it, a
 * text is no longer than the document, and elements end in the order in which they began. */
#include <assert.h>
#include "base/arena.h"
#include "object/s3_xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    struct bytes document;
    size_t text_size;
    size_t leaves;
};

static void check_name(const struct seen *seen, struct bytes name)
{
    assert(name.len == 0 || (name.data >= seen->document.data &&
                             name.data + name.len <= seen->document.data + seen->document.len));
}

static void take_leaf(void *context, struct bytes parent, struct bytes name, struct bytes text)
{
    struct seen *seen = context;
    if (parent.len > 0)
        check_name(seen, parent);
    assert(name.len > 0);
    check_name(seen, name);
    seen->text_size += text.len;
    seen->leaves++;
}

static void take_end(void *context, struct bytes name)
{
    struct seen *seen = context;
    assert(name.len > 0);
    check_name(seen, name);
    assert(seen->leaves > 0); /* Something was in it. */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct seen seen = { .document = bytes_of(data, size) };
    const struct s3_xml_visitor visitor = { &seen, take_leaf, take_end };
    bool ok = s3_xml_read(arena, seen.document, &visitor);
    assert(seen.text_size <= size);
    assert(!ok || seen.leaves > 0);
    arena_destroy(arena);
    return 0;
}
