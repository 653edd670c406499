/*
 * name_words.c - words of a query that name files: processes, and modules of frames.
 *
 * In: a word or pattern of a user, and the name of a file as a result has it. Out: whether it is
 * meant. Case does not matter, * and ? are wildcards, and the extension may be left out.
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

bool etlheap_pattern_matches(const etlheap_pattern *pattern, const char *module, const char *symbol)
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

bool etlheap_pattern_names_module(const etlheap_pattern *pattern, const etlheap_module_info *module)
{
    return query_module_matches(pattern, module->name);
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
