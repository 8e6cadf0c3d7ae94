/* memory.h -- memory from the system, where running out of it aborts. */
#ifndef STATOR_BASE_MEMORY_H
#define STATOR_BASE_MEMORY_H
#include <stdlib.h>

/* Returns the result of malloc, calloc or realloc; aborts if it is NULL. */
static inline void *memory_checked(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

#endif
