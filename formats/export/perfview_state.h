/*
 * perfview_state.h - how PerfView's window looks when it opens what we export.
 */
#ifndef PERFVIEW_STATE_H
#define PERFVIEW_STATE_H

#include "formats/io/xml.h"

/* What the notes say of the samples. Everything is borrowed. */
typedef struct perfview_notes {
    const etlheap_trace_info *trace;
    etlheap_metric metric;
    bool rows;          /* a sample is one allocation */
    i64 from_ns, to_ns; /* of the window */
    u64 sample_count;
} perfview_notes;

/* Writes the StackWindowGuiState element; out of memory is the writer's to tell. */
void perfview_write_state(etlheap_xml *xml, const perfview_notes *notes);

#endif
