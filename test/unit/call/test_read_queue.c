/* test_read_queue.c -- how a loop divides its time among reads, with a clock that the test sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "call/read_queue.h"

enum { TASKS_MAX = 1000, US = 1000 };

static int64_t now_ns;

static int64_t fake_clock(void)
{
    return now_ns;
}

/* A read that needs `left_ns`, and ends its slices in time. */
struct fake_read {
    struct read_task task; /* First: the task is converted back. */
    struct read_queue *queue;
    int64_t left_ns;
    int64_t ended_ns;
    unsigned slice_count;
    int64_t longest_ns;
};

static void run(struct read_task *task, int64_t until_ns)
{
    struct fake_read *read = (struct fake_read *)task;
    int64_t slice_ns = until_ns - now_ns;
    int64_t used_ns = read->left_ns < slice_ns ? read->left_ns : slice_ns;
    read->slice_count++;
    read->longest_ns = used_ns > read->longest_ns ? used_ns : read->longest_ns;
    now_ns += used_ns;
    read->left_ns -= used_ns;
    if (read->left_ns > 0)
        read_queue_pause(read->queue, task);
    else
        read->ended_ns = now_ns;
}

static struct fake_read reads[TASKS_MAX];

static struct fake_read *start(struct read_queue *queue, size_t index, int64_t needs_ns)
{
    reads[index] =
        (struct fake_read){ .task = { .run = run }, .queue = queue, .left_ns = needs_ns };
    read_queue_start(queue, &reads[index].task);
    return &reads[index];
}

static struct read_queue open_queue(void)
{
    struct read_queue queue;
    now_ns = 1000 * 1000 * 1000;
    read_queue_init(&queue, fake_clock);
    return queue;
}

static void a_light_read_runs_at_once(void **state)
{
    (void)state;
    struct read_queue queue = open_queue();
    int64_t began_ns = now_ns;
    assert_int_equal(start(&queue, 0, 50 * US)->ended_ns, began_ns + 50 * US);
    assert_false(read_queue_end_turn(&queue, true));
}

static void a_turn_spends_a_bounded_time_on_reads(void **state)
{
    enum { HEAVY = 300 };
    (void)state;
    struct read_queue queue = open_queue();
    bool more = true;
    for (size_t i = 0; i < HEAVY; i++)
        start(&queue, i, 5000 * US);
    while (more) {
        int64_t before_ns = now_ns;
        more = read_queue_end_turn(&queue, true);
        assert_true(now_ns - before_ns <= READ_QUEUE_TURN_NS + READ_QUEUE_NEXT_NS);
    }
    for (size_t i = 0; i < HEAVY; i++) {
        assert_int_equal(reads[i].left_ns, 0);
        assert_true(reads[i].longest_ns <= READ_QUEUE_NEXT_NS);
    }
}

/* Three hundred clients come with a page of 5 ms each, and then one with a light read. */
static void a_light_read_waits_for_first_slices_only(void **state)
{
    enum { HEAVY = 300 };
    (void)state;
    struct read_queue queue = open_queue();
    int64_t began_ns = now_ns;
    for (size_t i = 0; i < HEAVY; i++)
        start(&queue, i, 5000 * US);
    struct fake_read *light = start(&queue, HEAVY, 50 * US);
    while (read_queue_end_turn(&queue, true))
        continue;
    int64_t first_slices_ns = (int64_t)HEAVY * READ_QUEUE_FIRST_NS;
    int64_t paused_slices_ns =
        ((int64_t)HEAVY / READ_QUEUE_NEW_PER_PAUSED + 1) * READ_QUEUE_NEXT_NS;
    assert_true(light->ended_ns - began_ns <= first_slices_ns + paused_slices_ns + 50 * US);
    /* Less than a tenth of what all of them took. */
    assert_true((light->ended_ns - began_ns) * 10 < now_ns - began_ns);
}

/* However many new ones come. */
static void paused_reads_go_on_beside_new_ones(void **state)
{
    (void)state;
    struct read_queue queue = open_queue();
    struct fake_read *heavy = start(&queue, 0, 3000 * US);
    for (size_t i = 1; i < TASKS_MAX && heavy->left_ns > 0; i++) {
        start(&queue, i, 100 * US);
        if (i % 2 == 0)
            read_queue_end_turn(&queue, true);
    }
    assert_int_equal(heavy->left_ns, 0);
}

/* Their answers grow one after the other. */
static void paused_reads_end_in_their_order(void **state)
{
    enum { HEAVY = 10 };
    (void)state;
    struct read_queue queue = open_queue();
    for (size_t i = 0; i < HEAVY; i++)
        start(&queue, i, 5000 * US);
    while (read_queue_end_turn(&queue, true)) {
        size_t under_way = 0;
        for (size_t i = 0; i < HEAVY; i++)
            under_way += reads[i].slice_count > 1 && reads[i].left_ns > 0;
        assert_true(under_way <= 1);
    }
    for (size_t i = 1; i < HEAVY; i++)
        assert_true(reads[i - 1].ended_ns < reads[i].ended_ns);
}

/* But one does if nobody else can go on. */
static void without_room_no_new_read_begins_beside_paused_ones(void **state)
{
    enum { HEAVY = 100 };
    (void)state;
    struct read_queue queue = open_queue();
    for (size_t i = 0; i < HEAVY; i++)
        start(&queue, i, 5000 * US);
    bool more = true;
    size_t begun_before = 0;
    for (size_t i = 0; i < HEAVY; i++)
        begun_before += reads[i].slice_count > 0;
    assert_in_range(begun_before, 1, HEAVY - 1);
    while (more) {
        more = read_queue_end_turn(&queue, false);
        size_t under_way = 0;
        for (size_t i = 0; i < HEAVY; i++)
            under_way += reads[i].slice_count > 0 && reads[i].left_ns > 0;
        assert_true(under_way <= begun_before);
    }
    assert_int_equal(reads[HEAVY - 1].left_ns, 0);
}

static void what_waits_can_be_taken_out(void **state)
{
    (void)state;
    struct read_queue queue = open_queue();
    size_t taken = 0;
    for (size_t i = 0; i < 50; i++)
        start(&queue, i, 5000 * US);
    while (read_queue_take(&queue) != NULL)
        taken++;
    assert_int_equal(taken, 50);
    assert_false(read_queue_end_turn(&queue, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_light_read_runs_at_once),
        cmocka_unit_test(a_turn_spends_a_bounded_time_on_reads),
        cmocka_unit_test(a_light_read_waits_for_first_slices_only),
        cmocka_unit_test(paused_reads_go_on_beside_new_ones),
        cmocka_unit_test(paused_reads_end_in_their_order),
        cmocka_unit_test(without_room_no_new_read_begins_beside_paused_ones),
        cmocka_unit_test(what_waits_can_be_taken_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
