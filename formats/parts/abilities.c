/*
 * abilities.c - which questions a trace can answer, why, and how to record the rest.
 *
 * In: the facts of a result. Out: one question at a time: those about a kind of memory, from its
 * row (etlheap_kinds.h), and those of the table below, whose rows name the fact that they need.
 * Invariant: whatever can be answered needs no recording, so it has none.
 *
 * Source of the commands: Microsoft's Windows Performance Toolkit pages on xperf heap analysis
 * (-heap, -pids, -stackwalk) and on the options of wpr.
 */
#include "abilities.h"

#include <inttypes.h>
#include <stdio.h>

#include "formats/io/units.h"

/* What a question needs of the recording, apart from events about a kind of memory. */
typedef enum fact_kind {
    FACT_STACKS,
    FACT_FREE_STACKS,
    FACT_MODULES,
    FACT_SYMBOLS,
    FACT_MEMORY,
    FACT_HEAP_SIZES,
    FACT_METHODS,
    FACT_THREAD_NAMES,
    FACT_MARKS
} fact_kind;

/* A question besides those about kinds of memory. */
typedef struct question_row {
    const char *word, *question, *record;
    const char *has;   /* why it can be answered */
    const char *lacks; /* why it cannot */
    fact_kind fact;
    bool is_listed, is_extra, has_own_line;
    bool is_of_memory;      /* about blocks and ranges, so it needs some */
    bool is_not_in_summary; /* a summary does not keep it */
} question_row;

static const question_row others[] = {
    { .word = "stacks",
      .question = "who allocated",
      .record = "add -stackwalk HeapAlloc+HeapRealloc+VirtualAlloc to xperf; wpr's profiles have "
                "it",
      .has = "the recording has call stacks",
      .lacks = "the recording has no call stacks",
      .fact = FACT_STACKS,
      .is_listed = true,
      .is_of_memory = true },
    { .word = "free-stacks",
      .question = "who freed, by the call stack of the free",
      .record =
          "add -stackwalk HeapFree+VirtualFree to xperf; etlheap.wprp!EtlheapHeap for wpr has "
          "it",
      .has = "frees have call stacks",
      .lacks = "no free has a call stack of its own",
      .fact = FACT_FREE_STACKS,
      .is_extra = true,
      .is_of_memory = true,
      .is_not_in_summary = true },
    { .word = "modules",
      .question = "frames as module+offset instead of bare addresses",
      .record = "record the kernel session too: xperf -on PROC_THREAD+LOADER, and merge: xperf -d "
                "out.etl",
      .has = "the recording lists modules",
      .lacks = "the recording has no image events, which list the modules",
      .fact = FACT_MODULES,
      .is_listed = true },
    { .word = "symbols",
      .question = "which PDB belongs to each module",
      .record =
          "merge on the recording machine (wpr -stop, xperf -d): that adds the PDB identities",
      .has = "the recording has the PDB identities of modules",
      .lacks = "the recording has no PDB identities, which a merge on the recording machine adds",
      .fact = FACT_SYMBOLS,
      .is_listed = true },
    { .word = "memory",
      .question = "commit and working sets of the system and of processes, over time",
      .record = "add MEMINFO+MEMINFO_WS to the flags of xperf -on; or, to record it beside wpr: "
                "xperf -start Memory -on Microsoft-Windows-Kernel-Memory:0x60",
      .has = "the recording has MemInfo events",
      .lacks = "the recording has no MemInfo events",
      .fact = FACT_MEMORY,
      .is_listed = true,
      .is_extra = true,
      .is_not_in_summary = true },
    { .word = "heap-sizes",
      .question = "how much each heap has committed and reserved",
      .record = "record the heap events of a program from its start, or until its heaps grow: wpr "
                "-heaptracingconfig app.exe enable, start the program, wpr -start Heap -filemode",
      .has = "the recording has events that state the sizes of heaps",
      .lacks = "no event states the size of a heap: none was created or grew, and none was listed",
      .fact = FACT_HEAP_SIZES,
      .is_extra = true,
      .is_not_in_summary = true },
    { .word = "methods",
      .question = "functions of .NET, compiled just in time or before",
      .record = "add the profile DotNET to wpr: wpr -start Heap -start DotNET -filemode; or record "
                "the runtime and its rundown beside xperf's sessions: xperf -start ClrSession -on "
                "ClrAll:0x98:5",
      .has = "the recording names methods of .NET",
      .lacks = "a process runs .NET, but no event names its methods",
      .fact = FACT_METHODS,
      .is_listed = true },
    { .word = "thread-names",
      .question = "names that programs gave to their threads",
      .record = "record the kernel session too: xperf -on PROC_THREAD+LOADER, on Windows 10 1607 "
                "or later",
      .has = "the recording has names of threads",
      .lacks = "the recording has no thread events, which carry the names",
      .fact = FACT_THREAD_NAMES,
      .is_listed = true,
      .is_not_in_summary = true },
    { .word = "marks",
      .question = "memory between two marks of the program or of the recording",
      .record = "wpr -marker NAME, or xperf -m NAME, while recording",
      .has = "the recording has marks",
      .lacks = "no mark was set while recording",
      .fact = FACT_MARKS,
      .is_extra = true,
      .has_own_line = true,
      .is_not_in_summary = true },
};

