/*
 * diff_folded.c - both sides of a comparison for differential flame graphs.
 *
 *     heap;app.exe;ntdll.dll!RtlUserThreadStart;app.exe!main;app.exe!grow 4096 12288
 *
 * The form of Brendan Gregg's difffolded.pl, which flamegraph.pl and inferno draw: a path, the
 * amount before, the amount now. The width is by the second, the colour by the change. What
 * is equal on both sides is there too: without it, widths would mean nothing.
 */
#include "diff_amounts.h"
#include "folded_path.h"
#include "formats/io/text_buffer.h"
#include "formats/parts/layout_read.h"
#include "formats/writers.h"

etl_status etlheap_write_diff_folded(const etlheap_diff_answer *answer, const etlheap_layout *given,
                                     etlheap_sink *sink)
{
    etlheap_layout layout;
    const etl_status layout_status = etlheap_layout_read(given, &layout);
    if (layout_status != ETL_OK)
        return layout_status;
    const etlheap_diff *const diff = answer->diff;
    etlheap_text scratch = { 0 };
    for (u32 i = 0; i < diff->table.row_count && etlheap_sink_ok(sink); i++) {
        const diff_amounts amounts = diff_amounts_of(diff, i);
        if (amounts.base == 0 && amounts.now == 0)
            continue;
        folded_path_write(&diff->table, &diff->table.rows[i], diff->table.group_by,
                          diff->table.group_by_count, &scratch, sink);
        etlheap_sink_text(sink, " ");
        etlheap_sink_signed(sink, amounts.base);
        etlheap_sink_text(sink, " ");
        etlheap_sink_signed(sink, amounts.now);
        etlheap_sink_text(sink, "\n");
    }
    const bool failed = scratch.failed;
    etlheap_text_free(&scratch);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}
