/*
 * layout_mapped.h - views of files, sections of the page file, and names of files (private to the
 * parser).
 *
 * MapFile, UnmapFile and their rundowns, class FILE, hooks 0x0425 to 0x0428:
 *   +0     ptr     ViewBase
 *   +P     ptr     FileObject  names the file, as in FileIo/Name below; TE calls it FileKey
 *   +2P    u64     MiscInfo    meaning unpublished: 0x00c1000000000000, 0x0047000000000000 seen
 *   +8+2P  size_t  ViewSize
 *   +8+3P  u64     ByteOffset  v3: where in the file the view begins
 *   +8+3P  u32     ProcessId   v3: +16+3P; the owner of the view, also if another process maps it;
 *                              0 in a record that goetw quotes
 * Source: MOF (FileIo_V2_MapFile), TE; v3: TE. The unit tests have a v3 payload of 44 bytes that a
 * public reader quotes: ETWAnalyzer, MapFileEventObjects.cs. Its ProcessId is that of the header,
 * which tells the order of the last two. Views of images are logged as well (PerfView).
 *
 * FileIo/Name, FileCreate, FileDelete, FileRundown, hooks 0x0400, 0x0420, 0x0423, 0x0424:
 *   +0  ptr   FileObject  a key that the kernel uses again for another file
 *   +P  text  FileName    UTF-16, NT path
 * Source: Microsoft's page on FileIo_Name, TE. Seen, with P = 8: FileCreate 16, FileDelete 14,
 * FileRundown 3,054.
 *
 * Sections of the page file, class MEMORY, hooks 0x0248, 0x0249, 0x024f:
 *   +0   ptr  RangeBase, +P ptr RangeEnd: addresses of the section's prototype PTEs
 *   +2P  u32  CreatingProcessId
 * and their objects, hooks 0x0287, 0x0288: +0 ptr SectionObject, +P ptr RangeBase.
 * Source: phnt for the hooks; PERFINFO_PFMAPPED_SECTION_INFORMATION and _OBJECT_INFORMATION in the
 * kernel's public symbols, Windows 10 and 11. No public file has them: tested on built bytes.
 *
 * VirtualRotate and MemReset, hooks 0x027f, 0x0286: +0 ptr BaseAddress, +P size_t SizeInBytes,
 * +2P u32 flags; of a rotation the low four bits say which way. Source: phnt. Built bytes.
 */
#ifndef ETL_LAYOUT_MAPPED_H
#define ETL_LAYOUT_MAPPED_H

#define ETL_HOOK_FILE_NAME             0x0400u
#define ETL_HOOK_FILE_CREATE           0x0420u
#define ETL_HOOK_FILE_DELETE           0x0423u
#define ETL_HOOK_FILE_RUNDOWN          0x0424u
#define ETL_HOOK_MAP_FILE              0x0425u
#define ETL_HOOK_UNMAP_FILE            0x0426u
#define ETL_HOOK_MAP_FILE_DCSTART      0x0427u
#define ETL_HOOK_MAP_FILE_DCEND        0x0428u
#define ETL_HOOK_SECTION_RUNDOWN       0x0248u
#define ETL_HOOK_SECTION_CREATE        0x0249u
#define ETL_HOOK_SECTION_DELETE        0x024fu
#define ETL_HOOK_SECTION_OBJECT_CREATE 0x0287u
#define ETL_HOOK_SECTION_OBJECT_DELETE 0x0288u
#define ETL_HOOK_VIRTUAL_ROTATE        0x027fu
#define ETL_HOOK_MEM_RESET             0x0286u

#define ETL_LAYOUT_FILE_NAME(V, GAP, LATE)                                                         \
    V(0, PTR, file_name.file_object, HEX64, "file_object")                                         \
    V(0, TEXT16, file_name.file_name, TEXT16, "file_name")

