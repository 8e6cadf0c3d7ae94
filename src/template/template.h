/* template.h -- a team's own files as resources: what tables a template, a plan or a description of
 * tables asks for, and the requests that make them.
 *
 *     struct template *template = template_parse(arena, text, BYTES("app.yaml"), &err);
 *     struct template_result *result = template_evaluate(arena, template, &environment, &err);
 *
 * Parsing recognises the format by its content. Whatever the format, the result is one model:
 * resources of CloudFormation's types with resolved properties, and tables in one canonical form
 * (`table`), so that planning (plan.h) knows no formats.
 *
 * Nothing here opens a file, knows the time or talks to a server. Evaluating again is cheap and
 * pure: a caller that has created a resource evaluates anew, with its attributes known to
 * `attribute`. Everything lives in the arena; text that is passed in must outlive the result.
 */
#ifndef STATOR_TEMPLATE_TEMPLATE_H
#define STATOR_TEMPLATE_TEMPLATE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct node;
struct template; /* Opaque: a parsed document. */

/* The bounds of a template; a document beyond one is refused. Sizes and counts of parameters,
 * mappings, resources and outputs are CloudFormation's own quotas, or above them. */
enum {
    TEMPLATE_SIZE_MAX =
        16 * 1024 * 1024, /* Of a file; a Terraform plan is larger than a template. */
    TEMPLATE_BODY_SIZE_MAX = 1024 * 1024, /* Of a template that CloudFormation's API takes. */
    TEMPLATE_NODES_MAX = 100 * 1000, /* Of a document, aliases expanded, and of an evaluation. */
    TEMPLATE_DEPTH_MAX = 64,
    /* Of all text that an evaluation makes or shares, and that a document's aliases stand for. */
    TEMPLATE_TEXT_MAX = 1024 * 1024,
    TEMPLATE_ANCHORS_MAX = 1000,
    TEMPLATE_TAG_DIRECTIVES_MAX = 100, /* "%TAG" anywhere in YAML. */
    TEMPLATE_RESOURCES_MAX = 500,
    TEMPLATE_PARAMETERS_MAX = 200,
    TEMPLATE_OUTPUTS_MAX = 200,
    TEMPLATE_EVALUATION_DEPTH_MAX = 128, /* Functions, conditions and references under way. */
    TEMPLATE_NAME_SIZE_MAX = 255,        /* Of a logical id and of a physical name. */
    TEMPLATE_SCALING_ID_SIZE_MAX = 2048, /* Of a target or policy of Application Auto Scaling. */
};

/* What is wrong, and where. `line` 0: not about a line. */
struct template_error {
    struct bytes file;
    unsigned line;
    struct bytes
        message; /* A sentence without a place, in CloudFormation's words where it has some. */
};
/* "app.yaml:12: MESSAGE". */
struct bytes template_error_text(struct arena *arena, const struct template_error *err);

enum template_format {
    TEMPLATE_CLOUDFORMATION, /* And SAM. */
    TEMPLATE_CREATE_TABLE,   /* A CreateTable request, or a list of them. */
    TEMPLATE_DESCRIBE_TABLE, /* {"Table": {...}}, as describe-table prints it. */
    TEMPLATE_TERRAFORM,      /* `terraform show -json`, of a plan or a state. */
};

/* --- What a template declares --- */

struct template_parameter {
    struct bytes name;
    struct bytes type;          /* "String", "AWS::SSM::Parameter::Value<String>", ... */
    struct bytes description;   /* data NULL: none; so are all below. */
    struct bytes default_value; /* A list is one text with commas, as a client gives it. */
    struct bytes *allowed_values;
    size_t allowed_value_count;
    struct bytes allowed_pattern;
    struct bytes constraint_description;
    bool no_echo;
    unsigned line;
};

/* Reads JSON or YAML. `file` is for messages only. NULL with `err` set: the text is not a document
 * within the bounds, or none of the formats. */
MUST_CHECK struct template *template_parse(struct arena *arena, struct bytes text,
                                           struct bytes file, struct template_error *err);

