/*
 * etlheap_kinds.h - the kinds of memory, one row each. Part of engine.h.
 *
 * What a command, a report or a file does for one kind and not for another is a property of the
 * kind, and stands in its row. Code asks the row; it compares kinds only where it decodes or pairs
 * the events of one. To add a kind, add a row, its events (parser/etl/event_rows.h), their ops
 * (read/stages.h) and how they begin and end lifetimes (pair/).
 */
#ifndef ETLHEAP_KINDS_H
#define ETLHEAP_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Yes-or-no properties of a kind, as bits. */
typedef enum etlheap_kind_trait {
    ETLHEAP_KIND_DEFAULT = 1,       /* selected, and judged by checks, without being named */
    ETLHEAP_KIND_COMMON = 2,        /* wide tables always have its columns, others if it is there */
    ETLHEAP_KIND_HAS_HEAP = 4,      /* its memory belongs to a heap of the process */
    ETLHEAP_KIND_IS_ALLOCATED = 8,  /* a program asked for its memory: a missing stack is a gap */
    ETLHEAP_KIND_NAMES_HEAP = 16,   /* its heaps have names in place of handles */
    ETLHEAP_KIND_OUTLIVES = 32,     /* of the system: it stays when the process that asked ends */
    ETLHEAP_KIND_HAS_POOL_TAG = 64, /* the key POOL_TAG is known */
    ETLHEAP_KIND_NO_SIZES = 128,    /* counted and not measured: each counts as 1 where others have
                                      bytes, growth is per hour, and formats show no sizes */
    ETLHEAP_KIND_HAS_OBJECT_TYPE = 256 /* the key OBJECT_TYPE may be known */
} etlheap_kind_trait;

/* What memory of a kind is on the map of an address space. */
typedef enum etlheap_kind_place {
    ETLHEAP_PLACE_NOWHERE, /* not in the address space of its process */
    ETLHEAP_PLACE_BLOCK,
    ETLHEAP_PLACE_COMMITTED,
    ETLHEAP_PLACE_EXTENT,
    ETLHEAP_PLACE_RESERVED,
    ETLHEAP_PLACE_VIEW, /* mapped by the system: it takes addresses, and no commit of the process */
    ETLHEAP_PLACE_COUNT
} etlheap_kind_place;

/* Within what a key, such as an address, is enough to find the block that an event is about. */
typedef enum etlheap_kind_space {
    ETLHEAP_SPACE_NONE, /* not enough: heaps have a handle too, and ranges can be cut */
    ETLHEAP_SPACE_PROCESS,
    ETLHEAP_SPACE_SYSTEM,
    ETLHEAP_SPACE_SESSION /* or the system, for blocks of no session */
} etlheap_kind_space;

/* How the memory of one allocation may be freed. */
typedef enum etlheap_kind_split {
    ETLHEAP_SPLIT_NEVER,  /* as a whole */
    ETLHEAP_SPLIT_BLOCKS, /* in pieces, which have no gaps when they are allocated */
    ETLHEAP_SPLIT_RANGES  /* in pieces; an allocation fills the gaps between older ranges */
} etlheap_kind_split;

/*
 * X(enumerator, traits, members of etlheap_kind_row): the rows, in the order of output.
 *
 *     HEAP          blocks from the heap functions
 *     VIRTUALALLOC  committed ranges
 *     EXTENT        committed heap extents (Expand, Contract)
 *     CUSTOM        blocks of allocators that log their own events
 *     RESERVE       reserved address ranges, committed or not; a reservation takes no memory until
 *                   it is committed
 *     POOL          blocks of the kernel's pools; the heap is their tag, and the process the one
 *                   that asked for them
 *     HANDLE        handles of processes; the heap is the type of the object. They have no size
 *     MAPPED        views of files, of the page file, and of images; the heap is the file. A view
 *                   takes addresses; what it commits is the file's, or the section's
 *     SECTION       commit of sections of the page file, which processes share
 */
