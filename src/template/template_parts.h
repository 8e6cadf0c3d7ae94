/* template_parts.h -- a parsed template, and the formats that become one. Private to template/. */
#ifndef STATOR_TEMPLATE_TEMPLATE_PARTS_H
#define STATOR_TEMPLATE_TEMPLATE_PARTS_H
#include "base/compiler.h"
#include "template/template.h"

struct node;

struct template
{
    struct bytes file;
    enum template_format format;
    /* Always of CloudFormation's form: other formats are converted. NULL where there is no such
     * section. */
    struct node *root;
    const struct node *parameters, *mappings, *conditions, *resources, *outputs, *globals;
    bool is_literal; /* Not from CloudFormation: no functions, no dynamic references. */
    bool has_serverless, has_language_extensions; /* Transforms. */
    struct template_parameter *parameter_list;
    size_t parameter_count;
    struct bytes *transforms;
    size_t transform_count;
    struct bytes *types;
    size_t type_count;
};

/* parameters.c: reads the section of declarations. */
MUST_CHECK bool parameters_declare(struct arena *arena, struct template *template,
                                   struct template_error *err);

/* formats.c: a document of another format, as one of CloudFormation's form; NULL with `err` set if
 * it is none that is known. */
MUST_CHECK struct node *formats_convert(struct arena *arena, const struct node *root,
                                        enum template_format *format, struct template_error *err);
/* {Type: AWS::DynamoDB::Table, Properties: properties} */
struct node *formats_table(struct arena *arena, struct node *properties);
/* The properties of AWS::DynamoDB::Table that a CreateTable request has; NULL with `err` set if it
 * is none. */
MUST_CHECK struct node *formats_read_request(struct arena *arena, const struct node *request,
                                             struct template_error *err);
/* The same for a TableDescription. */
struct node *formats_read_description(struct arena *arena, const struct node *description);

/* terraform.c: Resources of a plan's or state's aws_dynamodb_table; NULL with `err` set. */
MUST_CHECK struct node *terraform_convert(struct arena *arena, const struct node *root,
                                          struct template_error *err);

#endif
