/*
 * layout_events.h - the payloads of events on disk.
 *
 * An event is identified by its class and type. Hook records have both in one
 * hook id (class << 8 | type; the class is the kernel's group byte). Classic
 * records have the GUID of the class, and the type as opcode. Both have the same
 * payload. It depends on class, type, version and the pointer width P of the
 * record (4 or 8), never on the kind of header.
 *
 * In the layouts below an offset "8+2P" means 8 bytes and 2 pointers before it.
 * ptr, size_t are P bytes wide. Nothing is aligned. "v2" is the version of the
 * record; fields marked with one are absent in older records. ETW only ever
 * appends, so longer payloads are fine and bytes after the layout are ignored.
 *
 * Sources, by the short names used below:
 *   phnt  phnt/include/ntwmi.h of System Informer
 *   MOF   the kernel's MOF classes and manifests, as PerfView and dissect.etl
 *         publish them
 *   TE    Microsoft.Diagnostics.Tracing.TraceEvent (PerfView), its parsers
 *   seen  read from real files: 29 traces, Vista to Windows 11, of which 12 are
 *         32-bit. Counts are records whose length the layout explains exactly.
 * If two sources disagree, both are written down. Facts that are not "seen" rest
 * only on the named sources; no public trace has heap or VirtualAlloc records.
 */
#ifndef ETL_LAYOUT_EVENTS_H
#define ETL_LAYOUT_EVENTS_H

#include "parser/base.h"

/*
 * Classes. Up to 0x1e they are the group byte of hook ids; the numbers from
 * 0x20 on are ours, for classes that occur as GUIDs only. Source: phnt, TE.
 */
typedef enum etl_class {
    ETL_CLASS_HEADER = 0x00,
    ETL_CLASS_DISK_IO = 0x01,
    ETL_CLASS_MEMORY = 0x02,
    ETL_CLASS_PROCESS = 0x03,
    ETL_CLASS_FILE = 0x04,
    ETL_CLASS_THREAD = 0x05,
    ETL_CLASS_TCPIP = 0x06,
    ETL_CLASS_JOB = 0x07,
    ETL_CLASS_UDPIP = 0x08,
    ETL_CLASS_REGISTRY = 0x09,
    ETL_CLASS_DEBUG_PRINT = 0x0a,
    ETL_CLASS_CONFIG = 0x0b,
    ETL_CLASS_SPARE1 = 0x0c,
    ETL_CLASS_WNF = 0x0d,
    ETL_CLASS_POOL = 0x0e,
    ETL_CLASS_PERFINFO = 0x0f,
    ETL_CLASS_HEAP = 0x10,
    ETL_CLASS_OBJECT = 0x11,
    ETL_CLASS_POWER = 0x12,
    ETL_CLASS_MODBOUND = 0x13,
    ETL_CLASS_IMAGE = 0x14,
    ETL_CLASS_DPC = 0x15,
    ETL_CLASS_CACHE = 0x16,
    ETL_CLASS_CRITSEC = 0x17,
    ETL_CLASS_STACKWALK = 0x18,
    ETL_CLASS_UMS = 0x19,
    ETL_CLASS_ALPC = 0x1a,
    ETL_CLASS_SPLIT_IO = 0x1b,
    ETL_CLASS_THREAD_POOL = 0x1c,
    ETL_CLASS_HYPERVISOR = 0x1d,
    ETL_CLASS_HYPERVISORX = 0x1e,
    ETL_CLASS_HOOK_COUNT = 0x1f,

    ETL_CLASS_IMAGE_ID = 0x20,
    ETL_CLASS_SYSCONFIG_EX = 0x21,
    ETL_CLASS_METADATA = 0x22,
    ETL_CLASS_WINSAT = 0x23,
    ETL_CLASS_PERFTRACK = 0x24,
    ETL_CLASS_LOST_EVENT = 0x25,

    /* Providers with a manifest: the type is the id of an event, up to 255. */
    ETL_CLASS_PROVIDERS = 0x26,
    ETL_CLASS_KERNEL_MEMORY = 0x26,
    ETL_CLASS_DOTNET = 0x27,
    ETL_CLASS_DOTNET_RUNDOWN = 0x28,
    ETL_CLASS_COUNT = 0x29,

    ETL_CLASS_NONE = 0xff
} etl_class;

