/* info_rank.c - see info_rank.h. */
#include "info_rank.h"

#include <stdlib.h>

static int by_weight(const void *left, const void *right)
{
    const info_row *const a = left;
    const info_row *const b = right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

void info_rank(info_row *rows, u32 count)
{
    qsort(rows, count, sizeof *rows, by_weight);
}

info_row *info_processes(const etlheap_result *result)
{
    const u32 count = etlheap_process_count(result);
    info_row *const rows = calloc((size_t)count + 1, sizeof *rows);
    if (!rows)
        return NULL;
    for (u32 i = 0; i < count; i++) {
        const etlheap_process_info *const process =
            etlheap_process_of(result, (etlheap_process){ i + 1 });
        rows[i] = (info_row){ etlheap_process_events(process), i };
    }
    info_rank(rows, count);
    return rows;
}

bool *info_choose_processes(const etlheap_result *result, u32 most)
{
    const u32 count = etlheap_process_count(result);
    bool *const chosen = calloc((size_t)count + 1, sizeof *chosen);
    info_row *const rows = chosen ? info_processes(result) : NULL;
    if (!rows) {
        free(chosen);
        return NULL;
    }
    for (u32 i = 0; i < count && (most == 0 || i < most); i++)
        chosen[rows[i].index] = true;
    free(rows);
    return chosen;
}
