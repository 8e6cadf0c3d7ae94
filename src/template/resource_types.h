/* resource_types.h -- the types of resources that are more than skipped. Private to template/. */
#ifndef STATOR_TEMPLATE_RESOURCE_TYPES_H
#define STATOR_TEMPLATE_RESOURCE_TYPES_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "template/template.h"

struct evaluation;

struct resource_type {
    const char *name; /* "AWS::DynamoDB::Table" */
    enum template_kind kind;
    const char *name_property;     /* "TableName"; NULL: it has no name of its own. */
    const char *const *attributes; /* Of Fn::GetAtt; the list ends with NULL. */
    const char *arn;               /* Of its ARN the service: "dynamodb"; NULL: it has no ARN. */
    const char *arn_resource;      /* What stands before the name: "table/". */
    /* Fills in `state` and `requests` of a resource whose properties are resolved. */
    bool (*build)(struct evaluation *evaluation, struct template_resource *resource);
};

/* NULL: of another service. */
const struct resource_type *resource_type_find(struct bytes name);

/* table_resource.c */
bool table_resource_build(struct evaluation *evaluation, struct template_resource *resource);
bool table_resource_build_global(struct evaluation *evaluation, struct template_resource *resource);
bool table_resource_build_simple(struct evaluation *evaluation, struct template_resource *resource);
/* other_resources.c */
bool other_resources_build_target(struct evaluation *evaluation,
                                  struct template_resource *resource);
bool other_resources_build_policy(struct evaluation *evaluation,
                                  struct template_resource *resource);
bool other_resources_build_alarm(struct evaluation *evaluation, struct template_resource *resource);
bool other_resources_build_composite(struct evaluation *evaluation,
                                     struct template_resource *resource);
bool other_resources_build_dashboard(struct evaluation *evaluation,
                                     struct template_resource *resource);

#endif
