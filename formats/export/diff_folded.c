/*
 * diff_folded.c - both sides of a comparison for differential flame graphs.
 *
 *     heap;app.exe;ntdll.dll!RtlUserThreadStart;app.exe!main;app.exe!grow 4096 12288
 *
 * The form of Brendan Gregg's difffolded.pl, which flamegraph.pl and inferno draw: a path, the
 * amount before, the amount now. The width is by the second, the colour by the change. What
 * is equal on both sides is there too: without it, widths would mean nothing.
 */
#include "folded_path.h"
#include "formats/io/text_buffer.h"
#include "formats/parts/layout_read.h"
#include "formats/writers.h"

/* Frames cannot be drawn with less than nothing, which impacting sizes may be. */
static i64 drawn(const etlheap_diff *diff, i64 amount, i64 ns)
{
    const i64 value = diff->per_second ? etlheap_diff_rate(amount, ns) / 1000 : amount;
    return value > 0 ? value : 0;
}

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
        const i64 before = drawn(diff, diff->changes[i].base[diff->measure], diff->base_ns);
        const i64 after = drawn(diff, diff->changes[i].now[diff->measure], diff->new_ns);
        if (before == 0 && after == 0)
            continue;
        folded_path_write(&diff->table, &diff->table.rows[i], diff->table.group_by,
                          diff->table.group_by_count, &scratch, sink);
        etlheap_sink_text(sink, " ");
        etlheap_sink_signed(sink, before);
        etlheap_sink_text(sink, " ");
        etlheap_sink_signed(sink, after);
        etlheap_sink_text(sink, "\n");
    }
    const bool failed = scratch.failed;
    etlheap_text_free(&scratch);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}
