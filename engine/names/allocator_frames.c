/*
 * allocator_frames.c - the frames of known allocators, which say how memory was asked for or given
 * back, but not by whom.
 *
 * In: nothing. Out: a const list of patterns, which queries cull by default. Invariant: a pattern
 * must match only code that passes memory on, since what it matches is never blamed.
 */
#include "engine/engine.h"

#include "parser/base.h"

/*
 * The functions and modules of the innermost frames of an allocation or a free. If functions have
 * names, the list is about those that say how memory was asked for or given back but not by whom:
 * all of the kernel's memory manager and of the checking layers, and the allocating and freeing
 * functions of the heap and of the C and C++ runtimes, which may be linked into any module. If
 * functions have no names, whole modules stand for them. On ARM64EC, thunks between x64 and ARM64
 * code may stand between them. Culling stops at the first frame that is not in the list.
 *
 * Source of the names: public symbols of ntdll.dll, kernelbase.dll, combase.dll and oleaut32.dll of
 * Windows 10 and 11 as stacks show them; the sources of the UCRT (heap/), of MFC and ATL
 * (afxmem.cpp, plex.cpp, atlmem.h, cstringt.h), of microsoft/STL (xmemory), of libstdc++, of Rust's
 * alloc and std, and of D's runtime (rt.lifetime, core.memory, core.internal.gc).
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

    { NULL, "_d_new*", false },
    { NULL, "_d_allocmemory*", false },
    { NULL, "_d_arrayappend*", false },
    { NULL, "_d_arraycat*", false },
    { NULL, "_d_arrayliteral*", false },
    { NULL, "_d_arraysetlength*", false },
    { NULL, "_d_del*", false },
    { NULL, "gc_*alloc", false },
    { NULL, "gc_free", false },
    { NULL, "gc.impl.*", false },
    { NULL, "core.internal.gc.*", false },
    { NULL, "core.internal.array.*", false },
    { NULL, "core.lifetime._d_new*", false },
    { NULL, "core.memory.GC.*alloc", false },
    { NULL, "core.memory.GC.free", false },
    { NULL, "core.memory.pure*lloc", false },
    { NULL, "core.memory.pureFree", false },
    { NULL, "rt.lifetime.*", false },

    { "ntdll.dll", NULL, true },
    { "kernelbase.dll", NULL, true },
    { "kernel32.dll", NULL, true },
    { "ucrtbase*.dll", NULL, true },
    { "msvcrt*.dll", NULL, true },
    { "msvcr*.dll", NULL, true },
    { "msvcp*.dll", NULL, true },
    { "vcruntime*.dll", NULL, true },

    /* The words of anonymised stores tell which of the names matched the rows above
     * (engine/share/keyed_words.h). */
    { "allocator_module_????????????????", NULL, false },
    { "allocator_module_????????????????.exe", NULL, false },
    { "runtime_module_????????????????", NULL, true },
    { NULL, "allocator_fn_????????????????", false },
    { NULL, "allocator_fn_????????????????::h????????????????", false },
};

const etlheap_pattern *etlheap_allocator_frames(u32 *count)
{
    *count = (u32)ETL_COUNT_OF(allocators);
    return allocators;
}
