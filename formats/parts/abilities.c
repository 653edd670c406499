/*
 * abilities.c - what a trace can be analysed for, and how to record the rest.
 *
 * Source of the commands: Microsoft's Windows Performance Toolkit pages on xperf
 * heap analysis (-heap, -pids, -stackwalk) and on the options of wpr.
 */
#include "abilities.h"

/* Abilities besides kinds of memory, whose rows (etlheap_kinds.h) say the same. */
static const etlheap_ability others[] = {
    { "stacks", "who allocated",
      "add -stackwalk HeapAlloc+HeapRealloc+VirtualAlloc to xperf; wpr's profiles have it",
      offsetof(etlheap_abilities, stacks), 0, false },
    { "modules", "frames as module+offset instead of bare addresses",
      "record the kernel session too: xperf -on PROC_THREAD+LOADER, and merge: xperf -d out.etl",
      offsetof(etlheap_abilities, modules), 0, false },
    { "symbols", "which PDB belongs to each module",
      "merge on the recording machine (wpr -stop, xperf -d): that adds the PDB identities",
      offsetof(etlheap_abilities, symbols), 0, false },
    { "memory", "commit and working sets of the system and of processes, over time",
      "add MEMINFO+MEMINFO_WS to the flags of xperf -on; or, to record it beside wpr: xperf "
      "-start Memory -on Microsoft-Windows-Kernel-Memory:0x60",
      offsetof(etlheap_abilities, memory), 0, true },
    { "methods", "functions of .NET, compiled just in time or before",
      "add the profile DotNET to wpr: wpr -start Heap -start DotNET -filemode; or record the "
      "runtime "
      "and its rundown beside xperf's sessions: xperf -start ClrSession -on ClrAll:0x98:5",
      offsetof(etlheap_abilities, methods), 0, false },
    { "thread-names", "names that programs gave to their threads",
      "record the kernel session too: xperf -on PROC_THREAD+LOADER, on Windows 10 1607 or later",
      offsetof(etlheap_abilities, thread_names), 0, false },
};

/* The kinds that abilities are listed for, as bits. */
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

etlheap_ability etlheap_ability_at(u32 index)
{
    u32 kinds = listed_kinds();
    for (; kinds != 0 && index > 0; index--)
        kinds &= kinds - 1;
    assert(kinds != 0 || index < ETL_COUNT_OF(others));
    if (kinds == 0)
        return others[index];
    const u32 kind = (u32)__builtin_ctz(kinds);
    const etlheap_kind_row *const row = etlheap_kind_at((etlheap_kind)kind);
    return (etlheap_ability){ .word = row->word,
                              .question = row->question,
                              .remedy = row->record,
                              .kind = 1u << kind,
                              .is_extra = !etlheap_kind_has(kind, ETLHEAP_KIND_COMMON) };
}

bool etlheap_ability_is_set(const etlheap_abilities *abilities, const etlheap_ability *ability)
{
    bool set;
    if (ability->kind != 0)
        return (abilities->kinds & ability->kind) != 0;
    memcpy(&set, (const char *)abilities + ability->offset, sizeof set);
    return set;
}

/* Kinds that are selected only by name are recorded on purpose: nobody lacks them. */
bool etlheap_ability_is_missing(const etlheap_abilities *abilities, const etlheap_ability *ability)
{
    if (ability->kind != 0 && (ability->kind & ETLHEAP_KINDS_DEFAULT) == 0)
        return false;
    if (ability->kind == 0 && ability->offset == offsetof(etlheap_abilities, methods))
        return abilities->methods_missing;
    if (ability->kind == 0 && ability->offset == offsetof(etlheap_abilities, thread_names))
        return abilities->threads_missing;
    return !etlheap_ability_is_set(abilities, ability);
}

bool etlheap_ability_is_extra(const etlheap_abilities *abilities, const etlheap_ability *ability)
{
    return ability->is_extra && etlheap_ability_is_missing(abilities, ability);
}

bool etlheap_abilities_lack_memory(const etlheap_abilities *abilities)
{
    return abilities->kinds == 0;
}
