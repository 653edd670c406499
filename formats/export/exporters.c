/*
 * exporters.c - the table of exporters: their names, files, options and functions.
 *
 * In: nothing. Out: const rows. Choices, help and the "unknown format" error of `export` come from
 * them, and etlheap_export calls the row's function. Invariant: no other place lists exporters; to
 * add one, add a row here and a file export_NAME.c.
 */
#include "export_writers.h"

#include "parser/sized.h"

#define METRIC(name) (1u << ETLHEAP_METRIC_##name)
#define METRICS_ALL  ((1u << ETLHEAP_METRIC_COUNT) - 1)

typedef struct exporter_row {
    etlheap_exporter told;
    etl_status (*write)(const etlheap_export_request *request, etlheap_sink *sink, etl_error *err);
} exporter_row;

static const exporter_row exporters[] = {
    {
        .told.name = "folded",
        .told.suffix = ".folded",
        .told.summary = "stacks and bytes for flame graphs",
        .told.metrics = METRICS_ALL,
        .told.is_text = true,
        .write = etlheap_export_folded,
    },
    {
        .told.name = "speedscope",
        .told.suffix = ".speedscope.json",
        .told.summary = "profiles for www.speedscope.app",
        .told.metrics = METRICS_ALL,
        .told.is_text = true,
        .write = etlheap_export_speedscope,
    },
    {
        .told.name = "pprof",
        .told.suffix = ".pb.gz",
        .told.summary = "profile for go tool pprof",
        .told.metrics = METRIC(OUTSTANDING) | METRIC(TOTAL),
        .write = etlheap_export_pprof,
    },
    {
        .told.name = "perfetto",
        .told.suffix = ".pftrace",
        .told.summary = "heap dumps over time for ui.perfetto.dev",
        .told.metrics = METRIC(OUTSTANDING),
        .told.asks_events = true,
        .told.asks_sizes = true,
        .write = etlheap_export_perfetto,
    },
    {
        .told.name = "dhat",
        .told.suffix = ".dhat.json",
        .told.summary = "one kind for valgrind's dh_view.html",
        .told.metrics = METRIC(OUTSTANDING),
        .told.asks_events = true,
        .told.is_text = true,
        .told.asks_sizes = true,
        .write = etlheap_export_dhat,
    },
    {
        .told.name = "heaptrack",
        .told.suffix = ".heaptrack",
        .told.summary = "every event of one kind for heaptrack_gui",
        .told.metrics = METRIC(OUTSTANDING),
        .told.asks_events = true,
        .told.is_text = true,
        .told.asks_sizes = true,
        .write = etlheap_export_heaptrack,
    },
    {
        .told.name = "csv",
        .told.suffix = ".csv",
        .told.summary = "rows of the report, or single lifetimes",
        .told.metrics = METRIC(OUTSTANDING),
        .told.has_rows = true,
        .told.has_churn = true,
        .told.has_titles = true,
        .told.is_text = true,
        .write = etlheap_export_csv,
    },
    {
        .told.name = "ndjson",
        .told.suffix = ".ndjson",
        .told.summary = "the same, one JSON object per line",
        .told.metrics = METRIC(OUTSTANDING),
        .told.has_rows = true,
        .told.has_churn = true,
        .told.is_text = true,
        .write = etlheap_export_ndjson,
    },
    {
        .told.name = "parquet",
        .told.suffix = ".parquet",
        .told.summary = "the same as typed columns, for DuckDB",
        .told.metrics = METRIC(OUTSTANDING),
        .told.has_rows = true,
        .told.has_churn = true,
        .write = etlheap_export_parquet,
    },
    {
        .told.name = "wpa-xml",
        .told.suffix = ".wpa.xml",
        .told.summary = "WPA's memory tables as XML (wpa_xml.xsd)",
        .told.metrics = METRIC(OUTSTANDING),
        .told.has_rows = true,
        .told.is_text = true,
        .told.asks_sizes = true,
        .write = etlheap_export_wpa_xml,
    },
    {
        .told.name = "wpaprofile",
        .told.suffix = ".wpaProfile",
        .told.summary = "view that opens the trace in WPA",
        .told.metrics = METRIC(OUTSTANDING),
        .told.is_text = true,
        .told.asks_sizes = true,
        .write = etlheap_export_wpa_profile,
    },
    {
        .told.name = "perfview",
        .told.suffix = ".perfView.xml.zip",
        .told.summary = "stacks or allocations for PerfView",
        .told.metrics = METRICS_ALL,
        .told.has_rows = true,
        .told.asks_sizes = true,
        .write = etlheap_export_perfview,
    },
    {
        .told.name = "html",
        .told.suffix = ".html",
        .told.summary = "interactive report for browsers",
        .told.metrics = METRIC(OUTSTANDING),
        .told.asks_events = true,
        .told.is_text = true,
        .told.asks_map = true,
        .told.asks_frees = true,
        .told.asks_sizes = true,
        .write = etlheap_export_html,
    },
};

u32 etlheap_exporter_count(void)
{
    return (u32)ETL_COUNT_OF(exporters);
}

const etlheap_exporter *etlheap_exporter_at(u32 index)
{
    return index < ETL_COUNT_OF(exporters) ? &exporters[index].told : NULL;
}

const etlheap_exporter *etlheap_exporter_named(const char *name)
{
    for (size_t i = 0; i < ETL_COUNT_OF(exporters); i++) {
        if (strcmp(exporters[i].told.name, name) == 0)
            return &exporters[i].told;
    }
    return NULL;
}

static const exporter_row *row_of(const etlheap_exporter *exporter)
{
    for (size_t i = 0; i < ETL_COUNT_OF(exporters); i++) {
        if (&exporters[i].told == exporter)
            return &exporters[i];
    }
    return NULL;
}

etl_status etlheap_export(const etlheap_exporter *exporter, const etlheap_export_request *request,
                          etlheap_sink *sink, etl_error *err)
{
    etlheap_export_request own = { .size = sizeof own };
    const exporter_row *const row = row_of(exporter);
    if (!row || !request)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "unknown exporter or request");
    etlheap_query query = etlheap_query_default();
    etl_status status = etl_read_sized(request, "etlheap_export_request", &own, sizeof own, err);
    if (status == ETL_OK && !own.result)
        status = etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "an export takes a result");
    if (status == ETL_OK)
        status = etl_read_sized(own.query, "etlheap_query", &query, sizeof query, err);
    if (status != ETL_OK)
        return status;
    own.query = &query;
    if ((u32)own.metric >= ETLHEAP_METRIC_COUNT || (exporter->metrics >> own.metric & 1) == 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s does not have this metric",
                             exporter->name);
    return row->write(&own, sink, err);
}

etlheap_metric etlheap_exporter_default_metric(const etlheap_exporter *exporter)
{
    return (etlheap_metric)__builtin_ctz(exporter->metrics);
}

bool etlheap_metric_asks_events(etlheap_metric metric)
{
    return metric == ETLHEAP_METRIC_PEAK;
}
