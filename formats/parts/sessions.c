/* sessions.c - which session's file is missing, by the groups of events that were counted. */
#include "sessions.h"

#include "parser/base.h"

#define GROUP_PROCESS 0x03
#define GROUP_HEAP    0x10
#define GROUP_IMAGE   0x14

etlheap_missing_session etlheap_find_missing_session(const etlheap_result *result)
{
    const etlheap_hook_count *rows = NULL;
    const u32 count = etlheap_hook_counts(result, &rows);
    bool has_heap = false, has_kernel = false;
    for (u32 i = 0; i < count; i++) {
        const u32 group = rows[i].hook >> 8;
        has_heap |= group == GROUP_HEAP;
        has_kernel |= group == GROUP_PROCESS || group == GROUP_IMAGE;
    }
    if (has_heap == has_kernel)
        return ETLHEAP_MISSING_NONE;
    return has_heap ? ETLHEAP_MISSING_KERNEL : ETLHEAP_MISSING_HEAP;
}

const char *etlheap_empty_words(const etlheap_result *result, const char *otherwise)
{
    return etlheap_find_missing_session(result) == ETLHEAP_MISSING_HEAP
               ? "Nothing matches: the recording has no heap events."
               : otherwise;
}
