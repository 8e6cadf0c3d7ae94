/* transaction_reasons.c -- see transaction_reasons.h. */
#include "api/transaction/transaction_reasons.h"
#include "api/item/item_collection.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "json/writer.h"
#include "model/error.h"
#include "model/value_json.h"

static const char no_fault[] = "None";

struct transaction_reason transaction_reason_condition(void)
{
    return (struct transaction_reason){ .code = "ConditionalCheckFailed",
                                        .message = BYTES("The conditional request failed") };
}

struct transaction_reason transaction_reason_conflict(void)
{
    return (struct transaction_reason){ .code = "TransactionConflict",
                                        .message = BYTES("Transaction is ongoing for the item") };
}

struct transaction_reason transaction_reason_collection(void)
{
    return (struct transaction_reason){ .code = "ItemCollectionSizeLimitExceeded",
                                        .message = BYTES(ITEM_COLLECTION_EXCEEDED) };
}

struct transaction_reason transaction_reason_validation(const struct error *fault)
{
    return (struct transaction_reason){ .code = "ValidationError", .message = fault->message };
}

bool transaction_reason_is_of_request(const struct error *fault)
{
    return bytes_starts_with(fault->message, BYTES("One or more parameter values are not valid."));
}

static const char *code_of(const struct transaction_reason *reason)
{
    return reason->code == NULL ? no_fault : reason->code;
}

static void write_reason(struct json_writer *writer, const struct transaction_reason *reason)
{
    json_open_object(writer);
    json_write_name(writer, "Code");
    json_write_text(writer, code_of(reason));
    if (reason->item != NULL) {
        json_write_name(writer, "Item");
        item_json_write(writer, reason->item);
    }
    if (reason->code != NULL) {
        json_write_name(writer, "Message");
        json_write_string(writer, reason->message);
    }
    json_close_object(writer);
}

bool transaction_reasons_cancel(struct error *err, const struct transaction_reason *reasons,
                                size_t count)
{
    struct buffer json, message;
    struct json_writer writer;
    buffer_init(&json, err->arena);
    buffer_init(&message, err->arena);
    json_writer_init(&writer, &json);
    json_open_array(&writer);
    buffer_append_bytes(&message, BYTES("Transaction cancelled, please refer cancellation reasons "
                                        "for specific reasons ["));
    for (size_t i = 0; i < count; i++) {
        write_reason(&writer, &reasons[i]);
        if (i > 0)
            buffer_append_bytes(&message, BYTES(", "));
        buffer_append_bytes(&message, bytes_from_text(code_of(&reasons[i])));
    }
    json_close_array(&writer);
    buffer_append_byte(&message, ']');
    err->reasons_json = buffer_bytes(&json);
    return error_set_bytes(err, ERROR_TRANSACTION_CANCELED, buffer_bytes(&message));
}
