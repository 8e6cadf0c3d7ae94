/* console.c -- see console.h. */
#include "console/console.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "base/memory.h"
#include "compression/compression.h"
#include "console/asset.h"
#include "http/server.h"
#include "json/writer.h"
#include "router/router.h"

enum { HEADERS_MAX = 16, SERVER_JSON_SIZE_MAX = 512 };

struct console {
    char server_json[SERVER_JSON_SIZE_MAX];
    size_t server_json_size;
};

/* An answer under construction, in the arena of its exchange. */
struct page {
    struct http_answer answer;
    struct http_header headers[HEADERS_MAX];
};

static void add_header(struct page *page, struct bytes name, struct bytes value)
{
    assert(page->answer.header_count < HEADERS_MAX);
    page->headers[page->answer.header_count++] =
        (struct http_header){ .name = name, .value = value };
}

/* Nothing but our own files runs; no text becomes markup or script (Trusted Types); no other origin
 * is asked for anything, and none may embed the pages. doc/security.md, "The console". */
static void add_security_headers(struct page *page)
{
    add_header(page, BYTES("Content-Security-Policy"),
               BYTES("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
                     "connect-src 'self'; form-action 'none'; base-uri 'none'; "
                     "frame-ancestors 'none'; require-trusted-types-for 'script'; "
                     "trusted-types 'none'"));
    add_header(page, BYTES("X-Content-Type-Options"), BYTES("nosniff"));
    add_header(page, BYTES("Referrer-Policy"), BYTES("no-referrer"));
    add_header(page, BYTES("Cross-Origin-Opener-Policy"), BYTES("same-origin"));
    add_header(page, BYTES("Cross-Origin-Resource-Policy"), BYTES("same-origin"));
    add_header(page, BYTES("Permissions-Policy"),
               BYTES("camera=(), geolocation=(), microphone=(), payment=(), usb=()"));
}

static struct page *new_page(struct http_exchange *exchange, int status)
{
    struct page *page = arena_alloc_zeroed(http_exchange_arena(exchange), sizeof *page);
    page->answer.status = status;
    page->answer.headers = page->headers;
    add_header(page, BYTES("Server"), BYTES("stator"));
    add_security_headers(page);
    return page;
}

static void send_text(struct http_exchange *exchange, int status, struct bytes text)
{
    struct page *page = new_page(exchange, status);
    add_header(page, BYTES("Content-Type"), BYTES("text/plain"));
    page->answer.body = text;
    http_exchange_answer(exchange, &page->answer);
}

/* --- Files --- */

