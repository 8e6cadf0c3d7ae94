/* import_request.c -- see import_request.h. */
#include "api/import/import_request.h"
#include "api/common_shapes.h"
#include "api/table/table_shapes.h"
#include "base/arena.h"
#include "base/compiler.h"

/* --- Texts --- */

static bool is_alphanumeric(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool bucket_matches(struct bytes text)
{
    if (text.len < 2 || !is_alphanumeric(text.data[0]) || !is_alphanumeric(text.data[text.len - 1]))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.data[i];
        if (!is_alphanumeric(c) && c != '.' && c != '-' && c != '_')
            return false;
    }
    return true;
}

static bool owner_matches(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    }
    return text.len == 12;
}

static bool token_matches(struct bytes text)
{
    return text.len > 0 && memchr(text.data, '$', text.len) == NULL;
}

static bool delimiter_matches(struct bytes text)
{
    return text.len == 1 && memchr(",;:|\t ", text.data[0], 6) != NULL;
}

static bool header_matches(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.data[i];
        if (c < 0x20 || c > 0x7E || c == '"' || c == ',')
            return false;
    }
    return true;
}

static bool next_token_matches(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.data[i];
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
            return false;
    }
    return text.len > 0 && text.len % 16 == 0;
}

const struct shape import_bucket_shape = { .kind = SHAPE_STRING,
                                           .min = SHAPE_NO_MIN,
                                           .max = IMPORT_BUCKET_SIZE_MAX,
                                           .pattern = "^[a-z0-9A-Z]+[\\.\\-\\w]*[a-z0-9A-Z]+$",
                                           .matches = bucket_matches };
const struct shape import_owner_shape = {
    .kind = SHAPE_STRING, .pattern = "[0-9]{12}", .matches = owner_matches, SHAPE_UNBOUNDED
};
const struct shape import_prefix_shape = { .kind = SHAPE_STRING,
                                           .min = SHAPE_NO_MIN,
                                           .max = IMPORT_PREFIX_SIZE_MAX };
const struct shape import_token_shape = { .kind = SHAPE_STRING,
                                          .min = SHAPE_NO_MIN,
                                          .max = JOB_TOKEN_LENGTH_MAX,
                                          .pattern = "^[^\\$]+$",
                                          .matches = token_matches };
static const char *const compressions[] = { "ZSTD", "NONE", "GZIP", NULL };
const struct shape import_compression_shape = { .kind = SHAPE_STRING,
                                                .enum_values = compressions,
                                                SHAPE_UNBOUNDED };
static const char *const formats[] = { "CSV", "ION", "DYNAMODB_JSON", NULL };
static const struct shape format_shape = { .kind = SHAPE_STRING,
                                           .enum_values = formats,
                                           SHAPE_UNBOUNDED };

/* --- ImportTable --- */

static const struct shape_field source_fields[] = {
    { SHAPE_FIELD(struct import_source_request, bucket_owner, "S3BucketOwner",
                  &import_owner_shape) },
    { SHAPE_FIELD(struct import_source_request, bucket, "S3Bucket", &import_bucket_shape),
      .required = true },
    { SHAPE_FIELD(struct import_source_request, key_prefix, "S3KeyPrefix", &import_prefix_shape) },
};
static const struct shape source_shape = {
    SHAPE_STRUCTURE_OF(struct import_source_request, source_fields),
    .type_name = "S3BucketSource",
};

static const struct shape delimiter_shape = {
    .kind = SHAPE_STRING, .min = 1, .max = 1, .pattern = "[,;:|\\t ]", .matches = delimiter_matches
};
static const struct shape header_name_shape = { .kind = SHAPE_STRING,
                                                .min = 1,
                                                .max = 65536,
                                                .pattern = "[\\x20-\\x21\\x23-\\x2B\\x2D-\\x7E]*",
                                                .matches = header_matches };
static const struct shape header_list_shape = {
    .kind = SHAPE_LIST, .element = &header_name_shape, .min = 1, .max = IMPORT_HEADER_NAMES_MAX
};
static const struct shape_field csv_fields[] = {
    { SHAPE_FIELD(struct import_csv_request, delimiter, "Delimiter", &delimiter_shape) },
    { SHAPE_FIELD(struct import_csv_request, header_list, "HeaderList", &header_list_shape) },
};
static const struct shape csv_shape = { SHAPE_STRUCTURE_OF(struct import_csv_request, csv_fields),
                                        .type_name = "CsvOptions" };
static const struct shape_field options_fields[] = {
    { SHAPE_FIELD(struct import_options_request, csv, "Csv", &csv_shape) },
};
static const struct shape options_shape = {
    SHAPE_STRUCTURE_OF(struct import_options_request, options_fields),
    .type_name = "InputFormatOptions",
};

