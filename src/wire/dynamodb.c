/* dynamodb.c -- see dynamodb.h. The order of checks is the service's: content type, operation,
 * credentials, and only then the body. */
#include "wire/dynamodb.h"
#include <assert.h>
#include "api/api.h"
#include "base/arena.h"
#include "call/request_log.h"
#include "http/server.h"
#include "model/error.h"
#include "model/limits.h"
#include "relay/relay.h"
#include "router/router.h"
#include "wire/answer.h"
#include "wire/s3.h"
#include "wire/service.h"

/* --- Operations --- */

static const struct operation *find_operation(const struct http_exchange *exchange)
{
    struct bytes target = http_exchange_header(exchange, "X-Amz-Target");
    const struct service *service = service_find_target(http_header_next_part(&target, '.'));
    if (service == NULL || !service_is_dynamodbs(service))
        return NULL;
    return service_operation(service, target);
}

struct bytes dynamodb_target(struct arena *arena, const char *operation)
{
    const struct operation *found = operation_find_action(bytes_from_text(operation));
    assert(found != NULL);
    return arena_printf(arena, "%s.%s", service_of(operation_service(found))->target_prefix,
                        operation_name(found));
}

const char *dynamodb_signing_name(const char *operation)
{
    const struct operation *found = operation_find_action(bytes_from_text(operation));
    assert(found != NULL);
    return service_of(operation_service(found))->signing_name;
}

/* --- Requests --- */

static struct bytes media_type(const struct http_exchange *exchange)
{
    struct bytes type = http_exchange_header(exchange, "Content-Type");
    return http_header_next_part(&type, ';');
}

/* The service's answer, in XML, to a request that does not follow its protocol. */
static void answer_foreign(void *context, void *loop_context, struct http_exchange *exchange)
{
    const struct dynamodb *dynamodb = context;
    answer_send_text(dynamodb->router, call_worker_random(loop_context), exchange, 404,
                     BYTES("<UnknownOperationException/>\n"));
}

static void answer_error(const struct dynamodb *dynamodb, struct call_worker *worker,
                         struct http_exchange *exchange, const struct error *err)
{
    struct answer_context context;
    struct http_answer answer = { 0 };
    /* Too small to be compressed. */
    answer_context_init(&context, dynamodb->router, call_worker_random(worker), exchange, false);
    answer_fill_error(&context, err, &answer);
    http_exchange_answer(exchange, &answer);
}

/* True if a person opened the address in a browser. Only browsers send the first two headers, and
 * only browsers ask for HTML; health checks and SDKs do neither. */
static bool is_visit(const struct http_exchange *exchange)
{
    struct bytes accept = http_exchange_header(exchange, "Accept");
    return bytes_equal_text(http_exchange_header(exchange, "Sec-Fetch-Mode"), "navigate") &&
           bytes_equal_text(http_exchange_header(exchange, "Sec-Fetch-Dest"), "document") &&
           accept.data != NULL && memmem(accept.data, accept.len, "text/html", 9) != NULL;
}

static void redirect_to(struct http_exchange *exchange, const char *location)
{
    struct http_header *headers = arena_alloc(http_exchange_arena(exchange), 3 * sizeof *headers);
    headers[0] = (struct http_header){ BYTES("Location"), bytes_from_text(location) };
    headers[1] = (struct http_header){ BYTES("Cache-Control"), BYTES("no-store") };
    headers[2] = (struct http_header){ BYTES("Vary"), BYTES("Accept, Sec-Fetch-Mode") };
    const struct http_answer answer = {
        .status = 303, .headers = headers, .header_count = 3, .body = BYTES("")
    };
    http_exchange_answer(exchange, &answer);
}

/* Scripts compare the type too, which is not the one that the service has for it. */
static void answer_as_local(const struct dynamodb *dynamodb, struct call_worker *worker,
                            struct http_exchange *exchange)
{
    struct answer_context context;
    struct http_answer answer = { .status = 400 };
    answer_context_init(&context, dynamodb->router, call_worker_random(worker), exchange, false);
    answer_fill(&context,
                BYTES("{\"__type\":\"com.amazonaws.dynamodb.v20120810#MissingAuthenticationToken\","
                      "\"message\":\"Request must contain either a valid (registered) AWS access "
                      "key ID or X.509 certificate.\"}"),
                &answer);
    http_exchange_answer(exchange, &answer);
}

