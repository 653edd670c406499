/*
 * abilities.c - what a trace can be analysed for, and how to record the rest.
 *
 * Source of the commands: Microsoft's Windows Performance Toolkit pages on xperf
 * heap analysis (-heap, -pids, -stackwalk) and on the options of wpr.
 */
#include "abilities.h"

static const etlheap_ability abilities_table[] = {
    { "heap", "blocks of the heap functions, by process, heap and stack",
      "wpr -heaptracingconfig app.exe enable, start the program, wpr -start Heap -filemode; or, "
      "for "
      "a running one: xperf -start HeapSession -heap -pids PID -stackwalk HeapAlloc+HeapRealloc",
      offsetof(etlheap_abilities, heap), false },
    { "virtualalloc", "memory committed by VirtualAlloc",
      "wpr -start VirtualAllocation -filemode, or xperf -on PROC_THREAD+LOADER+VIRT_ALLOC "
      "-stackwalk VirtualAlloc+VirtualFree",
      offsetof(etlheap_abilities, virtualalloc), false },
    { "extent", "memory that heaps obtained from the system (Heap Extents)",
      "heap events as above, which include the growth of heaps",
      offsetof(etlheap_abilities, extent), false },
    { "custom", "blocks of allocators that log their own events",
      "wpr -start etw-mimalloc.wprp -filemode for mimalloc built with MI_TRACK_ETW; for PIX xperf "
      "-start PixSession -on 8819ca17-7faa-4184-afb7-a4120ca793cd:0x6:4:'stack'; for other "
      "allocators see docs/recording.md",
      offsetof(etlheap_abilities, custom), true },
    { "stacks", "who allocated",
      "add -stackwalk HeapAlloc+HeapRealloc+VirtualAlloc to xperf; wpr's profiles have it",
      offsetof(etlheap_abilities, stacks), false },
    { "modules", "frames as module+offset instead of bare addresses",
      "record the kernel session too: xperf -on PROC_THREAD+LOADER, and merge: xperf -d out.etl",
      offsetof(etlheap_abilities, modules), false },
    { "symbols", "which PDB belongs to each module",
      "merge on the recording machine (wpr -stop, xperf -d): that adds the PDB identities",
      offsetof(etlheap_abilities, symbols), false },
    { "memory", "commit and working sets of the system and of processes, over time",
      "add MEMINFO+MEMINFO_WS to the flags of xperf -on; or, to record it beside wpr: xperf "
      "-start Memory -on Microsoft-Windows-Kernel-Memory:0x60",
      offsetof(etlheap_abilities, memory), true },
    { "methods", "functions of .NET, compiled just in time or before",
      "add the profile DotNET to wpr: wpr -start Heap -start DotNET -filemode; or record the "
      "runtime "
      "and its rundown beside xperf's sessions: xperf -start ClrSession -on ClrAll:0x98:5",
      offsetof(etlheap_abilities, methods), false },
    { "thread-names", "names that programs gave to their threads",
      "record the kernel session too: xperf -on PROC_THREAD+LOADER, on Windows 10 1607 or later",
      offsetof(etlheap_abilities, thread_names), false },
};

u32 etlheap_ability_count(void)
{
    return (u32)ETL_COUNT_OF(abilities_table);
}

const etlheap_ability *etlheap_ability_at(u32 index)
{
    assert(index < ETL_COUNT_OF(abilities_table));
    return &abilities_table[index];
}

bool etlheap_ability_is_set(const etlheap_abilities *abilities, const etlheap_ability *ability)
{
    bool set;
    memcpy(&set, (const char *)abilities + ability->offset, sizeof set);
    return set;
}

bool etlheap_ability_is_missing(const etlheap_abilities *abilities, const etlheap_ability *ability)
{
    if (ability->offset == offsetof(etlheap_abilities, methods))
        return abilities->methods_missing;
    if (ability->offset == offsetof(etlheap_abilities, thread_names))
        return abilities->threads_missing;
    return !etlheap_ability_is_set(abilities, ability);
}

bool etlheap_ability_is_extra(const etlheap_abilities *abilities, const etlheap_ability *ability)
{
    return ability->is_extra && !etlheap_ability_is_set(abilities, ability);
}

bool etlheap_abilities_lack_memory(const etlheap_abilities *abilities)
{
    return !abilities->heap && !abilities->virtualalloc && !abilities->extent && !abilities->custom;
}
