/* op_describe_continuous_backups.c -- DescribeContinuousBackups. */
#include "api/table/continuous_backups.h"
#include "api/operation.h"
#include "api/table/table_operation.h"
#include "table/catalogue.h"

static void run(struct api_call *call, const void *input)
{
    const struct table_name_request *request = input;
    struct table *table = continuous_backups_find(call, request->table_name);
    bool ok = table != NULL;
    if (ok)
        continuous_backups_answer(call, table_definition(table));
    table_release(table);
    operation_end(call, ok);
}

const struct operation op_describe_continuous_backups = { .name = "DescribeContinuousBackups",
                                                          .kind = OPERATION_DATA,
                                                          .request = &table_name_request_shape,
                                                          .asks = OPERATION_ASKS_RESOURCE,
                                                          .run = run };