/* GET /: the service's own health check. Observed: the text ends with a blank. */
static void answer_root(void *context, void *loop_context, struct http_exchange *exchange)
{
    const struct dynamodb *dynamodb = context;
    struct bytes host = http_exchange_header(exchange, "Host");
    if (s3_handle(dynamodb->router, loop_context, exchange))
        return;
    if (dynamodb->home != NULL && is_visit(exchange)) {
        redirect_to(exchange, dynamodb->home);
        return;
    }
    if (dynamodb->root == DYNAMODB_ROOT_LOCAL) {
        answer_as_local(dynamodb, loop_context, exchange);
        return;
    }
    answer_send_text(
        dynamodb->router, call_worker_random(loop_context), exchange, 200,
        arena_printf(http_exchange_arena(exchange), "healthy: %.*s ", BYTES_FMT(host)));
}

/* GET /shell: where DynamoDB Local has a console. Scripts ask for it to learn whether that server
 * is up; people get ours. */
static void answer_shell(void *context, void *loop_context, struct http_exchange *exchange)
{
    const struct dynamodb *dynamodb = context;
    if (s3_handle(dynamodb->router, loop_context, exchange))
        return;
    if (dynamodb->home != NULL && is_visit(exchange)) {
        redirect_to(exchange, dynamodb->home);
        return;
    }
    answer_send_text(dynamodb->router, call_worker_random(loop_context), exchange, 200,
                     dynamodb->home != NULL
                         ? arena_printf(http_exchange_arena(exchange),
                                        "stator is up. Its console is at %s\n", dynamodb->home)
                         : BYTES("stator is up. Its console is off.\n"));
}

/* Operations of the service that we do not have. Names that the service does not know either get
 * its answer, which has no message. */
static const char *const missing_operations[] = {
    "SearchVectors",
};

static bool is_missing(struct bytes target)
{
    struct bytes service = http_header_next_part(&target, '.');
    if (!bytes_equal_text(service, service_of(OPERATION_OF_DYNAMODB)->target_prefix))
        return false;
    for (size_t i = 0; i < COUNT_OF(missing_operations); i++)
        if (bytes_equal_text(target, missing_operations[i]))
            return true;
    return false;
}

static void answer_unknown(const struct dynamodb *dynamodb, struct call_worker *worker,
                           struct http_exchange *exchange)
{
    struct bytes target = http_exchange_header(exchange, "X-Amz-Target");
    struct error err;
    request_log_unknown(target);
    error_init(&err, http_exchange_arena(exchange));
    if (is_missing(target)) {
        http_header_next_part(&target, '.');
        error_set(&err, ERROR_UNKNOWN_OPERATION, "stator does not have the operation %.*s",
                  BYTES_FMT(target));
    } else {
        error_set(&err, ERROR_UNKNOWN_OPERATION, "%s", "");
    }
    answer_error(dynamodb, worker, exchange, &err);
}

/* Refuses, unless the request is signed for S3: then it is a call, which asks as all calls do. */
static void run_other(void *context, void *loop_context, struct http_exchange *exchange)
{
    const struct dynamodb *dynamodb = context;
    if (!s3_handle(dynamodb->router, loop_context, exchange))
        answer_foreign(context, loop_context, exchange);
}

static void run_operation(void *context, void *loop_context, struct http_exchange *exchange)
{
    struct dynamodb *dynamodb = context;
    struct bytes type = media_type(exchange);
    bool is_json = http_header_equal(type, BYTES("application/x-amz-json-1.0")) ||
                   http_header_equal(type, BYTES("application/json"));
    const struct operation *operation = is_json ? find_operation(exchange) : NULL;
    if (LIKELY(operation != NULL))
        call_runner_run(loop_context, exchange, operation, &dynamodb->envelope);
    else if (protocols_handle(&dynamodb->others, loop_context, exchange))
        return;
    else if (is_json)
        answer_unknown(dynamodb, loop_context, exchange);
    else
        run_other(context, loop_context, exchange);
}

/* --- Requests for other regions --- */

static void refuse_relayed(void *context, void *loop_context, struct http_exchange *exchange,
                           bool unsent, struct bytes text)
{
    struct error err;
    error_init(&err, http_exchange_arena(exchange));
    /* Where the peer may have seen the request, nobody knows what became of it. */
    error_set(&err, unsent ? ERROR_SERVICE_UNAVAILABLE : ERROR_INTERNAL,
              "The server of the region that this request is signed for did not answer: %.*s",
              BYTES_FMT(text));
    answer_error(context, loop_context, exchange, &err);
}

static void relay_operation(void *context, void *loop_context, struct http_exchange *exchange)
{
    const struct dynamodb *dynamodb = context;
    if (!relay_take(dynamodb->relay, loop_context, exchange, refuse_relayed, context))
        run_operation(context, loop_context, exchange);
}

static void relay_other(void *context, void *loop_context, struct http_exchange *exchange)
{
    const struct dynamodb *dynamodb = context;
    if (!relay_take(dynamodb->relay, loop_context, exchange, refuse_relayed, context))
        run_other(context, loop_context, exchange);
}

