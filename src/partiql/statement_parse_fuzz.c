/* statement_parse_fuzz.c -- arbitrary text as a PartiQL statement.
 *
 * What parses is written as text, with its values as parameters, and must parse to the same; what
 * is refused has a message of bounded size.
 */
#include <assert.h>
#include "base/arena.h"
#include "item_fixture.h"
#include "json/utf8.h"
#include "model/error.h"
#include "model/item.h"
#include "model/limits.h"
#include "model/value.h"
#include "partiql/statement.h"
#include "statement_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PARAMETERS_MAX = 16, MESSAGE_SIZE_MAX = 4 * STATEMENT_SIZE_MAX };

/* One of each type, several times over. */
static size_t make_parameters(struct arena *arena, struct value *out)
{
    const struct item item = item_fixture_read(
        arena, "{'a':{'S':'x'},'b':{'N':'1'},'c':{'L':[{'N':'2'}]},'d':{'NS':['1','2']},"
               "'e':{'M':{}},'f':{'B':'AA=='},'g':{'SS':['a']},'h':{'NULL':true}}");
    size_t count = 0;
    while (count < PARAMETERS_MAX) {
        struct item_iter iter;
        struct bytes name;
        item_iter_init(&iter, &item);
        while (count < PARAMETERS_MAX && item_iter_next(&iter, &name, &out[count]))
            count++;
    }
    return count;
}

static bool is_utf8(const uint8_t *at, size_t size)
{
    const uint8_t *end = at + size;
    while (at < end) {
        size_t length = *at < 0x80 ? 1 : utf8_size(at, end);
        if (length == 0)
            return false;
        at += length;
    }
    return true;
}

static void check_round_trip(struct arena *arena, const struct statement *statement)
{
    struct statement_text_values values = { .count = 0 }, again_values = { .count = 0 };
    struct statement again;
    struct error err;
    error_init(&err, arena);
    struct bytes text = statement_text_write(arena, statement, &values);
    struct statement_parameters parameters = { values.items, values.count };
    bool ok = statement_parse(arena, text, &parameters, &again, &err);
    assert(ok);
    assert(again.params.nested == NULL || again.type != STATEMENT_TYPE_INSERT);
    assert(bytes_equal(statement_text_write(arena, &again, &again_values), text));
    assert(values.count == again_values.count);
    for (size_t i = 0; i < values.count; i++)
        assert(bytes_equal(values.items[i].encoded, again_values.items[i].encoded) &&
               value_verify(values.items[i].encoded, NESTING_DEPTH_MAX));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > STATEMENT_SIZE_MAX || !is_utf8(data, size))
        return 0;
    struct arena *arena = arena_create();
    struct value values[PARAMETERS_MAX];
    struct statement_parameters parameters = { values, make_parameters(arena, values) };
    struct statement statement;
    struct error err;
    error_init(&err, arena);
    if (statement_parse(arena, bytes_of(data, size), &parameters, &statement, &err))
        check_round_trip(arena, &statement);
    else
        assert(error_is_set(&err) && err.message.len > 0 && err.message.len <= MESSAGE_SIZE_MAX);
    arena_destroy(arena);
    return 0;
}
