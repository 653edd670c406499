/*
 * layout_handle.h - events of handles and objects (private to the parser). Byte packed.
 *
 * Versions 0-2, hooks 0x1120 to 0x1131, class OBJECT:
 *
 *     0x1120 CreateHandle, 0x1121 CloseHandle
 *       +0     ptr  Object
 *       +P     u32  Handle       bit 31: a handle of the kernel, in the table of System
 *       +4+P   u16  ObjectType   an index, which the types' events name
 *       +6+P   text ObjectName   UTF-16 with a NUL, most often empty
 *     0x1122 DuplicateHandle
 *       +0     ptr  Object
 *       +P     u32  SourceHandle
 *       +4+P   u32  TargetHandle
 *       +8+P   u32  TargetProcessId
 *       +12+P  u16  ObjectType
 *       +14+P  u32  SourceProcessId  of newer builds
 *     0x1124 TypeDCStart, 0x1125 TypeDCEnd
 *       +0     u16  ObjectType
 *       +2     u16  Reserved
 *       +4     text Name
 *     0x1126 HandleDCStart, 0x1127 HandleDCEnd: a handle that was open at the start or the end
 *       +0     ptr  Object
 *       +P     u32  ProcessId
 *       +4+P   u32  Handle
 *       +8+P   u16  ObjectType
 *       +10+P  text ObjectName
 *     0x1130 CreateObject, 0x1131 DeleteObject
 *       +0     ptr  Object
 *       +P     u16  ObjectType
 *
 * Source: phnt ETW_CREATE_HANDLE_EVENT and its neighbours, TE ObjectHandleTraceData, MOF
 * ObjectHandleEvent. No public file has these records: tested on built bytes. The process of a
 * create or a close is that of the header, or else of the stack record behind it.
 */
#ifndef ETL_LAYOUT_HANDLE_H
#define ETL_LAYOUT_HANDLE_H

#define ETL_HOOK_HANDLE_CREATE       0x1120u
#define ETL_HOOK_HANDLE_CLOSE        0x1121u
#define ETL_HOOK_HANDLE_DUPLICATE    0x1122u
#define ETL_HOOK_OBJECT_TYPE_DCSTART 0x1124u
#define ETL_HOOK_OBJECT_TYPE_DCEND   0x1125u
#define ETL_HOOK_HANDLE_DCSTART      0x1126u
#define ETL_HOOK_HANDLE_DCEND        0x1127u
#define ETL_HOOK_OBJECT_CREATE       0x1130u
#define ETL_HOOK_OBJECT_DELETE       0x1131u

#define ETL_LAYOUT_HANDLE(V, GAP, LATE)                                                            \
    V(0, PTR, handle.object, HEX64, "object")                                                      \
    V(0, U32, handle.handle, HEX32, "handle")                                                      \
    V(0, U16, handle.object_type, U16, "object_type")                                              \
    V(0, TEXT16, handle.name, TEXT16, "name")

#define ETL_LAYOUT_HANDLE_DUPLICATE(V, GAP, LATE)                                                  \
    V(0, PTR, handle_duplicate.object, HEX64, "object")                                            \
    V(0, U32, handle_duplicate.source_handle, HEX32, "source_handle")                              \
    V(0, U32, handle_duplicate.target_handle, HEX32, "target_handle")                              \
    V(0, U32, handle_duplicate.target_process_id, U32, "target_process_id")                        \
    V(0, U16, handle_duplicate.object_type, U16, "object_type")                                    \
    LATE(0, U32, handle_duplicate.source_process_id, U32, "source_process_id")

#define ETL_LAYOUT_OBJECT_TYPE(V, GAP, LATE)                                                       \
    V(0, U16, object_type.object_type, U16, "object_type")                                         \
    GAP(0, U16)                                                                                    \
    V(0, TEXT16, object_type.name, TEXT16, "name")

#define ETL_LAYOUT_HANDLE_RUNDOWN(V, GAP, LATE)                                                    \
    V(0, PTR, handle.object, HEX64, "object")                                                      \
    V(0, U32, handle.process_id, U32, "process_id")                                                \
    V(0, U32, handle.handle, HEX32, "handle")                                                      \
    V(0, U16, handle.object_type, U16, "object_type")                                              \
    V(0, TEXT16, handle.name, TEXT16, "name")

#define ETL_LAYOUT_OBJECT(V, GAP, LATE)                                                            \
    V(0, PTR, object.object, HEX64, "object")                                                      \
    V(0, U16, object.object_type, U16, "object_type")

#define ETL_ROWS_OBJECT(X, ALSO)                                                                   \
    X(HOOK_HANDLE_CREATE, HANDLE_CREATE, 2, LAYOUT(HANDLE), "Object/CreateHandle")                 \
    X(HOOK_HANDLE_CLOSE, HANDLE_CLOSE, 2, LAYOUT(HANDLE), "Object/CloseHandle")                    \
    X(HOOK_HANDLE_DUPLICATE, HANDLE_DUPLICATE, 3, LAYOUT(HANDLE_DUPLICATE),                        \
      "Object/DuplicateHandle")                                                                    \
    X(HOOK_OBJECT_TYPE_DCSTART, OBJECT_TYPE_DCSTART, 2, LAYOUT(OBJECT_TYPE), "Object/TypeDCStart") \
    X(HOOK_OBJECT_TYPE_DCEND, OBJECT_TYPE_DCEND, 2, LAYOUT(OBJECT_TYPE), "Object/TypeDCEnd")       \
    X(HOOK_HANDLE_DCSTART, HANDLE_DCSTART, 2, LAYOUT(HANDLE_RUNDOWN), "Object/HandleDCStart")      \
    X(HOOK_HANDLE_DCEND, HANDLE_DCEND, 2, LAYOUT(HANDLE_RUNDOWN), "Object/HandleDCEnd")            \
    X(HOOK_OBJECT_CREATE, OBJECT_CREATE, 2, LAYOUT(OBJECT), "Object/Create")                       \
    X(HOOK_OBJECT_DELETE, OBJECT_DELETE, 2, LAYOUT(OBJECT), "Object/Delete")

#endif