/*
 * HEAP, class 0x10. Written by ntdll of the traced process with SYSTEM headers:
 * pid and tid are those of the caller. A 32-bit process logs 4-byte pointers
 * into the same file. Byte packed. Source: phnt, MOF and TE agree.
 *
 * Create   +0 ptr HeapHandle, +P u32 HeapFlags, then v3: 4+P size_t
 *          ReservedSpace, 4+2P size_t CommittedSpace, 4+3P size_t AllocatedSpace
 * Alloc    +0 ptr HeapHandle, +P size_t AllocSize (as requested), +2P ptr
 *          AllocAddress, +3P u32 SourceId
 * ReAlloc  +0 ptr HeapHandle, +P ptr NewAllocAddress, +2P ptr OldAllocAddress,
 *          +3P size_t NewAllocSize, +4P size_t OldAllocSize, +5P u32 SourceId
 * Destroy  +0 ptr HeapHandle
 * Free     +0 ptr HeapHandle, +P ptr FreeAddress, +2P u32 SourceId
 * Expand   +0 ptr HeapHandle, +P size_t CommittedSize, +2P ptr CommitAddress,
 *          +3P size_t FreeSpace, +4P size_t CommittedSpace, +5P size_t
 *          ReservedSpace, +6P u32 NoOfUCRs, v3: 4+6P size_t AllocatedSpace
 * Contract the same, with DeCommittedSize and DeCommitAddress
 * Snapshot +0 ptr HeapHandle, +P size_t FreeSpace, +2P size_t CommittedSpace,
 *          +3P size_t ReservedSpace, +4P u32 HeapFlags; the first form ends here
 *          (TE), later ones go on: 4+4P u32 ProcessId, 8+4P size_t LargeUCRSpace,
 *          8+5P u32 FreeListLength, 12+5P u32 UCRLength, v3: 16+5P size_t
 *          AllocatedSpace
 *
 * How heaps commit pages: layout_heap_pages.h. Of the other types only the names are known, and not
 * the payload of 0x27 to 0x29.
 */
#define ETL_HOOK_HEAP_CREATE   0x1020u
#define ETL_HOOK_HEAP_ALLOC    0x1021u
#define ETL_HOOK_HEAP_REALLOC  0x1022u
#define ETL_HOOK_HEAP_DESTROY  0x1023u
#define ETL_HOOK_HEAP_FREE     0x1024u
#define ETL_HOOK_HEAP_EXPAND   0x1025u
#define ETL_HOOK_HEAP_SNAPSHOT 0x1026u
#define ETL_HOOK_HEAP_CONTRACT 0x102au

/*
 * Heap ranges, class MEMORY; classic records have a class GUID of their own.
 * Rundown +0 ptr HeapHandle, +P u32 Flags, 4+P u32 ProcessId, 8+P u32 RangeCount,
 *         v3: 12+P u32 Reserved, then RangeCount x {ptr Address, size_t Size}
 * Create  +0 ptr HeapHandle, +P size_t FirstRangeSize, +2P u32 Flags
 * Reserve +0 ptr HeapHandle, +P ptr Address, +2P size_t Size; Release the same
 * Destroy +0 ptr HeapHandle
 * Source: MOF, TE. phnt has Reserved in all versions; a v2 record with a
 * length that fits only with Reserved is read with it.
 */
#define ETL_HOOK_HEAP_RANGE_RUNDOWN 0x0264u
#define ETL_HOOK_HEAP_RANGE_CREATE  0x0265u
#define ETL_HOOK_HEAP_RANGE_RESERVE 0x0266u
#define ETL_HOOK_HEAP_RANGE_RELEASE 0x0267u
#define ETL_HOOK_HEAP_RANGE_DESTROY 0x0268u

/*
 * VirtualAlloc and VirtualFree, class MEMORY.
 *   +0 ptr BaseAddress, +P size_t RegionSize, +2P u32 ProcessId (owner of the
 *   address space), 4+2P u32 Flags; rundowns: 8+2P size_t CommitSizeInBytes
 * Source: MOF, TE; for the first four fields also two captured payloads in the
 * unit tests of a public reader (24 bytes, P = 8). Header kind and whether it
 * carries a thread id vary with the build.
 */
#define ETL_HOOK_VIRTUAL_ALLOC         0x0262u
#define ETL_HOOK_VIRTUAL_FREE          0x0263u
#define ETL_HOOK_VIRTUAL_ALLOC_DCSTART 0x0280u
#define ETL_HOOK_VIRTUAL_ALLOC_DCEND   0x0281u

/*
 * MemInfo, class MEMORY: page counts of P bytes. Zero, Free, Modified,
 * ModifiedNoWrite, Bad, PageCountByPriority[8], RepurposedByPriority[8],
 * ModifiedPageCountPageFile; newer builds go on with PagedPoolCommit,
 * NonPagedPool, Mdl, Commit.
 * Source: phnt; the order of the last four from the manifest provider's twin.
 */
