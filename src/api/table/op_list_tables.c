/* op_list_tables.c -- ListTables. */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "json/writer.h"
#include "model/limits.h"
#include "table/catalogue.h"

struct list_tables_request {
    struct bytes exclusive_start_table_name;
    struct shape_integer limit;
};

static const struct shape limit_shape = { .kind = SHAPE_INTEGER,
                                          .min = 1,
                                          .max = LIST_TABLES_PAGE_MAX };
static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct list_tables_request, exclusive_start_table_name, "ExclusiveStartTableName",
                  &common_resource_name) },
    { SHAPE_FIELD(struct list_tables_request, limit, "Limit", &limit_shape) },
};
static const struct shape request_shape = { SHAPE_STRUCTURE_OF(struct list_tables_request, fields),
                                            .type_name = "ListTablesInput" };

static void run(struct api_call *call, const void *input)
{
    const struct list_tables_request *request = input;
    /* One name more than the page holds tells whether there is another page. */
    struct bytes names[LIST_TABLES_PAGE_MAX + 1];
    size_t page_size = request->limit.present ? (size_t)request->limit.value : LIST_TABLES_PAGE_MAX;
    struct bytes after = request->exclusive_start_table_name;
    if (after.data == NULL)
        after = BYTES("");
    size_t count =
        catalogue_list(api_catalogue(call->api), call->arena, after, names, page_size + 1);
    bool more = count > page_size;

    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "TableNames");
    json_open_array(&writer);
    for (size_t i = 0; i < count && i < page_size; i++)
        json_write_string(&writer, names[i]);
    json_close_array(&writer);
    if (more) {
        json_write_name(&writer, "LastEvaluatedTableName");
        json_write_string(&writer, names[page_size - 1]);
    }
    json_close_object(&writer);
    operation_succeed(call);
}

const struct operation op_list_tables = { .name = "ListTables",
                                          .kind = OPERATION_DATA,
                                          .request = &request_shape,
                                          .asks = OPERATION_ASKS_ACCOUNT,
                                          .run = run };
