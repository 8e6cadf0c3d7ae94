/* protocol.c -- see protocol.h.
 *
 * The operation is found before anybody looks at credentials, as for DynamoDB. In the query
 * protocol that takes a look at the form for two parameters; nothing else of a body is read before
 * its signature has been verified.
 */
#include "wire/protocol.h"
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/log.h"
#include "compression/compression.h"
#include "call/request_log.h"
#include "codec/cbor.h"
#include "codec/form.h"
#include "codec/xml.h"
#include "http/server.h"
#include "model/error.h"
#include "router/router.h"
#include "wire/answer.h"
#include "wire/exception.h"

enum {
    /* Where a form's Action is looked for, and its Version. Clients put the Action first, or sort
     * their parameters; only those who sort have the Version behind more than this. */
    FORM_BEGINNING_SIZE = 64 * 1024,
    COMPRESSED_BEGINNING_SIZE = 4096,
    /* Of a compressed body, to inflate that. Megabytes of it may inflate to nothing. */
    COMPRESSED_INPUT_SIZE = 2 * COMPRESSED_BEGINNING_SIZE,
    /* Of an operation's name that a message repeats. */
    NAME_SHOWN_MAX = 128,
};

/* --- Answers --- */

static bool asks_for_query_codes(const struct http_exchange *exchange)
{
    return http_header_equal(http_exchange_header(exchange, "x-amzn-query-mode"), BYTES("true"));
}

static struct bytes content_type(const struct protocol *protocol, struct bytes requested)
{
    switch (protocol->kind) {
    case PROTOCOL_CBOR:
        return BYTES("application/cbor");
    case PROTOCOL_QUERY:
        return BYTES("text/xml");
    default:
        return requested.data != NULL ? requested : bytes_from_text(protocol->service->json_type);
    }
}

static void init_context(struct answer_context *context, const struct protocol *protocol,
                         struct random *random, const struct http_exchange *exchange,
                         bool may_compress)
{
    answer_context_init(context, protocol->protocols->router, random, exchange, may_compress);
    context->has_crc32 = false;
    context->content_type = content_type(protocol, context->content_type);
    context->request_id = answer_request_id(context);
    if (protocol->kind == PROTOCOL_CBOR)
        context->smithy_protocol = BYTES("rpc-v2-cbor");
}

static struct bytes exception_body(const struct answer_context *context,
                                   const struct protocol *protocol, const struct error *err)
{
    struct buffer out;
    struct bytes json, cbor;
    if (protocol->kind == PROTOCOL_QUERY) {
        buffer_init(&out, context->arena);
        exception_append_xml(&out, protocol->service, err, context->request_id);
        return buffer_bytes(&out);
    }
    json = exception_json(context->arena, protocol->service, err);
    if (protocol->kind == PROTOCOL_JSON)
        return json;
    bool encoded = cbor_encode(context->arena, protocol->service->names, json, &cbor);
    assert(encoded);
    return cbor;
}

static void fill_exception(struct answer_context *context, const struct protocol *protocol,
                           const struct http_exchange *exchange, const struct error *err,
                           struct http_answer *out)
{
    struct exception_code code = exception_query_code(protocol->service, err);
    out->status =
        protocol->kind == PROTOCOL_QUERY ? code.status : exception_status(protocol->service, err);
    if (protocol->kind != PROTOCOL_QUERY && protocol->service->tells_query_codes &&
        asks_for_query_codes(exchange))
        context->query_error =
            arena_printf(context->arena, "%s;%s", code.code, exception_fault(code.status));
    answer_fill(context, exception_body(context, protocol, err), out);
}

/* <ListMetricsResponse xmlns="..."><ListMetricsResult>...</ListMetricsResult>
 * <ResponseMetadata><RequestId>...</RequestId></ResponseMetadata></ListMetricsResponse> */
static bool encode_xml(const struct answer_context *context, const struct service *service,
                       const char *operation, struct bytes json, struct bytes *out)
{
    struct buffer body;
    struct bytes result = arena_printf(context->arena, "%sResult", operation);
    buffer_init(&body, context->arena);
    buffer_append_bytes(&body, arena_printf(context->arena, "<%sResponse xmlns=\"%s\">", operation,
                                            service->query_namespace));
    if (!xml_encode(&body, service->names, result, json))
        return false;
    buffer_append_bytes(&body, BYTES("<ResponseMetadata>"));
    xml_append_element(&body, "RequestId", context->request_id);
    buffer_append_bytes(&body, BYTES("</ResponseMetadata>"));
    buffer_append_bytes(&body, arena_printf(context->arena, "</%sResponse>", operation));
    *out = buffer_bytes(&body);
    return true;
}

