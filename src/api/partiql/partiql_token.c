/* partiql_token.c -- see partiql_token.h.
 *
 * In base64: one byte of version, the fingerprint, and the key in the encoding of items, whose
 * checksum vouches for it.
 */
#include "api/partiql/partiql_token.h"
#include <assert.h>
#include "api/partiql/partiql_shapes.h"
#include "api/partiql/partiql_statement.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "json/base64.h"
#include "model/error.h"
#include "model/item.h"
#include "model/limits.h"
#include "table/token_record.h"

enum { TOKEN_VERSION = 1, KEY_AT = 1 + sizeof(struct token_hash) };

static struct token_hash fingerprint(const struct statement_request *request)
{
    struct token_hash hash = { { 0 } };
    partiql_statement_add_hash(&hash, request);
    return hash;
}

struct bytes partiql_token_format(struct arena *arena, const struct statement_request *request,
                                  const struct item *last_key)
{
    struct token_hash hash = fingerprint(request);
    struct buffer out;
    buffer_init(&out, arena);
    buffer_append_byte(&out, TOKEN_VERSION);
    buffer_append(&out, &hash, sizeof hash);
    buffer_append_bytes(&out, last_key->encoded);
    size_t len = base64_encoded_size(out.len);
    assert(len <= STATEMENT_NEXT_TOKEN_SIZE_MAX);
    char *text = arena_alloc(arena, len);
    base64_encode(buffer_bytes(&out), text);
    return bytes_of(text, len);
}

bool partiql_token_refuse(struct error *err)
{
    return error_validation(err, "Invalid NextToken");
}

bool partiql_token_parse(struct arena *arena, struct bytes token,
                         const struct statement_request *request, struct item *last_key,
                         struct error *err)
{
    struct token_hash hash = fingerprint(request);
    uint8_t *data = arena_alloc(arena, base64_decoded_max(token.len));
    size_t size;
    if (!base64_decode(token, data, &size) || size < KEY_AT || data[0] != TOKEN_VERSION ||
        memcmp(&data[1], &hash, sizeof hash) != 0)
        return partiql_token_refuse(err);
    return (item_open(bytes_of(&data[KEY_AT], size - KEY_AT), last_key) && item_verify(last_key)) ||
           partiql_token_refuse(err);
}
