/* export_request.h -- ExportTableToPointInTime's request: its shape, and the rules that need no
 * table. The export's job reads the request again, from its record. */
#ifndef STATOR_API_EXPORT_EXPORT_REQUEST_H
#define STATOR_API_EXPORT_EXPORT_REQUEST_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "format/item_format.h"
#include "shape/shape.h"

struct arena;
struct error;

enum {
    EXPORT_WINDOW_MIN_MS = 15 * 60 * 1000,
    EXPORT_WINDOW_MAX_MS = 24 * 60 * 60 * 1000,
    EXPORT_ARN_SIZE_MAX = 1024,
    EXPORT_HASH_SIZE = 16,
};

struct export_filter_request {
    struct bytes key_condition;
    struct bytes filter;
    struct bytes projection;
    struct shape_map names;
    struct shape_item values;
};

struct export_increment {
    struct shape_integer from; /* Milliseconds since 1970. */
    struct shape_integer to;
    struct bytes view_type;
};

struct export_request {
    struct bytes table_arn;
    struct shape_integer time;
    struct bytes client_token;
    struct bytes bucket;
    struct bytes bucket_owner;
    struct bytes prefix;
    struct bytes sse_algorithm;
    struct bytes sse_key;
    struct bytes format;
    struct bytes type;
    struct export_increment *increment;
    struct export_filter_request *filter;
};
extern const struct shape export_request_shape;

static inline bool export_request_is_incremental(const struct export_request *request)
{
    return bytes_equal_text(request->type, "INCREMENTAL_EXPORT");
}
/* NEW_AND_OLD_IMAGES is the default. */
static inline bool export_request_shows_old(const struct export_request *request)
{
    return request->increment == NULL || request->increment->view_type.data == NULL ||
           bytes_equal_text(request->increment->view_type, "NEW_AND_OLD_IMAGES");
}
enum item_format export_request_format(const struct export_request *request);

/* Rules between the fields, in the service's order. False with the error set. */
MUST_CHECK bool export_request_check(const struct export_request *request, struct error *err);
/* The rules about the times of an incremental export that need no more than the table's creation
 * and the time now. `to_ms` is when it ends. */
MUST_CHECK bool export_request_check_window(const struct export_request *request,
                                            int64_t created_ms, int64_t now_ms, int64_t to_ms,
                                            struct error *err);

/* Two requests with the same hash ask for the same; the token does not count. */
void export_request_hash(struct arena *arena, const struct export_request *request,
                         uint8_t out[EXPORT_HASH_SIZE]);

#endif
