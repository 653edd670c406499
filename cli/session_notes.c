/* session_notes.c - notes that the file of another session is missing, and which one it is. */
#include "session_notes.h"

#include "formats/formats.h"
#include "messages.h"

void cli_note_sessions(const char *subject, const etlheap_result *result,
                       const etlheap_query *query, bool is_empty)
{
    const u32 heap = 1u << ETLHEAP_KIND_HEAP | 1u << ETLHEAP_KIND_EXTENT;
    const bool asks_heap = query->kinds == 0 || (query->kinds & heap) != 0;
    switch (etlheap_find_missing_session(result)) {
    case ETLHEAP_MISSING_KERNEL:
        cli_note(subject, "only a heap session recorded this, so process names, modules and "
                          "VirtualAlloc are missing: give the kernel session's file as well "
                          "(often kernel.etl), or store both files together");
        break;
    case ETLHEAP_MISSING_HEAP:
        if (is_empty && asks_heap)
            cli_note(subject, "only a kernel session recorded this, so there are no heap events: "
                              "give the heap session's file as well (often heap.etl), or store "
                              "both files together");
        break;
    case ETLHEAP_MISSING_NONE:
        break;
    }
}
