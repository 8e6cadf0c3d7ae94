/* import_request.h -- requests of imports and bulk operations, and how they are stored.
 *
 * The request is stored in the job's record as JSON, with its defaults filled in, and read back by
 * the same shape: by the job, and by the operations that show it.
 */
#ifndef STATOR_API_IMPORT_IMPORT_REQUEST_H
#define STATOR_API_IMPORT_IMPORT_REQUEST_H
#include "base/bytes.h"
#include "base/compiler.h"
#include "compression/compressor.h"
#include "format/item_format.h"
#include "jobs/job_record.h"
#include "shape/shape.h"

struct api_call;
struct arena;
struct create_table_request;

enum {
    IMPORT_BUCKET_SIZE_MAX = 255,
    IMPORT_PREFIX_SIZE_MAX = 1024,
    IMPORT_HEADER_NAMES_MAX = 255,
    IMPORT_ARN_SIZE_MIN = 37,
    IMPORT_ARN_SIZE_MAX = 1024,
    IMPORT_PAGE_SIZE_MAX = 25,
    IMPORT_PAGE_SIZE_DEFAULT = 10,
    IMPORT_NEXT_TOKEN_SIZE_MIN = 112,
    IMPORT_NEXT_TOKEN_SIZE_MAX = 1024,
};

struct import_source_request {
    struct bytes bucket_owner;
    struct bytes bucket;
    struct bytes key_prefix;
};

struct import_csv_request {
    struct bytes delimiter;
    struct shape_list header_list; /* of struct bytes */
};

struct import_options_request {
    struct import_csv_request *csv;
};

struct import_table_request {
    struct bytes client_token;
    struct import_source_request *source;
    struct bytes input_format;
    struct import_options_request *options;
    struct bytes compression;
    struct create_table_request *parameters;
};
extern const struct shape import_table_shape;

struct import_arn_request {
    struct bytes arn;
};
extern const struct shape describe_import_shape;

struct list_imports_request {
    struct bytes table_arn;
    struct shape_integer page_size;
    struct bytes next_token;
};
extern const struct shape list_imports_shape;

/* Members that exports and bulk operations have in common with imports. */
extern const struct shape import_bucket_shape;
extern const struct shape import_owner_shape;
extern const struct shape import_prefix_shape;
extern const struct shape import_token_shape;
extern const struct shape import_compression_shape;

extern const struct shape import_list_token_shape; /* NextToken of ListBulkOperations. */

/* NextToken: the id of the last record of a page, in hex digits, filled up with zeros. */
struct bytes import_token_of_id(struct arena *arena, const char *id);
/* False if it is none of ours. `token` passed its shape. */
MUST_CHECK bool import_id_of_token(struct bytes token, char id[JOB_ID_SIZE + 1]);

/* Of a value that passed its shape. */
enum compressor_kind import_compression_of(struct bytes name);

#endif
