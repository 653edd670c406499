/* served.c - see served.h. */
#include "served.h"

#include <string.h>

bool cli_is_cancelled(const u32 *cancel)
{
    return cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED) != 0;
}

const cli_kept_input *cli_served_input(const cli_served *served, const char *name)
{
    for (u32 i = 0; served && i < served->input_count; i++) {
        if (strcmp(served->inputs[i].name, name) == 0)
            return &served->inputs[i];
    }
    return NULL;
}
