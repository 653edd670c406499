/* result_threads.c - see etlheap_threads.h. */
#include "result.h"

const char *etlheap_process_thread_name(const etlheap_result *result, etlheap_process process,
                                        u32 tid)
{
    const thread_names *const names = &result->thread_names;
    const size_t place = thread_names_place(names, process.v, tid);
    return place < names->list.count ? names->list.at[place].name : NULL;
}
