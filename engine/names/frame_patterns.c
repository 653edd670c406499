/*
 * frame_patterns.c - finds out whether one of many patterns matches a function: patterns to cull,
 * and patterns of required and excluded frames. frames.c works out the verdicts of modules.
 *
 * In: patterns, later modules and functions. Out: whether a pattern matches both.
 *
 * A trace may have a hundred thousand functions, and a list thousands of patterns, so the patterns
 * are searched in an index. Invariant: the answer is that of trying etlheap_pattern_matches with
 * each pattern that applies.
 */
#include "frame_patterns.h"

#include <stdlib.h>

#include "engine/query/query.h"

static bool one_matches(const void *patterns, u32 pattern, const char *name)
{
    const frame_pattern_finder *const finder = patterns;
    const etlheap_pattern *const one = &finder->patterns[pattern];
    (void)name;
    return !(one->unnamed_only && finder->is_known) &&
           etlheap_pattern_matches(one, finder->module, finder->symbol);
}

static bool one_names_module(const void *patterns, u32 pattern, const char *name)
{
    const frame_pattern_finder *const finder = patterns;
    return query_module_matches(&finder->patterns[pattern], name);
}

/* Adds a pattern to an index of modules. */
static bool index_module(pattern_index *index, u32 number, const char *module)
{
    return module == NULL ? pattern_index_add_open(index, number)
                          : pattern_index_add_glob(index, number, module);
}

static bool index_patterns(frame_pattern_finder *finder, u32 count)
{
    bool ok = true;
    for (u32 i = 0; ok && i < count; i++) {
        const etlheap_pattern *const one = &finder->patterns[i];
        if (one->symbol != NULL)
            ok = pattern_index_add_glob(&finder->symbols, i, one->symbol);
        else
            ok = index_module(&finder->modules, i, one->module);
        if (ok && (one->symbol != NULL || one->unnamed_only))
            ok = index_module(&finder->by_name, i, one->module);
    }
    return ok && pattern_index_finish(&finder->symbols, one_matches, finder) &&
           pattern_index_finish(&finder->modules, one_matches, finder) &&
           pattern_index_finish(&finder->by_name, one_names_module, finder);
}

bool frame_patterns_open(frame_patterns *out, const etlheap_pattern *at, u32 count,
                         size_t module_count)
{
    *out = (frame_patterns){ .at = at,
                             .count = count,
                             .verdicts = calloc(module_count + 1, sizeof *out->verdicts),
                             .finder = calloc(1, sizeof *out->finder) };
    if (out->verdicts == NULL || out->finder == NULL)
        return false;
    *out->finder = (frame_pattern_finder){ .patterns = at,
                                           .symbols = { .ignores_case = true },
                                           .modules = { .ignores_case = true },
                                           .by_name = { .ignores_case = true } };
    return index_patterns(out->finder, count);
}

void frame_patterns_close(frame_patterns *patterns)
{
    frame_pattern_finder *const finder = patterns->finder;
    if (finder != NULL) {
        pattern_index_free(&finder->symbols);
        pattern_index_free(&finder->modules);
        pattern_index_free(&finder->by_name);
    }
    free(finder);
    free(patterns->verdicts);
    *patterns = (frame_patterns){ .at = NULL };
}

bool frame_patterns_match(const frame_patterns *patterns, const char *module, const char *symbol,
                          bool is_guess)
{
    frame_pattern_finder *const finder = patterns->finder;
    finder->module = module;
    finder->symbol = symbol;
    finder->is_known = symbol != NULL && !is_guess;
    return pattern_index_first(&finder->symbols, symbol == NULL ? "" : symbol) != PATTERN_NONE ||
           pattern_index_first(&finder->modules, module == NULL ? "" : module) != PATTERN_NONE;
}

frame_verdict frame_patterns_judge(const frame_patterns *patterns, const char *module,
                                   bool has_symbols)
{
    frame_pattern_finder *const finder = patterns->finder;
    if (module == NULL || !has_symbols)
        return frame_patterns_match(patterns, module, NULL, false) ? FRAME_VERDICT_ALL
                                                                   : FRAME_VERDICT_NONE;
    finder->module = module;
    finder->symbol = NULL;
    finder->is_known = true;
    if (pattern_index_first(&finder->modules, module) != PATTERN_NONE)
        return FRAME_VERDICT_ALL;
    return pattern_index_first(&finder->by_name, module) != PATTERN_NONE ? FRAME_VERDICT_BY_NAME
                                                                         : FRAME_VERDICT_NONE;
}
