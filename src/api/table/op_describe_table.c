/* op_describe_table.c -- DescribeTable. */
#include "api/operation.h"
#include "api/table/table_operation.h"
#include "table/catalogue.h"

static void run(struct api_call *call, const void *input)
{
    const struct table_name_request *request = input;
    struct table *table = table_operation_find(call, request->table_name);
    bool ok = table != NULL;
    if (ok) {
        const struct table_definition *definition = table_definition(table);
        struct table_answer answer = { .member = "Table",
                                       .definition = definition,
                                       .status = definition->status,
                                       .provisioned = definition->throughput,
                                       .stats = table };
        ok = table_operation_answer(call, &answer);
    }
    table_release(table);
    operation_end(call, ok);
}

const struct operation op_describe_table = { .name = "DescribeTable",
                                             .kind = OPERATION_DATA,
                                             .request = &table_name_request_shape,
                                             .asks = OPERATION_ASKS_RESOURCE,
                                             .run = run };