#define ETL_HOOK_MEMINFO            0x0270u
#define ETL_MEMINFO_PRIORITIES      8u
#define ETL_MEMINFO_VALUES          22u
#define ETL_MEMINFO_VALUES_APPENDED 4u

/*
 * MemInfoWS, class MEMORY: +0 u32 Count, then Count packed entries of
 *   +0 u32 ProcessId, +4 size_t WorkingSet, 4+P Commit, 4+2P VirtualSize,
 *   4+3P PrivateWorkingSet; v2 goes on with StoreSize, StoredPages, CommitDebt,
 *   SharedCommit
 * All in pages. Source: phnt, manifest.
 */
#define ETL_HOOK_MEMINFO_WS         0x027du
#define ETL_HOOK_MEMINFO_SESSION_WS 0x027eu
#define ETL_MEMINFO_WS_VALUES_V0    4u
#define ETL_MEMINFO_WS_VALUES_V2    8u

/*
 * Process, class 0x03.
 *   v0  +0 ptr ProcessId, +P ptr ParentId, UserSID, ImageFileName
 *   v1  +0 ptr PageDirectoryBase, +P u32 ProcessId, 4+P u32 ParentId, 8+P u32
 *       SessionId, 12+P i32 ExitStatus, UserSID, ImageFileName
 *   v2  the pointer is UniqueProcessKey; CommandLine at the end
 *   v3  16+P ptr DirectoryTableBase before UserSID
 *   v4  16+2P u32 Flags before UserSID; PackageFullName, ApplicationId at the end
 *   v5  Defunct only: u64 ExitTime at the very end
 * ImageFileName is 8-bit text with a NUL, the other strings UTF-16 with a NUL.
 * UserSID is a u32 of zero if there is none, else TOKEN_USER (2P bytes: a
 * meaningless pointer, attributes, padding) and the SID: u8 revision 1, u8 count
 * n, 6 bytes of authority, n x u32. Terminate: +0 u32 ProcessId.
 * Source: MOF, TE. Seen: v4 926 and v5 16 (P = 8); v1 to v3 18 (P = 4), and 16
 * of v2 and v3 with P = 8 payloads under 32-bit headers. In those 34 the pointer
 * of TOKEN_USER is zero although a SID follows. TE takes a zero u32 for no SID; here
 * the revision byte decides.
 */
#define ETL_HOOK_PROCESS_START     0x0301u
#define ETL_HOOK_PROCESS_END       0x0302u
#define ETL_HOOK_PROCESS_DCSTART   0x0303u
#define ETL_HOOK_PROCESS_DCEND     0x0304u
#define ETL_HOOK_PROCESS_TERMINATE 0x030bu
#define ETL_HOOK_PROCESS_DEFUNCT   0x0327u
#define ETL_SID_REVISION           1u
#define ETL_SID_AUTHORITIES_MAX    15u /* SID_MAX_SUB_AUTHORITIES, winnt.h */

/*
 * Thread, class 0x05.
 *   v0  +0 u32 ThreadId, +4 u32 ProcessId
 *   v1  +0 u32 ProcessId, +4 u32 ThreadId; Start and DCStart go on: +8 ptr
 *       StackBase, 8+P StackLimit, 8+2P UserStackBase, 8+3P UserStackLimit,
 *       8+4P StartAddr, 8+5P Win32StartAddr, 8+6P u8 WaitMode
 *   v2  all types, and in place of WaitMode: 8+6P ptr TebBase, 8+7P u32
 *       SubProcessTag
 *   v3  StartAddr is Affinity; 12+7P four u8: BasePriority, PagePriority,
 *       IoPriority, Flags; on newer builds ThreadName, UTF-16 with a NUL
 *   v4  the same, ThreadName always
 * SetName: +0 u32 ProcessId, +4 u32 ThreadId, ThreadName.
 * Source: MOF, TE. Seen: v3 6,880 (P = 8), SetName 57.
 */
#define ETL_HOOK_THREAD_START    0x0501u
#define ETL_HOOK_THREAD_END      0x0502u
#define ETL_HOOK_THREAD_DCSTART  0x0503u
#define ETL_HOOK_THREAD_DCEND    0x0504u
#define ETL_HOOK_THREAD_SET_NAME 0x0548u

