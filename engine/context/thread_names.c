/*
 * thread_names.c - names of threads by process and id.
 *
 * In: names as they are logged, with the id of the process. Out: for each process and id the last
 * name, found by bisection; the process is the one that had its id when the name was logged.
 * Invariant: "last" is by time, then by the name itself, never by the order of adding, which
 * depends on tasks.
 */
#include "thread_names.h"

#include <stdlib.h>

typedef struct thread_key {
    u32 pid, tid;
} thread_key;

static bool same_thread(const void *owner, u32 id, const void *key)
{
    const thread_name *const row = &((const thread_names *)owner)->list.at[id - 1];
    const thread_key *const wanted = key;
    return row->pid == wanted->pid && row->tid == wanted->tid;
}

/* Of one moment the larger name is the later one, whatever the order in which they came. */
static bool is_later(const thread_name *a, const thread_name *b)
{
    return a->ticks != b->ticks ? a->ticks > b->ticks : strcmp(a->name, b->name) > 0;
}

bool thread_names_add(thread_names *names, const thread_note *note, etlheap_strings *strings)
{
    u32 text;
    const thread_key key = { note->pid, note->tid };
    const u64 hash = etlheap_hash_u64((u64)note->pid << 32 | note->tid);
    if (!etlheap_strings_add_utf16(strings, note->name, &text))
        return false;
    if (text == 0)
        return true;
    const thread_name row = { .pid = note->pid,
                              .tid = note->tid,
                              .ticks = note->ticks,
                              .name = etlheap_strings_get(strings, text) };
    const u32 id = etlheap_index_find(&names->index, hash, same_thread, names, &key);
    if (id == 0)
        return ETLHEAP_PUSH(&names->list, row) &&
               etlheap_index_add(&names->index, hash, (u32)names->list.count);
    if (is_later(&row, &names->list.at[id - 1]))
        names->list.at[id - 1] = row;
    return true;
}

bool thread_name_precedes(const thread_name *a, const thread_name *b)
{
    return a->tid != b->tid ? a->tid < b->tid : a->pid < b->pid;
}

static int by_tid_and_pid(const void *a, const void *b)
{
    if (thread_name_precedes(a, b))
        return -1;
    return thread_name_precedes(b, a) ? 1 : 0;
}

void thread_names_sort(thread_names *names)
{
    etlheap_index_free(&names->index);
    if (names->list.count > 0)
        qsort(names->list.at, names->list.count, sizeof *names->list.at, by_tid_and_pid);
}

/* The process that had the id at this time: the last one that had begun, or else the first one. */
static u32 process_at(const etlheap_process_info *processes, size_t count, u32 pid, i64 ticks)
{
    size_t low;
    ETL_BISECT(low, 0, count,
               processes[low].pid < pid ||
                   (processes[low].pid == pid && processes[low].start_ticks <= ticks));
    if (low > 0 && processes[low - 1].pid == pid)
        return (u32)low;
    return low < count && processes[low].pid == pid ? (u32)low + 1 : 0;
}

void thread_names_own(thread_names *names, const etlheap_process_info *processes, size_t count)
{
    for (size_t i = 0; i < names->list.count; i++) {
        thread_name *const name = &names->list.at[i];
        name->process = process_at(processes, count, name->pid, name->ticks);
    }
}

size_t thread_names_first(const thread_names *names, u32 tid)
{
    size_t low;
    ETL_BISECT(low, 0, names->list.count, names->list.at[low].tid < tid);
    return low;
}

size_t thread_names_place(const thread_names *names, u32 process, u32 tid)
{
    const thread_name *const rows = names->list.at;
    for (size_t i = thread_names_first(names, tid); i < names->list.count && rows[i].tid == tid;
         i++) {
        if (rows[i].process == process)
            return i;
    }
    return names->list.count;
}

void thread_names_free(thread_names *names)
{
    ETLHEAP_VECTOR_FREE(&names->list);
    etlheap_index_free(&names->index);
}
