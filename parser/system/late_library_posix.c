/* late_library_posix.c - see late_library.h; by the system's dynamic linker. */
#include "late_library.h"

#include <dlfcn.h>

static bool fill(void *loaded, const late_library *library, u8 *functions);

bool etl_late_library(const late_library *library, void *functions)
{
    for (u32 i = 0; library->files[i] != NULL; i++) {
        void *const loaded = dlopen(library->files[i], RTLD_NOW | RTLD_LOCAL);
        if (loaded != NULL && fill(loaded, library, functions))
            return true;
    }
    return false;
}

/* C has no conversion of an object's address to a function's; POSIX has their
 * bytes be the same. */
static bool fill(void *loaded, const late_library *library, u8 *functions)
{
    for (u32 i = 0; i < library->function_count; i++) {
        const late_function *const row = &library->functions[i];
        void *const function = dlsym(loaded, row->name);
        if (function == NULL)
            return false;
        memcpy(functions + row->member, &function, sizeof function);
    }
    return true;
}
