/* asset_request.h -- what the operations on files share. */
#ifndef STATOR_API_ASSET_ASSET_REQUEST_H
#define STATOR_API_ASSET_ASSET_REQUEST_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "shape/shape.h"

struct api_call;
struct arena;
struct stack_blob;

struct asset_request {
    struct bytes bucket;
    struct bytes key;
    struct bytes body; /* base64 */
    struct bytes media_type;
    struct bytes prefix;
    struct bytes delimiter; /* Empty: none. */
    struct bytes token;     /* The name behind which a page begins. */
    struct shape_integer max_keys;
    struct bytes range;                 /* As the header Range has it; data NULL: all. */
    struct shape_boolean without_body;  /* GetObject as HeadObject. */
    struct shape_boolean begins_upload; /* PutObject as CreateMultipartUpload. */
    /* PutObject as UploadPart, and without a number as CompleteMultipartUpload, whose document is
     * the body. */
    struct bytes upload_id;
    struct shape_integer part_number;
};

extern const struct shape asset_request_shape;

/* The operations check bucket and key first. False with S3's error set. */
MUST_CHECK bool asset_request_check(struct api_call *call, const struct asset_request *request);
/* The same, and the media type. */
MUST_CHECK bool asset_request_check_new(struct api_call *call, const struct asset_request *request);
/* Bucket, slash and key. */
struct bytes asset_request_name(struct api_call *call, const struct asset_request *request);
/* The bytes of the body, with the time and the media type. False with S3's error set. */
MUST_CHECK bool asset_request_blob(struct api_call *call, const struct asset_request *request,
                                   struct stack_blob *out);
/* Sets the error; returns false. */
bool asset_request_failed(struct api_call *call, enum engine_status status);
/* MD5 in quotes. */
struct bytes asset_request_etag(struct arena *arena, struct bytes bytes);
void asset_request_answer_etag(struct api_call *call, struct bytes etag);

/* --- Uploads in parts: asset_upload.c --- */

MUST_CHECK bool asset_upload_begin(struct api_call *call, const struct asset_request *request);
MUST_CHECK bool asset_upload_put(struct api_call *call, const struct asset_request *request);
MUST_CHECK bool asset_upload_end(struct api_call *call, const struct asset_request *request);
MUST_CHECK bool asset_upload_abort(struct api_call *call, const struct asset_request *request);

#endif
