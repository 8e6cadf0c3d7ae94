/* txn_records.c -- the records beside a write's items. See txn_parts.h. */
#include "txn/txn.h"
#include "txn/txn_parts.h"

void txn_records_add_addresses(const struct txn *txn, struct txn_addresses *addresses)
{
    for (size_t i = 0; i < txn->record_count; i++)
        txn_addresses_add(addresses, txn->records[i].address);
}

enum engine_status txn_records_read(struct txn *txn, struct engine_write *write)
{
    for (size_t i = 0; i < txn->record_count; i++) {
        struct txn_record *record = &txn->records[i];
        enum engine_status status = engine_write_get(write, &record->address, &record->held);
        if (status != ENGINE_OK && status != ENGINE_NOT_FOUND)
            return status;
        record->exists = status == ENGINE_OK;
        record->current = record->held.bytes;
        record->replacement = (struct bytes){ 0 };
    }
    return ENGINE_OK;
}

void txn_records_apply(const struct txn *txn, struct engine_write *write)
{
    for (size_t i = 0; i < txn->record_count; i++) {
        const struct txn_record *record = &txn->records[i];
        if (record->replacement.data != NULL)
            engine_write_put(write, &record->address, record->replacement);
    }
}

void txn_records_release(struct txn *txn)
{
    for (size_t i = 0; i < txn->record_count; i++)
        engine_value_release(&txn->records[i].held);
}
