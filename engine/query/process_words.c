/*
 * process_words.c - finds which words of a list name a process, without trying them all.
 *
 * In: words of a user, and the processes of a result. Out: whether a word names a process, and
 * for each word whether it names one.
 *
 * A trace may have a million processes, and a list thousands of words. Names are searched in an
 * index of the words (pattern_index.h), and ids in a sorted list; parts of a list of words are
 * found in the sorted words. Invariant: the answers are those of trying every word on every
 * process.
 */
#include "process_words.h"

#include <stdlib.h>

#include "engine/result/result.h"
#include "query.h"

static bool word_matches(const void *patterns, u32 pattern, const char *name)
{
    const process_words *const words = patterns;
    return query_word_names_file(words->words[pattern], name);
}

static int by_pid(const void *a, const void *b)
{
    const u64 x = ((const pid_word *)a)->pid, y = ((const pid_word *)b)->pid;
    return (x > y) - (x < y);
}

bool process_words_open(process_words *out, const char *const *words, u32 count)
{
    bool ok = true;
    *out = (process_words){ .words = words, .count = count, .names = { .ignores_case = true } };
    for (u32 i = 0; ok && i < count; i++) {
        pid_word id = { .word = i };
        ok = query_word_is_pid(words[i], &id.pid)
                 ? ETLHEAP_PUSH(&out->ids, id)
                 : pattern_index_add_glob(&out->names, i, words[i]);
    }
    if (out->ids.count > 1)
        qsort(out->ids.at, out->ids.count, sizeof *out->ids.at, by_pid);
    return ok && pattern_index_finish(&out->names, word_matches, out);
}

void process_words_close(process_words *words)
{
    pattern_index_free(&words->names);
    ETLHEAP_VECTOR_FREE(&words->ids);
}

/* The first of the ids that is not below this one. */
static size_t first_id(const process_words *words, u64 pid)
{
    size_t at;
    ETL_BISECT(at, 0, words->ids.count, words->ids.at[at].pid < pid);
    return at;
}

static bool names(process_words *words, const etlheap_process_info *process)
{
    const size_t at = first_id(words, process->pid);
    return (at < words->ids.count && words->ids.at[at].pid == process->pid) ||
           pattern_index_first(&words->names, process->name) != PATTERN_NONE;
}

void process_words_select(process_words *words, const etlheap_result *result, bool *named)
{
    for (size_t i = 0; i < result->processes.count; i++)
        named[i] = names(words, &result->processes.at[i]);
}

/* Marks the words that name the process. */
static void mark_words(process_words *words, const etlheap_process_info *process, bool *marked)
{
    for (size_t i = first_id(words, process->pid);
         i < words->ids.count && words->ids.at[i].pid == process->pid; i++)
        marked[words->ids.at[i].word] = true;
    pattern_index_mark(&words->names, process->name, marked);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(**(const char *const *const *)a, **(const char *const *const *)b);
}

/* What is known of words while lists of them are taken apart. */
typedef struct word_parts {
    const char *const *words;
    const char *const **sorted; /* words by text */
    u32 count;
    const bool *named; /* by word: names a process */
    etlheap_word_use *uses;
} word_parts;

static void explain(word_parts *parts, u32 word)
{
    if (parts->uses[word] == ETLHEAP_WORD_MISSING)
        parts->uses[word] = ETLHEAP_WORD_OTHER;
}

/* Explains a part of the list, and the list by it. */
static void explain_part(word_parts *parts, u32 list, const char *part, size_t size)
{
    u32 at;
    ETL_BISECT(at, 0, parts->count, strncmp(*parts->sorted[at], part, size) < 0);
    for (; at < parts->count && strncmp(*parts->sorted[at], part, size) == 0; at++) {
        if ((*parts->sorted[at])[size] != '\0')
            break; /* words that only begin with the part come later */
        explain(parts, list);
        if (parts->named[list])
            explain(parts, (u32)(parts->sorted[at] - parts->words));
    }
}

/* Explains lists of words, and words of lists that name a process as a whole. */
static bool explain_lists(word_parts *parts)
{
    parts->sorted = malloc((parts->count + (size_t)1) * sizeof *parts->sorted);
    if (parts->sorted == NULL)
        return false;
    for (u32 i = 0; i < parts->count; i++)
        parts->sorted[i] = &parts->words[i];
    if (parts->count > 1)
        qsort(parts->sorted, parts->count, sizeof *parts->sorted, by_text);
    for (u32 i = 0; i < parts->count; i++) {
        const char *at = strchr(parts->words[i], ',') == NULL ? "" : parts->words[i];
        while (*at != '\0') {
            const size_t size = strcspn(at, ",");
            if (size > 0)
                explain_part(parts, i, at, size);
            at += size + (at[size] == ',');
        }
    }
    free(parts->sorted);
    return true;
}

bool process_words_uses(const etlheap_result *result, process_words *words, const u32 *kinds,
                        etlheap_word_use *uses)
{
    bool *const named = calloc(words->count + (size_t)1, sizeof *named);
    bool *const counted = calloc(words->count + (size_t)1, sizeof *counted);
    bool ok = named != NULL && counted != NULL;
    for (size_t i = 0; ok && i < result->processes.count; i++) {
        const etlheap_process_info *const process = &result->processes.at[i];
        mark_words(words, process, named);
        if (kinds != NULL && (etlheap_process_kinds(process) & *kinds) != 0)
            mark_words(words, process, counted);
    }
    for (u32 i = 0; ok && i < words->count; i++)
        uses[i] = (kinds == NULL ? named : counted)[i] ? ETLHEAP_WORD_NAMES : ETLHEAP_WORD_MISSING;
    word_parts parts = {
        .words = words->words, .count = words->count, .named = named, .uses = uses
    };
    ok = ok && explain_lists(&parts);
    free(named);
    free(counted);
    return ok;
}

bool etlheap_word_uses(const etlheap_result *result, const char *const *words, u32 count,
                       etlheap_word_use *uses)
{
    process_words own;
    const bool ok =
        process_words_open(&own, words, count) && process_words_uses(result, &own, NULL, uses);
    process_words_close(&own);
    return ok;
}

bool etlheap_words_select(const etlheap_result *result, const char *const *words, u32 count,
                          bool *named)
{
    process_words own;
    const bool ok = process_words_open(&own, words, count);
    if (ok)
        process_words_select(&own, result, named);
    process_words_close(&own);
    return ok;
}
