/*
 * scan_section.c - makes rows from events of sections of the page file.
 *
 * In: decoded events. Out: memory events of kind SECTION. A section is known by the address of its
 * first prototype PTE, within the whole system. It belongs to the process that created it, which
 * may have ended when a rundown names it, and stays while any process has a handle or a view of it.
 *
 * Its size is not in the events. Prototype PTEs take 8 bytes each, one for a page of 4 KiB, also on
 * 32-bit Windows with PAE, so it follows from their range (layout_mapped.h). That the end of the
 * range is exclusive, and that all pages are committed, is assumed: sections that are only reserved
 * (SEC_RESERVE) commit less.
 */
#include "scan_section.h"

#define PTE_BYTES  8u
#define PAGE_BYTES 4096u
#define PAGES_MAX  ((u64)1 << 36) /* a section is smaller than the address space */

static memory_op op_of(etl_event_kind kind)
{
    switch (kind) {
    case ETL_EVENT_SECTION_CREATE:
        return OP_SECTION_CREATE;
    case ETL_EVENT_SECTION_DELETE:
        return OP_SECTION_DELETE;
    default:
        return OP_SECTION_LISTED;
    }
}

/* The creator; of a deletion the process that is running, as the creator may have ended. */
static u32 owner_of(const scanner *s, const etl_event *event)
{
    return event->kind == ETL_EVENT_SECTION_DELETE ? scan_running(s)
                                                   : event->as.section.creating_process_id;
}

bool scan_section(scanner *s, const etl_event *event)
{
    const etl_section *const section = &event->as.section;
    const u64 pages = section->range_end > section->range_base
                          ? (section->range_end - section->range_base) / PTE_BYTES
                          : 0;
    if (pages == 0 || pages > PAGES_MAX) {
        etl_diag_add(&s->out->diag, ETL_DIAG_section_range_unknown, 1);
        return true;
    }
    return scan_push_event(s, (memory_event){ .op = (u8)op_of(event->kind),
                                              .address = section->range_base,
                                              .size = pages * PAGE_BYTES,
                                              .pid = owner_of(s, event),
                                              .tid = s->record->tid });
}