static bool encode_response(const struct answer_context *context, const struct protocol *protocol,
                            const struct call_ending *ending, struct bytes *out)
{
    /* An operation without a result may write nothing. */
    struct bytes json = ending->response.len == 0 ? BYTES("{}") : ending->response;
    const struct service *service = protocol->service;
    switch (protocol->kind) {
    case PROTOCOL_CBOR:
        return cbor_encode(context->arena, service->names, json, out);
    case PROTOCOL_QUERY:
        return encode_xml(context, service, operation_name(ending->operation), json, out);
    default:
        *out = json;
        return true;
    }
}

static void fill_answer(void *handler_context, const struct call_ending *ending,
                        struct http_answer *out)
{
    const struct protocol *protocol = handler_context;
    struct answer_context context;
    struct bytes body;
    init_context(&context, protocol, ending->random, ending->exchange, ending->may_compress);
    if (error_is_set(ending->error)) {
        fill_exception(&context, protocol, ending->exchange, ending->error, out);
    } else if (encode_response(&context, protocol, ending, &body)) {
        out->status = 200;
        answer_fill(&context, body, out);
    } else { /* Our own mistake. */
        struct error err;
        log_write(LOG_ERROR, "wire", "%s answered with something other than a JSON object",
                  operation_name(ending->operation));
        error_init(&err, context.arena);
        error_set(&err, ERROR_INTERNAL, "The answer cannot be expressed in this protocol");
        fill_exception(&context, protocol, ending->exchange, &err, out);
    }
}

/* --- Requests --- */

static bool decode_cbor(void *context, const struct operation *operation, struct arena *arena,
                        struct bytes body, struct bytes *json, struct error *err)
{
    (void)context;
    (void)operation;
    return cbor_decode(arena, body, json, err);
}

static bool decode_form(void *context, const struct operation *operation, struct arena *arena,
                        struct bytes body, struct bytes *json, struct error *err)
{
    (void)context;
    return form_decode(arena, body, operation_request(operation), json, err);
}

static void answer_error(const struct protocol *protocol, struct call_worker *worker,
                         struct http_exchange *exchange, const struct error *err)
{
    struct answer_context context;
    struct http_answer answer = { 0 };
    init_context(&context, protocol, call_worker_random(worker), exchange, false);
    fill_exception(&context, protocol, exchange, err, &answer);
    http_exchange_answer(exchange, &answer);
}

static void answer_unknown(const struct protocol *protocol, struct call_worker *worker,
                           struct http_exchange *exchange, struct bytes name)
{
    const struct service *service = protocol->service;
    struct error err;
    struct bytes shown = bytes_of(name.data, name.len < NAME_SHOWN_MAX ? name.len : NAME_SHOWN_MAX);
    request_log_unknown(name);
    error_init(&err, http_exchange_arena(exchange));
    if (service->operations == OPERATION_SERVICE_COUNT)
        error_set(&err, ERROR_UNKNOWN_OPERATION, "stator does not have %s's operation %.*s",
                  service->name, BYTES_FMT(shown));
    else if (protocol->kind == PROTOCOL_QUERY)
        error_set(&err, ERROR_UNKNOWN_OPERATION, "Could not find operation %.*s for version %s",
                  BYTES_FMT(shown), service->query_version);
    else
        error_set(&err, ERROR_UNKNOWN_OPERATION, "stator does not have the operation %.*s of %s",
                  BYTES_FMT(shown), service->name);
    answer_error(protocol, worker, exchange, &err);
}

static void run(struct protocols *protocols, const struct service *service, enum protocol_kind kind,
                struct call_worker *worker, struct http_exchange *exchange, struct bytes name)
{
    const struct protocol *protocol = &protocols->all[service - service_at(0)][kind];
    const struct operation *operation = service_operation(service, name);
    if (operation == NULL)
        answer_unknown(protocol, worker, exchange, name);
    else
        call_runner_run(worker, exchange, operation, &protocol->envelope);
}

/* The service and the operation of a path such as
 * /service/GraniteServiceVersion20100801/operation/ListMetrics; NULL: it has another form. */
