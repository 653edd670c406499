/*
 * late_library.h - shared libraries that are loaded when they are first needed.
 *
 * Some libraries bring dozens of others along, all of which the system loads and
 * relocates before the program begins; few runs use them. Such a library is not linked:
 * its functions are a struct of pointers, which is filled by name.
 *
 *     typedef struct greeting {
 *         __typeof__(&greet) greet;
 *     } greeting;
 *
 *     static const late_function functions[] = { LATE_FUNCTION(greeting, greet, greet) };
 *     static const char *const files[] = { "libgreet.so.1", NULL };
 *     static const late_library library = { files, functions, ETL_COUNT_OF(functions) };
 *
 * The names of files are fixed and have no folder, so the system looks where it would
 * have looked for a library that is linked. A program for Windows has its libraries
 * within itself; there the rows hold the functions.
 */
#ifndef ETL_LATE_LIBRARY_H
#define ETL_LATE_LIBRARY_H

#include "parser/base.h"

typedef void late_any_function(void);

typedef struct late_function {
    const char *name;
    size_t member; /* where its pointer is in the struct */
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
    const char *const *files; /* names it may have, the best first, then NULL */
    const late_function *functions;
    u32 function_count;
} late_library;

/*
 * Loads the library if need be, and fills the struct at `functions`. It stays loaded
 * until the program ends: what it registered for then must be there. False when no file
 * of these names is there that has all functions; the struct is then undefined. Any
 * thread, any number of times.
 */
bool etl_late_library(const late_library *library, void *functions);

#endif
