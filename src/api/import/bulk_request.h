/* bulk_request.h -- requests of bulk operations. See import_request.h for how they are stored. */
#ifndef STATOR_API_IMPORT_BULK_REQUEST_H
#define STATOR_API_IMPORT_BULK_REQUEST_H
#include "base/bytes.h"
#include "shape/shape.h"

enum { BULK_WRITE_UNITS_MIN = 1024 }; /* Of MaxWriteRequestUnits. */

struct bulk_input_request {
    struct bytes bucket_owner;
    struct bytes bucket;
    struct bytes key_prefix;
    struct bytes input_format;
    struct bytes compression;
};

struct bulk_output_request {
    struct bytes bucket_owner;
    struct bytes bucket;
    struct bytes key_prefix;
    struct bytes sse_algorithm;
    struct bytes sse_key;
    struct shape_list output_type; /* of struct bytes */
};

struct start_bulk_request {
    struct bytes client_token;
    struct bulk_input_request *input;
    struct bulk_output_request *output;
    struct bytes table_name;
    struct shape_integer max_write_units;
    struct bytes tier;
};
extern const struct shape start_bulk_shape;

struct bulk_arn_request {
    struct bytes arn;
};
extern const struct shape describe_bulk_shape;
extern const struct shape cancel_bulk_shape;

struct list_bulk_request {
    struct shape_integer max_results;
    struct bytes next_token;
};
extern const struct shape list_bulk_shape;

/* Whether the operation reports these: "ERROR", "CONDITION_CHECK_FAILURE". */
bool bulk_request_reports(const struct start_bulk_request *request, const char *type);

#endif
