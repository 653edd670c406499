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

bool cli_served_is_full(const cli_served *served)
{
    return served->body_bytes_max > 0 && served->body->size > served->body_bytes_max;
}

void cli_served_note(const cli_served *served, u64 done_bytes, u64 total_bytes)
{
    if (!served || !served->progress)
        return;
    __atomic_store_n(&served->progress->done_bytes, done_bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&served->progress->total_bytes, total_bytes, __ATOMIC_RELAXED);
}
