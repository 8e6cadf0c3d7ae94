/* test_hazard.c -- what is in a hazard is not freed, and what is in none may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "base/compiler.h"
#include "base/hazard.h"

static bool is_held(const void *object)
{
    struct hazard_list list;
    hazard_collect(&list);
    return hazard_list_has(&list, object);
}

static void an_object_is_held_until_its_hazard_is_cleared_or_set_to_another(void **state)
{
    int one = 0, other = 0;
    (void)state;
    struct hazard *hazard = hazard_take(HAZARDS_PER_THREAD, &one);
    assert_non_null(hazard);
    assert_true(is_held(&one));
    assert_ptr_equal(hazard_find(&one), hazard);
    assert_null(hazard_find(&other));
    hazard_set(hazard, &other);
    assert_false(is_held(&one));
    assert_true(is_held(&other));
    hazard_clear(hazard);
    assert_false(is_held(&other));
    assert_null(hazard_find(&other));
    hazard_clear(NULL);
}

static void an_object_that_is_held_twice_stays_held_when_one_hazard_is_cleared(void **state)
{
    int object = 0;
    (void)state;
    struct hazard *first = hazard_take(HAZARDS_PER_THREAD, &object);
    struct hazard *second = hazard_take(HAZARDS_PER_THREAD, &object);
    assert_ptr_not_equal(first, second);
    hazard_clear(first);
    assert_true(is_held(&object));
    hazard_clear(second);
    assert_false(is_held(&object));
}

static void a_thread_has_so_many_hazards_and_outer_users_get_fewer(void **state)
{
    enum { OUTER = HAZARDS_PER_THREAD / 2 };
    struct hazard *hazards[HAZARDS_PER_THREAD];
    int object = 0;
    (void)state;
    for (size_t i = 0; i < HAZARDS_PER_THREAD; i++) {
        if (i == OUTER)
            assert_null(hazard_take(OUTER, &object));
        hazards[i] = hazard_take(i < OUTER ? OUTER : HAZARDS_PER_THREAD, &object);
        assert_non_null(hazards[i]);
    }
    assert_null(hazard_take(HAZARDS_PER_THREAD, &object));
    hazard_clear(hazards[OUTER]);
    assert_null(hazard_take(OUTER, &object));
    assert_ptr_equal(hazard_take(HAZARDS_PER_THREAD, &object), hazards[OUTER]);
    for (size_t i = 0; i < HAZARDS_PER_THREAD; i++)
        hazard_clear(hazards[i]);
}

/* --- Threads --- */

struct holder {
    pthread_t thread;
    sem_t taken, end;
    int object;
    struct hazard *hazard;
    bool clears; /* Before it ends. */
};

static void *hold(void *argument)
{
    struct holder *holder = argument;
    holder->hazard = hazard_take(HAZARDS_PER_THREAD, &holder->object);
    sem_post(&holder->taken);
    while (sem_wait(&holder->end) != 0)
        continue;
    if (holder->clears)
        hazard_clear(holder->hazard);
    return NULL;
}

static void holder_start(struct holder *holder, bool clears)
{
    holder->clears = clears;
    sem_init(&holder->taken, 0, 0);
    sem_init(&holder->end, 0, 0);
    assert_int_equal(pthread_create(&holder->thread, NULL, hold, holder), 0);
    while (sem_wait(&holder->taken) != 0)
        continue;
}

static void holder_end(struct holder *holder)
{
    sem_post(&holder->end);
    pthread_join(holder->thread, NULL);
    sem_destroy(&holder->end);
    sem_destroy(&holder->taken);
}

static void a_hazard_may_outlive_its_thread_and_be_cleared_by_another(void **state)
{
    struct holder holder;
    (void)state;
    holder_start(&holder, false);
    assert_true(is_held(&holder.object));
    assert_null(hazard_find(&holder.object)); /* It is not ours. */
    holder_end(&holder);
    assert_true(is_held(&holder.object));
    hazard_clear(holder.hazard);
    assert_false(is_held(&holder.object));
}

