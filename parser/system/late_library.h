/*
 * late_library.h - loads shared libraries when they are first needed.
 *
 * Some libraries need dozens of others, all of which the system loads and relocates before the
 * program begins, although few runs use them. Such a library is not linked. Its functions are a
 * struct of pointers, which is filled by name:
 *
 *     typedef struct greeting {
 *         __typeof__(&greet) greet;
 *     } greeting;
 *
 *     static const late_function functions[] = { LATE_FUNCTION(greeting, greet, greet) };
 *     static const char *const files[] = { "libgreet.so.1", NULL };
 *     static const late_library library = { files, functions, ETL_COUNT_OF(functions) };
 *
 * File names are fixed and have no folder, so the system searches as for a linked library. A
 * program for Windows contains its libraries; there the rows hold the functions.
 */
#ifndef ETL_LATE_LIBRARY_H
#define ETL_LATE_LIBRARY_H

#include "parser/base.h"

typedef void late_any_function(void);

typedef struct late_function {
    const char *name;
    size_t member; /* offset of its pointer in the struct */
    late_any_function *linked;
} late_function;

#if defined(_WIN32)
#define LATE_FUNCTION(type, pointer, function)                                                     \
    {                                                                                              \
#function, offsetof(type, pointer), (late_any_function *)function                          \
    }
#else
#define LATE_FUNCTION(type, pointer, function)                                                     \
    {                                                                                              \
#function, offsetof(type, pointer), NULL                                                   \
    }
#endif

typedef struct late_library {
    const char *const *files; /* possible names, the best first, then NULL */
    const late_function *functions;
    u32 function_count;
} late_library;

/*
 * Loads the library if needed, and fills the struct at `functions`. The library stays loaded until
 * the program ends, because what it registered for the end must exist. False if no file with these
 * names has all functions; the struct is then undefined. Any thread, any number of times.
 */
bool etl_late_library(const late_library *library, void *functions);

#endif
