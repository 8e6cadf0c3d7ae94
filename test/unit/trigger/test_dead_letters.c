/* test_dead_letters.c -- what is appended, and how large a file may become. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "scratch.h"
#include "trigger/dead_letters.h"

enum { TEXT_MAX = 4096, SIZE_MAX_OF_FILE = 100, LINE_SIZE = 10, THREADS = 4, ROUNDS = 100 };

static char folder[SCRATCH_PATH_MAX];
static const struct dead_letters letters = { .folder = folder, .size_max = SIZE_MAX_OF_FILE };

static int set_up(void **state)
{
    (void)state;
    scratch_create(folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_destroy(folder);
    return 0;
}

static void append_text(const struct dead_letters *to, const char *text)
{
    struct arena *arena = arena_create();
    assert_true(dead_letters_append(arena, to, BYTES("a.jsonl"), bytes_from_text(text)));
    arena_destroy(arena);
}

/* Lines of LINE_SIZE bytes with a number, from `first` on. */
static void append_lines(int first, int count)
{
    char lines[TEXT_MAX];
    for (int i = 0; i < count; i++)
        snprintf(lines + i * LINE_SIZE, LINE_SIZE + 1, "%09d\n", first + i);
    append_text(&letters, lines);
}

static int64_t size_of(const char *name)
{
    char path[SCRATCH_PATH_MAX];
    struct stat status;
    scratch_join(path, folder, name);
    return stat(path, &status) == 0 ? status.st_size : -1;
}

static int first_number(const char *name)
{
    char path[SCRATCH_PATH_MAX], line[TEXT_MAX];
    scratch_join(path, folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    return (int)strtol(line, NULL, 10);
}

static void a_file_grows_to_its_bound_and_no_further(void **state)
{
    (void)state;
    append_lines(0, 9);
    append_lines(9, 1);
    assert_int_equal(size_of("a.jsonl"), SIZE_MAX_OF_FILE);
    assert_int_equal(size_of("a.jsonl~"), -1);
    append_lines(10, 1);
    assert_int_equal(size_of("a.jsonl"), LINE_SIZE);
    assert_int_equal(size_of("a.jsonl~"), SIZE_MAX_OF_FILE);
    assert_int_equal(first_number("a.jsonl"), 10);
    assert_int_equal(first_number("a.jsonl~"), 0);
}

static void the_newest_lines_are_kept(void **state)
{
    (void)state;
    for (int i = 0; i < 10 * THREADS; i++)
        append_lines(5 * i, 5);
    assert_int_equal(size_of("a.jsonl"), SIZE_MAX_OF_FILE);
    assert_int_equal(size_of("a.jsonl~"), SIZE_MAX_OF_FILE);
    assert_int_equal(first_number("a.jsonl"), 5 * 10 * THREADS - 10);
    assert_int_equal(first_number("a.jsonl~"), 5 * 10 * THREADS - 20);
}

static void lines_that_are_too_long_alone_are_written_all_the_same(void **state)
{
    (void)state;
    append_lines(0, 20);
    assert_int_equal(size_of("a.jsonl"), 20 * LINE_SIZE);
    append_lines(20, 20);
    assert_int_equal(first_number("a.jsonl"), 20);
    assert_int_equal(first_number("a.jsonl~"), 0);
}

static void a_line_that_was_cut_short_is_ended(void **state)
{
    (void)state;
    append_text(&letters, "cut");
    append_text(&letters, "whole\n");
    assert_int_equal(size_of("a.jsonl"), sizeof "cut\nwhole\n" - 1);
}

static struct {
    pthread_barrier_t start;
    char name[SCRATCH_PATH_MAX];
} shared;

static void *append_line(void *argument)
{
    static const struct dead_letters small = { .folder = folder, .size_max = 2 * LINE_SIZE };
    struct arena *arena = argument;
    pthread_barrier_wait(&shared.start);
    assert_true(dead_letters_append(arena, &small, bytes_from_text(shared.name),
                                    bytes_from_text("000000000\n")));
    return NULL;
}

/* Triggers may share a file. Half of the lines fit into one, and the rest into its predecessor,
 * unless two threads replace it at once. */
static void threads_that_share_a_file_lose_nothing(void **state)
{
    (void)state;
    char old[SCRATCH_PATH_MAX + 1];
    pthread_t threads[THREADS];
    struct arena *arenas[THREADS];
    pthread_barrier_init(&shared.start, NULL, THREADS);
    for (int round = 0; round < ROUNDS; round++) {
        snprintf(shared.name, sizeof shared.name, "%d", round);
        snprintf(old, sizeof old, "%s~", shared.name);
        for (int i = 0; i < THREADS; i++) {
            arenas[i] = arena_create();
            assert_int_equal(pthread_create(&threads[i], NULL, append_line, arenas[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            arena_destroy(arenas[i]);
        }
        assert_int_equal(size_of(shared.name), 2 * LINE_SIZE);
        assert_int_equal(size_of(old), 2 * LINE_SIZE);
    }
    pthread_barrier_destroy(&shared.start);
}

#define LETTERS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LETTERS_TEST(a_file_grows_to_its_bound_and_no_further),
        LETTERS_TEST(the_newest_lines_are_kept),
        LETTERS_TEST(lines_that_are_too_long_alone_are_written_all_the_same),
        LETTERS_TEST(a_line_that_was_cut_short_is_ended),
        LETTERS_TEST(threads_that_share_a_file_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
