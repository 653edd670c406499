/*
 * frame_patterns.c - finds out whether one of many patterns matches a function: patterns to cull,
 * and patterns of required frames. frames.c works out the verdicts of modules.
 *
 * In: patterns, later modules and functions. Out: whether a pattern matches both.
 *
 * A trace may have a hundred thousand functions, and a list thousands of patterns, so the patterns
 * are searched in an index. Invariant: the answer is that of trying query_frame_matches with each
 * pattern that applies.
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
           query_frame_matches(one, finder->module, finder->symbol);
}

static bool index_patterns(frame_pattern_finder *finder, u32 count)
{
    bool ok = true;
    for (u32 i = 0; ok && i < count; i++) {
        const etlheap_pattern *const one = &finder->patterns[i];
        if (one->symbol != NULL)
            ok = pattern_index_add_glob(&finder->symbols, i, one->symbol);
        else if (one->module != NULL)
            ok = pattern_index_add_glob(&finder->modules, i, one->module);
        else
            ok = pattern_index_add_open(&finder->modules, i);
    }
    return ok && pattern_index_finish(&finder->symbols) && pattern_index_finish(&finder->modules) &&
           pattern_search_open(&finder->in_symbols, &finder->symbols, one_matches, finder) &&
           pattern_search_open(&finder->in_modules, &finder->modules, one_matches, finder);
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
                                           .modules = { .ignores_case = true } };
    return index_patterns(out->finder, count);
}

void frame_patterns_close(frame_patterns *patterns)
{
    frame_pattern_finder *const finder = patterns->finder;
    if (finder != NULL) {
        pattern_search_close(&finder->in_symbols);
        pattern_search_close(&finder->in_modules);
        pattern_index_free(&finder->symbols);
        pattern_index_free(&finder->modules);
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
    return pattern_search_first(&finder->in_symbols, symbol == NULL ? "" : symbol) !=
               PATTERN_NONE ||
           pattern_search_first(&finder->in_modules, module == NULL ? "" : module) != PATTERN_NONE;
}
