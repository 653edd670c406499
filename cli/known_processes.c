/* known_processes.c - looks words up by a sorted list of keys; wildcards, and a
 * few words, try all processes. */
#include "known_processes.h"

#include <stdlib.h>

#include "parser/system/name_fold.h"

#define KEYS_BY_PROCESS 3u
#define STEM_SIZE       256u
#define SORTED_FROM     8u /* words */

static u64 key_of_pid(u64 pid)
{
    return etl_mix_u64(pid);
}

static u64 key_of_name(const char *name)
{
    return etl_name_hash(name, 0);
}

static int by_key(const void *a, const void *b)
{
    const cli_known_process *const x = a, *const y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->process > y->process) - (x->process < y->process);
}

static void add(cli_known_processes *known, u64 key, u32 process)
{
    known->at[known->count++] = (cli_known_process){ key, process };
}

void cli_known_processes_open(cli_known_processes *out, const etlheap_result *result,
                              u32 word_count)
{
    const u32 count = etlheap_process_count(result);
    *out = (cli_known_processes){ .result = result };
    if (word_count < SORTED_FROM)
        return;
    out->at = calloc((size_t)count * KEYS_BY_PROCESS + 1, sizeof *out->at);
    for (u32 id = 1; out->at && id <= count; id++) {
        const etlheap_process_info *const process =
            etlheap_process_of(result, (etlheap_process){ id });
        const char *const dot = strrchr(process->name, '.');
        const size_t size = dot ? (size_t)(dot - process->name) : 0;
        add(out, key_of_pid(process->pid), id);
        add(out, key_of_name(process->name), id);
        if (size > 0 && size < STEM_SIZE) {
            char stem[STEM_SIZE];
            memcpy(stem, process->name, size);
            stem[size] = '\0';
            add(out, key_of_name(stem), id);
        }
    }
    if (out->count > 1)
        qsort(out->at, out->count, sizeof *out->at, by_key);
}

void cli_known_processes_close(cli_known_processes *known)
{
    free(known->at);
    *known = (cli_known_processes){ .result = NULL };
}

static bool names(cli_known_processes *known, const char *word, u32 process)
{
    known->tried++;
    return etlheap_word_names_process(
        word, etlheap_process_of(known->result, (etlheap_process){ process }));
}

static bool has_key(cli_known_processes *known, const char *word, u64 key)
{
    size_t low = 0, high = known->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (known->at[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < known->count && known->at[low].key == key; low++) {
        if (names(known, word, known->at[low].process))
            return true;
    }
    return false;
}

bool cli_known_processes_has(cli_known_processes *known, const char *word)
{
    if (known->at && !strpbrk(word, "*?"))
        return has_key(known, word, key_of_name(word)) ||
               has_key(known, word, key_of_pid(strtoull(word, NULL, 10)));
    for (u32 id = 1; id <= etlheap_process_count(known->result); id++) {
        if (names(known, word, id))
            return true;
    }
    return false;
}
