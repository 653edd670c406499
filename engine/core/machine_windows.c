/*
 * machine_windows.c - processors and memory, by Windows' own calls: its C library has no
 * aligned_alloc. machine.h has the contract.
 */
#include "machine.h"

#include <malloc.h>
#include <windows.h>

#define RATE_WHOLE 10000u

void *machine_alloc_aligned(size_t alignment, size_t size)
{
    return _aligned_malloc(size, alignment);
}

void machine_free_aligned(void *memory)
{
    _aligned_free(memory);
}

/* Large pages are for those who have a privilege. */
void machine_expect_use(const void *memory, size_t size)
{
    (void)memory;
    (void)size;
}

/* The heap there does so by itself. */
void machine_give_back(void)
{
}

u32 machine_processors_online(void)
{
    const DWORD online = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    return online < 1 ? 1 : online;
}

/* The bits of the mask, which is of one group of processors: a process that uses several
 * groups has a mask of 0. */
static u32 affinity_count(void)
{
    DWORD_PTR mask = 0, system_mask = 0;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &mask, &system_mask) || mask == system_mask)
        return 0;
    return (u32)__builtin_popcountll((unsigned long long)mask);
}

/* Containers are jobs, whose hard limit is in hundredths of a percent of all processors. */
static u32 quota_count(u32 online)
{
    JOBOBJECT_CPU_RATE_CONTROL_INFORMATION rate = { 0 };
    const DWORD hard = JOB_OBJECT_CPU_RATE_CONTROL_ENABLE | JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP;
    if (!QueryInformationJobObject(NULL, JobObjectCpuRateControlInformation, &rate, sizeof rate,
                                   NULL) ||
        (rate.ControlFlags & hard) != hard || rate.CpuRate == 0)
        return 0;
    return (u32)(((u64)online * rate.CpuRate + RATE_WHOLE - 1) / RATE_WHOLE);
}

u32 machine_processors(void)
{
    const u32 online = machine_processors_online();
    const u32 affine = affinity_count(), quota = quota_count(online);
    const u32 most = affine > 0 ? affine : online;
    return quota > 0 && quota < most ? quota : most;
}

u64 machine_memory_available(void)
{
    MEMORYSTATUSEX memory = { .dwLength = sizeof memory };
    return GlobalMemoryStatusEx(&memory) ? memory.ullAvailPhys : UINT64_MAX;
}
