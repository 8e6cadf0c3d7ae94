/* import_command.c -- `stator import`: fills a table from a file, or from a bucket.
 *
 * A file is read here and sent by BatchWriteItem, so that any server will do, DynamoDB itself too.
 * A bucket is read by the server: ImportTable makes a new table of it, StartBulkPutItems adds to an
 * existing one.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "base/file.h"
#include "base/uuid.h"
#include "command/admin_client.h"
#include "command/answer.h"
#include "command/command.h"
#include "command/import_table.h"
#include "command/progress_bar.h"
#include "format/item_reader.h"
#include "json/reader.h"
#include "json/writer.h"
#include "model/limits.h"
#include "model/value_json.h"

enum {
    PIECE_SIZE = 256 * 1024,
    BATCH_SIZE_MAX = 4 * 1024 * 1024, /* Of the JSON: far below what a server takes. */
    HEADER_NAMES_MAX = 255,
    RETRIES_MAX = 12,
    RETRY_FIRST_MS = 50,
    RETRY_LAST_MS = 5000,
    POLL_MS = 200,
    ERRORS_SHOWN_MAX = 20,
};

struct importer {
    const struct command_call *call;
    struct arena *arena;   /* For the whole run. */
    struct arena *scratch; /* For one request. */
    struct import_table table;
    struct item_reader_options options;
    struct bytes header[HEADER_NAMES_MAX];
    struct progress_bar bar;

    struct arena *batch_arena;
    struct item items[BATCH_WRITE_REQUESTS_MAX];
    size_t count;
    size_t size;
    uint64_t imported;
    uint64_t errors;
};

