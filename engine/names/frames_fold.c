/*
 * frames_fold.c - lets one frame stand for consecutive frames of a module.
 *
 * In: the frames that culling leaves of a stack. Out: fewer frames.
 *
 *     app+10  lib+8  lib+4  app+2   ──▶   app+10  lib  app+2
 *
 * The frame that stands for a module has no offset, and is the same for all builds of one name. It
 * is made before stacks are folded, so that several threads may fold at once. Invariant: the name
 * of the module alone decides, so whether functions have names makes no difference.
 */
#include <stdlib.h>

#include "frames.h"

bool frames_fold_open(frame_table *table)
{
    const etlheap_query *const query = table->query;
    const size_t count = table->result->modules.list.count;
    if (!frame_patterns_open(&table->fold, query->fold_modules, query->fold_module_count, count))
        return false;
    if (query->fold_module_count == 0)
        return true;
    table->folded = calloc(count + 1, sizeof *table->folded);
    return table->folded != NULL;
}

/* The module whose frames the frame is folded with: a namesake; FRAME_NONE: it is not folded. */
static u32 folded_module(const frame_table *table, u32 frame)
{
    const u32 module = table->frames.at[frame].module;
    return module != FRAME_NONE && frames_verdict(table, &table->fold, frame) == FRAME_VERDICT_ALL
               ? table->namesakes[module]
               : FRAME_NONE;
}

bool frames_fold_prepare(frame_table *table, const u32 *frames, u32 count)
{
    for (u32 i = 0; i < count && table->fold.count > 0; i++) {
        const u32 module = folded_module(table, frames[i]);
        if (module == FRAME_NONE || table->folded[module] != 0)
            continue;
        const frame_row stands = { .offset = ETLHEAP_NO_ADDRESS,
                                   .address = ETLHEAP_NO_ADDRESS,
                                   .module = module };
        if (table->frames.count >= UINT32_MAX - 1 || !ETLHEAP_PUSH(&table->frames, stands))
            return false;
        table->folded[module] = (u32)table->frames.count;
    }
    return true;
}

u32 frames_fold(const frame_table *table, u32 *frames, u32 count)
{
    u32 kept = 0;
    if (table->fold.count == 0)
        return count;
    for (u32 i = 0; i < count; i++) {
        const u32 module = folded_module(table, frames[i]);
        const u32 frame = module == FRAME_NONE ? frames[i] : table->folded[module] - 1;
        const bool goes_on = module != FRAME_NONE && kept > 0 && frames[kept - 1] == frame;
        if (!goes_on)
            frames[kept++] = frame;
    }
    return kept;
}