static const struct console_asset *find_asset(struct bytes path)
{
    size_t low = 0, high = console_asset_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = bytes_compare(path, bytes_from_text(console_assets[middle].path));
        if (order == 0)
            return &console_assets[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* RFC 9110, 13.1.2: a list of tags, compared weakly. */
static bool has_it_already(struct bytes if_none_match, struct bytes etag)
{
    while (if_none_match.len > 0) {
        struct bytes tag = http_header_next_part(&if_none_match, ',');
        if (bytes_starts_with(tag, BYTES("W/")))
            tag = bytes_of(tag.data + 2, tag.len - 2);
        if (bytes_equal(tag, etag) || bytes_equal_text(tag, "*"))
            return true;
    }
    return false;
}

static struct bytes inflated(struct arena *arena, const struct console_asset *asset)
{
    struct bytes body = { 0 };
    struct bytes stored = bytes_of(asset->gzip, (size_t)(asset->gzip_end - asset->gzip));
    enum compression_result result =
        compression_inflate(arena, stored, COMPRESSION_GZIP, asset->size, &body);
    assert(result == COMPRESSION_OK && body.len == asset->size);
    return body;
}

/* A browser asks again for every file and gets 304: so it never mixes the files of two versions,
 * and hashed names are not needed. */
static void send_asset(struct http_exchange *exchange, const struct console_asset *asset)
{
    struct bytes etag = bytes_from_text(asset->etag);
    bool is_known = has_it_already(http_exchange_header(exchange, "If-None-Match"), etag);
    struct page *page = new_page(exchange, is_known ? 304 : 200);
    add_header(page, BYTES("ETag"), etag);
    add_header(page, BYTES("Cache-Control"), BYTES("no-cache"));
    add_header(page, BYTES("Vary"), BYTES("Accept-Encoding"));
    if (!is_known) {
        add_header(page, BYTES("Content-Type"), bytes_from_text(asset->type));
        struct bytes accept = http_exchange_header(exchange, "Accept-Encoding");
        if (compression_choose(accept) == COMPRESSION_GZIP) {
            add_header(page, BYTES("Content-Encoding"), BYTES("gzip"));
            page->answer.body = bytes_of(asset->gzip, (size_t)(asset->gzip_end - asset->gzip));
        } else {
            page->answer.body = inflated(http_exchange_arena(exchange), asset);
        }
    }
    http_exchange_answer(exchange, &page->answer);
}

static void send_server(const struct console *console, struct http_exchange *exchange)
{
    struct page *page = new_page(exchange, 200);
    add_header(page, BYTES("Content-Type"), BYTES("application/json"));
    add_header(page, BYTES("Cache-Control"), BYTES("no-store"));
    page->answer.body = arena_printf(http_exchange_arena(exchange), "%.*s",
                                     (int)console->server_json_size, console->server_json);
    http_exchange_answer(exchange, &page->answer);
}

/* --- Routes --- */

static void answer_file(void *context, void *loop_context, struct http_exchange *exchange)
{
    struct bytes target = http_exchange_target(exchange);
    struct bytes prefix = BYTES(CONSOLE_PATH);
    (void)loop_context;
    assert(bytes_starts_with(target, prefix));
    struct bytes path = bytes_of(target.data + prefix.len, target.len - prefix.len);
    const uint8_t *query = memchr(path.data, '?', path.len);
    if (query != NULL)
        path.len = (size_t)(query - path.data);
    const struct console_asset *asset = find_asset(path);
    if (asset != NULL)
        send_asset(exchange, asset);
    else if (bytes_equal_text(path, "server.json"))
        send_server(context, exchange);
    else
        send_text(exchange, 404, BYTES("the console has no such file\n"));
}

static void answer_redirect(void *context, void *loop_context, struct http_exchange *exchange)
{
    struct page *page = new_page(exchange, 308);
    (void)context, (void)loop_context;
    add_header(page, BYTES("Location"), BYTES(CONSOLE_PATH));
    http_exchange_answer(exchange, &page->answer);
}

static void describe_server(struct console *console, const struct console_options *options)
{
    struct arena *arena = arena_create();
    struct buffer text;
    struct json_writer writer;
    buffer_init(&text, arena);
    json_writer_init(&writer, &text);
    json_open_object(&writer);
    json_write_name(&writer, "auth");
    json_write_bool(&writer, options->auth);
    json_write_name(&writer, "region");
    json_write_text(&writer, options->region);
    json_write_name(&writer, "version");
    json_write_text(&writer, options->version);
    json_close_object(&writer);
    struct bytes json = buffer_bytes(&text);
    assert(json.len <= sizeof console->server_json);
    memcpy(console->server_json, json.data, json.len);
    console->server_json_size = json.len;
    arena_destroy(arena);
}

struct console *console_create(const struct console_options *options, struct router *router)
{
    struct console *console = memory_checked(calloc(1, sizeof *console));
    describe_server(console, options);
    for (size_t i = 0; i < console_asset_count; i++)
        assert(console_assets[i].size <= CONSOLE_ASSET_SIZE_MAX);
    const struct route files = { .method = "GET",
                                 .path = CONSOLE_PATH,
                                 .match = ROUTE_PREFIX,
                                 .access = ROUTE_OPEN,
                                 .context = console,
                                 .handle = answer_file };
    struct route redirect = files;
    redirect.path = "/console";
    redirect.match = ROUTE_EXACT;
    redirect.handle = answer_redirect;
    router_add(router, &files);
    router_add(router, &redirect);
    return console;
}

void console_destroy(struct console *console)
{
    free(console);
}
