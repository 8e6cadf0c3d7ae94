/* memory.h -- memory from the system, where running out of it aborts. */
#ifndef STATOR_BASE_MEMORY_H
#define STATOR_BASE_MEMORY_H
#include <stdlib.h>

/* What malloc, calloc or realloc answered; aborts if that is NULL. */
static inline void *memory_checked(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

#endif
