/* error.c -- the table of exceptions: wire name, HTTP status, retryability. */
#include "model/error.h"
#include <assert.h>
#include <string.h>
#include <stdarg.h>
#include "base/arena.h"
#include "base/buffer.h"

#define DYNAMODB "com.amazonaws.dynamodb.v20120810#"
#define VALIDATE "com.amazon.coral.validate#"
#define SERVICE "com.amazon.coral.service#"

/* "Message" stands where the service model or answers of the service have it; else "message". */
#define ERROR_KINDS(ROW)                                                                           \
    ROW(ERROR_NONE, "", 200, false, "message", NULL)                                               \
    ROW(ERROR_VALIDATION, VALIDATE "ValidationException", 400, false, "message", NULL)             \
    ROW(ERROR_SERIALIZATION, SERVICE "SerializationException", 400, false, "Message", NULL)        \
    ROW(ERROR_UNKNOWN_OPERATION, SERVICE "UnknownOperationException", 400, false, "message", NULL) \
    ROW(ERROR_RESOURCE_NOT_FOUND, DYNAMODB "ResourceNotFoundException", 400, false, "message",     \
        NULL)                                                                                      \
    ROW(ERROR_RESOURCE_IN_USE, DYNAMODB "ResourceInUseException", 400, false, "message", NULL)     \
    ROW(ERROR_LIMIT_EXCEEDED, DYNAMODB "LimitExceededException", 400, true, "message", NULL)       \
    ROW(ERROR_CONDITIONAL_CHECK_FAILED, DYNAMODB "ConditionalCheckFailedException", 400, false,    \
        "message", NULL)                                                                           \
    ROW(ERROR_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED,                                                 \
        DYNAMODB "ItemCollectionSizeLimitExceededException", 400, false, "message", NULL)          \
    ROW(ERROR_PROVISIONED_THROUGHPUT_EXCEEDED, DYNAMODB "ProvisionedThroughputExceededException",  \
        400, true, "message", NULL)                                                                \
    ROW(ERROR_REQUEST_LIMIT_EXCEEDED, DYNAMODB "RequestLimitExceeded", 400, true, "message", NULL) \
    ROW(ERROR_THROTTLING, DYNAMODB "ThrottlingException", 400, true, "message", NULL)              \
    ROW(ERROR_TABLE_NOT_FOUND, DYNAMODB "TableNotFoundException", 400, false, "message", NULL)     \
    ROW(ERROR_GLOBAL_TABLE_NOT_FOUND, DYNAMODB "GlobalTableNotFoundException", 400, false,         \
        "message", NULL)                                                                           \
    ROW(ERROR_CONTINUOUS_BACKUPS_UNAVAILABLE, DYNAMODB "ContinuousBackupsUnavailableException",    \
        400, true, "message", NULL)                                                                \
    ROW(ERROR_IMPORT_CONFLICT, DYNAMODB "ImportConflictException", 400, false, "message", NULL)    \
    ROW(ERROR_IMPORT_NOT_FOUND, DYNAMODB "ImportNotFoundException", 400, false, "message", NULL)   \
    ROW(ERROR_POINT_IN_TIME_RECOVERY_UNAVAILABLE,                                                  \
        DYNAMODB "PointInTimeRecoveryUnavailableException", 400, false, "message", NULL)           \
    ROW(ERROR_EXPORT_CONFLICT, DYNAMODB "ExportConflictException", 400, false, "message", NULL)    \
    ROW(ERROR_EXPORT_NOT_FOUND, DYNAMODB "ExportNotFoundException", 400, false, "message", NULL)   \
    ROW(ERROR_INVALID_EXPORT_TIME, DYNAMODB "InvalidExportTimeException", 400, false, "message",   \
        NULL)                                                                                      \
    ROW(ERROR_BACKUP_NOT_FOUND, DYNAMODB "BackupNotFoundException", 400, false, "message", NULL)   \
    ROW(ERROR_BACKUP_IN_USE, DYNAMODB "BackupInUseException", 400, false, "message", NULL)         \
    ROW(ERROR_TABLE_ALREADY_EXISTS, DYNAMODB "TableAlreadyExistsException", 400, false, "message", \
        NULL)                                                                                      \
    ROW(ERROR_TABLE_IN_USE, DYNAMODB "TableInUseException", 400, false, "message", NULL)           \
    ROW(ERROR_INVALID_RESTORE_TIME, DYNAMODB "InvalidRestoreTimeException", 400, false, "message", \
        NULL)                                                                                      \
    ROW(ERROR_POLICY_NOT_FOUND, DYNAMODB "PolicyNotFoundException", 400, false, "message", NULL)   \
    ROW(ERROR_TRANSACTION_CANCELED, DYNAMODB "TransactionCanceledException", 400, false,           \
        "Message", NULL)                                                                           \
    ROW(ERROR_TRANSACTION_CONFLICT, DYNAMODB "TransactionConflictException", 400, true, "message", \
        NULL)                                                                                      \
    ROW(ERROR_TRANSACTION_IN_PROGRESS, DYNAMODB "TransactionInProgressException", 400, true,       \
        "Message", NULL)                                                                           \
    ROW(ERROR_IDEMPOTENT_PARAMETER_MISMATCH, DYNAMODB "IdempotentParameterMismatchException", 400, \
        false, "Message", NULL)                                                                    \
    ROW(ERROR_DUPLICATE_ITEM, DYNAMODB "DuplicateItemException", 400, false, "message", NULL)      \
    ROW(ERROR_EXPIRED_ITERATOR, DYNAMODB "ExpiredIteratorException", 400, false, "message", NULL)  \
    ROW(ERROR_TRIMMED_DATA_ACCESS, DYNAMODB "TrimmedDataAccessException", 400, false, "message",   \
        NULL)                                                                                      \
    ROW(ERROR_MISSING_AUTHENTICATION_TOKEN, SERVICE "MissingAuthenticationTokenException", 400,    \
        false, "message", NULL)                                                                    \
    ROW(ERROR_INCOMPLETE_SIGNATURE, SERVICE "IncompleteSignatureException", 400, false, "message", \
        NULL)                                                                                      \
    ROW(ERROR_INVALID_SIGNATURE, SERVICE "InvalidSignatureException", 400, false, "message", NULL) \
    ROW(ERROR_UNRECOGNIZED_CLIENT, SERVICE "UnrecognizedClientException", 400, false, "message",   \
        NULL)                                                                                      \
    ROW(ERROR_EXPIRED_TOKEN, SERVICE "ExpiredTokenException", 400, false, "message", NULL)         \
    ROW(ERROR_ACCESS_DENIED, SERVICE "AccessDeniedException", 400, false, "Message", NULL)         \
    ROW(ERROR_CW_INVALID_PARAMETER_VALUE, SERVICE "InvalidParameterValueException", 400, false,    \
        "message", "InvalidParameterValue")                                                        \
    ROW(ERROR_CW_MISSING_PARAMETER, SERVICE "MissingRequiredParameterException", 400, false,       \
        "message", "MissingParameter")                                                             \
    ROW(ERROR_CW_INVALID_PARAMETER_COMBINATION, SERVICE "InvalidParameterCombinationException",    \
        400, false, "message", "InvalidParameterCombination")                                      \
    ROW(ERROR_CW_INVALID_NEXT_TOKEN, SERVICE "InvalidNextToken", 400, false, "message", NULL)      \
    ROW(ERROR_CW_INVALID_FORMAT, SERVICE "InvalidFormatFault", 400, false, "message",              \
        "InvalidFormat")                                                                           \
    ROW(ERROR_CW_LIMIT_EXCEEDED_FAULT, SERVICE "LimitExceededFault", 400, false, "message",        \
        "LimitExceeded")                                                                           \
    ROW(ERROR_CW_LIMIT_EXCEEDED, SERVICE "LimitExceededException", 400, false, "message", NULL)    \
    ROW(ERROR_CW_DASHBOARD_INVALID, SERVICE "DashboardInvalidInputError", 400, false, "message",   \
        "InvalidParameterInput")                                                                   \
    ROW(ERROR_CW_RESOURCE_NOT_FOUND, SERVICE "ResourceNotFound", 404, false, "message", NULL)      \
    ROW(ERROR_CW_NO_SUCH_RESOURCE, SERVICE "ResourceNotFoundException", 404, false, "message",     \
        NULL)                                                                                      \
    ROW(ERROR_CW_CONFLICT, SERVICE "ConflictException", 409, false, "message", NULL)               \
    ROW(ERROR_CW_INTERNAL, SERVICE "InternalServiceFault", 500, true, "message",                   \
        "InternalServiceError")                                                                    \
    ROW(ERROR_SCALING_VALIDATION, "ValidationException", 400, false, "Message", NULL)              \
    ROW(ERROR_SCALING_OBJECT_NOT_FOUND, "ObjectNotFoundException", 400, false, "Message", NULL)    \
    ROW(ERROR_SCALING_CONCURRENT_UPDATE, "ConcurrentUpdateException", 400, true, "Message", NULL)  \
    ROW(ERROR_SCALING_FAILED_ACCESS, "FailedResourceAccessException", 400, false, "Message", NULL) \
    ROW(ERROR_SCALING_INTERNAL, "InternalServiceException", 500, true, "Message", NULL)            \
    ROW(ERROR_SCALING_INVALID_NEXT_TOKEN, "InvalidNextTokenException", 400, false, "Message",      \
        NULL)                                                                                      \
    ROW(ERROR_SCALING_LIMIT_EXCEEDED, "LimitExceededException", 400, false, "Message", NULL)       \
    ROW(ERROR_SCALING_RESOURCE_NOT_FOUND, "ResourceNotFoundException", 400, false, "Message",      \
        NULL)                                                                                      \
    ROW(ERROR_SCALING_TOO_MANY_TAGS, "TooManyTagsException", 400, false, "Message", NULL)          \
    ROW(ERROR_CFN_ALREADY_EXISTS, "AlreadyExistsException", 400, false, "Message", NULL)           \
    ROW(ERROR_CFN_CHANGE_SET_NOT_FOUND, "ChangeSetNotFound", 404, false, "Message", NULL)          \
    ROW(ERROR_CFN_INVALID_CHANGE_SET_STATUS, "InvalidChangeSetStatus", 400, false, "Message",      \
        NULL)                                                                                      \
    ROW(ERROR_CFN_INSUFFICIENT_CAPABILITIES, "InsufficientCapabilitiesException", 400, false,      \
        "Message", NULL)                                                                           \
    ROW(ERROR_CFN_LIMIT_EXCEEDED, "LimitExceededException", 400, false, "Message", NULL)           \
    ROW(ERROR_SSM_PARAMETER_NOT_FOUND, "ParameterNotFound", 400, false, "message", NULL)           \
    ROW(ERROR_S3_NO_SUCH_BUCKET, "NoSuchBucket", 404, false, "Message", NULL)                      \
    ROW(ERROR_S3_NO_SUCH_KEY, "NoSuchKey", 404, false, "Message", NULL)                            \
    ROW(ERROR_S3_NO_ENCRYPTION, "ServerSideEncryptionConfigurationNotFoundError", 404, false,      \
        "Message", NULL)                                                                           \
    ROW(ERROR_S3_INVALID_ARGUMENT, "InvalidArgument", 400, false, "Message", NULL)                 \
    ROW(ERROR_S3_TOO_LARGE, "EntityTooLarge", 400, false, "Message", NULL)                         \
    ROW(ERROR_S3_TOO_SMALL, "EntityTooSmall", 400, false, "Message", NULL)                         \
    ROW(ERROR_S3_NO_SUCH_UPLOAD, "NoSuchUpload", 404, false, "Message", NULL)                      \
    ROW(ERROR_S3_INVALID_PART, "InvalidPart", 400, false, "Message", NULL)                         \
    ROW(ERROR_S3_INVALID_PART_ORDER, "InvalidPartOrder", 400, false, "Message", NULL)              \
    ROW(ERROR_S3_MALFORMED_XML, "MalformedXML", 400, false, "Message", NULL)                       \
    ROW(ERROR_S3_INVALID_RANGE, "InvalidRange", 416, false, "Message", NULL)                       \
    ROW(ERROR_S3_NOT_IMPLEMENTED, "NotImplemented", 501, false, "Message", NULL)                   \
    ROW(ERROR_INTERNAL, DYNAMODB "InternalServerError", 500, true, "message", NULL)                \
    ROW(ERROR_SERVICE_UNAVAILABLE, SERVICE "ServiceUnavailableException", 503, true, "message",    \
        NULL)                                                                                      \
    ROW(ERROR_REQUEST_TOO_LARGE, SERVICE "RequestEntityTooLargeException", 413, false, "message",  \
        NULL)                                                                                      \
    ROW(ERROR_REQUEST_TIMEOUT, SERVICE "RequestTimeoutException", 408, true, "message", NULL)      \
    ROW(ERROR_MALFORMED_HTTP, SERVICE "MalformedHttpRequestException", 400, false, "message", NULL)