/* The kinds that have a question, as bits. */
static u32 listed_kinds(void)
{
    u32 kinds = 0;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        kinds |= etlheap_kind_at((etlheap_kind)kind)->question != NULL ? 1u << kind : 0;
    return kinds;
}

u32 etlheap_ability_count(void)
{
    return (u32)__builtin_popcount(listed_kinds()) + (u32)ETL_COUNT_OF(others);
}

/* The number of events from which the kind is worked out. */
static u64 events_of(const etlheap_result *result, etlheap_kind from)
{
    u64 count = 0;
    for (u32 i = 0; i < etlheap_process_count(result); i++)
        count = etl_sat_add_u64(
            count, etlheap_process_of(result, (etlheap_process){ i + 1 })->events[from]);
    return count;
}

#define NUMBER_SIZE (ETLHEAP_UNITS_SIZE + 4)

/* " (1,234)"; nothing for 0, which is a count that is not known. */
static const char *say_count(u64 count, char out[NUMBER_SIZE])
{
    char number[ETLHEAP_UNITS_SIZE];
    etlheap_units_count((i64)etl_min_u64(count, INT64_MAX), number);
    out[0] = '\0';
    if (count > 0)
        snprintf(out, NUMBER_SIZE, " (%s)", number);
    return out;
}

/* Why the kind can be analysed. The events of a kind that is recorded with another are not counted
 * apart. */
static void say_kind(const etlheap_result *result, etlheap_kind kind, char *why)
{
    const etlheap_kind_row *const row = etlheap_kind_at(kind);
    const etlheap_trace_info *const trace = etlheap_result_trace(result);
    const u64 events = row->recorded_with == kind ? events_of(result, kind) : 0;
    char number[NUMBER_SIZE], lost[96] = "";
    if (trace->events_lost > 0)
        snprintf(lost, sizeof lost,
                 ", but events were lost (%" PRIu64 "), so amounts may be too high or too low",
                 trace->events_lost);
    snprintf(why, ETLHEAP_WHY_SIZE, "the recording has events about %s%s%s", row->plural,
             say_count(events, number), lost);
}

/* Why the kind cannot be analysed. True if it takes another recording. */
static bool say_no_kind(const etlheap_result *result, etlheap_kind kind, char *why)
{
    const etlheap_kind_row *const row = etlheap_kind_at(kind);
    const etlheap_part *const part = etlheap_result_part(result);
    const bool is_cut = part != NULL && part->kinds != 0 && (part->kinds >> kind & 1) == 0;
    const bool is_from_events = row->recorded_with == kind && events_of(result, kind) > 0;
    if (is_cut)
        snprintf(why, ETLHEAP_WHY_SIZE, "the store was cut, and has no %s", row->plural);
    else if (is_from_events)
        snprintf(why, ETLHEAP_WHY_SIZE, "the file has no %s: ask the trace, or store it again",
                 row->plural);
    else
        snprintf(why, ETLHEAP_WHY_SIZE, "the recording has no events about %s", row->plural);
    return !is_cut && !is_from_events;
}