/* OPTIONS: a browser asks whether a page may send a request. */
static void answer_preflight(void *handler_context, void *loop_context,
                             struct http_exchange *exchange)
{
    const struct dynamodb *dynamodb = handler_context;
    struct arena *arena = http_exchange_arena(exchange);
    struct bytes origin = router_allowed_origin(dynamodb->router, exchange);
    struct bytes method = http_exchange_header(exchange, "Access-Control-Request-Method");
    struct bytes wanted = http_exchange_header(exchange, "Access-Control-Request-Headers");
    struct http_header *headers = arena_alloc(arena, 6 * sizeof *headers);
    size_t count = 0;
    (void)loop_context;
    if (origin.data != NULL) {
        headers[count++] = (struct http_header){ BYTES("Access-Control-Allow-Origin"), origin };
        headers[count++] = (struct http_header){ BYTES("Access-Control-Expose-Headers"),
                                                 BYTES(ANSWER_EXPOSED_HEADERS) };
        headers[count++] = (struct http_header){ BYTES("Access-Control-Max-Age"), BYTES("172800") };
        if (method.data != NULL)
            headers[count++] =
                (struct http_header){ BYTES("Access-Control-Allow-Methods"), method };
        if (wanted.data != NULL)
            headers[count++] =
                (struct http_header){ BYTES("Access-Control-Allow-Headers"), wanted };
    }
    headers[count++] = (struct http_header){ BYTES("Vary"), BYTES("Origin") };
    struct http_answer answer = {
        .status = 200, .headers = headers, .header_count = count, .body = BYTES("")
    };
    http_exchange_answer(exchange, &answer);
}

/* --- Answers --- */

static void fill_answer(void *handler_context, const struct call_ending *ending,
                        struct http_answer *out)
{
    const struct dynamodb *dynamodb = handler_context;
    struct answer_context context;
    answer_context_init(&context, dynamodb->router, ending->random, ending->exchange,
                        ending->may_compress);
    if (error_is_set(ending->error)) {
        answer_fill_error(&context, ending->error, out);
    } else {
        out->status = 200;
        answer_fill(&context, ending->response, out);
    }
}

void dynamodb_fill_refusal(struct random *random, struct arena *arena, struct http_answer *answer)
{
    struct answer_context context = { .arena = arena, .random = random, .has_crc32 = true };
    struct error err;
    int status = answer->status;
    error_init(&err, arena);
    switch (status) {
    case 408:
        error_set(&err, ERROR_REQUEST_TIMEOUT, "The request did not arrive in time");
        break;
    case 413:
        error_set(&err, ERROR_REQUEST_TOO_LARGE, "Request body exceeds %d bytes",
                  REQUEST_BODY_SIZE_MAX);
        break;
    case 431:
        error_set(&err, ERROR_REQUEST_TOO_LARGE, "Request headers are too large");
        break;
    case 503:
        error_set(&err, ERROR_SERVICE_UNAVAILABLE,
                  "The server is stopping or has no room for this request");
        break;
    default:
        error_set(&err, ERROR_MALFORMED_HTTP, "The request is not valid HTTP/1.1");
        break;
    }
    answer_fill_error(&context, &err, answer);
    answer->status = status;
}

void dynamodb_init(struct dynamodb *dynamodb, struct router *router, const char *home,
                   enum dynamodb_root root, struct relay *relay)
{
    *dynamodb = (struct dynamodb){
        .router = router,
        .home = home,
        .root = root,
        .relay = relay,
        .envelope = { .service = "dynamodb", .context = dynamodb, .fill_answer = fill_answer },
    };
    protocols_init(&dynamodb->others, router);
    /* A POST is a call wherever it goes; a signature covers the path. */
    const struct route routes[] = {
        { "POST", "", ROUTE_PREFIX, ROUTE_ASKS, false, dynamodb,
          relay == NULL ? run_operation : relay_operation },
        { "OPTIONS", "", ROUTE_PREFIX, ROUTE_OPEN, false, dynamodb, answer_preflight },
        { "GET", "/", ROUTE_EXACT, ROUTE_OPEN, false, dynamodb, answer_root },
        { "GET", "/shell", ROUTE_EXACT, ROUTE_OPEN, false, dynamodb, answer_shell },
        { "GET", "/shell/", ROUTE_EXACT, ROUTE_OPEN, false, dynamodb, answer_shell },
        { NULL, "", ROUTE_PREFIX, ROUTE_OPEN, false, dynamodb,
          relay == NULL ? run_other : relay_other },
    };
    for (size_t i = 0; i < COUNT_OF(routes); i++)
        router_add(router, &routes[i]);
}
