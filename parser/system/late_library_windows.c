/* late_library_windows.c - see late_library.h; the libraries are in the program. */
#include "late_library.h"

bool etl_late_library(const late_library *library, void *functions)
{
    u8 *const at = functions;
    for (u32 i = 0; i < library->function_count; i++) {
        const late_function *const row = &library->functions[i];
        memcpy(at + row->member, &row->linked, sizeof row->linked);
    }
    return true;
}
