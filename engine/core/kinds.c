/* kinds.c - the rows of etlheap_kinds.h as a table. */
#include "engine/engine.h"

#include "parser/base.h"

static const etlheap_kind_row kind_rows[ETLHEAP_KIND_COUNT] = {
#define KIND_ROW(name, traits, ...) [ETLHEAP_KIND_##name] = { __VA_ARGS__ },
    ETLHEAP_KINDS(KIND_ROW)
#undef KIND_ROW
};

const etlheap_kind_row *etlheap_kind_at(etlheap_kind kind)
{
    return (unsigned)kind < ETLHEAP_KIND_COUNT ? &kind_rows[kind] : NULL;
}

const char *etlheap_kind_name(etlheap_kind kind)
{
    return (unsigned)kind < ETLHEAP_KIND_COUNT ? kind_rows[kind].word : "";
}

u64 etlheap_process_events(const etlheap_process_info *process)
{
    u64 events = 0;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        events = etl_sat_add_u64(events, process->events[kind]);
    return events;
}

u32 etlheap_process_kinds(const etlheap_process_info *process)
{
    u32 kinds = process->asked_kinds;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        kinds |= process->events[kind_rows[kind].recorded_with] > 0 ? 1u << kind : 0;
    return kinds;
}
