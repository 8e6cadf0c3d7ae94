/* compiler.h -- attributes that make the compiler check what a contract says. */
#ifndef STATOR_BASE_COMPILER_H
#define STATOR_BASE_COMPILER_H

/* The caller must look at the result: it is the only sign of failure. */
#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(format_index, first_argument)                                                  \
    __attribute__((format(printf, format_index, first_argument)))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
