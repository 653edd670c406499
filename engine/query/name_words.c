/*
 * name_words.c - words of a query that name files: processes, and modules of frames.
 *
 * In: a word or pattern of a user, and the name of a file as a result has it. Out: whether it is
 * meant. Case does not matter, * and ? are wildcards, and the extension may be left out.
 *
 * A list of processes is given as its words and as a whole, because a file's name may contain
 * commas. Which of them was meant shows only in the result: the whole, if a process has that name.
 * Invariant: a word that names no process is reported unless etlheap_word_is_other explains it.
 */
#include "query.h"

#include "engine/result/result.h"
#include "parser/system/name_fold.h"

bool query_word_names_file(const char *pattern, const char *name)
{
    if (etl_name_glob(pattern, name))
        return true;
    char stem[256];
    const char *const dot = strrchr(name, '.');
    const size_t size = dot == NULL ? 0 : (size_t)(dot - name);
    if (size == 0 || size >= sizeof stem)
        return false;
    memcpy(stem, name, size);
    stem[size] = '\0';
    return etl_name_glob(pattern, stem);
}

bool query_frame_matches(const etlheap_pattern *pattern, const char *module, const char *symbol)
{
    if (pattern->symbol != NULL && !etl_name_glob(pattern->symbol, symbol == NULL ? "" : symbol))
        return false;
    return query_module_matches(pattern, module);
}

bool query_module_matches(const etlheap_pattern *pattern, const char *module)
{
    if (pattern->module == NULL)
        return true;
    if (module == NULL)
        return false;
    const char *const slash = strrchr(module, '\\'); /* namesakes have folders in their names */
    return query_word_names_file(pattern->module, module) ||
           (slash != NULL && query_word_names_file(pattern->module, slash + 1));
}

bool query_word_is_pid(const char *word, u64 *pid)
{
    const char *at = word;
    *pid = 0;
    for (; *at >= '0' && *at <= '9' && *pid <= UINT32_MAX; at++)
        *pid = *pid * 10 + (u64)(*at - '0');
    return at != word && *at == '\0';
}

bool etlheap_word_names_process(const char *word, const etlheap_process_info *process)
{
    u64 pid;
    if (query_word_is_pid(word, &pid))
        return pid == process->pid;
    return query_word_names_file(word, process->name);
}

bool etlheap_process_is_named(const char *name)
{
    return strcmp(name, RESULT_UNNAMED_PROCESS) != 0;
}

static bool names_any_process(const etlheap_result *result, const char *word)
{
    for (size_t i = 0; i < result->processes.count; i++) {
        if (etlheap_word_names_process(word, &result->processes.at[i]))
            return true;
    }
    return false;
}

/* True if the word stands between commas of the list. */
static bool is_part_of(const char *word, const char *list)
{
    const size_t size = strlen(word);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += at != list;
        if (strncmp(at, word, size) == 0 && (at[size] == ',' || (at[size] == '\0' && at != list)))
            return true;
    }
    return false;
}

bool etlheap_word_is_other(const etlheap_result *result, const char *const *words, u32 count,
                           u32 index)
{
    for (u32 i = 0; i < count; i++) {
        if (i != index &&
            (is_part_of(words[i], words[index]) ||
             (is_part_of(words[index], words[i]) && names_any_process(result, words[i]))))
            return true;
    }
    return false;
}
