/* error.h -- what went wrong, in DynamoDB's words: one exception and its exact message.
 *
 * Fallible functions take `struct error *err` last, return false or NULL, and set it once.
 */
#ifndef STATOR_MODEL_ERROR_H
#define STATOR_MODEL_ERROR_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;

/* error.c holds the table: wire name, HTTP status, whether a client should retry. */
enum error_code {
    ERROR_NONE,
    ERROR_VALIDATION,
    ERROR_SERIALIZATION,
    ERROR_UNKNOWN_OPERATION,
    ERROR_RESOURCE_NOT_FOUND,
    ERROR_RESOURCE_IN_USE,
    ERROR_LIMIT_EXCEEDED,
    ERROR_CONDITIONAL_CHECK_FAILED,
    ERROR_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED,
    ERROR_PROVISIONED_THROUGHPUT_EXCEEDED,
    ERROR_REQUEST_LIMIT_EXCEEDED,
    ERROR_THROTTLING,
    ERROR_TABLE_NOT_FOUND,
    ERROR_GLOBAL_TABLE_NOT_FOUND,
    ERROR_CONTINUOUS_BACKUPS_UNAVAILABLE,
    ERROR_IMPORT_CONFLICT,
    ERROR_IMPORT_NOT_FOUND,
    ERROR_POINT_IN_TIME_RECOVERY_UNAVAILABLE,
    ERROR_EXPORT_CONFLICT,
    ERROR_EXPORT_NOT_FOUND,
    ERROR_INVALID_EXPORT_TIME,
    ERROR_BACKUP_NOT_FOUND,
    ERROR_BACKUP_IN_USE,
    ERROR_TABLE_ALREADY_EXISTS,
    ERROR_TABLE_IN_USE,
    ERROR_INVALID_RESTORE_TIME,
    ERROR_POLICY_NOT_FOUND,
    ERROR_TRANSACTION_CANCELED,
    ERROR_TRANSACTION_CONFLICT,
    ERROR_TRANSACTION_IN_PROGRESS,
    ERROR_IDEMPOTENT_PARAMETER_MISMATCH,
    ERROR_DUPLICATE_ITEM,
    ERROR_EXPIRED_ITERATOR,
    ERROR_TRIMMED_DATA_ACCESS,
    ERROR_MISSING_AUTHENTICATION_TOKEN,
    ERROR_INCOMPLETE_SIGNATURE,
    ERROR_INVALID_SIGNATURE,
    ERROR_UNRECOGNIZED_CLIENT,
    ERROR_EXPIRED_TOKEN,
    ERROR_ACCESS_DENIED,
    /* CloudWatch's. */
    ERROR_CW_INVALID_PARAMETER_VALUE,
    ERROR_CW_MISSING_PARAMETER,
    ERROR_CW_INVALID_PARAMETER_COMBINATION,
    ERROR_CW_INVALID_NEXT_TOKEN,
    ERROR_CW_INVALID_FORMAT,
    ERROR_CW_LIMIT_EXCEEDED_FAULT,
    ERROR_CW_LIMIT_EXCEEDED,
    ERROR_CW_DASHBOARD_INVALID,
    ERROR_CW_RESOURCE_NOT_FOUND, /* An alarm or dashboard; */
    ERROR_CW_NO_SUCH_RESOURCE,   /* or what tags and rules are about. */
    ERROR_CW_CONFLICT,
    ERROR_CW_INTERNAL,
    /* Application Auto Scaling's. */
    ERROR_SCALING_VALIDATION,
    ERROR_SCALING_OBJECT_NOT_FOUND,
    ERROR_SCALING_CONCURRENT_UPDATE,
    ERROR_SCALING_FAILED_ACCESS,
    ERROR_SCALING_INTERNAL,
    ERROR_SCALING_INVALID_NEXT_TOKEN,
    ERROR_SCALING_LIMIT_EXCEEDED,
    ERROR_SCALING_RESOURCE_NOT_FOUND,
    ERROR_SCALING_TOO_MANY_TAGS,
    /* CloudFormation's. */
    ERROR_CFN_ALREADY_EXISTS,
    ERROR_CFN_CHANGE_SET_NOT_FOUND,
    ERROR_CFN_INVALID_CHANGE_SET_STATUS,
    ERROR_CFN_INSUFFICIENT_CAPABILITIES,
    ERROR_CFN_LIMIT_EXCEEDED,
    /* Systems Manager's. */
    ERROR_SSM_PARAMETER_NOT_FOUND,
    /* S3's. */
    ERROR_S3_NO_SUCH_BUCKET,
    ERROR_S3_NO_SUCH_KEY,
    ERROR_S3_NO_ENCRYPTION,
    ERROR_S3_INVALID_ARGUMENT,
    ERROR_S3_TOO_LARGE,
    ERROR_S3_TOO_SMALL,
    ERROR_S3_NO_SUCH_UPLOAD,
    ERROR_S3_INVALID_PART,
    ERROR_S3_INVALID_PART_ORDER,
    ERROR_S3_MALFORMED_XML,
    ERROR_S3_INVALID_RANGE,
    ERROR_S3_NOT_IMPLEMENTED,
    ERROR_INTERNAL,
    ERROR_SERVICE_UNAVAILABLE,
    ERROR_REQUEST_TOO_LARGE,
    ERROR_REQUEST_TIMEOUT,
    ERROR_MALFORMED_HTTP,
    ERROR_CODE_COUNT,
};

