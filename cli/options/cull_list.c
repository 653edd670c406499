/*
 * cull_list.c - the frames that culling removes: patterns from options and files, and a built-in
 * list of known allocators.
 *
 * In: words "MODULE!FUNCTION" of options, lines of a file. Out: an array of etlheap_pattern for the
 * query. The built-in list is a const table, with its sources beside it. Invariant: the list owns
 * the texts that patterns point into; it must outlive the query.
 */
#include "cull_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "parser/system/files.h"

#define LINE_SIZE 1024

/*
 * The functions and modules of the innermost frames of an allocation or a free. If functions have
 * names, the list is about those that say how memory was asked for or given back but not by whom:
 * all of the kernel's memory manager and of the checking layers, and the allocating and freeing
 * functions of the heap and of the C and C++ runtimes, which may be linked into any module. If functions have no names, whole modules stand
 * for them. On ARM64EC, thunks between x64 and
 * ARM64 code may stand between them. Culling stops at the first frame that is not in the list. Source of the names: public
 * symbols of ntdll.dll, kernelbase.dll, combase.dll and oleaut32.dll of Windows 10 and 11 as stacks
 * show them; the sources of the UCRT (heap/), of MFC and ATL (afxmem.cpp, plex.cpp, atlmem.h,
 * cstringt.h), of microsoft/STL (xmemory), of libstdc++ and of Rust's alloc and std.
 */
static const etlheap_pattern allocators[] = {
    { "ntoskrnl.exe", NULL, false },
    { "ntkrnlmp.exe", NULL, false },
    { "ntkrnlpa.exe", NULL, false },
    { "wow64*.dll", NULL, false },
    { "verifier.dll", NULL, false },
    { "vrfcore.dll", NULL, false },

    { "ntdll", "Rtl*Allocate*Heap*", false },
    { "ntdll", "Rtl*Alloc*Internal", false },
    { "ntdll", "RtlpAllocate*", false },
    { "ntdll", "RtlpLowFragHeap*", false },
    { "ntdll", "RtlpHp*Alloc*", false },
    { "ntdll", "RtlpHp*Commit*", false },
    { "ntdll", "RtlpExtendHeap*", false },
    { "ntdll", "RtlpFindAndCommitPages*", false },
    { "ntdll", "RtlpLogHeap*", false },
    { "ntdll", "RtlpDph*", false },
    { "ntdll", "RtlCreateHeap", false },
    { "ntdll", "RtlpHpHeapCreate", false },
    { "ntdll", "EtwEventWrite*", false },
    { "ntdll", "EtwpEventWrite*", false },
    { "ntdll", "?wTraceEvent", false },
    { "ntdll", "?tTraceEvent", false },
    { "ntdll", "?wAllocateVirtualMemory*", false },
    { "ntdll", "?tAllocateVirtualMemory*", false },

    { "ntdll", "RtlFreeHeap", false },
    { "ntdll", "RtlpFreeHeap*", false },
    { "ntdll", "RtlpHp*Free*", false },
    { "ntdll", "RtlpCoalesceFreeBlocks*", false },
    { "ntdll", "RtlpDeCommitFreeBlock*", false },
    { "ntdll", "?wFreeVirtualMemory*", false },
    { "ntdll", "?tFreeVirtualMemory*", false },

    { NULL, "$ientry_thunk$*", false },
    { NULL, "$iexit_thunk$*", false },
    { NULL, "*$exit_thunk", false },

    { NULL, "HeapAlloc", false },
    { NULL, "HeapReAlloc", false },
    { NULL, "HeapCreate", false },
    { NULL, "LocalAlloc", false },
    { NULL, "LocalReAlloc", false },
    { NULL, "GlobalAlloc", false },
    { NULL, "GlobalReAlloc", false },
    { "kernel*", "VirtualAlloc*", false },
    { NULL, "CoTaskMemAlloc", false },
    { NULL, "CoTaskMemRealloc", false },
    { NULL, "CRetailMalloc_*lloc", false },
    { NULL, "SysAllocString*", false },
    { NULL, "SysReAllocString*", false },
    { "oleaut32", "APP_DATA::Alloc*", false },
    { NULL, "HeapFree", false },
    { NULL, "LocalFree", false },
    { NULL, "GlobalFree", false },
    { "kernel*", "VirtualFree*", false },
    { NULL, "CoTaskMemFree", false },
    { NULL, "CRetailMalloc_Free", false },
    { NULL, "SysFreeString", false },
    { "oleaut32", "APP_DATA::Free*", false },

    { "ucrtbase*", "*malloc*", false },
    { "msvcr*", "*malloc*", false },
    { NULL, "malloc", false },
    { NULL, "calloc", false },
    { NULL, "realloc", false },
    { NULL, "_*alloc_base", false },
    { NULL, "_*alloc_dbg", false },
    { NULL, "_*alloc_crt", false },
    { NULL, "_recalloc", false },
    { NULL, "_aligned_*alloc*", false },
    { NULL, "_nh_malloc*", false },
    { NULL, "_heap_alloc*", false },
    { NULL, "heap_alloc_dbg*", false },
    { NULL, "realloc_dbg_nolock", false },
    { NULL, "_strdup", false },
    { NULL, "_wcsdup", false },
    { NULL, "*operator new*", false },
    { NULL, "std::allocator*", false },
    { NULL, "std::_Allocate*", false },
    { NULL, "std::_Default_allocat*", false },
    { NULL, "std::_Normal_allocator_traits*", false },
    { NULL, "free", false },
    { NULL, "_free_base", false },
    { NULL, "_free_dbg", false },
    { NULL, "_free_crt", false },
    { NULL, "free_dbg_nolock", false },
    { NULL, "_aligned_free*", false },
    { NULL, "*operator delete*", false },
    { NULL, "std::_Deallocate*", false },
    { NULL, "AfxAllocMemoryDebug", false },
    { NULL, "CPlex::Create", false },
    { NULL, "ATL::C*Heap::*llocate", false },
    { NULL, "ATL::C*Heap::Free", false },
    { NULL, "ATL::CAtlStringMgr::*llocate", false },
    { NULL, "ATL::CAtlStringMgr::Free", false },

    { NULL, "__gnu_cxx::new_allocator*", false },
    { NULL, "std::__new_allocator*", false },

    { NULL, "__rust_*alloc*", false },
    { NULL, "__rdl_*alloc*", false },
    { NULL, "__rg_*alloc*", false },
    { NULL, "alloc::alloc::*", false },
    { NULL, "<alloc::alloc::Global*", false },
    { NULL, "alloc::raw_vec::*", false },
    { NULL, "<alloc::raw_vec::*", false },
    { NULL, "std::alloc::*", false },
    { NULL, "<std::alloc::System*", false },
    { NULL, "std::sys::*alloc::*", false },

    { "ntdll.dll", NULL, true },
    { "kernelbase.dll", NULL, true },
    { "kernel32.dll", NULL, true },
    { "ucrtbase*.dll", NULL, true },
    { "msvcrt*.dll", NULL, true },
    { "msvcr*.dll", NULL, true },
    { "msvcp*.dll", NULL, true },
    { "vcruntime*.dll", NULL, true },
};

