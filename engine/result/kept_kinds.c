/* kept_kinds.c - the kinds of memory that a recording has events of, and those that a result lacks
 * all the same. */
#include "result.h"

static bool has_extents(const etlheap_result *result)
{
    bool has = false;
    for (size_t i = 0; i < result->hooks.count; i++)
        has |= result->hooks.at[i].hook == 0x1025 || result->hooks.at[i].hook == 0x102A;
    return has;
}

u32 result_kinds_seen(const etlheap_result *result)
{
    u32 kinds = 0;
    for (size_t i = 0; i < result->processes.count; i++)
        kinds |= etlheap_process_kinds(&result->processes.at[i]);
    return has_extents(result) ? kinds : kinds & ~(1u << ETLHEAP_KIND_EXTENT);
}

/* Does the recording have events that tell about the kind? A store from before the kind counted
 * them by hook. */
static bool has_events_of(const etlheap_result *result, u32 kind)
{
    const etlheap_kind_row *const row = etlheap_kind_at((etlheap_kind)kind);
    const etlheap_kind from = row->recorded_with;
    bool has = (result->abilities.kinds >> from & 1) != 0;
    for (size_t i = 0; row->hook_first != 0 && i < result->hooks.count && !has; i++)
        has = result->hooks.at[i].hook >= row->hook_first &&
              result->hooks.at[i].hook <= row->hook_last;
    for (size_t i = 0; i < result->processes.count && !has; i++)
        has = result->processes.at[i].events[from] > 0;
    return has;
}

etl_status result_keeps(const etlheap_result *result, u32 kinds, etl_error *err)
{
    const u32 lacking = kinds & ~ETLHEAP_KINDS_DEFAULT & ~result->abilities.kinds;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const etlheap_kind_row *const row = etlheap_kind_at((etlheap_kind)kind);
        if ((lacking >> kind & 1) == 0 || !has_events_of(result, kind))
            continue;
        if (result->mode == RESULT_STORE || result->mode == RESULT_SUMMARY)
            return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0,
                                 "the file was written before stores kept %s: store the trace "
                                 "again",
                                 row->plural);
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "the analysis kept no %s: analyze the trace for a question that "
                             "selects the kind %s",
                             row->plural, row->word);
    }
    return ETL_OK;
}
