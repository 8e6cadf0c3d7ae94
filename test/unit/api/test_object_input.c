/* test_object_input.c -- records of many objects, positions, and objects that change meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "api/import/object_input.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "import_fixture.h"

static int open_fixture(void **state)
{
    struct import_fixture *fixture = calloc(1, sizeof *fixture);
    import_fixture_open(fixture, NULL);
    *state = fixture;
    return 0;
}

static int close_fixture(void **state)
{
    import_fixture_close(*state);
    free(*state);
    return 0;
}

static struct object_input_options options_of(struct import_fixture *fixture)
{
    return (struct object_input_options){ .store = fixture->store,
                                          .bucket = BYTES("in"),
                                          .prefix = BYTES(""),
                                          .reader = { .format = ITEM_FORMAT_PLAIN_JSON } };
}

static void a_position_resumes_behind_its_record(void **state)
{
    struct import_fixture *fixture = *state;
    struct arena *arena = fixture->api.arena;
    import_fixture_put_text(fixture, "a", "{\"n\":0}\n{\"n\":1}\n{\"n\":2}\n");
    import_fixture_put_text(fixture, "b", "{\"n\":3}\nnonsense\n{\"n\":99}\n");
    import_fixture_put_text(fixture, "c", "");
    import_fixture_put_text(fixture, "d/e", "{\"n\":5}");
    struct object_input_options options = options_of(fixture);
    for (int stop = 0; stop <= 6; stop++) {
        struct object_input_position position = { 0 }, decoded;
        struct object_error err;
        struct item_record record;
        struct object_input *input = object_input_open(&options, &position, &err);
        assert_non_null(input);
        assert_int_equal(object_input_total(input), 24 + 26 + 7);
        for (int i = 0; i < stop && i < 6; i++)
            assert_int_equal(object_input_next(input, arena, &record),
                             i == 4 ? OBJECT_INPUT_BAD : OBJECT_INPUT_ITEM);
        if (stop == 6)
            assert_int_equal(object_input_next(input, arena, &record), OBJECT_INPUT_END);
        struct bytes stored = object_input_encode(arena, object_input_position(input));
        assert_true(object_input_decode(stored, &decoded));
        object_input_close(input);
        input = object_input_open(&options, &decoded, &err);
        assert_non_null(input);
        for (int i = stop; i < 6; i++)
            assert_int_equal(object_input_next(input, arena, &record),
                             i == 4 ? OBJECT_INPUT_BAD : OBJECT_INPUT_ITEM);
        assert_int_equal(object_input_next(input, arena, &record), OBJECT_INPUT_END);
        assert_int_equal(object_input_bytes(input), 24 + 17 + 7); /* Up to the nonsense. */
        assert_int_equal(object_input_stored(input), 24 + 26 + 7);
        object_input_close(input);
    }
}

static void an_object_that_changes_is_noticed(void **state)
{
    struct import_fixture *fixture = *state;
    struct arena *arena = fixture->api.arena;
    struct object_input_options options = options_of(fixture);
    struct object_input_position position = { 0 };
    struct object_error err;
    struct item_record record;
    /* Larger than a piece, so that the rest has not been read. */
    struct buffer text;
    buffer_init(&text, arena);
    while (text.len < 2 * OBJECT_INPUT_PIECE_SIZE)
        buffer_append_bytes(&text, BYTES("{\"n\":1}\n"));
    import_fixture_put(fixture, "a", buffer_bytes(&text));
    struct object_input *input = object_input_open(&options, &position, &err);
    assert_int_equal(object_input_next(input, arena, &record), OBJECT_INPUT_ITEM);
    position = *object_input_position(input);
    text.data[6] = '2';
    text.len -= 8;
    import_fixture_put(fixture, "a", buffer_bytes(&text));
    enum object_input_step step = OBJECT_INPUT_ITEM;
    while (step == OBJECT_INPUT_ITEM)
        step = object_input_next(input, arena, &record);
    assert_int_equal(step, OBJECT_INPUT_FAILED);
    assert_int_equal(object_input_failure(input)->status, OBJECT_CHANGED);
    object_input_close(input);
    assert_null(object_input_open(&options, &position, &err));
    assert_int_equal(err.status, OBJECT_CHANGED);
}

static bool always(void *context)
{
    (void)context;
    return true;
}

static void an_input_stops_when_it_is_asked_to(void **state)
{
    struct import_fixture *fixture = *state;
    struct object_input_options options = options_of(fixture);
    struct object_input_position position = { 0 };
    struct object_error err;
    options.is_stopping = always;
    assert_null(object_input_open(&options, &position, &err));
    assert_int_equal(err.status, OBJECT_CANCELLED);
}

struct waits {
    int count;
    int allowed;
};

static bool note_wait(void *context)
{
    struct waits *waits = context;
    return ++waits->count <= waits->allowed;
}

/* For the list and for the object. */
static void the_bucket_is_waited_for_only_if_that_is_allowed(void **state)
{
    struct import_fixture *fixture = *state;
    struct object_input_position position = { 0 };
    struct object_error err;
    struct item_record record;
    import_fixture_put_text(fixture, "a", "{\"n\":0}\n{\"n\":1}\n");
    for (int allowed = 0; allowed <= 2; allowed++) {
        struct waits waits = { .allowed = allowed };
        struct object_input_options options = options_of(fixture);
        options.before_wait = note_wait;
        options.context = &waits;
        struct object_input *input = object_input_open(&options, &position, &err);
        assert_non_null(input);
        assert_int_equal(waits.count, 0);
        assert_int_equal(object_input_next(input, fixture->api.arena, &record),
                         allowed < 2 ? OBJECT_INPUT_STOPPED : OBJECT_INPUT_ITEM);
        if (allowed == 2)
            assert_int_equal(object_input_next(input, fixture->api.arena, &record),
                             OBJECT_INPUT_ITEM);
        assert_int_equal(waits.count, allowed < 2 ? allowed + 1 : 2);
        object_input_close(input);
    }
}

static void damaged_positions_are_refused(void **state)
{
    struct import_fixture *fixture = *state;
    struct object_input_position position = { .key = "k", .key_size = 1 }, out;
    struct bytes stored = object_input_encode(fixture->api.arena, &position);
    assert_true(object_input_decode(stored, &out));
    for (size_t i = 0; i < stored.len; i++) {
        uint8_t *changed = arena_alloc(fixture->api.arena, stored.len);
        memcpy(changed, stored.data, stored.len);
        changed[i] ^= 1;
        assert_false(object_input_decode(bytes_of(changed, stored.len), &out));
    }
    assert_false(object_input_decode(BYTES(""), &out));
}

#define INPUT_TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        INPUT_TEST(a_position_resumes_behind_its_record),
        INPUT_TEST(an_object_that_changes_is_noticed),
        INPUT_TEST(an_input_stops_when_it_is_asked_to),
        INPUT_TEST(the_bucket_is_waited_for_only_if_that_is_allowed),
        INPUT_TEST(damaged_positions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
