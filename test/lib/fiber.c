/* fiber.c -- see fiber.h. Built on ucontext, with what ASan and TSan want to know of it. */
#include "fiber.h"
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>
#include "base/memory.h"
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

enum { STACK_SIZE = 128 * 1024 };

struct fiber {
    ucontext_t own, caller;
    void *stack;
    void (*function)(void *context);
    void *context;
    bool is_done;
    void *own_tag, *caller_tag; /* The sanitizers'. */
    const void *caller_stack;
    size_t caller_stack_size;
};

static void enter(struct fiber *fiber)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(&fiber->caller_tag, fiber->stack, STACK_SIZE);
#endif
#ifdef __SANITIZE_THREAD__
    fiber->caller_tag = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber->own_tag, 0);
#endif
    swapcontext(&fiber->caller, &fiber->own);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(fiber->caller_tag, NULL, NULL);
#endif
}

static void leave(struct fiber *fiber, bool for_good)
{
    (void)for_good;
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(for_good ? NULL : &fiber->own_tag, fiber->caller_stack,
                                   fiber->caller_stack_size);
#endif
#ifdef __SANITIZE_THREAD__
    __tsan_switch_to_fiber(fiber->caller_tag, 0);
#endif
    swapcontext(&fiber->own, &fiber->caller);
}

static void arrived(struct fiber *fiber, void *tag)
{
    (void)fiber;
    (void)tag;
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(tag, &fiber->caller_stack, &fiber->caller_stack_size);
#endif
}

static void run(unsigned high, unsigned low)
{
    struct fiber *fiber = (struct fiber *)(((uintptr_t)high << 32) | low);
    arrived(fiber, NULL);
    fiber->function(fiber->context);
    fiber->is_done = true;
    leave(fiber, true);
    assert(false && "a fiber that is done was resumed");
}

struct fiber *fiber_create(void)
{
    struct fiber *fiber = memory_checked(calloc(1, sizeof *fiber));
    fiber->stack = memory_checked(malloc(STACK_SIZE));
    fiber->is_done = true;
#ifdef __SANITIZE_THREAD__
    fiber->own_tag = __tsan_create_fiber(0);
#endif
    return fiber;
}

void fiber_destroy(struct fiber *fiber)
{
    assert(fiber->is_done);
#ifdef __SANITIZE_THREAD__
    __tsan_destroy_fiber(fiber->own_tag);
#endif
    free(fiber->stack);
    free(fiber);
}

void fiber_start(struct fiber *fiber, void (*function)(void *context), void *context)
{
    assert(fiber->is_done);
    fiber->function = function;
    fiber->context = context;
    fiber->is_done = false;
    getcontext(&fiber->own);
    fiber->own.uc_stack.ss_sp = fiber->stack;
    fiber->own.uc_stack.ss_size = STACK_SIZE;
    fiber->own.uc_link = NULL;
    uintptr_t address = (uintptr_t)fiber;
    makecontext(&fiber->own, (void (*)(void))run, 2, (unsigned)(address >> 32), (unsigned)address);
}

void fiber_resume(struct fiber *fiber)
{
    assert(!fiber->is_done);
    enter(fiber);
}

bool fiber_is_done(const struct fiber *fiber)
{
    return fiber->is_done;
}

void fiber_yield(struct fiber *fiber)
{
    leave(fiber, false);
    arrived(fiber, fiber->own_tag);
}
