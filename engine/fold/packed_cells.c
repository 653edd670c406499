/* packed_cells.c - packs the cells of groups, task by task; see packed_cells.h. */
#include "packed_cells.h"

#include <stdlib.h>

/* Packs the cells of a group; widths follow from its largest numbers. */
bool cell_packer_pack(cell_packer *packer, window_cell_group *group)
{
    const u32 count = (u32)packer->cells.count;
    cell_amounts all = { { 0 } };
    for (u32 i = 0; i < count; i++) {
        const cell_amounts amounts = kept_amounts(&packer->cells.at[i]);
        for (u32 k = 0; k < CELL_AMOUNTS; k++)
            all.at[k] |= amounts.at[k];
    }
    const u32 interval_width = count == 0 ? 0 : packed_width(packer->cells.at[count - 1].interval);
    const u32 widths = packed_widths_of(&all);
    const u32 stride = interval_width + packed_widths_sum(widths);
    *group =
        (window_cell_group){ packer->packed.count, count, widths, (u8)interval_width, (u8)stride };
    if (!ETLHEAP_RESERVE(&packer->packed, (size_t)count * stride + PACKED_SLACK))
        return false;
    for (u32 i = 0; i < count; i++) {
        const window_cell *const cell = &packer->cells.at[i];
        const cell_amounts amounts = kept_amounts(cell);
        u8 *const to = packer->packed.at + packer->packed.count;
        (void)packed_put_amounts(packed_put(to, cell->interval, interval_width), &amounts, widths);
        packer->packed.count += stride;
    }
    return true;
}

bool cell_packers_gather(cell_packer *packers, u32 count, window_cells *out)
{
    cell_packer *const all = &packers[0];
    for (u32 i = 1; i < count; i++) {
        cell_packer *const own = &packers[i];
        for (u32 g = own->first; g < own->end; g++)
            out->groups[g].start += all->packed.count;
        if (!ETLHEAP_RESERVE(&all->packed, own->packed.count + PACKED_SLACK))
            return false;
        if (own->packed.count > 0)
            memcpy(all->packed.at + all->packed.count, own->packed.at, own->packed.count);
        all->packed.count += own->packed.count;
        ETLHEAP_VECTOR_FREE(&own->packed);
    }
    u8 *const smaller = realloc(all->packed.at, all->packed.count + PACKED_SLACK);
    out->at = smaller == NULL ? all->packed.at : smaller;
    all->packed.at = NULL;
    all->packed.count = 0;
    return true;
}

void cell_packers_free(cell_packer *packers, u32 count)
{
    for (u32 i = 0; packers != NULL && i < count; i++) {
        ETLHEAP_VECTOR_FREE(&packers[i].cells);
        ETLHEAP_VECTOR_FREE(&packers[i].packed);
    }
    free(packers);
}
