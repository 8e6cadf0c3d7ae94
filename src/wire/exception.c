/* exception.c -- see exception.h. */
#include "wire/exception.h"
#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "codec/xml.h"
#include "json/utf8.h"
#include "json/writer.h"
#include "wire/service.h"

/* The service's own form of an error that all services share. */
static const struct error_kind *kind_of(const struct service *service, const struct error *err)
{
    if (err->code == ERROR_VALIDATION)
        return error_kind(service->validation_error);
    if (err->code == ERROR_INTERNAL)
        return error_kind(service->internal_error);
    return error_kind(err->code);
}

/* "ValidationException" of "com.amazon.coral.validate#ValidationException". */
static const char *bare_type(const struct error_kind *kind)
{
    const char *mark = strchr(kind->type, '#');
    return mark == NULL ? kind->type : mark + 1;
}

/* --- The query protocol's codes --- */

static const struct {
    enum error_code error;
    struct exception_code code;
} query_codes[] = {
    { ERROR_VALIDATION, { "ValidationError", 400 } },
    { ERROR_SERIALIZATION, { "MalformedInput", 400 } },
    { ERROR_THROTTLING, { "Throttling", 400 } },
    { ERROR_MISSING_AUTHENTICATION_TOKEN, { "MissingAuthenticationToken", 403 } },
    { ERROR_INCOMPLETE_SIGNATURE, { "IncompleteSignature", 400 } },
    { ERROR_INVALID_SIGNATURE, { "SignatureDoesNotMatch", 403 } },
    { ERROR_UNRECOGNIZED_CLIENT, { "InvalidClientTokenId", 403 } },
    { ERROR_EXPIRED_TOKEN, { "ExpiredToken", 403 } },
    { ERROR_ACCESS_DENIED, { "AccessDenied", 403 } },
    { ERROR_INTERNAL, { "InternalFailure", 500 } },
    { ERROR_SERVICE_UNAVAILABLE, { "ServiceUnavailable", 503 } },
};

struct exception_code exception_query_code(const struct service *service, const struct error *err)
{
    const struct error_kind *kind = kind_of(service, err);
    if (err->code == ERROR_UNKNOWN_OPERATION && service->unknown_action_code != NULL)
        return (struct exception_code){
            service->unknown_action_code,
            strcmp(service->unknown_action_code, "AccessDenied") == 0 ? 403 : 400,
        };
    if (kind->query_code != NULL)
        return (struct exception_code){ kind->query_code, kind->http_status };
    for (size_t i = 0; i < COUNT_OF(query_codes); i++)
        if (query_codes[i].error == err->code)
            return query_codes[i].code;
    return (struct exception_code){ bare_type(kind), kind->http_status };
}

const char *exception_fault(int status)
{
    return status >= 500 ? "Receiver" : "Sender";
}

int exception_status(const struct service *service, const struct error *err)
{
    return kind_of(service, err)->http_status;
}

/* --- Bodies --- */

/* The message in valid UTF-8. Messages may repeat headers, which have any bytes. */
static struct bytes message_of(struct arena *arena, const struct error *err)
{
    struct bytes rest = err->message;
    struct buffer out;
    buffer_init(&out, arena);
    while (rest.len > 0) {
        size_t size = utf8_prefix(rest, rest.len);
        buffer_append(&out, rest.data, size);
        if (size < rest.len) {
            buffer_append_bytes(&out, BYTES("\xEF\xBF\xBD"));
            size++;
        }
        rest = bytes_of(rest.data + size, rest.len - size);
    }
    return buffer_bytes(&out);
}

/* The members of an object that is complete JSON, into the one that is open. */
static void write_members(struct json_writer *writer, struct bytes object)
{
    assert(object.len >= 2 && object.data[0] == '{' && object.data[object.len - 1] == '}');
    if (object.len > 2)
        json_write_raw(writer, bytes_of(object.data + 1, object.len - 2));
}

struct bytes exception_json(struct arena *arena, const struct service *service,
                            const struct error *err)
{
    const struct error_kind *kind = kind_of(service, err);
    struct buffer body;
    struct json_writer writer;
    buffer_init(&body, arena);
    json_writer_init(&writer, &body);
    json_open_object(&writer);
    json_write_name(&writer, "__type");
    json_write_text(&writer, service->has_bare_types ? bare_type(kind) : kind->type);
    if (err->message.len > 0) {
        json_write_name(&writer, service->message_field == NULL ? kind->message_field
                                                                : service->message_field);
        json_write_string(&writer, message_of(arena, err));
    }
    if (err->members_json.data != NULL)
        write_members(&writer, err->members_json);
    json_close_object(&writer);
    return buffer_bytes(&body);
}

void exception_append_xml(struct buffer *out, const struct service *service,
                          const struct error *err, struct bytes request_id)
{
    struct exception_code code = exception_query_code(service, err);
    struct buffer body;
    struct json_writer writer;
    buffer_init(&body, out->arena);
    json_writer_init(&writer, &body);
    json_open_object(&writer);
    json_write_name(&writer, "Type");
    json_write_text(&writer, exception_fault(code.status));
    json_write_name(&writer, "Code");
    json_write_text(&writer, code.code);
    json_write_name(&writer, "Message");
    json_write_string(&writer, message_of(out->arena, err));
    if (err->members_json.data != NULL)
        write_members(&writer, err->members_json);
    json_close_object(&writer);
    buffer_append_bytes(out, BYTES("<ErrorResponse xmlns=\""));
    xml_append_text(out, bytes_from_text(service->query_namespace));
    buffer_append_bytes(out, BYTES("\">"));
    bool encoded = xml_encode(out, service->names, BYTES("Error"), buffer_bytes(&body));
    assert(encoded); /* Our own members. */
    xml_append_element(out, "RequestId", request_id);
    buffer_append_bytes(out, BYTES("</ErrorResponse>"));
}