static const struct shape_field import_table_fields[] = {
    { SHAPE_FIELD(struct import_table_request, client_token, "ClientToken", &import_token_shape),
      .required = true },
    { SHAPE_FIELD(struct import_table_request, source, "S3BucketSource", &source_shape),
      .required = true },
    { SHAPE_FIELD(struct import_table_request, input_format, "InputFormat", &format_shape),
      .required = true },
    { SHAPE_FIELD(struct import_table_request, options, "InputFormatOptions", &options_shape) },
    { SHAPE_FIELD(struct import_table_request, compression, "InputCompressionType",
                  &import_compression_shape) },
    { SHAPE_FIELD(struct import_table_request, parameters, "TableCreationParameters",
                  &table_creation_parameters_shape),
      .required = true },
};
const struct shape import_table_shape = {
    SHAPE_STRUCTURE_OF(struct import_table_request, import_table_fields),
    .type_name = "ImportTableInput",
};

/* --- DescribeImport, ListImports --- */

static const struct shape import_arn_shape = { .kind = SHAPE_STRING,
                                               .min = IMPORT_ARN_SIZE_MIN,
                                               .max = IMPORT_ARN_SIZE_MAX };
static const struct shape_field describe_import_fields[] = {
    { SHAPE_FIELD(struct import_arn_request, arn, "ImportArn", &import_arn_shape),
      .required = true },
};
const struct shape describe_import_shape = {
    SHAPE_STRUCTURE_OF(struct import_arn_request, describe_import_fields),
    .type_name = "DescribeImportInput",
};

static const struct shape table_arn_shape = { .kind = SHAPE_STRING, .min = 1, .max = 1024 };
static const struct shape page_size_shape = { .kind = SHAPE_INTEGER,
                                              .min = 1,
                                              .max = IMPORT_PAGE_SIZE_MAX };
static const struct shape next_token_shape = { .kind = SHAPE_STRING,
                                               .min = IMPORT_NEXT_TOKEN_SIZE_MIN,
                                               .max = IMPORT_NEXT_TOKEN_SIZE_MAX,
                                               .pattern = "([0-9a-f]{16})+",
                                               .matches = next_token_matches };
const struct shape import_list_token_shape = { .kind = SHAPE_STRING,
                                               .min = 1,
                                               .max = IMPORT_NEXT_TOKEN_SIZE_MAX,
                                               .pattern = "([0-9a-f]{16})+",
                                               .matches = next_token_matches };
static const struct shape_field list_imports_fields[] = {
    { SHAPE_FIELD(struct list_imports_request, table_arn, "TableArn", &table_arn_shape) },
    { SHAPE_FIELD(struct list_imports_request, page_size, "PageSize", &page_size_shape) },
    { SHAPE_FIELD(struct list_imports_request, next_token, "NextToken", &next_token_shape) },
};
const struct shape list_imports_shape = {
    SHAPE_STRUCTURE_OF(struct list_imports_request, list_imports_fields),
    .type_name = "ListImportsInput",
};

enum compressor_kind import_compression_of(struct bytes name)
{
    if (bytes_equal(name, BYTES("GZIP")))
        return COMPRESSOR_GZIP;
    return bytes_equal(name, BYTES("ZSTD")) ? COMPRESSOR_ZSTD : COMPRESSOR_NONE;
}

/* --- Pages --- */

enum { TOKEN_BYTES = IMPORT_NEXT_TOKEN_SIZE_MIN / 2 };

/* The id that a page ended with, in hex digits, filled up with zeros. */
struct bytes import_token_of_id(struct arena *arena, const char *id)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t bytes[TOKEN_BYTES] = { 0 };
    char *out = arena_alloc(arena, IMPORT_NEXT_TOKEN_SIZE_MIN);
    memcpy(bytes, id, JOB_ID_SIZE);
    for (size_t i = 0; i < TOKEN_BYTES; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    return bytes_of(out, IMPORT_NEXT_TOKEN_SIZE_MIN);
}

static unsigned hex_value(uint8_t c)
{
    return c <= '9' ? (unsigned)(c - '0')
                    : (unsigned)(c - 'a' + 10); /* The shape has checked it. */
}

bool import_id_of_token(struct bytes token, char id[JOB_ID_SIZE + 1])
{
    uint8_t bytes[TOKEN_BYTES];
    if (token.len != IMPORT_NEXT_TOKEN_SIZE_MIN)
        return false;
    for (size_t i = 0; i < TOKEN_BYTES; i++)
        bytes[i] = (uint8_t)(hex_value(token.data[2 * i]) << 4 | hex_value(token.data[2 * i + 1]));
    for (size_t i = JOB_ID_SIZE; i < TOKEN_BYTES; i++) {
        if (bytes[i] != 0)
            return false;
    }
    memcpy(id, bytes, JOB_ID_SIZE);
    id[JOB_ID_SIZE] = 0;
    return job_record_is_id(bytes_of(id, JOB_ID_SIZE));
}
