/*
 * process_memory_windows.c - limits by a job that the process alone is in: memory is
 * committed up to the job's limit, and refused beyond it.
 */
#include "process_memory.h"

#include <windows.h>

#include <psapi.h>

u64 cli_memory_in_use(void)
{
    PROCESS_MEMORY_COUNTERS_EX counters = { .cb = sizeof counters };
    return K32GetProcessMemoryInfo(GetCurrentProcess(), (PROCESS_MEMORY_COUNTERS *)&counters,
                                   sizeof counters)
               ? counters.PrivateUsage
               : 0;
}

/* Jobs within jobs are part of Windows 8 and later. The handle of the first stays open as
 * long as the process, to lift its limit. */
bool cli_memory_set_limit(u64 bytes)
{
    static HANDLE job;
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = { .ProcessMemoryLimit = (SIZE_T)bytes };
    if (job == NULL) {
        job = CreateJobObjectW(NULL, NULL);
        if (job == NULL || !AssignProcessToJobObject(job, GetCurrentProcess()))
            return false;
    }
    limits.BasicLimitInformation.LimitFlags = bytes == 0 ? 0 : JOB_OBJECT_LIMIT_PROCESS_MEMORY;
    return SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits,
                                   sizeof limits) != 0;
}
