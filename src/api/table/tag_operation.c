/* tag_operation.c -- see tag_operation.h. */
#include "api/table/tag_operation.h"
#include "api/operation.h"
#include "api/table/table_name.h"
#include "api/table/table_operation.h"
#include "model/limits.h"
#include "table/catalogue.h"

const struct shape tag_operation_arn_shape = { .kind = SHAPE_STRING,
                                               .min = SHAPE_NO_MIN,
                                               .max = RESOURCE_ARN_SIZE_MAX };

bool tag_operation_check(struct api_call *call, struct bytes arn)
{
    if (arn.len == 0)
        return error_validation(&call->error, "Invalid TableArn");
    if (!table_name_is_arn(arn))
        return error_validation(&call->error,
                                "Invalid TableArn: Invalid ResourceArn provided as input %.*s",
                                BYTES_FMT(arn));
    return true;
}

struct table *tag_operation_find(struct api_call *call, struct bytes arn)
{
    struct table *table = catalogue_find(api_catalogue(call->api), operation_table_name(arn));
    if (table == NULL) /* "ResourcArn": the service's own spelling. */
        error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                  "Requested resource not found: ResourcArn: %.*s not found", BYTES_FMT(arn));
    return table;
}

void tag_operation_store(struct api_call *call, struct table_definition *changed)
{
    /* The answer has an empty body, as the service's. */
    operation_end(call, table_operation_store(call, changed, "table tags"));
}