struct error_kind {
    const char *type; /* The whole `__type`, prefix included. */
    int http_status;
    bool retryable;
    const char *message_field; /* "message", or "Message" where the service writes that. */
    const char *query_code;    /* In the query protocol; NULL: the type without its prefix. */
};

const struct error_kind *error_kind(enum error_code code);
/* "ResourceNotFoundException", behind the prefix of the type; "ok" for ERROR_NONE. */
struct bytes error_short_name(enum error_code code);
/* The name of the list of throttling reasons, which the service's model spells in two ways. */
const char *error_throttling_field(enum error_code code);

/* The service words faults of values and parameters in two ways: operations that it has rewritten
 * in 2026 have the newer one. struct operation says which one an operation has; nothing else does.
 */
enum error_family {
    ERROR_FAMILY_OLDER,
    ERROR_FAMILY_NEWER,
    ERROR_FAMILY_ENVELOPED, /* The newer one, with most faults behind ERROR_ENVELOPE. */
};

struct error {
    struct arena *arena; /* Where messages are formatted; set by error_init. */
    enum error_family family;
    enum error_code code;
    struct bytes message;
    struct bytes attribute; /* Of a broken rule of values: which attribute; data NULL: unknown. */
    /* ConditionalCheckFailedException: the item as it was, as JSON, if it was asked for; data NULL:
     * not shown. */
    struct bytes item_json;
    /* TransactionCanceledException: the list of reasons, as JSON; data NULL: none. */
    struct bytes reasons_json;
    /* Further members of an exception that its service's model has, as the JSON of an object:
     * {"ResourceType":"dashboard"}. Not of DynamoDB's. data NULL: none. */
    struct bytes members_json;
    /* An exception about throughput: its list of reasons, as JSON; data NULL: none. */
    struct bytes throttling_json;
};

#define ERROR_ENVELOPE "1 validation error detected: "

/* No error yet, of the older family. */
void error_init(struct error *err, struct arena *arena);
/* The same, of the family that it has. */
void error_clear(struct error *err);
/* Formats the message into the arena. Returns false, so that `return error_set(...)` fails. */
bool error_set(struct error *err, enum error_code code, const char *format, ...) PRINTF_LIKE(3, 4);
/* The common case: ERROR_VALIDATION. */
bool error_validation(struct error *err, const char *format, ...) PRINTF_LIKE(2, 3);
/* A fault that the enveloped family puts behind its envelope. */
bool error_fault(struct error *err, const char *format, ...) PRINTF_LIKE(2, 3);
/* For messages that repeat a client's text, which may contain NUL. The message is kept, not copied:
 * it must live in the error's arena. */
bool error_set_bytes(struct error *err, enum error_code code, struct bytes message);
bool error_fault_bytes(struct error *err, struct bytes message); /* This one is copied. */

static inline bool error_is_set(const struct error *err)
{
    return err->code != ERROR_NONE;
}

#endif
