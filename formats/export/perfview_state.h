/* perfview_state.h - the state of PerfView's window when it opens an exported file. */
#ifndef PERFVIEW_STATE_H
#define PERFVIEW_STATE_H

#include "formats/io/xml.h"

/* Facts about the samples, for the notes. Everything is borrowed. */
typedef struct perfview_notes {
    const etlheap_trace_info *trace;
    etlheap_metric metric;
    bool rows;          /* a sample is one allocation */
    i64 from_ns, to_ns; /* of the window */
    u64 sample_count;
} perfview_notes;

/* Writes the StackWindowGuiState element. The XML writer reports missing memory. */
void perfview_write_state(etlheap_xml *xml, const perfview_notes *notes);

#endif
