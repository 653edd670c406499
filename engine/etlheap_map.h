/*
 * etlheap_map.h - how full the address space of processes is. Part of engine.h.
 *
 *     process  ─▶ regions    a reservation, an image, a view of a file, or commits and blocks that
 *                            lie close together
 *                   ─▶ runs  adjacent units of a region that are equally full, in address order
 *              ─▶ heaps      what lies in each heap
 *              ─▶ pins       committed memory that a few live blocks keep
 *
 * Get a map with an etlheap_question of kind ETLHEAP_ASK_MAP. It shows one moment: the end of the
 * query's window. Memory that is not recorded is missing: kernel memory, views if there are no
 * MapFile events, and reservations made before a trace without a rundown. See
 * docs/address_space.md.
 */
#include "engine.h" /* before the guard: it includes etlheap_ask.h, which needs this header */

#ifndef ETLHEAP_MAP_H
#define ETLHEAP_MAP_H

#ifdef __cplusplus
extern "C" {
#endif

/* The kind of a region, in VMMap's terms; the first that applies, where views come before committed
 * memory. */
typedef enum etlheap_map_category {
    ETLHEAP_MAP_IMAGE,    /* a loaded module */
    ETLHEAP_MAP_HEAP,     /* contains heap extents or blocks */
    ETLHEAP_MAP_PRIVATE,  /* contains committed memory */
    ETLHEAP_MAP_RESERVED, /* nothing is committed */
    ETLHEAP_MAP_MAPPED,   /* a view of a file, without heap extents or blocks */
    ETLHEAP_MAP_CATEGORY_COUNT
} etlheap_map_category;

/* The length of arrays indexed by category, which stays the same when a category is added. */
#define ETLHEAP_MAP_CATEGORY_CAPACITY 8
static_assert((int)ETLHEAP_MAP_CATEGORY_COUNT <= ETLHEAP_MAP_CATEGORY_CAPACITY,
              "a category has a place in arrays");

/* "image", "heap", ...; "" for a number out of range. Static text. */
const char *etlheap_map_category_word(etlheap_map_category category);

/* Amounts in bytes. `live` is the size of blocks of heaps and custom allocators. Blocks lie in
 * committed memory, and images and views are mapped: if no event says what is committed where they
 * are, that is unknown. An amount of several regions counts those in which it is known. */
typedef struct etlheap_map_amounts {
    uint64_t size;
    uint64_t committed; /* by VirtualAlloc or as heap extents, each byte once */
    uint64_t live;
    uint64_t blocks;              /* number of live blocks */
    uint64_t largest_uncommitted; /* the largest uncommitted run */
    uint64_t largest_empty;       /* the largest run of units without a live block; 0 for images
                                   * and views */
    uint64_t used;                /* of `live`, what lies in committed memory, unit by unit */
    bool is_committed_known; /* false: `committed` and `largest_uncommitted` are 0 and unknown */
} etlheap_map_amounts;

/* Adjacent units of the same level. The first and the last may reach beyond the region; amounts
 * count only what lies in it. */
typedef struct etlheap_map_run {
    uint64_t address, size;
    uint64_t committed, live, blocks;
} etlheap_map_run;

/* How full a run is: 0 reserved, 1 committed and empty, 2 to 5 by quarters of the committed size,
 * or of the run's size if commits are unknown. */
#define ETLHEAP_MAP_LEVELS 6
uint32_t etlheap_map_level(const etlheap_map_run *run);

/* A region of a process's address space. */
typedef struct etlheap_map_region {
    uint64_t address;
    uint8_t category; /* etlheap_map_category */
    bool is_known;    /* a reservation, an image or a view; else memory less than 16 units apart */
    bool has_heap;    /* all its extents and blocks belong to one heap */
    uint64_t heap;
    const char *module; /* name of an image, or of a view's file if it is known; else NULL */
    etlheap_map_amounts amounts;
    uint32_t first_run, run_count; /* indices into etlheap_map.runs */
} etlheap_map_region;

/* A heap of a process. Amounts in bytes, except `blocks`. */
typedef struct etlheap_map_heap {
    uint64_t heap;
    uint64_t committed; /* extents; 0: unknown, as a heap always has committed memory */
    uint64_t live;
    uint64_t blocks;
    uint64_t touched; /* bytes of the units that contain its blocks */
    /* What it has reserved and not committed, as its own events state; false: none does. */
    uint64_t uncommitted;
    bool is_uncommitted_known;
} etlheap_map_heap;

/* A process. Its regions and heaps are parts of the map's arrays. */
typedef struct etlheap_map_process {
    const char *name;
    uint32_t pid;
    etlheap_map_amounts amounts; /* of all regions; a largest run lies within one region */
    uint64_t reserved;           /* bytes in reservations */
    etlheap_map_amounts categories[ETLHEAP_MAP_CATEGORY_CAPACITY]; /* by etlheap_map_category */
    uint32_t category_regions[ETLHEAP_MAP_CATEGORY_CAPACITY];      /* regions per category */
    uint32_t first_region, region_count; /* indices into etlheap_map.regions, by address */
    uint32_t first_heap, heap_count;     /* indices into etlheap_map.heaps, by handle */
} etlheap_map_process;

/* A pin: adjacent committed units in which live blocks take at most a sixteenth of each unit, and
 * not all units are empty. Without these blocks all the memory could be freed. */
typedef struct etlheap_map_pin {
    uint32_t process; /* index into etlheap_map.processes */
    uint64_t address, size;
    uint64_t committed, live, blocks;
    uint64_t largest_address, largest_size; /* the largest block; its stack is in the row */
    int64_t largest_ns;                     /* its allocation time; INT64_MIN: before the trace */
} etlheap_map_pin;

#define ETLHEAP_MAP_PIN_SHARE 16

/* The map. Freed with etlheap_map_free; strings are borrowed from the result. */
typedef struct etlheap_map {
    int64_t at_ns;
    uint64_t unit;                        /* bytes; raised if there would be too many units */
    bool has_reservations;                /* false: the store is from a version without them */
    bool has_virtualalloc;                /* VirtualAlloc events were recorded */
    bool has_extents;                     /* heap extents were recorded */
    const etlheap_map_process *processes; /* the largest committed or live size first */
    uint32_t process_count;
    const etlheap_map_region *regions;
    uint32_t region_count;
    const etlheap_map_run *runs;
    uint32_t run_count;
    const etlheap_map_heap *heaps;
    uint32_t heap_count;
    const etlheap_map_pin *pins; /* the largest committed size without live blocks first */
    uint32_t pin_count;
    /* One row per pin, in the same order: process, heap and stack of its largest block. Name its
     * frames with etlheap_table_name. */
    etlheap_table *table;
} etlheap_map;

#define ETLHEAP_MAP_UNIT_DEFAULT ((uint64_t)64 << 10)

/* Options of an ETLHEAP_ASK_MAP question. Start from {0} with `size` set. */
typedef struct etlheap_map_options {
    size_t size;       /* sizeof(etlheap_map_options) */
    uint64_t unit;     /* bytes, a power of two from 4 KiB to 1 TiB; 0: the default */
    uint32_t pins_max; /* list only the largest; 0: all */
} etlheap_map_options;

/* Frees a map that etlheap_ask returned. NULL is allowed. */
void etlheap_map_free(etlheap_map *map);

#ifdef __cplusplus
}
#endif

#endif
