/*
 * exporters.h - other programs' formats: formats.h includes this.
 *
 * An exporter is a row of one const table. It is given an open result and what the
 * user selected, asks the engine the questions that its format needs, and streams
 * the answer into a sink. The same request gives the same bytes.
 */
#ifndef ETLHEAP_EXPORTERS_H
#define ETLHEAP_EXPORTERS_H

#include "formats.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct etlheap_sink etlheap_sink;

/* X(enumerator, --metric word, what is counted) */
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

const char *etlheap_metric_word(etlheap_metric metric);    /* "" for what is none */
const char *etlheap_metric_summary(etlheap_metric metric); /* what is counted */

/* What is to be written. Everything is borrowed for the call. */
typedef struct etlheap_export_request {
    size_t size; /* sizeof(etlheap_export_request) */
    const etlheap_result *result;
    /* Selects, culls and has the symbols; how it groups, sorts and which types it has
     * is the exporter's choice. */
    const etlheap_query *query;
    etlheap_metric metric;
    bool rows;                     /* one by one, where the format has a place for lifetimes */
    bool titles;                   /* for people, where the format has keys or titles (CSV) */
    u64 memory_bytes_max;          /* for rows; 0: no limit */
    etlheap_progress_fn *progress; /* may be NULL; false cancels */
    void *progress_user;
    const char *output_name;     /* the file that is written; NULL: none has a name */
    struct etlheap_text *advice; /* takes a sentence on what to do with it; may be NULL */
    etl_hint_fn *hint;           /* as of etlheap_layout; may be NULL */
} etlheap_export_request;

typedef struct etlheap_exporter {
    const char *name;    /* "folded" */
    const char *suffix;  /* ".folded" */
    const char *summary; /* one line for --help */
    u32 metrics;         /* bit per etlheap_metric that it can write; the lowest is its default */
    bool has_rows;       /* knows what to do with `rows` */
    bool has_titles;     /* knows what to do with `titles` */
    bool has_churn;      /* writes all measures that the query asks for: rates and churn */
    bool asks_events;    /* more than a table: ETLHEAP_ASK_EVENTS is among its questions */
    bool is_text;        /* may be compressed as a whole */
    bool asks_map;       /* ETLHEAP_ASK_MAP is among its questions, too */
} etlheap_exporter;

u32 etlheap_exporter_count(void);
const etlheap_exporter *etlheap_exporter_at(u32 index);           /* NULL: from the count on */
const etlheap_exporter *etlheap_exporter_named(const char *name); /* NULL: none */

/*
 * Writes what is requested. Errors are those of the engine's questions, ETL_ERR_ARGUMENT
 * (the request cannot be meant, whatever the result) and ETL_ERR_UNSUPPORTED (the result
 * has nothing that the format could show); those of the sink are told when it is closed.
 */
etl_status etlheap_export(const etlheap_exporter *exporter, const etlheap_export_request *request,
                          etlheap_sink *sink, etl_error *err);

/* Of the exporter's metrics the one that it writes unless told otherwise. */
etlheap_metric etlheap_exporter_default_metric(const etlheap_exporter *exporter);

/* What the analysis has to keep for such a request: the peak is found among
 * lifetimes. See ETLHEAP_ASK_EVENTS. */
bool etlheap_metric_asks_events(etlheap_metric metric);

#ifdef __cplusplus
}
#endif

#endif
