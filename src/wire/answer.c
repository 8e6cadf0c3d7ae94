/* answer.c -- see answer.h. */
#include "wire/answer.h"
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte_order.h"
#include "base/random.h"
#include "compression/compression.h"
#include "http/server.h"
#include "json/writer.h"
#include "model/error.h"
#include "router/router.h"

enum { ANSWER_HEADERS_MAX = 10, CRC32_TEXT_MAX = 10 };

/* Each byte holds a number below 32, and becomes its symbol: a digit, or a letter from A to V. */
static uint64_t to_symbols(uint64_t numbers)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    uint64_t is_letter = ((numbers + each * (0x80 - 10)) >> 7) & each;
    return numbers + each * '0' + is_letter * ('A' - '9' - 1);
}

struct bytes answer_request_id(const struct answer_context *context)
{
    enum { AT_ONCE = sizeof(uint64_t) };
    char *id = arena_alloc(context->arena, REQUEST_ID_SIZE + AT_ONCE);
    for (size_t i = 0; i < REQUEST_ID_SIZE; i += AT_ONCE)
        store_u64_le((uint8_t *)id + i,
                     to_symbols(random_next(context->random) & UINT64_C(0x1F1F1F1F1F1F1F1F)));
    return bytes_of(id, REQUEST_ID_SIZE);
}

static struct bytes decimal(struct arena *arena, uint32_t value)
{
    uint8_t *text = (uint8_t *)arena_alloc(arena, CRC32_TEXT_MAX) + CRC32_TEXT_MAX;
    size_t len = 0;
    do {
        *--text = (uint8_t)('0' + value % 10);
        value /= 10;
        len++;
    } while (value > 0);
    return bytes_of(text, len);
}

static void add_header(struct http_header *headers, size_t *count, struct bytes name,
                       struct bytes value)
{
    headers[(*count)++] = (struct http_header){ .name = name, .value = value };
}

void answer_context_init(struct answer_context *context, const struct router *router,
                         struct random *random, const struct http_exchange *exchange,
                         bool may_compress)
{
    struct bytes type = http_exchange_header(exchange, "Content-Type");
    *context = (struct answer_context){
        .arena = http_exchange_arena(exchange),
        .random = random,
        .allowed_origin = router_allowed_origin(router, exchange),
        .has_crc32 = true,
    };
    if (may_compress)
        context->accept_encoding = http_exchange_header(exchange, "Accept-Encoding");
    if (http_header_equal(http_header_next_part(&type, ';'), BYTES("application/json")))
        context->content_type = BYTES("application/json");
}

void answer_fill(const struct answer_context *context, struct bytes body, struct http_answer *out)
{
    struct http_header *headers = arena_alloc(context->arena, ANSWER_HEADERS_MAX * sizeof *headers);
    size_t count = 0;
    add_header(headers, &count, BYTES("Server"), BYTES("stator"));
    add_header(headers, &count, BYTES("Content-Type"),
               context->content_type.data == NULL ? BYTES("application/x-amz-json-1.0")
                                                  : context->content_type);
    add_header(headers, &count, BYTES("x-amzn-RequestId"),
               context->request_id.data == NULL ? answer_request_id(context) : context->request_id);
    if (context->smithy_protocol.data != NULL)
        add_header(headers, &count, BYTES("smithy-protocol"), context->smithy_protocol);
    if (context->query_error.data != NULL)
        add_header(headers, &count, BYTES("x-amzn-query-error"), context->query_error);
    enum compression_format format = body.len < ANSWER_COMPRESSED_SIZE_MIN
                                         ? COMPRESSION_NONE
                                         : compression_choose(context->accept_encoding);
    if (format != COMPRESSION_NONE) {
        body = compression_deflate(context->arena, body, format);
        add_header(headers, &count, BYTES("Content-Encoding"), compression_name(format));
    }
    /* Over the bytes sent: SDKs check it before they inflate. */
    if (context->has_crc32)
        add_header(headers, &count, BYTES("x-amz-crc32"),
                   decimal(context->arena, compression_crc32(body)));
    if (context->allowed_origin.data != NULL) {
        add_header(headers, &count, BYTES("Access-Control-Allow-Origin"), context->allowed_origin);
        add_header(headers, &count, BYTES("Access-Control-Expose-Headers"),
                   BYTES(ANSWER_EXPOSED_HEADERS));
        add_header(headers, &count, BYTES("Vary"), BYTES("Origin"));
    }
    assert(count <= ANSWER_HEADERS_MAX);
    out->headers = headers;
    out->header_count = count;
    out->body = body;
}

void answer_fill_error(const struct answer_context *context, const struct error *err,
                       struct http_answer *out)
{
    const struct error_kind *kind = error_kind(err->code);
    struct buffer body;
    struct json_writer writer;
    buffer_init(&body, context->arena);
    json_writer_init(&writer, &body);
    json_open_object(&writer);
    json_write_name(&writer, "__type");
    json_write_text(&writer, kind->type);
    if (err->reasons_json.data != NULL) {
        json_write_name(&writer, "CancellationReasons");
        json_write_raw(&writer, err->reasons_json);
    }
    if (err->message.len > 0) {
        json_write_name(&writer, kind->message_field);
        json_write_string(&writer, err->message);
    }
    if (err->throttling_json.data != NULL) {
        json_write_name(&writer, error_throttling_field(err->code));
        json_write_raw(&writer, err->throttling_json);
    }
    if (err->item_json.data != NULL) {
        json_write_name(&writer, "Item");
        json_write_raw(&writer, err->item_json);
    }
    json_close_object(&writer);
    out->status = kind->http_status;
    answer_fill(context, buffer_bytes(&body), out);
}

void answer_send_text(const struct router *router, struct random *random,
                      struct http_exchange *exchange, int status, struct bytes text)
{
    struct answer_context context;
    struct http_answer answer = { .status = status };
    answer_context_init(&context, router, random, exchange, true);
    context.content_type = BYTES("text/plain");
    answer_fill(&context, text, &answer);
    http_exchange_answer(exchange, &answer);
}