enum template_format template_format(const struct template *template);
struct bytes template_description(const struct template *template); /* data NULL: none. */
const struct template_parameter *template_parameters(const struct template *template,
                                                     size_t *count);
/* The names of macros in `Transform`: "AWS::Serverless-2016-10-31". */
const struct bytes *template_transforms(const struct template *template, size_t *count);
/* The types of all resources, each once, in the order of the document. */
const struct bytes *template_resource_types(const struct template *template, size_t *count);
/* The document as parsed; a map. `Metadata` is a member, for those who show it. */
const struct node *template_document(const struct template *template);

/* --- Evaluation --- */

struct template_value {
    struct bytes name;
    struct bytes value;
};

/* What a template is evaluated in. Texts with data NULL have the defaults named here. */
struct template_environment {
    struct bytes stack_name; /* "stack" */
    struct bytes stack_id;   /* An ARN made of the name. */
    struct bytes region;     /* "us-east-1" */
    struct bytes account_id; /* "000000000000" */
    struct bytes partition;  /* "aws" */
    struct bytes url_suffix; /* "amazonaws.com" */
    const struct bytes *notification_arns;
    size_t notification_arn_count;

    /* Values of parameters. For a value of `AWS::SSM::Parameter::Value<...>` the value itself, not
     * the name of the parameter in SSM; also `{{resolve:ssm:NAME}}` is looked up here, as NAME. */
    const struct template_value *parameters;
    size_t parameter_count;
    /* Parameters that the template does not declare are an error unless this is set (for files that
     * are applied together). */
    bool ignore_unknown_parameters;

    /* Tags of the stack: every table has them, unless it has one of that key itself. */
    const struct template_value *tags;
    size_t tag_count;
    /* The key of a tag with the stack's name, for tables that may be deleted with the stack: those
     * whose DeletionPolicy retains them do not get it. data NULL: none. */
    struct bytes owner_tag;

    /* Refuses a template with resources of other services, instead of skipping them. */
    bool refuse_foreign;

    /* Attributes of resources that exist, asked for where a value cannot be derived from names:
     * attribute "Ref" is the physical id, asked for if the template does not name the resource (a
     * stack that gave it another name than the derived one answers it); otherwise "StreamArn",
     * "TableId", ... False: not known; the value is then derived, or pending (node.h). May be
     * NULL. */
    bool (*attribute)(void *context, struct bytes logical_id, struct bytes attribute,
                      struct bytes *value);
    /* Fn::ImportValue: the value of an export of another stack. May be NULL: there are none. */
    bool (*import)(void *context, struct bytes name, struct bytes *value);
    void *context;
};

enum template_kind {
    TEMPLATE_KIND_FOREIGN, /* Of another service: skipped. */
    TEMPLATE_KIND_TABLE,   /* AWS::DynamoDB::Table, GlobalTable, AWS::Serverless::SimpleTable */
    TEMPLATE_KIND_SCALABLE_TARGET,
    TEMPLATE_KIND_SCALING_POLICY,
    TEMPLATE_KIND_ALARM, /* AWS::CloudWatch::Alarm and CompositeAlarm */
    TEMPLATE_KIND_DASHBOARD,
};

enum template_policy {
    TEMPLATE_DELETE, /* The default. */
    TEMPLATE_RETAIN,
    TEMPLATE_RETAIN_EXCEPT_ON_CREATE,
};

/* A request in DynamoDB's JSON (or CloudWatch's, Application Auto Scaling's). `operation` is a name
 * of api/operation_list.h, such as "CreateTable" or "cloudwatch:PutMetricAlarm". */
struct template_request {
    const char *operation;
    struct bytes body;
};

