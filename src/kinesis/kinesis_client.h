/* kinesis_client.h -- calls of a Kinesis server: signed, sent once, and what came of them.
 *
 * One thread uses a client; another may cancel it. Retries are the caller's business.
 */
#ifndef STATOR_KINESIS_KINESIS_CLIENT_H
#define STATOR_KINESIS_KINESIS_CLIENT_H
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "kinesis/kinesis_answer.h"
#include "kinesis/kinesis_record.h"
#include "outbound/outbound.h"

struct arena;
struct clock;
struct kinesis_client;

enum {
    KINESIS_RECORDS_MAX = 500, /* Of one PutRecords. The service's, as the next two. */
    /* Data and partition keys of one PutRecords, before base64. The service takes 5 MiB. */
    KINESIS_CALL_SIZE_MAX = 4 * 1024 * 1024,
    KINESIS_TIMEOUT_MS = 60000, /* Of one call: 6 MB at 100 KB/s. */
    KINESIS_ANSWER_SIZE_MAX = 1024 * 1024,
    KINESIS_PROBLEM_SIZE_MAX = 128,
};

/* The network, and whom to call. */
struct kinesis_outside {
    struct outbound *network; /* NULL: destinations are stored but never become ACTIVE. */
    /* outbound_client_send, or a test's own. */
    enum outbound_result (*send)(struct outbound_client *client, struct arena *arena,
                                 const struct outbound_request *request,
                                 struct outbound_answer *answer);
    const char *endpoint; /* A URL; NULL or "": none. */
    const char *key_file; /* outbound/credential_file.h; read for each call. */
};

/* What the arguments point to must outlive the client. NULL with one line for people if the system
 * has no libcurl or no file descriptors left. */
MUST_CHECK struct kinesis_client *kinesis_client_create(const struct kinesis_outside *outside,
                                                        const struct clock *clock,
                                                        char message[OUTBOUND_MESSAGE_MAX]);
void kinesis_client_destroy(struct kinesis_client *client); /* Destroying NULL is allowed. */
/* Any thread: see outbound_client_cancel. */
void kinesis_client_cancel(struct kinesis_client *client);

enum kinesis_result {
    KINESIS_OK,
    KINESIS_CANCELLED,
    KINESIS_UNREACHED, /* No answer, or one that is none of Kinesis. */
    KINESIS_REFUSED,   /* An exception. */
    KINESIS_NO_KEY,    /* The key file cannot be used; nothing was sent. */
};

struct kinesis_reply {
    enum kinesis_result result;
    struct bytes exception; /* KINESIS_REFUSED: "ResourceNotFoundException"; may be empty. */
    struct bytes problem;   /* What went wrong, for people. No item data. */
};

/* A stream, as its ARN names it. */
struct kinesis_target {
    struct bytes region;
    struct bytes stream_name;
};

struct kinesis_entry {
    struct bytes data;
    char partition_key[KINESIS_PARTITION_KEY_SIZE];
};

/* PutRecords. `fates` are set with KINESIS_OK only. Everything lives in the arena. */
MUST_CHECK struct kinesis_reply kinesis_client_put(struct kinesis_client *client,
                                                   struct arena *arena,
                                                   const struct kinesis_target *target,
                                                   const struct kinesis_entry *entries,
                                                   size_t count, enum kinesis_fate fates[]);
/* DescribeStreamSummary. */
MUST_CHECK struct kinesis_reply kinesis_client_describe(struct kinesis_client *client,
                                                        struct arena *arena,
                                                        const struct kinesis_target *target,
                                                        struct kinesis_stream *out);

#endif
