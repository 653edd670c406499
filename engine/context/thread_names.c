/*
 * thread_names.c - names of threads by process and id.
 *
 * In: names as they are logged. Out: for each process and id the last name, found by bisection.
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
    const thread_name row = { note->pid, note->tid, note->ticks,
                              etlheap_strings_get(strings, text) };
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

size_t thread_names_place(const thread_names *names, u32 pid, u32 tid)
{
    size_t low = 0, high = names->list.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (names->list.at[middle].tid < tid)
            low = middle + 1;
        else
            high = middle;
    }
    size_t found = names->list.count;
    for (; low < names->list.count && names->list.at[low].tid == tid; low++) {
        if (names->list.at[low].pid == pid)
            return low;
        if (found == names->list.count || is_later(&names->list.at[low], &names->list.at[found]))
            found = low;
    }
    return found;
}

const char *thread_names_find(const thread_names *names, u32 pid, u32 tid)
{
    const size_t place = thread_names_place(names, pid, tid);
    return place < names->list.count ? names->list.at[place].name : NULL;
}

void thread_names_free(thread_names *names)
{
    ETLHEAP_VECTOR_FREE(&names->list);
    etlheap_index_free(&names->index);
}
