/* pdb_queries.c - finds the addresses that a procedure or a line covers, among those asked for. */
#include "pdb_internal.h"

/* The first query at or after an address. Procedures and lines mostly ascend, so the search goes up
 * from the last answer with steps that double; otherwise it searches before it. */
u32 pdb_first_query(etl_pdb_resolver *r, u32 rva)
{
    /* Invariant: the answer is in low .. high. */
    u32 low = r->query_hint;
    u32 high = r->query_count;
    if (low > 0 && r->queries[low - 1].rva >= rva) {
        high = low - 1;
        low = 0;
    } else {
        for (u32 step = 1; step < high - low; step *= 2) {
            if (r->queries[low + step - 1].rva >= rva) {
                high = low + step - 1;
                break;
            }
            low += step;
        }
    }
    ETL_BISECT(r->query_hint, low, high, r->queries[r->query_hint].rva < rva);
    return r->query_hint;
}

u32 pdb_query_behind(etl_pdb_resolver *r, u32 start, u32 size)
{
    return size > UINT32_MAX - start ? r->query_count : pdb_first_query(r, start + size);
}
