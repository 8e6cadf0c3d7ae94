/* test_trigger_answer.c -- how the end of a call is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "trigger/trigger_answer.h"
#include "trigger/trigger_batch.h"

enum { PARTITION = 5 };
/* Of the records below: "1<number, 20 digits><partition, 8 digits>". */
#define NUMBER(sequence) "1000000000000000000" sequence "00000005"

static struct trigger_batch_record records[] = { { .sequence = 11 },
                                                 { .sequence = 12 },
                                                 { .sequence = 14 } };
static const struct trigger_batch batch = { .records = records, .count = COUNT_OF(records) };

static const struct {
    const char *body;
    bool partial;
    enum trigger_outcome outcome;
    size_t failed;
} bodies[] = {
    { "null", false, TRIGGER_DELIVERED, 0 },
    { "", false, TRIGGER_DELIVERED, 0 },
    { "ok", false, TRIGGER_DELIVERED, 0 },
    { "{\"errorMessage\":\"no\"}", false, TRIGGER_DELIVERED, 0 }, /* A result like any other. */
    { "{\"errorMessage\":\"no\",\"errorType\":\"E\"}", false, TRIGGER_FAILED, 0 },
    { "{\"errorType\":\"E\",\"x\":[{}],\"errorMessage\":\"no\"}", true, TRIGGER_FAILED, 0 },
    { "2026-01-01 Task timed out after 3.00 seconds", false, TRIGGER_FAILED, 0 },
    { "{\"batchItemFailures\":[{\"itemIdentifier\":\"" NUMBER("12") "\"}]}", false,
      TRIGGER_DELIVERED, 0 }, /* Not asked for. */
    { "{\"batchItemFailures\":[{\"itemIdentifier\":\"" NUMBER("12") "\"}]}", true, TRIGGER_FAILED,
      1 },
    { "{\"batchItemFailures\":[{\"itemIdentifier\":\"" NUMBER(
          "14") "\"},{\"itemIdentifier\":\"" NUMBER("12") "\"}]}",
      true, TRIGGER_FAILED, 1 },
    { "{\"batchItemFailures\":[{\"itemIdentifier\":\"" NUMBER("11") "\"}]}", true, TRIGGER_FAILED,
      0 },
    { "{\"batchItemFailures\":[]}", true, TRIGGER_DELIVERED, 0 },
    { "{\"batchItemFailures\":null}", true, TRIGGER_DELIVERED, 0 },
    { "{}", true, TRIGGER_DELIVERED, 0 },
    { "null", true, TRIGGER_DELIVERED, 0 },
    { "", true, TRIGGER_DELIVERED, 0 },
    { "ok", true, TRIGGER_FAILED, 0 },
    { "{\"batchItemFailures\":[{\"itemIdentifier\":\"" NUMBER("13") "\"}]}", true, TRIGGER_FAILED,
      0 }, /* No record of the batch. */
    { "{\"batchItemFailures\":[{\"itemIdentifier\":\"\"}]}", true, TRIGGER_FAILED, 0 },
    { "{\"batchItemFailures\":[{\"itemIdentifier\":null}]}", true, TRIGGER_FAILED, 0 },
    { "{\"batchItemFailures\":[{\"identifier\":\"" NUMBER("12") "\"}]}", true, TRIGGER_FAILED, 0 },
    { "{\"batchItemFailures\":\"x\"}", true, TRIGGER_FAILED, 0 },
    { "{\"batchItemFailures\":[]} x", true, TRIGGER_FAILED, 0 },
};

static struct trigger_answer read_answer(struct arena *arena, int status, const char *head,
                                         const char *body, bool partial)
{
    struct outbound_answer answer = { .status = status, .problem = BYTES("a problem") };
    buffer_init(&answer.head, arena);
    buffer_init(&answer.body, arena);
    buffer_append_bytes(&answer.head, bytes_from_text(head));
    buffer_append_bytes(&answer.body, bytes_from_text(body));
    return trigger_answer_read(arena, OUTBOUND_OK, &answer, partial, &batch, PARTITION);
}

static void a_body_tells_what_became_of_the_batch(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    for (size_t i = 0; i < COUNT_OF(bodies); i++) {
        struct trigger_answer got = read_answer(arena, 200, "", bodies[i].body, bodies[i].partial);
        if (got.outcome != bodies[i].outcome || got.failed != bodies[i].failed)
            fail_msg("%s: %d, %zu", bodies[i].body, (int)got.outcome, got.failed);
        assert_int_equal(got.outcome == TRIGGER_DELIVERED, got.problem.len == 0);
    }
    arena_destroy(arena);
}

static const struct {
    int status;
    const char *head;
    enum trigger_outcome outcome;
} heads[] = {
    { 200, "", TRIGGER_DELIVERED },
    { 202, "", TRIGGER_DELIVERED },
    { 299, "", TRIGGER_DELIVERED },
    { 300, "", TRIGGER_FAILED },
    { 400, "", TRIGGER_FAILED },
    { 500, "", TRIGGER_FAILED },
    { 429, "", TRIGGER_UNREACHED },
    { 200, "X-Amz-Function-Error: Unhandled\r\n", TRIGGER_FAILED },
    { 200, "Content-Length: 4\r\nx-amz-function-error:Handled\r\n", TRIGGER_FAILED },
    { 200, "X-Amz-Function-Errors: none\r\n", TRIGGER_DELIVERED },
};

static void a_status_or_a_header_tells_it_too(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    for (size_t i = 0; i < COUNT_OF(heads); i++) {
        if (read_answer(arena, heads[i].status, heads[i].head, "null", true).outcome !=
            heads[i].outcome)
            fail_msg("%d %s", heads[i].status, heads[i].head);
    }
    arena_destroy(arena);
}

static void a_call_without_an_answer_failed_unless_nothing_was_sent(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct outbound_answer answer = { .problem = BYTES("a problem") };
    static const enum outbound_result failed[] = { OUTBOUND_TIMEOUT, OUTBOUND_TOO_LARGE,
                                                   OUTBOUND_BROKEN };
    static const enum outbound_result unsent[] = { OUTBOUND_UNUSABLE,        OUTBOUND_NAME_FAILED,
                                                   OUTBOUND_NAME_TIMEOUT,    OUTBOUND_REFUSED,
                                                   OUTBOUND_CONNECT_TIMEOUT, OUTBOUND_TLS_FAILED };
    for (size_t i = 0; i < COUNT_OF(failed); i++)
        assert_int_equal(
            trigger_answer_read(arena, failed[i], &answer, true, &batch, PARTITION).outcome,
            TRIGGER_FAILED);
    for (size_t i = 0; i < COUNT_OF(unsent); i++)
        assert_int_equal(
            trigger_answer_read(arena, unsent[i], &answer, true, &batch, PARTITION).outcome,
            TRIGGER_UNREACHED);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_tells_what_became_of_the_batch),
        cmocka_unit_test(a_status_or_a_header_tells_it_too),
        cmocka_unit_test(a_call_without_an_answer_failed_unless_nothing_was_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
