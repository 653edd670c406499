/*
 * bus_guard_windows.c - see bus_guard.h; by a vectored exception handler.
 *
 * One page of a mapped file cannot be exchanged here. So the whole view goes, and its
 * addresses become reserved memory, of which the handler commits a page of zeros
 * wherever somebody touches it. Other threads that touch the view while it is being
 * exchanged fault too and wait in the handler.
 *
 * Only mapped files are dealt with: the program and its libraries are images, and
 * without their own bytes there is no going on.
 */
#include "bus_guard.h"

#include <stddef.h>
#include <stdint.h>
#include <windows.h>

#define LOST_MAX   64
#define PAGE_BYTES 4096u

typedef struct lost_view {
    uintptr_t begin, end;
} lost_view;

/* A handler is given nothing of its program, so this is global. */
static struct {
    SRWLOCK lock;
    lost_view views[LOST_MAX];
    size_t view_count;
} lost = { .lock = SRWLOCK_INIT };

static LONG CALLBACK on_fault(EXCEPTION_POINTERS *what);
static bool is_lost(uintptr_t address);
static bool lose_view(const MEMORY_BASIC_INFORMATION *page);
static size_t view_size(uintptr_t begin);

void cli_bus_guard_begin(void)
{
    (void)AddVectoredExceptionHandler(1, on_fault);
}

/* What can be read by its protection and yet faults has lost its bytes, too. */
static LONG CALLBACK on_fault(EXCEPTION_POINTERS *what)
{
    const EXCEPTION_RECORD *const record = what->ExceptionRecord;
    MEMORY_BASIC_INFORMATION page;
    bool is_mended = false;
    if ((record->ExceptionCode != (DWORD)EXCEPTION_IN_PAGE_ERROR &&
         record->ExceptionCode != (DWORD)EXCEPTION_ACCESS_VIOLATION) ||
        record->NumberParameters < 2 || record->ExceptionInformation[0] != 0)
        return EXCEPTION_CONTINUE_SEARCH;
    const uintptr_t address = record->ExceptionInformation[1];
    AcquireSRWLockExclusive(&lost.lock);
    if (VirtualQuery((const void *)address, &page, sizeof page) == sizeof page) {
        if (page.State == MEM_COMMIT && page.Type == MEM_MAPPED && page.Protect == PAGE_READONLY)
            (void)lose_view(&page);
        is_mended =
            is_lost(address) && VirtualAlloc((void *)(address & ~(uintptr_t)(PAGE_BYTES - 1)),
                                             PAGE_BYTES, MEM_COMMIT, PAGE_READONLY) != NULL;
    }
    ReleaseSRWLockExclusive(&lost.lock);
    if (is_mended)
        cli_bus_guard_trip();
    return is_mended ? EXCEPTION_CONTINUE_EXECUTION : EXCEPTION_CONTINUE_SEARCH;
}

static bool is_lost(uintptr_t address)
{
    for (size_t i = 0; i < lost.view_count; i++) {
        if (address >= lost.views[i].begin && address < lost.views[i].end)
            return true;
    }
    return false;
}

static bool lose_view(const MEMORY_BASIC_INFORMATION *page)
{
    const uintptr_t begin = (uintptr_t)page->AllocationBase;
    const size_t size = view_size(begin);
    if (lost.view_count == LOST_MAX || !UnmapViewOfFile(page->AllocationBase))
        return false;
    if (VirtualAlloc(page->AllocationBase, size, MEM_RESERVE, PAGE_READONLY) == NULL)
        return false;
    lost.views[lost.view_count++] = (lost_view){ begin, begin + size };
    return true;
}

static size_t view_size(uintptr_t begin)
{
    MEMORY_BASIC_INFORMATION region;
    uintptr_t end = begin;
    while (VirtualQuery((const void *)end, &region, sizeof region) == sizeof region &&
           (uintptr_t)region.AllocationBase == begin && region.RegionSize > 0)
        end += region.RegionSize;
    return end - begin;
}
