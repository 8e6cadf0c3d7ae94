/* arena_fixture.h -- an arena as the state of a test. */
#ifndef STATOR_TEST_ARENA_FIXTURE_H
#define STATOR_TEST_ARENA_FIXTURE_H

int arena_fixture_open(void **state);
int arena_fixture_close(void **state);

/* A row of a test's table. */
#define ARENA_TEST(name)                                                                           \
    cmocka_unit_test_setup_teardown(name, arena_fixture_open, arena_fixture_close)

#endif