#define ETL_LAYOUT_FILE_VIEW(V, GAP, LATE)                                                         \
    V(0, PTR, file_view.view_base, HEX64, "view_base")                                             \
    V(0, PTR, file_view.file_object, HEX64, "file_object")                                         \
    V(0, U64, file_view.misc_info, HEX64, "misc_info")                                             \
    V(0, PTR, file_view.view_size_bytes, U64, "view_size")                                         \
    V(3, U64, file_view.byte_offset, U64, "byte_offset")                                           \
    V(0, U32, file_view.process_id, U32, "process_id")

#define ETL_LAYOUT_SECTION(V, GAP, LATE)                                                           \
    V(0, PTR, section.range_base, HEX64, "range_base")                                             \
    V(0, PTR, section.range_end, HEX64, "range_end")                                               \
    V(0, U32, section.creating_process_id, U32, "creating_process_id")

#define ETL_LAYOUT_SECTION_OBJECT(V, GAP, LATE)                                                    \
    V(0, PTR, section.object, HEX64, "section_object")                                             \
    V(0, PTR, section.range_base, HEX64, "range_base")

#define ETL_LAYOUT_MEMORY_FLAGS(V, GAP, LATE)                                                      \
    V(0, PTR, virtual_memory.base_address, HEX64, "base_address")                                  \
    V(0, PTR, virtual_memory.region_size_bytes, U64, "region_size")                                \
    V(0, U32, virtual_memory.flags, HEX32, "flags")

#define ETL_ROWS_FILE(X, ALSO)                                                                     \
    X(HOOK_FILE_NAME, FILE_NAME, 2, LAYOUT(FILE_NAME), "FileIo/Name")                              \
    X(HOOK_FILE_CREATE, FILE_CREATE, 2, LAYOUT(FILE_NAME), "FileIo/FileCreate")                    \
    X(HOOK_FILE_DELETE, FILE_DELETE, 2, LAYOUT(FILE_NAME), "FileIo/FileDelete")                    \
    X(HOOK_FILE_RUNDOWN, FILE_RUNDOWN, 2, LAYOUT(FILE_NAME), "FileIo/FileRundown")                 \
    X(HOOK_MAP_FILE, MAP_FILE, 3, LAYOUT(FILE_VIEW), "FileIo/MapFile")                             \
    X(HOOK_UNMAP_FILE, UNMAP_FILE, 3, LAYOUT(FILE_VIEW), "FileIo/UnmapFile")                       \
    X(HOOK_MAP_FILE_DCSTART, MAP_FILE_DCSTART, 3, LAYOUT(FILE_VIEW), "FileIo/MapFileDCStart")      \
    X(HOOK_MAP_FILE_DCEND, MAP_FILE_DCEND, 3, LAYOUT(FILE_VIEW), "FileIo/MapFileDCEnd")

/* Part of the rows of class MEMORY. */
#define ETL_ROWS_SECTION(X, ALSO)                                                                  \
    X(HOOK_SECTION_RUNDOWN, SECTION_RUNDOWN, 2, LAYOUT(SECTION),                                   \
      "PageFault/PFMappedSectionRundown")                                                          \
    X(HOOK_SECTION_CREATE, SECTION_CREATE, 2, LAYOUT(SECTION), "PageFault/PFMappedSectionCreate")  \
    X(HOOK_SECTION_DELETE, SECTION_DELETE, 2, LAYOUT(SECTION), "PageFault/PFMappedSectionDelete")  \
    X(HOOK_SECTION_OBJECT_CREATE, SECTION_OBJECT_CREATE, 2, LAYOUT(SECTION_OBJECT),                \
      "PageFault/PFMappedSectionObjectCreate")                                                     \
    X(HOOK_SECTION_OBJECT_DELETE, SECTION_OBJECT_DELETE, 2, LAYOUT(SECTION_OBJECT),                \
      "PageFault/PFMappedSectionObjectDelete")                                                     \
    X(HOOK_VIRTUAL_ROTATE, VIRTUAL_ROTATE, 2, LAYOUT(MEMORY_FLAGS), "PageFault/VirtualRotate")     \
    X(HOOK_MEM_RESET, MEM_RESET, 2, LAYOUT(MEMORY_FLAGS), "PageFault/MemResetInfo")

#endif
