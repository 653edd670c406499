/*
 * exporters.c - the table of exporters: choices, help and the "unknown format"
 * message of `export` come from these rows.
 */
#include "export_writers.h"

#define METRIC(name) (1u << ETLHEAP_METRIC_##name)
#define METRICS_ALL  ((1u << ETLHEAP_METRIC_COUNT) - 1)

static const etlheap_exporter exporters[] = {
    {
        .name = "folded",
        .suffix = ".folded",
        .summary = "stacks for flame graphs, one a line with its bytes",
        .metrics = METRICS_ALL,
        .is_text = true,
        .write = etlheap_export_folded,
    },
    {
        .name = "speedscope",
        .suffix = ".speedscope.json",
        .summary = "profiles for www.speedscope.app, one for each kind and process",
        .metrics = METRICS_ALL,
        .is_text = true,
        .write = etlheap_export_speedscope,
    },
    {
        .name = "pprof",
        .suffix = ".pb.gz",
        .summary = "for go tool pprof: in use and allocated, space and objects",
        .metrics = METRIC(OUTSTANDING) | METRIC(TOTAL),
        .write = etlheap_export_pprof,
    },
    {
        .name = "dhat",
        .suffix = ".dhat.json",
        .summary = "for valgrind's dh_view.html: lifetimes, peak, end; one kind",
        .metrics = METRIC(OUTSTANDING),
        .needs_lifetimes = true,
        .is_text = true,
        .write = etlheap_export_dhat,
    },
    {
        .name = "heaptrack",
        .suffix = ".heaptrack",
        .summary = "for heaptrack_gui and heaptrack_print: every event of one kind",
        .metrics = METRIC(OUTSTANDING),
        .needs_lifetimes = true,
        .is_text = true,
        .write = etlheap_export_heaptrack,
    },
    {
        .name = "csv",
        .suffix = ".csv",
        .summary = "rows of the report, or with --rows lifetimes, as a table",
        .metrics = METRIC(OUTSTANDING),
        .has_rows = true,
        .has_titles = true,
        .is_text = true,
        .write = etlheap_export_csv,
    },
    {
        .name = "ndjson",
        .suffix = ".ndjson",
        .summary = "the same, one JSON object a line",
        .metrics = METRIC(OUTSTANDING),
        .has_rows = true,
        .is_text = true,
        .write = etlheap_export_ndjson,
    },
    {
        .name = "parquet",
        .suffix = ".parquet",
        .summary = "the same as columns with types, for DuckDB and data frames",
        .metrics = METRIC(OUTSTANDING),
        .has_rows = true,
        .write = etlheap_export_parquet,
    },
    {
        .name = "wpa-xml",
        .suffix = ".wpa.xml",
        .summary = "WPA's heap and VirtualAlloc tables as XML (wpa_xml.xsd)",
        .metrics = METRIC(OUTSTANDING),
        .has_rows = true,
        .is_text = true,
        .write = etlheap_export_wpa_xml,
    },
    {
        .name = "wpaprofile",
        .suffix = ".wpaProfile",
        .summary = "opens the trace in WPA at the process that grew most",
        .metrics = METRIC(OUTSTANDING),
        .is_text = true,
        .write = etlheap_export_wpa_profile,
    },
    {
        .name = "perfview",
        .suffix = ".perfView.xml.zip",
        .summary = "stacks for PerfView; with --rows a sample for each allocation",
        .metrics = METRICS_ALL,
        .has_rows = true,
        .write = etlheap_export_perfview,
    },
    {
        .name = "html",
        .suffix = ".html",
        .summary = "a report for browsers: charts, flame graph, tables; one file",
        .metrics = METRIC(OUTSTANDING),
        .needs_lifetimes = true,
        .is_text = true,
        .write = etlheap_export_html,
    },
};

static const struct {
    const char *word, *summary;
} metrics[ETLHEAP_METRIC_COUNT] = {
#define METRIC_ROW(name, word, text) { word, text },
    ETLHEAP_METRICS(METRIC_ROW)
#undef METRIC_ROW
};

const char *etlheap_metric_word(etlheap_metric metric)
{
    assert((u32)metric < ETLHEAP_METRIC_COUNT);
    return metrics[metric].word;
}

const char *etlheap_metric_summary(etlheap_metric metric)
{
    assert((u32)metric < ETLHEAP_METRIC_COUNT);
    return metrics[metric].summary;
}

u32 etlheap_exporter_count(void)
{
    return (u32)ETL_COUNT_OF(exporters);
}

const etlheap_exporter *etlheap_exporter_at(u32 index)
{
    assert(index < ETL_COUNT_OF(exporters));
    return &exporters[index];
}

const etlheap_exporter *etlheap_exporter_named(const char *name)
{
    for (size_t i = 0; i < ETL_COUNT_OF(exporters); i++) {
        if (strcmp(exporters[i].name, name) == 0)
            return &exporters[i];
    }
    return NULL;
}

etlheap_metric etlheap_exporter_default_metric(const etlheap_exporter *exporter)
{
    assert(exporter->metrics != 0);
    return (etlheap_metric)__builtin_ctz(exporter->metrics);
}

bool etlheap_metric_needs_lifetimes(etlheap_metric metric)
{
    return metric == ETLHEAP_METRIC_PEAK;
}