static const struct service *service_of_path(struct bytes path, struct bytes *name)
{
    static const struct bytes start = BYTES("/service/");
    static const struct bytes middle = BYTES("operation/");
    if (!bytes_starts_with(path, start))
        return NULL;
    struct bytes rest = bytes_of(path.data + start.len, path.len - start.len);
    struct bytes prefix = http_header_next_part(&rest, '/');
    if (!bytes_starts_with(rest, middle))
        return NULL;
    *name = bytes_of(rest.data + middle.len, rest.len - middle.len);
    const struct service *service = service_find_target(prefix);
    return service != NULL && service->has_cbor ? service : NULL;
}

/* The whole parameters of a form's beginning. */
static struct bytes whole_parameters(struct bytes beginning)
{
    const uint8_t *end = beginning.len == 0 ? NULL : memrchr(beginning.data, '&', beginning.len);
    return bytes_of(beginning.data, end == NULL ? 0 : (size_t)(end - beginning.data));
}

static struct bytes inflate_beginning(struct arena *arena, struct bytes body,
                                      enum compression_format format)
{
    struct bytes beginning;
    bool is_cut = body.len > COMPRESSED_INPUT_SIZE;
    if (is_cut)
        body.len = COMPRESSED_INPUT_SIZE;
    enum compression_result result =
        compression_inflate(arena, body, format, COMPRESSED_BEGINNING_SIZE, &beginning);
    if (result == COMPRESSION_OK)
        return beginning;
    return result == COMPRESSION_DAMAGED && !is_cut ? BYTES("") : whole_parameters(beginning);
}

/* The beginning of a request's form. A loop looks at it for strangers, so it is short. */
static struct bytes form_of(const struct http_exchange *exchange)
{
    struct bytes body = http_exchange_body(exchange);
    enum compression_format format =
        compression_find(http_exchange_header(exchange, "Content-Encoding"));
    if (format != COMPRESSION_NONE)
        return inflate_beginning(http_exchange_arena(exchange), body, format);
    if (body.len <= FORM_BEGINNING_SIZE)
        return body;
    return whole_parameters(bytes_of(body.data, FORM_BEGINNING_SIZE));
}

static const struct service *service_of_form(const struct http_exchange *exchange,
                                             struct bytes *action)
{
    struct bytes form = form_of(exchange);
    struct bytes version = form_find(form, "Version");
    *action = form_find(form, "Action");
    if (action->data == NULL)
        return NULL;
    return version.data != NULL ? service_find_version(version) : service_find_action(*action);
}

static bool is_json(struct bytes type)
{
    return http_header_equal(type, BYTES("application/x-amz-json-1.0")) ||
           http_header_equal(type, BYTES("application/x-amz-json-1.1")) ||
           http_header_equal(type, BYTES("application/json"));
}

bool protocols_handle(struct protocols *protocols, struct call_worker *worker,
                      struct http_exchange *exchange)
{
    struct bytes content = http_exchange_header(exchange, "Content-Type");
    struct bytes type = http_header_next_part(&content, ';');
    struct bytes target = http_exchange_header(exchange, "X-Amz-Target");
    struct bytes name;
    const struct service *service = service_of_path(http_exchange_target(exchange), &name);
    enum protocol_kind kind = PROTOCOL_CBOR;
    if (service == NULL && target.data != NULL && is_json(type)) {
        service = service_find_target(http_header_next_part(&target, '.'));
        name = target;
        kind = PROTOCOL_JSON;
    } else if (service == NULL && target.data == NULL &&
               http_header_equal(type, BYTES("application/x-www-form-urlencoded"))) {
        service = service_of_form(exchange, &name);
        kind = PROTOCOL_QUERY;
    }
    if (service == NULL || service_is_dynamodbs(service))
        return false;
    run(protocols, service, kind, worker, exchange, name);
    return true;
}

void protocols_init(struct protocols *protocols, struct router *router)
{
    assert(service_count() <= PROTOCOL_SERVICES_MAX);
    *protocols = (struct protocols){ .router = router };
    for (size_t i = 0; i < service_count(); i++) {
        for (enum protocol_kind kind = 0; kind < PROTOCOL_COUNT; kind++) {
            struct protocol *protocol = &protocols->all[i][kind];
            protocol->protocols = protocols;
            protocol->service = service_at(i);
            protocol->kind = kind;
            protocol->envelope = (struct call_envelope){
                .service = service_at(i)->signing_name,
                .context = protocol,
                .encodes = kind != PROTOCOL_JSON,
                .fill_answer = fill_answer,
            };
        }
        protocols->all[i][PROTOCOL_CBOR].envelope.decode = decode_cbor;
        protocols->all[i][PROTOCOL_QUERY].envelope.decode = decode_form;
    }
}
