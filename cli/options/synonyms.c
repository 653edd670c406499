/*
 * synonyms.c - a table of other words for options, values and commands.
 *
 * In: a word that is unknown where it stands. Out: what the user may have meant, for a hint. A word
 * may have several rows: the first one counts whose meaning the place has. Words that a slip
 * explains (nearest.c) need no row, unless the slip leads elsewhere: --pid is nearest to --kind.
 * Invariant: a word is never taken for what it may have meant; the user is told.
 */
#include "synonyms.h"

#include <string.h>
#include <strings.h>

#include "parser/base.h"

static const struct {
    const char *word, *meaning;
} synonyms[] = {
    /* options that select */
    { "--pid", "--process" },
    { "--pids", "--process" },
    { "--exe", "--process" },
    { "--image", "--process" },
    { "--app", "--process" },
    { "--program", "--process" },
    { "--tid", "--thread" },
    { "--handle", "--heap" },
    { "--heap-handle", "--heap" },
    { "--function", "--require-frame" },
    { "--func", "--require-frame" },
    { "--symbol", "--require-frame" },
    { "--frame", "--require-frame" },
    { "--module", "--require-frame 'NAME!'" },
    { "--dll", "--require-frame 'NAME!'" },
    { "--caller", "--require-frame" },
    { "--inc-pats", "--require-frame" },
    { "--include", "--require-frame" },
    { "--exclude", "--exclude-frame" },
    { "--exc-pats", "--exclude-frame" },
    { "--ignore-frame", "--exclude-frame" },
    { "--group-pats", "--fold-module" },
    { "--fold-pats", "--fold-module" },
    { "--fold", "--fold-module" },
    { "--start", "--from" },
    { "--begin", "--from" },
    { "--since", "--from" },
    { "--after", "--from" },
    { "--end", "--to" },
    { "--stop", "--to" },
    { "--until", "--to" },
    { "--before", "--to" },
    { "--range", "--window" },
    { "--range", "--from and --to" },
    { "--time", "--window" },
    { "--time", "--from and --to" },
    { "--window", "--from and --to" },
    { "--interval", "--every" },
    { "--step", "--every" },
    { "--bucket", "--every" },
    { "--outstanding", "--type AIFO,AOFO" },
    { "--leaks", "--suspects" },
    { "--leak", "--suspects" },
    { "--transient", "--impacting transient" },
    { "--temporary", "--churn" },
    { "--peak", "--at peak" },
    { "--address-space", "--map" },
    { "--flamegraph", "--format folded" },
    /* options about the output */
    { "--limit", "--top" },
    { "--head", "--top" },
    { "--rows", "--top" },
    { "--max-rows", "--top" },
    { "--count", "--top" },
    { "--depth", "--frames" },
    { "--stack-depth", "--frames" },
    { "--by", "--group-by" },
    { "--group", "--group-by" },
    { "--order", "--sort" },
    { "--order-by", "--sort" },
    { "--offset", "--skip" },
    { "--fields", "--columns" },
    { "--cols", "--columns" },
    { "--json", "--format json" },
    { "--csv", "--format csv" },
    { "--html", "--format html" },
    { "--markdown", "--format markdown" },
    { "--md", "--format markdown" },
    { "--junit", "--format junit" },
    { "--outfile", "--output" },
    { "--call-tree", "--tree" },
    { "--callers", "--tree=callers" },
    { "--callees", "--tree" },
    { "--butterfly", "--focus" },
    { "--peek", "--focus" },
    { "--callers-of", "--focus" },
    { "--spike", "--spikes" },
    { "--pdb", "--symbols" },
    { "--pdbs", "--symbols" },
    { "--sym", "--symbols" },
    { "--symbol-path", "--symbols" },
    { "--symbol-server", "--symbols 'SRV*CACHE*URL'" },
    { "--parallel", "--jobs" },
    { "--threads", "--jobs" },
    { "--mem", "--memory" },
    /* keys, columns, kinds and formats */
    { "pid", "process" },
    { "exe", "process" },
    { "program", "process" },
    { "image", "process" },
    { "handle", "heap" },
    { "tid", "thread" },
    { "callstack", "stack" },
    { "backtrace", "stack" },
    { "trace", "stack" },
    { "method", "function" },
    { "symbol", "function" },
    { "inclusive", "function" },
    { "caller", "site" },
    { "line", "source_line" },
    { "source", "source_line" },
    { "dll", "module" },
    { "pooltag", "pool_tag" },
    { "outstanding", "outstanding_size" },
    { "live", "outstanding_size" },
    { "bytes", "size" },
    { "total", "size" },
    { "allocations", "count" },
    { "allocs", "count" },
    { "blocks", "count" },
    { "peak", "peak_size" },
    { "growth", "growth_rate" },
    { "lifetime", "lifetime_median_ns" },
    { "virtual", "virtualalloc" },
    { "commit", "virtualalloc" },
    { "txt", "text" },
    { "md", "markdown" },
    { "flamegraph", "folded" },
    /* commands */
    { "version", "--version" },
    { "leaks", "report --suspects" },
    { "leak", "report --suspects" },
    { "analyze", "report" },
    { "show", "report" },
    { "stats", "info" },
    { "summary", "info" },
    { "compare", "diff" },
    { "list", "allocations" },
    { "blocks", "allocations" },
    { "convert", "export" },
    { "html", "export --format html" },
    { "flamegraph", "export --format folded" },
    { "archive", "store" },
    { "timeline", "windows" },
    { "history", "trend" },
    { "gate", "check" },
    { "events", "dump" },
};

const char *cli_synonym_at(unsigned index, const char **meaning)
{
    *meaning = index < ETL_COUNT_OF(synonyms) ? synonyms[index].meaning : NULL;
    return index < ETL_COUNT_OF(synonyms) ? synonyms[index].word : NULL;
}

static bool is_choice(const char *meaning, const char *const *choices)
{
    const size_t size = strcspn(meaning, " =");
    for (; *choices; choices++) {
        if (strlen(*choices) == size && memcmp(*choices, meaning, size) == 0)
            return true;
    }
    return false;
}

const char *cli_synonym(const char *word, const char *const *choices)
{
    for (size_t i = 0; i < ETL_COUNT_OF(synonyms); i++) {
        if (strcasecmp(synonyms[i].word, word) == 0 && is_choice(synonyms[i].meaning, choices))
            return synonyms[i].meaning;
    }
    return NULL;
}
