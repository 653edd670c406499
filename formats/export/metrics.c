/* metrics.c - the words and summaries of the metrics that profiles can show. */
#include "formats/exporters.h"

#include "parser/base.h"

static const struct {
    const char *word, *summary;
} metrics[ETLHEAP_METRIC_COUNT] = {
#define METRIC_ROW(name, word, text) { word, text },
    ETLHEAP_METRICS(METRIC_ROW)
#undef METRIC_ROW
};

const char *etlheap_metric_word(etlheap_metric metric)
{
    return (u32)metric < ETLHEAP_METRIC_COUNT ? metrics[metric].word : "";
}

const char *etlheap_metric_summary(etlheap_metric metric)
{
    return (u32)metric < ETLHEAP_METRIC_COUNT ? metrics[metric].summary : "";
}
