/*
 * fuzz_export.c - every exporter, over sizes and times that are anything.
 *
 * In: a program (hostile_build.h); its session says which exporter, metric and window. Out:
 * nothing, or a crash. What is written is counted: it stays below a bound that follows from the
 * number of events, whatever they say.
 *
 *     session  +4 exporter  +5 metric, rows, titles  +6 start of the window  +7 its shift
 */
#include "fuzz.h"
#include "hostile_build.h"

static etlheap_metric metric_of(const etlheap_exporter *exporter, u8 value)
{
    const etlheap_metric metric = (etlheap_metric)(value % ETLHEAP_METRIC_COUNT);
    return (exporter->metrics >> metric & 1) != 0 ? metric
                                                  : etlheap_exporter_default_metric(exporter);
}

static void export_to_text(const etlheap_exporter *exporter, const etlheap_export_request *request,
                           size_t program_bytes)
{
    etlheap_text text = { NULL, 0, 0, false };
    hostile_bound bound = hostile_bound_of(&text, program_bytes);
    etlheap_sink *sink = NULL;
    etl_error err;
    if (etlheap_sink_open_text(&text, &sink, &err) == ETL_OK) {
        etlheap_sink_watch(sink, hostile_is_bounded, &bound);
        (void)etlheap_export(exporter, request, sink, &err);
        (void)etlheap_sink_close(sink, &err);
    }
    (void)hostile_is_bounded(&bound);
    etlheap_text_free(&text);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    if (size < 2 * HOSTILE_STEP_BYTES)
        return 0;
    const etlheap_exporter *const exporter =
        etlheap_exporter_at(data[4] % etlheap_exporter_count());
    etlheap_query query = etlheap_query_default();
    query.jobs = 1;
    if (data[6] != 0)
        query.from_ns = (i64)hostile_number(data[6], data[7]);
    const etlheap_question questions[] = {
        { .size = sizeof questions[0],
          .kind = ETLHEAP_ASK_EVENTS,
          .query = &query,
          .frees = exporter->asks_frees || (data[5] & 128) != 0 },
        { .size = sizeof questions[0], .kind = ETLHEAP_ASK_MAP, .query = &query },
    };
    hostile_run run;
    if (hostile_open(&run, data, size, questions, exporter->asks_map ? 2 : 1)) {
        const etlheap_export_request request = {
            .size = sizeof request,
            .result = run.result,
            .query = &query,
            .metric = metric_of(exporter, data[5] & 15),
            .rows = exporter->has_rows && (data[5] & 128) != 0,
            .titles = exporter->has_titles && (data[5] & 64) != 0,
            .memory_bytes_max = HOSTILE_MEMORY_BYTES,
        };
        export_to_text(exporter, &request, size);
    }
    hostile_close(&run);
    return 0;
}
