/*
 * layout_heap_pages.h - how heaps commit pages and divide them (private to the parser).
 *
 * Class HEAP, as in layout_events.h: written by ntdll of the traced process, byte packed.
 *
 * Commit, Decommit, hooks 0x1033, 0x1034:
 *   +0 ptr HeapHandle, +P ptr Block, +2P size_t Size, +3P u32 Caller
 *   Caller: 1 create a heap, 2 find and commit pages, 3 initialize a segment, 4 extend the heap,
 *   5, 6 decommit a free block, 7, 8 decommit, commit a block, 9 allocate, 10 commit and initialize
 *   pages, 11 allocate a segment heap, 12 allocate a new segment, 13 decommit a range of pages
 * Subsegments of the low-fragmentation heap, allocated and freed, 0x102f, 0x1030, or from and to
 * its cache, 0x1031, 0x1032:
 *   +0 ptr HeapHandle, +P ptr SubSegment, +2P size_t SubSegmentSize, +3P size_t BlockSize
 * and initialized, 0x1035: +0 ptr HeapHandle, +P ptr SubSegment, +2P size_t BlockSize,
 *   +3P size_t BlockCount, +4P u32 AffinityIndex
 * 0x1036 +0 ptr HeapHandle, +P u32 BucketIndex
 * 0x1038 +0 ptr HeapHandle, +P ptr SubSegment; 0x1039 the same, then +2P u32 SlotIndex; 0x103a the
 *   same, then +2P u32 BucketIndex
 * Source: phnt. No public file has them: tested on built bytes.
 */
#ifndef ETL_LAYOUT_HEAP_PAGES_H
#define ETL_LAYOUT_HEAP_PAGES_H

#define ETL_HOOK_HEAP_SUBSEGMENT_ALLOC        0x102fu
#define ETL_HOOK_HEAP_SUBSEGMENT_FREE         0x1030u
#define ETL_HOOK_HEAP_SUBSEGMENT_ALLOC_CACHED 0x1031u
#define ETL_HOOK_HEAP_SUBSEGMENT_FREE_CACHED  0x1032u
#define ETL_HOOK_HEAP_COMMIT                  0x1033u
#define ETL_HOOK_HEAP_DECOMMIT                0x1034u
#define ETL_HOOK_HEAP_SUBSEGMENT_INIT         0x1035u
#define ETL_HOOK_HEAP_BUCKET                  0x1036u
#define ETL_HOOK_HEAP_SUBSEGMENT_ACTIVATED    0x1038u
#define ETL_HOOK_HEAP_SUBSEGMENT_SLOT         0x1039u
#define ETL_HOOK_HEAP_SUBSEGMENT_REUSED       0x103au

#define ETL_LAYOUT_HEAP_COMMIT(V, GAP, LATE)                                                       \
    V(0, PTR, heap_commit.heap_handle, HEX64, "heap_handle")                                       \
    V(0, PTR, heap_commit.address, HEX64, "address")                                               \
    V(0, PTR, heap_commit.size_bytes, U64, "size")                                                 \
    V(0, U32, heap_commit.caller, U32, "caller")

#define ETL_LAYOUT_HEAP_SUBSEGMENT(V, GAP, LATE)                                                   \
    V(0, PTR, heap_subsegment.heap_handle, HEX64, "heap_handle")                                   \
    V(0, PTR, heap_subsegment.subsegment, HEX64, "subsegment")                                     \
    V(0, PTR, heap_subsegment.size_bytes, U64, "size")                                             \
    V(0, PTR, heap_subsegment.block_size_bytes, U64, "block_size")

#define ETL_LAYOUT_HEAP_SUBSEGMENT_INIT(V, GAP, LATE)                                              \
    V(0, PTR, heap_subsegment.heap_handle, HEX64, "heap_handle")                                   \
    V(0, PTR, heap_subsegment.subsegment, HEX64, "subsegment")                                     \
    V(0, PTR, heap_subsegment.block_size_bytes, U64, "block_size")                                 \
    V(0, PTR, heap_subsegment.block_count, U64, "block_count")                                     \
    V(0, U32, heap_subsegment.number, U32, "number")

/* Activation has no number. */
#define ETL_LAYOUT_HEAP_SUBSEGMENT_USE(V, GAP, LATE)                                               \
    V(0, PTR, heap_subsegment.heap_handle, HEX64, "heap_handle")                                   \
    V(0, PTR, heap_subsegment.subsegment, HEX64, "subsegment")                                     \
    LATE(0, U32, heap_subsegment.number, U32, "number")

#define ETL_LAYOUT_HEAP_BUCKET(V, GAP, LATE)                                                       \
    V(0, PTR, heap_subsegment.heap_handle, HEX64, "heap_handle")                                   \
    V(0, U32, heap_subsegment.number, U32, "number")

/* Part of the rows of class HEAP. */
#define ETL_ROWS_HEAP_PAGES(X, ALSO)                                                               \
    X(HOOK_HEAP_COMMIT, HEAP_COMMIT, 2, LAYOUT(HEAP_COMMIT), "Heap/Commit")                        \
    X(HOOK_HEAP_DECOMMIT, HEAP_DECOMMIT, 2, LAYOUT(HEAP_COMMIT), "Heap/Decommit")                  \
    X(HOOK_HEAP_SUBSEGMENT_ALLOC, HEAP_SUBSEGMENT_ALLOC, 2, LAYOUT(HEAP_SUBSEGMENT),               \
      "Heap/SubsegmentAlloc")                                                                      \
    X(HOOK_HEAP_SUBSEGMENT_FREE, HEAP_SUBSEGMENT_FREE, 2, LAYOUT(HEAP_SUBSEGMENT),                 \
      "Heap/SubsegmentFree")                                                                       \
    ALSO(HOOK_HEAP_SUBSEGMENT_ALLOC_CACHED, HEAP_SUBSEGMENT_ALLOC, 2, LAYOUT(HEAP_SUBSEGMENT),     \
         "Heap/SubsegmentAllocCached")                                                             \
    ALSO(HOOK_HEAP_SUBSEGMENT_FREE_CACHED, HEAP_SUBSEGMENT_FREE, 2, LAYOUT(HEAP_SUBSEGMENT),       \
         "Heap/SubsegmentFreeCached")                                                              \
    X(HOOK_HEAP_SUBSEGMENT_INIT, HEAP_SUBSEGMENT_INIT, 2, LAYOUT(HEAP_SUBSEGMENT_INIT),            \
      "Heap/SubsegmentInit")                                                                       \
    X(HOOK_HEAP_BUCKET, HEAP_BUCKET, 2, LAYOUT(HEAP_BUCKET), "Heap/AffinityManagerEnable")         \
    X(HOOK_HEAP_SUBSEGMENT_ACTIVATED, HEAP_SUBSEGMENT_USE, 2, LAYOUT(HEAP_SUBSEGMENT_USE),         \
      "Heap/SubSegmentActivated")                                                                  \
    ALSO(HOOK_HEAP_SUBSEGMENT_SLOT, HEAP_SUBSEGMENT_USE, 2, LAYOUT(HEAP_SUBSEGMENT_USE),           \
         "Heap/AffinitySlotChanged")                                                               \
    ALSO(HOOK_HEAP_SUBSEGMENT_REUSED, HEAP_SUBSEGMENT_USE, 2, LAYOUT(HEAP_SUBSEGMENT_USE),         \
         "Heap/SubsegmentReuseThresholdActivated")

#endif
