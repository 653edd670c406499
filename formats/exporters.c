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
};

const char *etlheap_metric_word(etlheap_metric metric)
{
    static const char *const words[] = {
#define METRIC_WORD(name, word, text) word,
        ETLHEAP_METRICS(METRIC_WORD)
#undef METRIC_WORD
    };
    assert((u32)metric < ETLHEAP_METRIC_COUNT);
    return words[metric];
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
