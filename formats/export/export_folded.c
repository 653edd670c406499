/*
 * export_folded.c - stacks for flame graphs: a line for each, outermost frame first.
 *
 *     heap;app.exe (4321);ntdll.dll!RtlUserThreadStart;app.exe!main;app.exe!Leaky::grow 3450
 *
 * Brendan Gregg's format, as flamegraph.pl, inferno and speedscope read it: frames are
 * separated by semicolons, the value follows the last space. The kind comes first, so
 * that kinds, which must not be added up, are towers of their own.
 */
#include "formats/io/text_buffer.h"
#include "export_samples.h"
#include "export_writers.h"
#include "folded_path.h"

static const etlheap_key keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_STACK };

static void write_sample(const export_samples *samples, const etlheap_row *row,
                         etlheap_text *scratch, etlheap_sink *sink);

etl_status etlheap_export_folded(const etlheap_export_request *request, etlheap_sink *sink,
                                 etl_error *err)
{
    export_samples samples;
    etlheap_text scratch = { 0 };
    const etl_status status = export_samples_open(request, keys, ETL_COUNT_OF(keys), &samples, err);
    if (status != ETL_OK)
        return status;
    for (u32 i = 0; i < samples.table->row_count && etlheap_sink_ok(sink); i++) {
        const etlheap_row *const row = &samples.table->rows[i];
        if (export_size(&samples, row) > 0)
            write_sample(&samples, row, &scratch, sink);
    }
    const bool failed = scratch.failed;
    etlheap_text_free(&scratch);
    export_samples_close(&samples);
    return failed ? etl_no_memory(err) : ETL_OK;
}

static void write_sample(const export_samples *samples, const etlheap_row *row,
                         etlheap_text *scratch, etlheap_sink *sink)
{
    folded_path_write(samples->table, row, keys, ETL_COUNT_OF(keys), scratch, sink);
    etlheap_sink_text(sink, " ");
    etlheap_sink_signed(sink, export_size(samples, row));
    etlheap_sink_text(sink, "\n");
}
