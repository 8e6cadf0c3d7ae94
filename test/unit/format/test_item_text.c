/* test_item_text.c -- random items against another implementation, and there and back.
 *
 * items.txt was written by test/lib/item_text.py: each line is an item as DynamoDB JSON, Ion and
 * plain JSON, with items of all types, 38 digits and 32 levels among them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "format/item_reader.h"
#include "format/item_writer.h"
#include "model/value.h"

static const char examples[] = "test/unit/format/items.txt";

enum { EXAMPLES_MIN = 300, COLUMNS = 3 };

static const enum item_format formats[COLUMNS] = { ITEM_FORMAT_DYNAMODB_JSON, ITEM_FORMAT_ION,
                                                   ITEM_FORMAT_PLAIN_JSON };

/* Cuts a line at its tabs, in place. */
static void split(char *line, struct bytes columns[COLUMNS])
{
    for (size_t i = 0; i < COLUMNS; i++) {
        size_t len = strcspn(line, i + 1 < COLUMNS ? "\t" : "\n");
        assert_int_not_equal(line[len], 0);
        columns[i] = bytes_of(line, len);
        line += len + 1;
    }
}

/* The one item of a text. */
static struct item read_one(struct arena *arena, enum item_format format, struct bytes text)
{
    struct item_reader_options options = { .format = format };
    struct item_reader *reader = item_reader_create(&options);
    struct item_record record;
    assert_int_equal(item_reader_next(reader, arena, &record), ITEM_READER_INPUT);
    item_reader_feed(reader, text);
    enum item_reader_step step = item_reader_next(reader, arena, &record);
    if (step == ITEM_READER_INPUT) {
        item_reader_end(reader);
        step = item_reader_next(reader, arena, &record);
    }
    if (step != ITEM_READER_ITEM)
        fail_msg("%.*s: %.*s", BYTES_FMT(text), BYTES_FMT(record.message));
    item_reader_destroy(reader);
    return record.item;
}

static unsigned types_in(const struct value *value)
{
    struct value_iter iter;
    struct value element;
    struct bytes name;
    unsigned types = 1u << value->type;
    if (value->type != VALUE_L && value->type != VALUE_M)
        return types;
    value_iter_init(&iter, value);
    while (value_iter_next(&iter, &name, &element))
        types |= types_in(&element);
    return types;
}

static void check_example(struct arena *arena, char *line, unsigned *types)
{
    struct bytes columns[COLUMNS];
    split(line, columns);
    struct item item = read_one(arena, formats[0], columns[0]);
    for (size_t i = 0; i < COLUMNS; i++) {
        struct buffer out;
        buffer_init(&out, arena);
        item_writer_item(&out, formats[i], &item);
        struct bytes written = buffer_bytes(&out);
        written.len--; /* The newline. */
        if (!bytes_equal(written, columns[i]))
            fail_msg("%.*s\n!=\n%.*s", BYTES_FMT(written), BYTES_FMT(columns[i]));
        struct item again = read_one(arena, formats[i], columns[i]);
        /* Plain JSON has no sets and no binary values. */
        if (formats[i] != ITEM_FORMAT_PLAIN_JSON)
            assert_true(bytes_equal(again.encoded, item.encoded));
    }
    struct item_iter iter;
    struct bytes name;
    struct value value;
    item_iter_init(&iter, &item);
    while (item_iter_next(&iter, &name, &value))
        *types |= types_in(&value);
}

static void every_example_is_written_as_the_other_implementation_does(void **state)
{
    struct arena *arena = *state;
    FILE *file = fopen(examples, "r");
    assert_non_null(file);
    char *line = NULL;
    size_t capacity = 0, count = 0;
    unsigned types = 0;
    while (getline(&line, &capacity, file) > 0) {
        check_example(arena, line, &types);
        arena_reset(arena);
        count++;
    }
    free(line);
    fclose(file);
    assert_true(count >= EXAMPLES_MIN);
    assert_int_equal(types, (1u << VALUE_TYPE_COUNT) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(every_example_is_written_as_the_other_implementation_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