struct template_resource {
    struct bytes logical_id;
    struct bytes type; /* As the document has it. */
    enum template_kind kind;
    struct bytes file;
    unsigned line;
    /* What Ref gives: a table's, alarm's or dashboard's name, "table/T|DIMENSION|dynamodb" for a
     * scalable target. Of a skipped resource: its logical id. */
    struct bytes physical_id;
    bool has_own_name; /* The template names it, so it cannot be replaced under the same name. */
    struct bytes arn;  /* Derived from its name; data NULL: it has none, or only a server knows. */
    /* Resolved, as the document has them; NULL for skipped resources, which are not evaluated. */
    const struct node *properties;
    /* The canonical form, which plan.h compares. For a table: the properties of
     * AWS::DynamoDB::Table, whatever the document's type and format, with numbers and booleans as
     * such, `Tags` as a list and defaults filled in; scaling settings of a GlobalTable are in
     * `Scaling`, a list of
     * {"Target": request, "Policy": request}. For the others: the body of their request. NULL:
     * skipped. */
    const struct node *state;
    /* A CreateTable request says nothing of TTL, recovery, insights, ...: what `state` does not
     * mention is left alone, instead of being set to its default. */
    bool is_partial;
    enum template_policy deletion_policy;
    enum template_policy update_replace_policy;
    /* Logical ids of resources that exist in this evaluation and come before this one: DependsOn,
     * Ref, GetAtt and Sub. */
    const struct bytes *depends_on;
    size_t depends_on_count;
    /* Makes the resource, in order: CreateTable and what follows once the table is ACTIVE, or one
     * Put... or Register... request. */
    const struct template_request *requests;
    size_t request_count;
};

struct template_output {
    struct bytes name;
    struct bytes value;       /* As text; lists are joined by commas. */
    struct bytes description; /* data NULL: none. */
    struct bytes export_name; /* data NULL: not exported. */
    /* Known only once the resource exists (its `value` is a placeholder), or dependent on a skipped
     * resource. */
    bool is_pending;
    bool is_foreign;
};

/* Reported to the user: something was skipped or changed. */
struct template_notice {
    struct bytes file;
    unsigned line;
    struct bytes logical_id; /* data NULL: about the document. */
    struct bytes message;    /* "skipped: AWS::Lambda::Function" */
};

struct template_result {
    /* Resources whose condition holds, in an order in which they can be created: what a resource
     * depends on comes before it. */
    const struct template_resource *resources;
    size_t resource_count;
    const struct template_output *outputs;
    size_t output_count;
    const struct template_notice *notices;
    size_t notice_count;
    /* The values of all declared parameters, resolved with defaults, for those who show them. */
    const struct template_value *parameters;
    size_t parameter_count;
};

/* NULL with `err` set if a parameter has no valid value, a function or property is wrong, something
 * refers to what does not exist, or references form a circle. */
MUST_CHECK struct template_result *template_evaluate(struct arena *arena,
                                                     const struct template *template,
                                                     const struct template_environment *environment,
                                                     struct template_error *err);

/* NULL: none. */
const struct template_resource *template_find(const struct template_result *result,
                                              struct bytes logical_id);

/* --- Folders that tools write --- */

/* A stack of a `cdk.out` folder. */
struct template_cdk_stack {
    struct bytes name;
    struct bytes file;            /* Of its template, relative to the folder, without "..". */
    struct bytes account, region; /* data NULL: any. */
    const struct template_value *parameters;
    size_t parameter_count;
};

/* Reads a `manifest.json`: the stacks in an order that respects their dependencies. False with
 * `err` set: it is not one. Nested assemblies (stages) are reported as `nested`: folders whose own
 * manifest the caller reads, relative to this one. */
MUST_CHECK bool template_read_manifest(struct arena *arena, struct bytes text, struct bytes file,
                                       const struct template_cdk_stack **stacks,
                                       size_t *stack_count, const struct bytes **nested,
                                       size_t *nested_count, struct template_error *err);

/* --- Names --- */

/* "STACK-LOGICALID-13CHARACTERS", as CloudFormation forms names, but the characters are a hash of
 * `stack_name`, `logical_id` and `salt`, so that a stack that is made anew has the same names. */
struct bytes template_physical_name(struct arena *arena, struct bytes stack_name,
                                    struct bytes logical_id, struct bytes salt);

#endif
