/*
 * exporters.h - writes results in the formats of other programs. Part of formats.h.
 *
 *     etlheap_exporter_named   "folded" -> exporter
 *     etlheap_export           exporter, request -> bytes in a sink
 *
 * An exporter is a row of a const table. It takes a result and what the user selected, asks the
 * engine the questions that its format needs, and streams the answers into a sink. Analyze the
 * result with an ETLHEAP_ASK_EVENTS question if the exporter's asks_events or
 * etlheap_metric_asks_events says so. The same request gives the same bytes. Any number of threads
 * may export at the same time, each to its own sink.
 */
#ifndef ETLHEAP_EXPORTERS_H
#define ETLHEAP_EXPORTERS_H

#include "formats.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct etlheap_sink etlheap_sink;

/* X(enumerator, word, what is counted) */
#define ETLHEAP_METRICS(X)                                                                         \
    X(OUTSTANDING, "outstanding", "memory outstanding at the end of the window")                   \
    X(TOTAL, "total", "all memory allocated inside the window")                                    \
    X(TRANSIENT, "transient", "memory allocated and freed inside the window")                      \
    X(PEAK, "peak", "memory outstanding at its peak, kind by kind")

typedef enum etlheap_metric {
#define ETLHEAP_METRIC_ENUM(name, word, text) ETLHEAP_METRIC_##name,
    ETLHEAP_METRICS(ETLHEAP_METRIC_ENUM)
#undef ETLHEAP_METRIC_ENUM
        ETLHEAP_METRIC_COUNT
} etlheap_metric;

const char *etlheap_metric_word(etlheap_metric metric);    /* "" if out of range */
const char *etlheap_metric_summary(etlheap_metric metric); /* what is counted */

/* A request for etlheap_export. Everything is borrowed for the call. */
typedef struct etlheap_export_request {
    size_t size; /* sizeof(etlheap_export_request) */
    const etlheap_result *result;
    /* Its filters, culling and symbols count. The exporter chooses keys, sort order and types. */
    const etlheap_query *query;
    etlheap_metric metric;
    bool rows;                 /* write single lifetimes, if has_rows */
    bool titles;               /* write column titles for people instead of keys, if has_titles */
    uint64_t memory_bytes_max; /* limit for `rows`; 0: no limit */
    etlheap_progress_fn *progress; /* may be NULL */
    void *progress_user;
    const char *output_name;     /* name of the output file; NULL: it has none */
    struct etlheap_text *advice; /* receives a sentence on how to use the output; may be NULL */
    etl_hint_fn *hint;           /* as in etlheap_layout; may be NULL */
    /* For the commands that a page suggests: the inputs (if empty, the files of the trace), and the
     * options that select and name what is exported. */
    etlheap_typed inputs, selection;
    bool lacks_login; /* as in etlheap_check */
    /* For pages that show lines of code; NULL: they show none. */
    const struct etlheap_source_options *sources;
} etlheap_export_request;

/* An exporter and its abilities. Static. */
typedef struct etlheap_exporter {
    const char *name;    /* "folded" */
    const char *suffix;  /* ".folded" */
    const char *summary; /* one line */
    uint32_t metrics;    /* bit per supported etlheap_metric; the lowest is the default */
    bool has_rows;       /* supports `rows` */
    bool has_titles;     /* supports `titles` */
    bool has_churn;      /* writes rates and churn if the query asks for them */
    bool asks_events;    /* needs a result analyzed for ETLHEAP_ASK_EVENTS */
    bool is_text;        /* text, which may be compressed as a whole */
    bool asks_map;       /* needs a result analyzed for ETLHEAP_ASK_MAP */
    bool asks_frees;     /* needs a result that knows who freed */
    bool asks_sizes;     /* cannot show kinds without sizes (ETLHEAP_KIND_NO_SIZES) */
} etlheap_exporter;

/* [stable] All exporters, in a fixed order, and one by its name. Static. */
uint32_t etlheap_exporter_count(void);
const etlheap_exporter *etlheap_exporter_at(uint32_t index);      /* NULL beyond the count */
const etlheap_exporter *etlheap_exporter_named(const char *name); /* NULL: none */

/*
 * [stable] Writes what the request asks for. Errors are those of the engine's questions,
 * ETL_ERR_ARGUMENT (the request is contradictory, whatever the result) and ETL_ERR_UNSUPPORTED (the
 * result has nothing that the format can show). Write errors are reported when the sink is closed.
 */
etl_status etlheap_export(const etlheap_exporter *exporter, const etlheap_export_request *request,
                          etlheap_sink *sink, etl_error *err);

/* The metric to use unless the user asks for another. */
etlheap_metric etlheap_exporter_default_metric(const etlheap_exporter *exporter);

/* True if the metric needs a result analyzed for ETLHEAP_ASK_EVENTS: peaks are found among
 * lifetimes. */
bool etlheap_metric_asks_events(etlheap_metric metric);

#ifdef __cplusplus
}
#endif

#endif