/* clang-format off */
#define ETLHEAP_KINDS(X)                                                                           \
    X(HEAP,                                                                                        \
      ETLHEAP_KIND_DEFAULT | ETLHEAP_KIND_COMMON | ETLHEAP_KIND_HAS_HEAP |                         \
          ETLHEAP_KIND_IS_ALLOCATED,                                                               \
      .word = "heap", .title = "Heap", .plural = "heap blocks", .lane = 0,                         \
      .recorded_with = ETLHEAP_KIND_HEAP,                                                          \
      .place = ETLHEAP_PLACE_BLOCK, .split = ETLHEAP_SPLIT_NEVER,                                  \
      .question = "blocks of the heap functions, by process, heap and stack",                      \
      .record = "wpr -heaptracingconfig app.exe enable, start the program, wpr -start Heap "       \
                "-filemode; or, for a running one: xperf -start HeapSession -heap -pids PID "      \
                "-stackwalk HeapAlloc+HeapRealloc")                                                \
    X(VIRTUALALLOC,                                                                                \
      ETLHEAP_KIND_DEFAULT | ETLHEAP_KIND_COMMON | ETLHEAP_KIND_IS_ALLOCATED,                      \
      .word = "virtualalloc", .title = "VirtualAlloc", .plural = "committed ranges", .lane = 1,    \
      .recorded_with = ETLHEAP_KIND_VIRTUALALLOC,                                                  \
      .place = ETLHEAP_PLACE_COMMITTED, .split = ETLHEAP_SPLIT_RANGES,                             \
      .question = "memory committed by VirtualAlloc",                                              \
      .record = "wpr -start VirtualAllocation -filemode, or xperf -on "                            \
                "PROC_THREAD+LOADER+VIRT_ALLOC -stackwalk VirtualAlloc+VirtualFree")               \
    X(EXTENT,                                                                                      \
      ETLHEAP_KIND_DEFAULT | ETLHEAP_KIND_COMMON | ETLHEAP_KIND_HAS_HEAP |                         \
          ETLHEAP_KIND_IS_ALLOCATED,                                                               \
      .word = "extent", .title = "Extent", .plural = "heap extents", .lane = 2,                    \
      .recorded_with = ETLHEAP_KIND_HEAP,                                                          \
      .place = ETLHEAP_PLACE_EXTENT, .split = ETLHEAP_SPLIT_RANGES,                                \
      .question = "memory that heaps obtained from the system (Heap Extents)")                     \
    X(CUSTOM,                                                                                      \
      ETLHEAP_KIND_DEFAULT | ETLHEAP_KIND_HAS_HEAP | ETLHEAP_KIND_IS_ALLOCATED |                   \
          ETLHEAP_KIND_NAMES_HEAP,                                                                 \
      .word = "custom", .title = "Custom", .plural = "custom blocks", .lane = 4,                   \
      .recorded_with = ETLHEAP_KIND_CUSTOM,                                                        \
      .place = ETLHEAP_PLACE_BLOCK, .split = ETLHEAP_SPLIT_BLOCKS,                                 \
      .question = "blocks of allocators that log their own events",                                \
      .record = "wpr -start etw-mimalloc.wprp -filemode for mimalloc built with MI_TRACK_ETW; "    \
                "for PIX xperf -start PixSession -on "                                             \
                "8819ca17-7faa-4184-afb7-a4120ca793cd:0x6:4:'stack'; for other allocators see "    \
                "docs/recording.md")                                                               \
    X(RESERVE, 0,                                                                                  \
      .word = "reserve", .title = "Reserve", .plural = "reservations", .lane = 3,                  \
      .recorded_with = ETLHEAP_KIND_VIRTUALALLOC,                                                  \
      .place = ETLHEAP_PLACE_RESERVED, .split = ETLHEAP_SPLIT_RANGES,                              \
      .question = "address ranges reserved by VirtualAlloc")                                       \
    X(POOL,                                                                                        \
      ETLHEAP_KIND_HAS_HEAP | ETLHEAP_KIND_IS_ALLOCATED | ETLHEAP_KIND_NAMES_HEAP |                \
          ETLHEAP_KIND_OUTLIVES | ETLHEAP_KIND_HAS_POOL_TAG,                                       \
      .word = "pool", .title = "Pool", .plural = "pool blocks", .lane = 6,                         \
      .recorded_with = ETLHEAP_KIND_POOL, .hook_first = 0x0e20, .hook_last = 0x0e23,               \
      .place = ETLHEAP_PLACE_NOWHERE,                                                              \
      .split = ETLHEAP_SPLIT_NEVER, .space = ETLHEAP_SPACE_SESSION,                                \
      .question = "blocks of the kernel's pools, by tag and stack",                                \
      .record = "wpr -start Pool -filemode, or xperf -on PROC_THREAD+LOADER+POOL -stackwalk "      \
                "PoolAlloc+PoolFree")                                                              \
    X(HANDLE,                                                                                      \
      ETLHEAP_KIND_HAS_HEAP | ETLHEAP_KIND_IS_ALLOCATED | ETLHEAP_KIND_NAMES_HEAP |                \
          ETLHEAP_KIND_NO_SIZES | ETLHEAP_KIND_HAS_OBJECT_TYPE,                                    \
      .word = "handle", .title = "Handle", .plural = "handles", .lane = 5,                         \
      .recorded_with = ETLHEAP_KIND_HANDLE, .hook_first = 0x1120, .hook_last = 0x1122,             \
      .place = ETLHEAP_PLACE_NOWHERE,                                                              \
      .split = ETLHEAP_SPLIT_NEVER, .space = ETLHEAP_SPACE_PROCESS,                                \
      .question = "handles that processes hold, by type of object and stack",                      \
      .record = "wpr -start Handle -filemode, or xperf -on PROC_THREAD+LOADER+OB_HANDLE "          \
                "-stackwalk HandleCreate+HandleDuplicate+HandleClose")                             \
    X(MAPPED, ETLHEAP_KIND_HAS_HEAP | ETLHEAP_KIND_IS_ALLOCATED | ETLHEAP_KIND_NAMES_HEAP,         \
      .word = "mapped", .title = "Mapped", .plural = "views", .lane = 7,                           \
      .recorded_with = ETLHEAP_KIND_MAPPED, .hook_first = 0x0425, .hook_last = 0x0428,             \
      .place = ETLHEAP_PLACE_VIEW,                                                                 \
      .split = ETLHEAP_SPLIT_NEVER, .space = ETLHEAP_SPACE_PROCESS,                                \
      .question = "views of files, by process, file and stack",                                    \
      .record = "xperf -on PROC_THREAD+LOADER+VAMAP+FILENAME -stackwalk MapFile+UnMapFile")        \
    X(SECTION, ETLHEAP_KIND_IS_ALLOCATED | ETLHEAP_KIND_OUTLIVES,                                  \
      .word = "section", .title = "Section", .plural = "sections", .lane = 8,                      \
      .recorded_with = ETLHEAP_KIND_SECTION, .hook_first = 0x0248, .hook_last = 0x0249,            \
      .place = ETLHEAP_PLACE_NOWHERE,                                                              \
      .split = ETLHEAP_SPLIT_NEVER, .space = ETLHEAP_SPACE_SYSTEM,                                 \
      .question = "memory that processes share through the page file, by process and stack",       \
      .record = "xperf -on PROC_THREAD+LOADER+MEMORY -stackwalk "                                  \
                "PagefileMappedSectionCreate+PagefileMappedSectionDelete")