static void threads_beyond_the_bound_have_no_hazards_until_others_end(void **state)
{
    struct holder *holders = calloc(HAZARD_THREADS_MAX, sizeof *holders);
    int object = 0;
    (void)state;
    hazard_clear(hazard_take(HAZARDS_PER_THREAD, &object)); /* This thread has a slot. */
    for (size_t i = 0; i < HAZARD_THREADS_MAX; i++) {
        holder_start(&holders[i], true);
        assert_int_equal(holders[i].hazard == NULL, i == HAZARD_THREADS_MAX - 1);
        assert_int_equal(is_held(&holders[i].object), i < HAZARD_THREADS_MAX - 1);
    }
    assert_true(is_held(&holders[0].object));
    assert_false(is_held(&object)); /* Also with more held than a list has room for. */
    holder_end(&holders[0]);
    holder_end(&holders[HAZARD_THREADS_MAX - 1]);
    holder_start(&holders[0], true);
    assert_non_null(holders[0].hazard);
    for (size_t i = 0; i < HAZARD_THREADS_MAX - 1; i++)
        holder_end(&holders[i]);
    free(holders);
}

/* --- All at once --- */

static_assert(HAZARD_THREADS_MAX > HAZARD_LIST_MAX, "the test before fills a list");

enum {
    OBJECTS = 2 * HAZARDS_PER_THREAD,
    READERS = 2,
    SWAPS = 2000000,
    READS_EACH = 8, /* Of an object that is held. */
};

/* Not atomic: that a use comes before the object's end is what hazards are for, and
 * ThreadSanitizer would see it if it did not. */
struct object {
    volatile unsigned alive;
    struct object *next;
};

struct race {
    _Atomic(struct object *) published;
    atomic_bool over;
    atomic_uint uses_after_end;
    struct object objects[OBJECTS];
};

static void *use_objects(void *argument)
{
    struct race *race = argument;
    while (!atomic_load(&race->over)) {
        struct object *object = atomic_load(&race->published);
        struct hazard *hazard = hazard_take(HAZARDS_PER_THREAD, object);
        for (struct object *now; (now = atomic_load(&race->published)) != object; object = now)
            hazard_set(hazard, now);
        for (int i = 0; i < READS_EACH; i++)
            if (object->alive != 1)
                atomic_fetch_add(&race->uses_after_end, 1);
        hazard_clear(hazard);
    }
    return NULL;
}

/* Ends the life of those that nobody holds. */
static void end_unused(struct object **retired, struct object **unused)
{
    struct hazard_list held;
    hazard_collect(&held);
    while (*retired != NULL) {
        struct object *object = *retired;
        if (hazard_list_has(&held, object)) {
            retired = &object->next;
            continue;
        }
        *retired = object->next;
        object->alive = 0;
        object->next = *unused;
        *unused = object;
    }
}

/* Fails within a few runs if hazard_set, or the second load of the pointer, is weakened to anything
 * that lets the processor do the load before the store. */
static void an_object_in_use_is_never_ended(void **state)
{
    struct race *race = calloc(1, sizeof *race);
    struct object *retired = NULL, *unused = NULL;
    pthread_t readers[READERS];
    (void)state;
    for (size_t i = 1; i < OBJECTS; i++) {
        race->objects[i].next = unused;
        unused = &race->objects[i];
    }
    race->objects[0].alive = 1;
    atomic_init(&race->published, &race->objects[0]);
    for (size_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, use_objects, race), 0);
    for (int i = 0; i < SWAPS; i++) {
        struct object *next = unused;
        assert_non_null(next); /* No more are held than there are hazards in use. */
        unused = next->next;
        next->alive = 1;
        struct object *before = atomic_exchange(&race->published, next);
        before->next = retired;
        retired = before;
        end_unused(&retired, &unused);
    }
    atomic_store(&race->over, true);
    for (size_t i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    end_unused(&retired, &unused);
    assert_null(retired);
    assert_int_equal(atomic_load(&race->uses_after_end), 0);
    free(race);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* First, while few slots were ever in use: a look at few hazards is as short as the window
         * in which a weaker store is seen too late. */
        cmocka_unit_test(an_object_in_use_is_never_ended),
        cmocka_unit_test(an_object_is_held_until_its_hazard_is_cleared_or_set_to_another),
        cmocka_unit_test(an_object_that_is_held_twice_stays_held_when_one_hazard_is_cleared),
        cmocka_unit_test(a_thread_has_so_many_hazards_and_outer_users_get_fewer),
        cmocka_unit_test(a_hazard_may_outlive_its_thread_and_be_cleared_by_another),
        cmocka_unit_test(threads_beyond_the_bound_have_no_hazards_until_others_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