static etl_status add_pattern(cli_patterns *patterns, etlheap_pattern pattern, char *text,
                              etl_error *err);
static etl_status add_text(cli_patterns *patterns, const char *text, bool *good, etl_error *err);
static etl_status add_lines(cli_patterns *patterns, FILE *file, const char *path, etl_error *err);

etl_status cli_patterns_add_words(cli_patterns *patterns, const cli_words *words,
                                  const char *spelled, etl_error *err)
{
    for (u32 i = 0; i < words->count; i++) {
        bool good;
        const etl_status status = add_text(patterns, words->at[i], &good, err);
        if (status != ETL_OK)
            return status;
        if (!good)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "%s: '%.60s' matches every frame; write module!, symbol or "
                                 "module!symbol",
                                 spelled, words->at[i]);
    }
    return ETL_OK;
}

etl_status cli_patterns_add_file(cli_patterns *patterns, const char *path, etl_error *err)
{
    FILE *const file = etl_file_stream(path);
    if (!file)
        return etl_fail_with(err, ETL_ERR_IO, 0, "cannot read the cull list %.80s: %s", path,
                             strerror(errno));
    errno = 0;
    etl_status status = add_lines(patterns, file, path, err);
    if (status == ETL_OK && ferror(file))
        status = etl_fail_with(err, ETL_ERR_IO, 0, "cannot read the cull list %.80s: %s", path,
                               strerror(errno));
    fclose(file);
    return status;
}

etl_status cli_patterns_add_allocators(cli_patterns *patterns, etl_error *err)
{
    for (size_t i = 0; i < ETL_COUNT_OF(allocators); i++) {
        const etl_status status = add_pattern(patterns, allocators[i], NULL, err);
        if (status != ETL_OK)
            return status;
    }
    return ETL_OK;
}

void cli_patterns_free(cli_patterns *patterns)
{
    for (u32 i = 0; i < patterns->count; i++)
        free(patterns->texts[i]);
    free(patterns->texts);
    free(patterns->at);
    *patterns = (cli_patterns){ 0 };
}

/* Takes ownership of the text, even on failure. */
static etl_status add_pattern(cli_patterns *patterns, etlheap_pattern pattern, char *text,
                              etl_error *err)
{
    const size_t count = (size_t)patterns->count + 1;
    etlheap_pattern *const at = realloc(patterns->at, count * sizeof *at);
    if (at)
        patterns->at = at;
    char **const texts = realloc(patterns->texts, count * sizeof *texts);
    if (texts)
        patterns->texts = texts;
    if (!at || !texts) {
        free(text);
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
    }
    at[patterns->count] = pattern;
    texts[patterns->count] = text;
    patterns->count++;
    return ETL_OK;
}

/* *good says whether the text is a pattern; the status reports only a lack of memory. */
static etl_status add_text(cli_patterns *patterns, const char *text, bool *good, etl_error *err)
{
    etlheap_pattern pattern;
    char *const copy = strdup(text);
    *good = false;
    if (!copy)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
    if (!cli_parse_pattern(copy, &pattern)) {
        free(copy);
        return ETL_OK;
    }
    *good = true;
    return add_pattern(patterns, pattern, copy, err);
}

/* A line longer than the buffer is refused, not split into two patterns. */
static etl_status add_lines(cli_patterns *patterns, FILE *file, const char *path, etl_error *err)
{
    char line[LINE_SIZE];
    for (u32 number = 1; fgets(line, sizeof line, file); number++) {
        bool good = strchr(line, '\n') || feof(file);
        line[strcspn(line, "\r\n")] = '\0';
        if (good && (line[0] == '\0' || line[0] == '#'))
            continue;
        const etl_status status = good ? add_text(patterns, line, &good, err) : ETL_OK;
        if (status != ETL_OK)
            return status;
        if (!good)
            return etl_fail_with(
                err, ETL_ERR_ARGUMENT, 0,
                "line %u of %.80s: expected a frame pattern: module!, symbol or module!symbol",
                number, path);
    }
    return ETL_OK;
}
