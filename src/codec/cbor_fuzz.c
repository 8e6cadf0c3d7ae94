/* cbor_fuzz.c -- the input once as CBOR, once as JSON.
 *
 * Properties: what decodes is valid JSON and encodes; what encodes decodes; a second round changes
 * nothing any more.
 */
#include <assert.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "codec/cbor.h"
#include "json/reader.h"
#include "model/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct codec_member members[] = {
    { "b", CODEC_BLOB },      { "d", CODEC_DOUBLE },         { "m", CODEC_MAP },
    { "t", CODEC_TIMESTAMP }, { "x", CODEC_MAP_OF_DOUBLES },
};
static const struct codec_names typed = { members, COUNT_OF(members) };
static const struct codec_names untyped = { 0 };

static bool is_json(struct arena *arena, struct bytes text)
{
    struct json_reader reader;
    json_reader_init(&reader, arena, text, CODEC_DEPTH_MAX);
    return json_skip(&reader) && json_finish(&reader);
}

static struct bytes decode(struct arena *arena, struct bytes cbor)
{
    struct error err;
    struct bytes json = { 0 };
    error_init(&err, arena);
    if (!cbor_decode(arena, cbor, &json, &err)) {
        assert(error_is_set(&err) && err.message.len > 0);
        return (struct bytes){ 0 };
    }
    assert(!error_is_set(&err));
    assert(is_json(arena, json));
    return json;
}

static void check_cbor(struct arena *arena, struct bytes cbor)
{
    struct bytes json = decode(arena, cbor);
    struct bytes once, twice;
    if (json.data == NULL)
        return;
    bool encoded = cbor_encode(arena, &untyped, json, &once);
    assert(encoded);
    /* Text of the same size may need a longer head, so the bound on the input may be passed. */
    json = decode(arena, once);
    if (json.data == NULL)
        return;
    encoded = cbor_encode(arena, &untyped, json, &twice);
    assert(encoded && bytes_equal(once, twice));
}

static void check_json(struct arena *arena, struct bytes json)
{
    struct bytes cbor;
    if (cbor_encode(arena, &untyped, json, &cbor))
        assert(is_json(arena, json) && decode(arena, cbor).data != NULL);
    else
        assert(!is_json(arena, json));
    if (cbor_encode(arena, &typed, json, &cbor))
        assert(is_json(arena, json) && decode(arena, cbor).data != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    check_cbor(arena, bytes_of(data, size));
    check_json(arena, bytes_of(data, size));
    arena_destroy(arena);
    return 0;
}