#define COUNT_ROW(...) +1
static_assert(0 ERROR_KINDS(COUNT_ROW) == ERROR_CODE_COUNT, "every code has a row");

#define TABLE_ROW(code, type, status, retryable, field, query_code)                                \
    [code] = { type, status, retryable, field, query_code },
/* Two rows of one code would not compile, so with the count above none is missing. */
static const struct error_kind kinds[ERROR_CODE_COUNT] = { ERROR_KINDS(TABLE_ROW) };

const struct error_kind *error_kind(enum error_code code)
{
    assert(code < ERROR_CODE_COUNT);
    return &kinds[code];
}

struct bytes error_short_name(enum error_code code)
{
    if (code == ERROR_NONE)
        return BYTES("ok");
    const char *type = error_kind(code)->type, *end = strrchr(type, '#');
    return bytes_from_text(end == NULL ? type : end + 1);
}

const char *error_throttling_field(enum error_code code)
{
    return code == ERROR_THROTTLING ? "throttlingReasons" : "ThrottlingReasons";
}

void error_init(struct error *err, struct arena *arena)
{
    *err = (struct error){ .arena = arena, .code = ERROR_NONE, .message = BYTES("") };
}

void error_clear(struct error *err)
{
    enum error_family family = err->family;
    error_init(err, err->arena);
    err->family = family;
}

bool error_set(struct error *err, enum error_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct bytes message = arena_vprintf(err->arena, format, args);
    va_end(args);
    return error_set_bytes(err, code, message);
}

bool error_validation(struct error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct bytes message = arena_vprintf(err->arena, format, args);
    va_end(args);
    return error_set_bytes(err, ERROR_VALIDATION, message);
}

bool error_set_bytes(struct error *err, enum error_code code, struct bytes message)
{
    err->code = code;
    err->message = message;
    return false;
}

bool error_fault_bytes(struct error *err, struct bytes message)
{
    struct buffer out;
    buffer_init(&out, err->arena);
    if (err->family == ERROR_FAMILY_ENVELOPED)
        buffer_append_bytes(&out, BYTES(ERROR_ENVELOPE));
    buffer_append_bytes(&out, message);
    return error_set_bytes(err, ERROR_VALIDATION, buffer_bytes(&out));
}

bool error_fault(struct error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct bytes message = arena_vprintf(err->arena, format, args);
    va_end(args);
    return error_fault_bytes(err, message);
}
