/* arena_fixture.c -- see arena_fixture.h. */
#include "arena_fixture.h"
#include "base/arena.h"

int arena_fixture_open(void **state)
{
    *state = arena_create();
    return 0;
}

int arena_fixture_close(void **state)
{
    arena_destroy(*state);
    return 0;
}