static void pause_ms(int64_t ms)
{
    nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

static int send(struct importer *importer, const char *operation, struct bytes body,
                struct bytes *answer)
{
    struct admin_client_call request = admin_client_call_of(importer->call, operation);
    request.body = body;
    return admin_client_send(importer->scratch, &request, answer);
}

/* --- Flags --- */

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static int read_compression(struct importer *importer, const char *file)
{
    const char *name = command_value_of(importer->call, "compression");
    enum compressor_kind *kind = &importer->options.compression;
    if (name == NULL)
        *kind = ends_with(file, ".gz")    ? COMPRESSOR_GZIP
                : ends_with(file, ".zst") ? COMPRESSOR_ZSTD
                                          : COMPRESSOR_NONE;
    else if (strcmp(name, "GZIP") == 0)
        *kind = COMPRESSOR_GZIP;
    else if (strcmp(name, "ZSTD") == 0)
        *kind = COMPRESSOR_ZSTD;
    else if (strcmp(name, "NONE") != 0)
        return command_fail(COMMAND_MISUSED, "--compression", "must be GZIP, ZSTD or NONE");
    return COMMAND_OK;
}

static int read_csv_flags(struct importer *importer)
{
    const char *delimiter = command_value_of(importer->call, "delimiter");
    const char *header = command_value_of(importer->call, "header");
    struct item_reader_options *options = &importer->options;
    if (delimiter != NULL) {
        bool tab = strcmp(delimiter, "tab") == 0;
        if (!tab && (strlen(delimiter) != 1 || *delimiter == '"'))
            return command_fail(COMMAND_MISUSED, "--delimiter", "must be one character, or tab");
        options->csv_delimiter = tab ? '\t' : (uint8_t)*delimiter;
    }
    if (header == NULL)
        return COMMAND_OK;
    for (size_t count = 0;; header++) {
        size_t length = strcspn(header, ",");
        if (count == HEADER_NAMES_MAX)
            return command_fail(COMMAND_MISUSED, "--header", "names more than 255 columns");
        importer->header[count++] = bytes_of(header, length);
        header += length;
        options->csv_header_count = count;
        if (*header == '\0')
            break;
    }
    options->csv_header = importer->header;
    return COMMAND_OK;
}

static int read_flags(struct importer *importer, const char *file)
{
    const char *format = command_value_of(importer->call, "format");
    const char *key = command_value_of(importer->call, "key");
    enum item_format *out = &importer->options.format;
    if (format == NULL)
        *out = strstr(file, ".csv") != NULL   ? ITEM_FORMAT_CSV
               : strstr(file, ".ion") != NULL ? ITEM_FORMAT_ION
                                              : ITEM_FORMAT_DYNAMODB_JSON;
    else if (!item_format_parse(bytes_from_text(format), out))
        return command_fail(COMMAND_MISUSED, "--format", "must be DYNAMODB_JSON, ION, CSV or JSON");
    if (key != NULL && !import_table_parse_key(key, &importer->table))
        return command_fail(COMMAND_MISUSED, "--key", "must be like pk:S or pk:S,sk:N");
    int code = read_compression(importer, file);
    return code == COMMAND_OK ? read_csv_flags(importer) : code;
}

/* --- The table --- */

static struct bytes name_body(struct importer *importer)
{
    struct json_writer json;
    struct buffer body;
    buffer_init(&body, importer->scratch);
    json_writer_init(&json, &body);
    json_open_object(&json);
    json_write_name(&json, "TableName");
    json_write_string(&json, importer->table.name);
    json_close_object(&json);
    return buffer_bytes(&body);
}

static int describe_table(struct importer *importer)
{
    struct bytes answer;
    int code = send(importer, "DescribeTable", name_body(importer), &answer);
    if (code != COMMAND_OK)
        return code;
    if (!import_table_read(importer->arena, arena_copy(importer->arena, answer), &importer->table))
        return command_fail(COMMAND_FAILED, "DescribeTable", "the answer cannot be read");
    return COMMAND_OK;
}

static int create_table(struct importer *importer)
{
    struct json_writer json;
    struct buffer body;
    struct bytes answer;
    buffer_init(&body, importer->scratch);
    json_writer_init(&json, &body);
    json_open_object(&json);
    import_table_write(&json, &importer->table);
    json_close_object(&json);
    return send(importer, "CreateTable", buffer_bytes(&body), &answer);
}

/* The table is there, ACTIVE, and its key is known. */
static int prepare_table(struct importer *importer)
{
    int code = importer->table.key_count > 0 ? create_table(importer) : COMMAND_OK;
    importer->table.status = BYTES("");
    while (code == COMMAND_OK) {
        code = describe_table(importer);
        if (code != COMMAND_OK || !bytes_equal(importer->table.status, BYTES("CREATING")))
            break;
        arena_reset(importer->scratch);
        pause_ms(POLL_MS);
    }
    importer->options.typed = importer->table.typed;
    importer->options.typed_count = importer->table.typed_count;
    return code;
}

/* --- Batches --- */

static struct bytes batch_body(struct importer *importer)
{
    struct json_writer json;
    struct buffer body;
    buffer_init(&body, importer->scratch);
    json_writer_init(&json, &body);
    json_open_object(&json);
    json_write_name(&json, "RequestItems");
    json_open_object(&json);
    json_write_name_bytes(&json, importer->table.name);
    json_open_array(&json);
    for (size_t i = 0; i < importer->count; i++) {
        json_open_object(&json);
        json_write_name(&json, "PutRequest");
        json_open_object(&json);
        json_write_name(&json, "Item");
        item_json_write(&json, &importer->items[i]);
        json_close_object(&json);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_close_object(&json);
    json_close_object(&json);
    return buffer_bytes(&body);
}

/* The request for what an answer left undone; data NULL: nothing. */
static struct bytes unprocessed(struct importer *importer, struct bytes answer)
{
    struct bytes rest = answer_json(importer->scratch, answer, "UnprocessedItems");
    if (rest.data == NULL || rest.len <= 2)
        return (struct bytes){ 0 };
    const struct bytes parts[] = { BYTES("{\"RequestItems\":"), rest, BYTES("}") };
    return arena_join(importer->scratch, parts, COUNT_OF(parts));
}

static int send_batch(struct importer *importer)
{
    if (importer->count == 0)
        return COMMAND_OK;
    arena_reset(importer->scratch);
    struct bytes body = batch_body(importer);
    int64_t wait_ms = RETRY_FIRST_MS;
    for (int tries = 0; body.data != NULL; tries++) {
        struct bytes answer;
        if (tries > RETRIES_MAX)
            return command_fail(COMMAND_FAILED, "BatchWriteItem",
                                "the table has no capacity for more items");
        if (tries > 0) {
            pause_ms(wait_ms);
            wait_ms = wait_ms * 2 > RETRY_LAST_MS ? RETRY_LAST_MS : wait_ms * 2;
        }
        int code = send(importer, "BatchWriteItem", body, &answer);
        if (code != COMMAND_OK)
            return code;
        body = unprocessed(importer, answer);
    }
    importer->imported += importer->count;
    importer->count = importer->size = 0;
    arena_reset(importer->batch_arena);
    return COMMAND_OK;
}

/* One batch must not name an item twice. */
static bool is_repeated(const struct importer *importer, const struct item *item)
{
    for (size_t i = 0; i < importer->count; i++) {
        bool same = true;
        for (size_t k = 0; k < importer->table.key_count && same; k++) {
            struct value a, b;
            struct bytes name = importer->table.keys[k].name;
            same = item_find(item, name, &a) && item_find(&importer->items[i], name, &b) &&
                   bytes_equal(a.encoded, b.encoded);
        }
        if (same)
            return true;
    }
    return false;
}

static int add_item(struct importer *importer, const struct item *item)
{
    int code = COMMAND_OK;
    if (importer->count == BATCH_WRITE_REQUESTS_MAX || importer->size >= BATCH_SIZE_MAX ||
        is_repeated(importer, item))
        code = send_batch(importer);
    if (code != COMMAND_OK)
        return code;
    struct item *copy = &importer->items[importer->count++];
    importer->size += item->encoded.len;
    return item_open(arena_copy(importer->batch_arena, item->encoded), copy) ? COMMAND_OK
                                                                             : COMMAND_FAILED;
}

/* --- A file --- */

static void tell_error(struct importer *importer, const struct item_record *record)
{
    if (++importer->errors > ERRORS_SHOWN_MAX)
        return;
    progress_bar_end(&importer->bar);
    fprintf(stderr, "stator: record %" PRIu64 ": %.*s\n", record->index + 1,
            BYTES_FMT(record->message));
}

/* The rule that the server would refuse a whole batch for. */
static bool check_key(struct importer *importer, struct item_record *record)
{
    for (size_t i = 0; i < importer->table.key_count; i++) {
        const struct key_attribute *key = &importer->table.keys[i];
        struct value value;
        if (item_find(&record->item, key->name, &value) && value.type == key->type &&
            (value.type == VALUE_N || value.data.len > 0))
            continue;
        record->message = arena_printf(importer->arena, "its key %.*s is missing, empty or not %s",
                                       BYTES_FMT(key->name), value_type_name(key->type));
        return false;
    }
    return true;
}

/* Feeds the next piece, or the end. */
static int feed(struct importer *importer, struct item_reader *reader, int file, uint8_t *piece,
                uint64_t *done)
{
    ssize_t got;
    do
        got = read(file, piece, PIECE_SIZE);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return command_fail(COMMAND_FAILED, importer->call->words[1], strerror(errno));
    *done += (uint64_t)got;
    if (got == 0)
        item_reader_end(reader);
    else
        item_reader_feed(reader, bytes_of(piece, (size_t)got));
    return COMMAND_OK;
}

static int read_items(struct importer *importer, struct item_reader *reader, int file,
                      uint64_t total)
{
    struct arena *record_arena = arena_create();
    uint8_t *piece = arena_alloc(importer->arena, PIECE_SIZE);
    uint64_t done = 0;
    int code = COMMAND_OK;
    bool ended = false;
    while (code == COMMAND_OK && !ended) {
        struct item_record record;
        arena_reset(record_arena);
        enum item_reader_step step = item_reader_next(reader, record_arena, &record);
        if (step == ITEM_READER_ITEM && check_key(importer, &record))
            code = add_item(importer, &record.item);
        else if (step == ITEM_READER_INPUT)
            code = feed(importer, reader, file, piece, &done);
        else if (step == ITEM_READER_END)
            ended = true;
        else if (step != ITEM_READER_PAUSED)
            tell_error(importer, &record);
        progress_bar_show(&importer->bar, done, total, importer->imported, importer->errors);
    }
    arena_destroy(record_arena);
    return code == COMMAND_OK ? send_batch(importer) : code;
}

static int import_file(struct importer *importer, const char *path)
{
    struct stat status;
    bool standard = strcmp(path, "-") == 0;
    int file = standard ? STDIN_FILENO : file_open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (file < 0 || fstat(file, &status) != 0)
        return command_fail(COMMAND_FAILED, path, strerror(errno));
    int code = prepare_table(importer);
    if (code == COMMAND_OK) {
        struct item_reader *reader = item_reader_create(&importer->options);
        code = read_items(importer, reader, file,
                          S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0);
        item_reader_destroy(reader);
    }
    if (!standard)
        file_close(file);
    return code;
}

/* --- A bucket --- */

static void write_flag(struct importer *importer, struct json_writer *json, const char *flag,
                       const char *member)
{
    const char *value = command_value_of(importer->call, flag);
    if (value == NULL)
        return;
    json_write_name(json, member);
    json_write_text(json, value);
}

static void write_csv(struct importer *importer, struct json_writer *json)
{
    const struct item_reader_options *options = &importer->options;
    if (options->format != ITEM_FORMAT_CSV ||
        (options->csv_delimiter == 0 && options->csv_header == NULL))
        return;
    json_write_name(json, "InputFormatOptions");
    json_open_object(json);
    json_write_name(json, "Csv");
    json_open_object(json);
    if (options->csv_delimiter != 0) {
        json_write_name(json, "Delimiter");
        json_write_string(json, bytes_of(&options->csv_delimiter, 1));
    }
    if (options->csv_header != NULL) {
        json_write_name(json, "HeaderList");
        json_open_array(json);
        for (size_t i = 0; i < options->csv_header_count; i++)
            json_write_string(json, options->csv_header[i]);
        json_close_array(json);
    }
    json_close_object(json);
    json_close_object(json);
}

static struct bytes bucket_body(struct importer *importer, bool makes_table)
{
    struct json_writer json;
    struct buffer body;
    buffer_init(&body, importer->scratch);
    json_writer_init(&json, &body);
    json_open_object(&json);
    json_write_name(&json, "ClientToken");
    json_write_string(&json, uuid_create(importer->scratch));
    json_write_name(&json, makes_table ? "S3BucketSource" : "InputS3Configuration");
    json_open_object(&json);
    write_flag(importer, &json, "bucket", "S3Bucket");
    write_flag(importer, &json, "prefix", "S3KeyPrefix");
    if (makes_table)
        json_close_object(&json);
    json_write_name(&json, "InputFormat");
    json_write_text(&json, item_format_name(importer->options.format));
    write_flag(importer, &json, "compression", "InputCompressionType");
    if (makes_table) {
        write_csv(importer, &json);
        json_write_name(&json, "TableCreationParameters");
        json_open_object(&json);
        import_table_write(&json, &importer->table);
    } else {
        json_close_object(&json);
        json_write_name(&json, "TableName");
        json_write_string(&json, importer->table.name);
        json_write_name(&json, "OutputS3Configuration");
        json_open_object(&json);
        write_flag(importer, &json, "bucket", "S3Bucket");
        json_write_name(&json, "OutputType");
        json_open_array(&json);
        json_write_text(&json, "ERROR");
        json_close_array(&json);
    }
    json_close_object(&json);
    json_close_object(&json);
    return buffer_bytes(&body);
}

/* What DescribeImport and DescribeBulkOperation tell. */
struct state {
    struct bytes arn, status, failure;
    uint64_t processed, errors, bytes, total;
};

static uint64_t count_of(struct arena *arena, struct bytes object, const char *name)
{
    double value = answer_number(arena, object, name);
    return value > 0 && value < 9e15 ? (uint64_t)value : 0;
}

/* An import and a bulk operation have other names for the same. */
static struct bytes either_text(struct arena *arena, struct bytes object, const char *name,
                                const char *other)
{
    struct bytes text = answer_text(arena, object, name);
    return text.len > 0 ? text : answer_text(arena, object, other);
}

static struct state read_state(struct importer *importer, struct bytes answer)
{
    struct arena *arena = importer->arena;
    answer = arena_copy(arena, answer);
    struct bytes object = answer_json(arena, answer, "ImportTableDescription");
    if (object.data == NULL)
        object = answer_json(arena, answer, "BulkOperationDescription");
    return (struct state){
        .arn = either_text(arena, object, "ImportArn", "BulkOperationArn"),
        .status = either_text(arena, object, "ImportStatus", "BulkOperationStatus"),
        .failure = answer_text(arena, object, "FailureMessage"),
        .processed = count_of(arena, object, "ProcessedItemCount"),
        .errors =
            count_of(arena, object, "ErrorCount") + count_of(arena, object, "FailedItemCount"),
        .bytes = count_of(arena, object, "ProcessedInputBytes"),
        .total = count_of(arena, object, "TotalInputBytes"),
    };
}

static int follow(struct importer *importer, bool makes_table, struct state *state)
{
    int code = COMMAND_OK;
    while (code == COMMAND_OK && bytes_equal(state->status, BYTES("IN_PROGRESS"))) {
        struct bytes answer;
        pause_ms(POLL_MS);
        arena_reset(importer->scratch);
        struct bytes body =
            arena_printf(importer->scratch, "{\"%s\":\"%.*s\"}",
                         makes_table ? "ImportArn" : "BulkOperationArn", BYTES_FMT(state->arn));
        code =
            send(importer, makes_table ? "DescribeImport" : "DescribeBulkOperation", body, &answer);
        if (code == COMMAND_OK)
            *state = read_state(importer, answer);
        progress_bar_show(&importer->bar, state->bytes, state->total, state->processed,
                          state->errors);
    }
    return code;
}

static int import_bucket(struct importer *importer)
{
    bool makes_table = importer->table.key_count > 0;
    struct bytes answer;
    int code = send(importer, makes_table ? "ImportTable" : "StartBulkPutItems",
                    bucket_body(importer, makes_table), &answer);
    if (code != COMMAND_OK)
        return code;
    struct state state = read_state(importer, answer);
    code = follow(importer, makes_table, &state);
    importer->errors = state.errors;
    importer->imported = state.processed - state.errors;
    if (code != COMMAND_OK || bytes_starts_with(state.status, BYTES("COMPLETED")))
        return code;
    progress_bar_end(&importer->bar);
    fprintf(stderr, "stator: %.*s: %.*s\n", BYTES_FMT(state.status), BYTES_FMT(state.failure));
    return COMMAND_FAILED;
}

/* --- The command --- */

int import_command(const struct command_call *call)
{
    const char *bucket = command_value_of(call, "bucket");
    const char *file = call->word_count > 1 ? call->words[1] : NULL;
    if ((bucket == NULL) == (file == NULL))
        return command_fail(COMMAND_MISUSED, "import", "name a file, or --bucket, and not both");
    struct importer importer = { .call = call,
                                 .arena = call->arena,
                                 .scratch = arena_create(),
                                 .batch_arena = arena_create(),
                                 .table = { .name = bytes_from_text(call->words[0]) } };
    progress_bar_init(&importer.bar, command_value_of(call, "quiet") != NULL);
    int code = read_flags(&importer, file == NULL ? "" : file);
    if (code == COMMAND_OK && bucket != NULL && importer.options.format == ITEM_FORMAT_PLAIN_JSON)
        code = command_fail(COMMAND_MISUSED, "--format", "JSON is read from files only");
    if (code == COMMAND_OK)
        code = file != NULL ? import_file(&importer, file) : import_bucket(&importer);
    progress_bar_end(&importer.bar);
    if (code != COMMAND_MISUSED)
        printf("%" PRIu64 " items, %" PRIu64 " errors, %.1f s\n", importer.imported,
               importer.errors, progress_bar_seconds(&importer.bar));
    arena_destroy(importer.batch_arena);
    arena_destroy(importer.scratch);
    if (code == COMMAND_OK)
        code = command_flush();
    return code == COMMAND_OK && importer.errors > 0 ? COMMAND_FAILED : code;
}
