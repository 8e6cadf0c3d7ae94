/* thread_priority.c -- see thread_priority.h. */
#include "base/thread_priority.h"
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

void thread_priority_lower(int niceness)
{
    id_t self = (id_t)gettid();
    setpriority(PRIO_PROCESS, self, getpriority(PRIO_PROCESS, self) + niceness);
}

/* The kernel's struct sched_attr, as sched_setattr(2) has it. The C library has neither the calls
 * nor this, and the kernel's header redefines what the C library has. */
struct attributes {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t niceness;
    uint32_t priority;
    uint64_t runtime_ns; /* Of threads with a normal policy: the slice. */
    uint64_t deadline_ns;
    uint64_t period_ns;
};

void thread_priority_shorten_slices(void)
{
    struct attributes attributes = { .size = sizeof attributes };
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0)
        return;
    attributes.runtime_ns = THREAD_PRIORITY_SLICE_NS;
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}