/*
 * Image, class 0x14; but Load is type 10 of class PROCESS in hook form.
 *   v0  +0 ptr ImageBase, +P u32 ImageSize, FileName
 *   v1  +0 ptr ImageBase, +P size_t ImageSize, +2P u32 ProcessId, FileName
 *   v2  4+2P u32 ImageChecksum, 8+2P u32 TimeDateStamp, 12+2P u32 Reserved0,
 *       16+2P ptr DefaultBase, 16+3P u32 Reserved[4], FileName
 *   v3  Reserved0 is u8 SignatureLevel, u8 SignatureType, u16
 * FileName is an NT path, UTF-16 with a NUL. KernelBase: +0 ptr ImageBase.
 * Source: MOF, TE. Seen: v2 3,596 and v3 29,187 (P = 8); classic v0 to v2 78
 * (P = 4) and v0 26 with P = 8 payloads under 32-bit headers; KernelBase 3. 
 * 52 such records of v1 and v2 fit no layout: their writer, a test of sawbuck, had
 * a 4-byte ImageSize in the 64-bit struct and later corrected it.
 */
#define ETL_HOOK_IMAGE_LOAD        0x030au
#define ETL_HOOK_IMAGE_LOAD_CLASS  0x140au /* in classic records */
#define ETL_HOOK_IMAGE_UNLOAD      0x1402u
#define ETL_HOOK_IMAGE_DCSTART     0x1403u
#define ETL_HOOK_IMAGE_DCEND       0x1404u
#define ETL_HOOK_IMAGE_KERNEL_BASE 0x1421u

/*
 * StackWalk, class 0x18.
 *   Stack      +0 u64 EventTimeStamp, +8 u32 StackProcess, +12 u32 StackThread,
 *              +16 frames (ptr each) to the end
 *   KeyKernel, KeyUser: the same head, +16 ptr StackKey
 *   KeyCreate, KeyDelete, KeyRundown: +0 ptr StackKey, +P frames to the end
 * Frames run from the innermost outwards; some WOW64 ones end in zeros.
 * Source: phnt, MOF, TE. Seen: 252 stacks, 9,107 references, 2,921
 * definitions (KeyCreate never), all P = 8.
 */
#define ETL_HOOK_STACK             0x1820u
#define ETL_HOOK_STACK_KEY_CREATE  0x1822u
#define ETL_HOOK_STACK_KEY_DELETE  0x1823u
#define ETL_HOOK_STACK_KEY_RUNDOWN 0x1824u
#define ETL_HOOK_STACK_KEY_KERNEL  0x1825u
#define ETL_HOOK_STACK_KEY_USER    0x1826u

/*
 * SystemConfig, class 0x0b.
 * CPU +0 u32 MHz, +4 u32 NumberOfProcessors, +8 u32 MemSize (MiB), +12 u32
 *     PageSize, +16 u32 AllocationGranularity, +20 wchar ComputerName[256], +532
 *     wchar DomainName[134] (v0, v1: [132]), then ptr HyperThreadingFlag; v3: ptr
 *     HighestUserAddress, u16 Architecture, u16 Level, u16 Revision, u8, u8 (Pae
 *     and Nx; phnt and MOF differ in their order), u32 MemorySpeed
 * Platform: four UTF-16 strings with NULs: manufacturer, product, BIOS date,
 *     BIOS version
 * DeviceFamily +0 u64 version (major, minor, build, revision: u16 each, major
 *     highest), +8 u32 DeviceFamily, +12 u32 DeviceForm
 * Source: MOF, phnt. Seen: CPU v3 3, Platform 3, DeviceFamily 2 (P = 8).
 */
#define ETL_HOOK_CONFIG_CPU            0x0b0au
#define ETL_HOOK_CONFIG_SERVICE        0x0b0fu
#define ETL_HOOK_CONFIG_PLATFORM       0x0b19u
#define ETL_HOOK_CONFIG_DEVICE_FAMILY  0x0b21u
#define ETL_CONFIG_COMPUTER_NAME_BYTES 512u
#define ETL_CONFIG_DOMAIN_NAME_BYTES   268u
#define ETL_CONFIG_DOMAIN_NAME_V0      264u

/* Mark, class 0x0f: 8-bit text with a NUL. Source: MOF, TE. */
#define ETL_HOOK_MARK 0x0f22u

