/*
 * options_table.c - the options of all commands: a row each, for parsing and help.
 */
#include "options.h"

#define OPTION(member) (u16) offsetof(cli_options, member)

static const char group_select[] = "Which allocations";
static const char group_gate[] = "What is too much";
static const char group_shape[] = "How they are shown";
static const char group_symbols[] = "Names of functions";
static const char group_run[] = "The run";

/* One row an option, in the order of --help. */
static const cli_option options_table[] = {
    { "--from", 0, CLI_VALUE_TIME, OPTION(from), CLI_ASKING | CLI_DUMP, group_select, "TIME",
      "window from here: 12s, 350ms, or 2020-07-29T00:07:10Z" },
    { "--to", 0, CLI_VALUE_TIME, OPTION(to), CLI_ASKING | CLI_DUMP, group_select, "TIME",
      "up to here, exclusive" },
    { "--every", 0, CLI_VALUE_DURATION, OPTION(every_ns), CLI_WINDOWS, group_select, "DURATION",
      "windows of this length: 500ms, 2s (about twenty windows)" },
    { "--window", 0, CLI_VALUE_WINDOWS, OPTION(windows), CLI_WINDOWS, group_select, "A..B",
      "this window: 10s..12s, 5s..; may be repeated, may overlap" },
    { "--at", 0, CLI_VALUE_MOMENTS, OPTION(moments), CLI_WINDOWS, group_select, "TIME",
      "cut here: what is outstanding then, and what changes between;\n"
      "may be repeated" },
    { "--find-growth", 0, CLI_VALUE_FLAG, OPTION(find_growth), CLI_WINDOWS, group_select, NULL,
      "the window of the steepest rise, and the stacks that explain it" },
    { "--at-exit", 0, CLI_VALUE_AT_EXIT, OPTION(at_exit), CLI_ASKING & ~CLI_WINDOWS, group_select,
      "leaked|freed", "whether the end of a process frees its memory (leaked)" },
    { "--at-exit", 0, CLI_VALUE_AT_EXIT, OPTION(at_exit), CLI_WINDOWS, group_select, "leaked|freed",
      "whether the end of a process frees its memory (freed)" },
    { "--kind", 0, CLI_VALUE_KINDS, OPTION(kinds), CLI_ASKING, group_select, "LIST",
      "heap, virtualalloc, extent" },
    { "--process", 0, CLI_VALUE_WORDS, OPTION(processes), CLI_ASKING | CLI_DUMP, group_select,
      "NAME|PID", "with * and ?; may be repeated" },
    { "--heap", 0, CLI_VALUE_HEAPS, OPTION(heaps), CLI_ASKING, group_select, "HANDLE",
      "heap handles, 0x1f0000" },
    { "--thread", 0, CLI_VALUE_THREADS, OPTION(threads), CLI_FILTERING, group_select, "TID",
      "allocating threads" },
    { "--type", 0, CLI_VALUE_TYPES, OPTION(types), CLI_REPORT | CLI_ALLOCATIONS | CLI_DIFF,
      group_select, "LIST", "AIFO, AIFI, AOFI, AOFO: allocated, freed inside or outside" },
    { "--impacting", 0, CLI_VALUE_IMPACTING, OPTION(impacting), CLI_REPORT, group_select, "LIST",
      "transient (AIFI), impacting (AIFO, AOFI), persistent (AOFO)" },
    { "--at", 0, CLI_VALUE_AT, OPTION(at), CLI_REPORT, group_select, "peak|TIME",
      "only what is outstanding then; peak: when most is, by kind" },
    { "--lifetime", 0, CLI_VALUE_LIFETIMES, OPTION(lifetime_min_ns), CLI_FILTERING, group_select,
      "A..B", "time between allocation and free: 1s.., ..5ms" },
    { "--size", 0, CLI_VALUE_SIZES, OPTION(size_min_bytes), CLI_ASKING, group_select, "A..B",
      "size of one allocation: 64K..1.5M, 4096" },
    { "--require-frame", 0, CLI_VALUE_WORDS, OPTION(require_frames), CLI_FILTERING, group_select,
      "PATTERN", "stacks with such a frame: [module!][symbol], * and ?" },
    { "--events", 0, CLI_VALUE_WORDS, OPTION(events), CLI_DUMP, group_select, "LIST",
      "Heap/Alloc, Heap/*, 0x1021 or a provider's GUID; may be repeated" },

    { "--max-outstanding", 0, CLI_VALUE_WORDS, OPTION(max_outstanding), CLI_CHECK, group_gate,
      "LIMIT", "no more bytes than [KIND/][PER:]SIZE: 10M, stack:64K, heap/process:10M" },
    { "--max-outstanding-count", 0, CLI_VALUE_WORDS, OPTION(max_outstanding_count), CLI_CHECK,
      group_gate, "LIMIT", "no more allocations than [KIND/][PER:]N; limits may be repeated" },
    { "--per", 0, CLI_VALUE_SCOPE, OPTION(per), CLI_CHECK, group_gate, "WORD",
      "of limits without PER: process, heap, stack or total (process)" },
    { "--suppressions", 0, CLI_VALUE_WORDS, OPTION(suppressions), CLI_CHECK, group_gate, "FILE",
      "known leaks, which no limit counts: lines leak:PATTERN (LeakSanitizer's)" },
    { "--baseline", 0, CLI_VALUE_WORD, OPTION(baseline), CLI_CHECK, group_gate, "FILE",
      "an earlier run to compare with, a store or a trace" },
    { "--max-growth", 0, CLI_VALUE_WORDS, OPTION(max_growth), CLI_CHECK, group_gate, "LIMIT",
      "no more bytes more than in it: 64K, 5%, stack:4K+5%" },
    { "--max-growth-count", 0, CLI_VALUE_WORDS, OPTION(max_growth_count), CLI_CHECK, group_gate,
      "LIMIT", "no more allocations more: 10, 5%, stack:2+5%" },
    { "--update-baseline", 0, CLI_VALUE_FLAG, OPTION(update_baseline), CLI_CHECK, group_gate, NULL,
      "a run that passes and is nowhere larger becomes it, and so does the first" },
    { "--accept", 0, CLI_VALUE_FLAG, OPTION(accept), CLI_CHECK, group_gate, NULL,
      "with it: this run becomes the baseline, whatever it grew" },
    { "--allow-empty", 0, CLI_VALUE_FLAG, OPTION(allow_empty), CLI_CHECK, group_gate, NULL,
      "pass if no process matches or the trace has no such events" },

    { "--group-by", 0, CLI_VALUE_KEYS, OPTION(group_by), CLI_GROUPING & ~CLI_WINDOWS, group_shape,
      "LIST", "what makes a row, the outermost group first:" },
    { "--group-by", 0, CLI_VALUE_KEYS, OPTION(group_by), CLI_WINDOWS, group_shape, "LIST",
      "what makes a group (kind,process):" },
    { "--stack-tags", 0, CLI_VALUE_WORDS, OPTION(stack_tags), CLI_GROUPING, group_shape, "FILE",
      "WPA's stack tags, for --group-by tag; may be repeated" },
    { "--sort", 0, CLI_VALUE_SORT, OPTION(sort), CLI_GROUPING & ~CLI_WINDOWS, group_shape,
      "[-]COLUMN", "outstanding_size; a dash sorts the smallest first:" },
    { "--sort", 0, CLI_VALUE_SORT, OPTION(sort), CLI_WINDOWS, group_shape, "[-]COLUMN",
      "groups by peak_size over all windows; a dash: the smallest first:" },
    { "--growth", 0, CLI_VALUE_FLAG, OPTION(growth), CLI_REPORT, group_shape, NULL,
      "how fast rows grow, and how steadily: leaks apart from caches" },
    { "--histogram", 0, CLI_VALUE_HISTOGRAM, OPTION(histogram), CLI_REPORT, group_shape, "BY",
      "size or lifetime: how they are spread, in powers of two" },
    { "--top", 0, CLI_VALUE_TOP, OPTION(top), (CLI_GROUPING & ~CLI_WINDOWS) | CLI_INFO, group_shape,
      "N|all", "only the first N rows (text: 25 of each kind)" },
    { "--top", 0, CLI_VALUE_TOP, OPTION(top), CLI_WINDOWS, group_shape, "N|all",
      "only the first N groups, or stacks of the growth (text: 10)" },
    { "--sort", 0, CLI_VALUE_LIFETIME_SORT, OPTION(lifetime_sort), CLI_ALLOCATIONS, group_shape,
      "[-]COLUMN", "alloc_time; the largest first of a column given, the smallest with a dash:" },
    { "--top", 0, CLI_VALUE_TOP, OPTION(top), CLI_ALLOCATIONS, group_shape, "N|all",
      "only the first N rows (all)" },
    { "--all", 0, CLI_VALUE_FLAG, OPTION(all), CLI_DIFF, group_shape, NULL,
      "what did not change, too" },
    { "--per-second", 0, CLI_VALUE_FLAG, OPTION(per_second), CLI_DIFF, group_shape, NULL,
      "compare amounts per second of each side's window" },
    { "--top", 0, CLI_VALUE_TOP, OPTION(top), CLI_CHECK, group_shape, "N|all",
      "stacks listed of each failure (5)" },
    { "--sarif-results", 0, CLI_VALUE_COUNT, OPTION(sarif_results), CLI_CHECK, group_shape, "N",
      "results in a SARIF log (5000, which GitHub shows)" },
    { "--sarif-category", 0, CLI_VALUE_WORD, OPTION(sarif_category), CLI_CHECK, group_shape, "NAME",
      "GitHub's category of a SARIF log (etlheap)" },
    { "--tree", 0, CLI_VALUE_TREE, OPTION(tree), CLI_REPORT, group_shape, "[=callers]",
      "call tree: callees, outermost frame first, or callers" },
    { "--frames", 0, CLI_VALUE_NUMBER, OPTION(frames), CLI_FILTERING & ~CLI_EXPORT, group_shape,
      "N", "frames shown of each stack (4)" },
    { "--cull-frame", 0, CLI_VALUE_WORDS, OPTION(cull_frames), CLI_ASKING, group_shape, "PATTERN",
      "drop innermost frames like this one" },
    { "--cull-list", 0, CLI_VALUE_WORDS, OPTION(cull_lists), CLI_ASKING, group_shape, "FILE",
      "the same, patterns one a line" },
    { "--no-cull", 0, CLI_VALUE_FLAG, OPTION(no_cull), CLI_ASKING, group_shape, NULL,
      "keep the frames of known allocators" },
    { "--format", 0, CLI_VALUE_EXPORTER, OPTION(format), CLI_EXPORT, group_shape, "FORMAT",
      NULL /* the exporters */ },
    { "--metric", 0, CLI_VALUE_METRIC, OPTION(metric), CLI_EXPORT, group_shape, "METRIC",
      "outstanding, total, transient or peak (the format's first)" },
    { "--rows", 0, CLI_VALUE_FLAG, OPTION(rows), CLI_EXPORT, group_shape, NULL,
      "allocations one by one, where the format has a place for them" },
    { "--format", 0, CLI_VALUE_FORMAT, OPTION(format), CLI_SHOWING, group_shape, "FORMAT",
      NULL /* the command's formats */ },
    { "--titles", 0, CLI_VALUE_FLAG, OPTION(titles), CLI_TITLED, group_shape, NULL,
      "CSV: column titles as WPA has them (the keys of JSON)" },

    { "--symbols", 0, CLI_VALUE_WORD, OPTION(symbols), CLI_ASKING, group_symbols, "PATH",
      "where PDBs are, or below: DIR;SRV*CACHE*URL... (_NT_SYMBOL_PATH)" },
    { "--no-symbols", 0, CLI_VALUE_FLAG, OPTION(no_symbols), CLI_FILTERING, group_symbols, NULL,
      "frames as module+offset" },
    { "--symbols-loose", 0, CLI_VALUE_FLAG, OPTION(symbols_loose), CLI_ASKING, group_symbols, NULL,
      "use PDBs of another build rather than none" },
    { "--offline", 0, CLI_VALUE_FLAG, OPTION(offline), CLI_ASKING, group_symbols, NULL,
      "ask no servers, only folders and caches" },
    { "--summary", 0, CLI_VALUE_FLAG, OPTION(summary), CLI_STORE, group_run, NULL,
      "for archives: the totals of each stack in place of allocations,\n"
      "without heaps, threads and sizes; to be merged" },
    { "--every", 0, CLI_VALUE_DURATION, OPTION(every_ns), CLI_STORE, group_run, "DURATION",
      "with --summary: totals of windows of this length too: 500ms, 2s" },
    { "--every", 0, CLI_VALUE_DURATION, OPTION(every_ns), CLI_MERGE, group_run, "DURATION",
      "windows of what is summarised here (those of the summaries)" },
    { "--allow-duplicates", 0, CLI_VALUE_FLAG, OPTION(allow_duplicates), CLI_MERGE, group_run, NULL,
      "add up a trace that is there twice, rather than refuse it" },
    { "--output", 'o', CLI_VALUE_WORD, OPTION(output), CLI_ALL, group_run, "FILE",
      "write to FILE, complete or not at all; its suffix picks the format" },
    { "--out-dir", 0, CLI_VALUE_WORD, OPTION(out_dir), CLI_STORE, group_run, "DIR",
      "store each input, and each trace in folders given, by itself in\n"
      "DIR; what is there unchanged is skipped; DIR/runs.ndjson lists all" },
    { "--jobs", 'j', CLI_VALUE_COUNT, OPTION(jobs), CLI_ALL, group_run, "N",
      "threads (one for each processor it may use)" },
    { "--memory", 0, CLI_VALUE_SIZE, OPTION(memory_bytes), CLI_ALL, group_run, "SIZE",
      "stop rather than use more memory: 512M, 4G" },
    { "--together", 0, CLI_VALUE_FLAG, OPTION(together), CLI_ALL & ~(CLI_DIFF | CLI_MERGE),
      group_run, NULL, "read files of different recordings as if they were one" },
    { "--no-mmap", 0, CLI_VALUE_FLAG, OPTION(no_mmap), CLI_ALL & ~CLI_MERGE, group_run, NULL,
      "read files instead of mapping them" },
    { "--progress", 0, CLI_VALUE_PROGRESS, OPTION(progress), CLI_ALL, group_run, "WHEN",
      "bar on stderr: always, never, auto (on a terminal)" },
    { "--strict", 0, CLI_VALUE_FLAG, OPTION(strict), CLI_ALL, group_run, NULL,
      "status 4 when the input is damaged or lost events" },
    { "--help", 'h', CLI_VALUE_FLAG, OPTION(help), CLI_ALL | CLI_SELFTEST, group_run, NULL,
      "show this help" },
};

static_assert(ETL_COUNT_OF(options_table) <= CLI_OPTIONS_MAX, "lists of options have room");

u32 cli_option_count(void)
{
    return (u32)ETL_COUNT_OF(options_table);
}

const cli_option *cli_option_at(u32 index)
{
    assert(index < ETL_COUNT_OF(options_table));
    return &options_table[index];
}