static void ask_kind(const etlheap_result *result, etlheap_kind kind, etlheap_ability *out)
{
    const etlheap_kind_row *const row = etlheap_kind_at(kind);
    const etlheap_kind with = row->recorded_with;
    const bool can = (etlheap_result_abilities(result).kinds >> kind & 1) != 0;
    bool is_missing = false;
    *out = (etlheap_ability){ .word = row->word,
                              .question = row->question,
                              .with = with == kind ? NULL : etlheap_kind_at(with)->word,
                              .can = can,
                              .is_listed = true,
                              .has_data = can,
                              .is_extra = !etlheap_kind_has(kind, ETLHEAP_KIND_COMMON) };
    if (can)
        say_kind(result, kind, out->why);
    else
        is_missing = say_no_kind(result, kind, out->why);
    out->record = is_missing ? etlheap_kind_at(with)->record : NULL;
}

/* Does the recording have it? */
static bool has_fact(const etlheap_result *result, fact_kind fact)
{
    const etlheap_abilities can = etlheap_result_abilities(result);
    switch (fact) {
    case FACT_STACKS:
        return can.stacks;
    case FACT_FREE_STACKS:
        return can.free_stacks;
    case FACT_MODULES:
        return can.modules;
    case FACT_SYMBOLS:
        return can.symbols;
    case FACT_MEMORY:
        return can.memory;
    case FACT_HEAP_SIZES:
        return can.heap_sizes;
    case FACT_METHODS:
        return can.methods;
    case FACT_THREAD_NAMES:
        return can.thread_names;
    case FACT_MARKS:
        return etlheap_result_marks(result)->count > 0;
    }
    return false;
}

/* How much of it; 0: not counted. */
static u64 fact_count(const etlheap_result *result, fact_kind fact)
{
    switch (fact) {
    case FACT_STACKS:
        return etlheap_result_stacks(result)->records;
    case FACT_MODULES:
        return etlheap_module_count(result);
    case FACT_METHODS:
        return etlheap_method_count(result);
    case FACT_MARKS:
        return etlheap_result_marks(result)->count;
    default:
        return 0;
    }
}

/* Is there nothing that another recording would have? Then says so. */
static bool is_complete(const etlheap_result *result, fact_kind fact, char *why)
{
    const etlheap_abilities can = etlheap_result_abilities(result);
    if (fact == FACT_METHODS && !can.methods_missing)
        snprintf(why, ETLHEAP_WHY_SIZE, "no process runs .NET");
    else if (fact == FACT_THREAD_NAMES && !can.threads_missing)
        snprintf(why, ETLHEAP_WHY_SIZE, "no thread has a name");
    else
        return false;
    return true;
}

static void say_fact(const question_row *row, u64 count, char *why)
{
    char number[NUMBER_SIZE];
    snprintf(why, ETLHEAP_WHY_SIZE, "%s%s", row->has, say_count(count, number));
}

static void ask_other(const etlheap_result *result, const question_row *row, etlheap_ability *out)
{
    const etlheap_abilities can = etlheap_result_abilities(result);
    const bool has = has_fact(result, row->fact);
    const bool lacks_memory = row->is_of_memory && etlheap_abilities_lack_memory(&can);
    *out = (etlheap_ability){ .word = row->word,
                              .question = row->question,
                              .is_listed = row->is_listed,
                              .has_data = has,
                              .is_extra = row->is_extra,
                              .has_own_line = row->has_own_line };
    if (row->is_not_in_summary && etlheap_result_is_summary(result)) {
        snprintf(out->why, sizeof out->why, "a summary does not keep it: ask a trace or a store");
    } else if (has && lacks_memory) {
        snprintf(out->why, sizeof out->why,
                 "the recording has call stacks, but no events about memory");
    } else if (has) {
        out->can = true;
        say_fact(row, fact_count(result, row->fact), out->why);
    } else if (!is_complete(result, row->fact, out->why)) {
        snprintf(out->why, sizeof out->why, "%s", row->lacks);
        out->record = row->record;
    }
}

void etlheap_ability_of(const etlheap_result *result, u32 index, etlheap_ability *out)
{
    u32 kinds = listed_kinds();
    assert(index < etlheap_ability_count());
    for (; kinds != 0 && index > 0; index--)
        kinds &= kinds - 1;
    if (kinds != 0)
        ask_kind(result, (etlheap_kind)__builtin_ctz(kinds), out);
    else
        ask_other(result, &others[index], out);
}

bool etlheap_abilities_lack_memory(const etlheap_abilities *abilities)
{
    return abilities->kinds == 0;
}