/*
 * ImageID, by GUID only: what a merge found in the image files. The record has
 * the time, process and thread of the image event that follows it.
 *   Info        +0 ptr ImageBase, +P size_t ImageSize, +2P u32 ProcessId, 4+2P u32
 *               TimeDateStamp, OriginalFileName (UTF-16)
 *   None        +0 ptr ImageBase, +P u32 ProcessId; Deterministic the same
 *   DbgFile     +0 ptr ImageBase, +P u32 ProcessId, 4+P u32 CheckSum, 8+P u32
 *               TimeDateStamp, 12+P u32 ImageSize, name (UTF-16)
 *   RSDS        +0 ptr ImageBase, +P u32 ProcessId, 4+P GUID (not aligned), 20+P
 *               u32 Age, PdbFileName (8-bit, NUL); IL RSDS the same
 *   PortablePdb +0 ptr ImageBase, +P u32 ProcessId, 4+P u32 TimeDateStamp, 8+P
 *               u16 MajorVersion, 10+P u16 MinorVersion
 *   EmbeddedPdb +0 ptr ImageBase, +P u32 ProcessId, 4+P u16 MajorVersion, 6+P u16
 *               MinorVersion, 8+P GUID, 24+P u32 Age
 *   Error       UTF-16 message
 *   FileVersion +0 u32 ImageSize, +4 u32 TimeDateStamp, ten UTF-16 strings:
 *               OrigFileName, FileDescription, FileVersion, BinFileVersion,
 *               VerLanguage, ProductName, CompanyName, ProductVersion, FileId,
 *               ProgramId
 * Source: TE; DbgFile, EmbeddedPdb and Error derived from bytes in traces that
 * are not available. Seen (P = 8): Info 19,013, None 359, RSDS 18,610, IL 1,726, PortablePdb
 * 14,154, Deterministic 13,054, FileVersion 3,310.
 */
#define ETL_KEY_IMAGE_ID            0x2000u
#define ETL_KEY_IMAGE_NONE          0x2020u
#define ETL_KEY_IMAGE_DBG_FILE      0x2022u
#define ETL_KEY_IMAGE_RSDS          0x2024u
#define ETL_KEY_IMAGE_IL_RSDS       0x2025u
#define ETL_KEY_IMAGE_PORTABLE_PDB  0x2026u
#define ETL_KEY_IMAGE_EMBEDDED_PDB  0x2027u
#define ETL_KEY_IMAGE_DETERMINISTIC 0x2028u
#define ETL_KEY_IMAGE_ERROR         0x2029u
#define ETL_KEY_IMAGE_FILE_VERSION  0x2040u

/*
 * SysConfigEx, by GUID only, written by merges.
 *   BuildInfo     +0 u64 InstallDate, then BuildLab, ProductName
 *   SystemPaths   SystemDirectory, WindowsDirectory
 *   UnknownVolume NtPath
 *   VolumeMapping NtPath, DosPath
 *   DeviceFamily  as hook 0x0b21
 * Strings are UTF-16 with a NUL. Source: TE. Seen: 5, 5, 8, 47, 5.
 */
#define ETL_KEY_BUILD_INFO     0x2120u
#define ETL_KEY_SYSTEM_PATHS   0x2121u
#define ETL_KEY_VOLUME_UNKNOWN 0x2122u
#define ETL_KEY_VOLUME_MAPPING 0x2123u
#define ETL_KEY_DEVICE_FAMILY  0x2125u

/* Microsoft-Windows-Kernel-Memory: ids. Source: its manifest, as dissect.etl has it. */
#define ETL_KEY_KERNEL_MEMINFO            0x2601u
#define ETL_KEY_KERNEL_MEMINFO_WS         0x2602u
#define ETL_KEY_KERNEL_MEMINFO_SESSION_WS 0x2603u

/* Methods of .NET: ids 143 and 144 of either provider. Source: their manifests, TE. */
#define ETL_KEY_METHOD_LOAD    0x278fu
#define ETL_KEY_METHOD_UNLOAD  0x2790u
#define ETL_KEY_METHOD_DCSTART 0x288fu
#define ETL_KEY_METHOD_DCEND   0x2890u

/* Their modules: ids 152 and 153, of rundowns 153 and 154. Source: Microsoft's page on
 * loader events, TE. */
#define ETL_KEY_ASSEMBLY_LOAD    0x2798u
#define ETL_KEY_ASSEMBLY_UNLOAD  0x2799u
#define ETL_KEY_ASSEMBLY_DCSTART 0x2899u
#define ETL_KEY_ASSEMBLY_DCEND   0x289au

/* Lost_Event, by GUID only: no payload. Source: Microsoft's page on the class. */
#define ETL_KEY_LOST_EVENT  0x2520u
#define ETL_KEY_LOST_BUFFER 0x2521u
#define ETL_KEY_LOST_FILE   0x2522u

#endif