/* clang-format on */

typedef enum etlheap_kind {
#define ETLHEAP_KIND_ENUM(name, traits, ...) ETLHEAP_KIND_##name,
    ETLHEAP_KINDS(ETLHEAP_KIND_ENUM)
#undef ETLHEAP_KIND_ENUM
        ETLHEAP_KIND_COUNT
} etlheap_kind;

/* The row of a kind, besides its traits. */
typedef struct etlheap_kind_row {
    const char *word;           /* the kind's name in options and output */
    const char *title;          /* the same in titles of columns */
    const char *plural;         /* what its memory is called in sentences */
    const char *question;       /* in the list of what a trace can answer; NULL: not listed */
    const char *record;         /* how to record it: a phrase with the command; NULL: as the kind
                                   that it is recorded with */
    uint8_t lane;               /* its number in stores; it never changes (formats/ehs.md) */
    etlheap_kind recorded_with; /* the kind whose events also tell about this one, or itself */
    uint16_t hook_first, hook_last; /* events that began this kind in stores: those from before have
                                       them without it; 0: none */
    etlheap_kind_place place;
    etlheap_kind_split split;
    etlheap_kind_space space;
} etlheap_kind_row;

/* NULL for a number out of range. */
const etlheap_kind_row *etlheap_kind_at(etlheap_kind kind);

/* The kinds with any of these traits, as bits: a constant if `traits` is one. */
static inline uint32_t etlheap_kinds_with(uint32_t traits)
{
#define ETLHEAP_KIND_BIT(name, has, ...)                                                           \
    | (((uint32_t)(has)&traits) != 0 ? 1u << ETLHEAP_KIND_##name : 0u)
    return 0u ETLHEAP_KINDS(ETLHEAP_KIND_BIT);
#undef ETLHEAP_KIND_BIT
}

/* The kinds that a query without kinds selects. */
#define ETLHEAP_KIND_DEFAULT_BIT(name, has, ...)                                                   \
    | (((has)&ETLHEAP_KIND_DEFAULT) != 0 ? 1u << ETLHEAP_KIND_##name : 0u)
#define ETLHEAP_KINDS_DEFAULT (0u ETLHEAP_KINDS(ETLHEAP_KIND_DEFAULT_BIT))

#define ETLHEAP_KINDS_ALL ((1u << ETLHEAP_KIND_COUNT) - 1)

/* True if there are kinds, given as bits, and none of them has sizes. */
static inline bool etlheap_kinds_are_counted(uint32_t kinds)
{
    return kinds != 0 && (kinds & ~etlheap_kinds_with(ETLHEAP_KIND_NO_SIZES)) == 0;
}

/* True if the kind has any of these traits. */
static inline bool etlheap_kind_has(uint32_t kind, uint32_t traits)
{
    return (etlheap_kinds_with(traits) >> kind & 1) != 0;
}

#ifdef __cplusplus
}
#endif

#endif
