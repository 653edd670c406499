/*
 * etlheap_map.h - how full the address space of processes is: engine.h includes this.
 *
 *     process  ─▶ regions    a reservation, an image, or what commits and blocks add up to
 *                   ─▶ runs  units of the region that are filled alike, in address order
 *              ─▶ heaps      what lives in each
 *              ─▶ pins       committed memory that a few live blocks keep
 *
 * A map is what there was at one moment: the end of the query's window. What is not recorded is
 * not on it: views of files, memory of the kernel, and what was reserved before a trace without
 * a rundown. See docs/address_space.md.
 */
#include "engine.h" /* before the guard, as etlheap_ask.h, which that includes, takes all of this */

#ifndef ETLHEAP_MAP_H
#define ETLHEAP_MAP_H

#ifdef __cplusplus
extern "C" {
#endif

/* What a region is, as VMMap calls it; the first that holds. */
typedef enum etlheap_map_category {
    ETLHEAP_MAP_IMAGE,    /* a module that is loaded there */
    ETLHEAP_MAP_HEAP,     /* heap extents or blocks lie in it */
    ETLHEAP_MAP_PRIVATE,  /* something is committed */
    ETLHEAP_MAP_RESERVED, /* nothing is */
    ETLHEAP_MAP_CATEGORY_COUNT
} etlheap_map_category;

/* Length of arrays by category: they keep their size when one is added. */
#define ETLHEAP_MAP_CATEGORY_CAPACITY 8
static_assert((int)ETLHEAP_MAP_CATEGORY_COUNT <= ETLHEAP_MAP_CATEGORY_CAPACITY,
              "a category has a place in arrays");

/* "image", "heap", ...; "" for any other number. */
const char *etlheap_map_category_word(etlheap_map_category category);

/* Bytes unless it says otherwise. Live is what blocks take: of heaps and custom allocators. */
typedef struct etlheap_map_amounts {
    u64 size;
    u64 committed; /* by VirtualAlloc or as heap extents: each byte once */
    u64 live;
    u64 blocks;              /* a number */
    u64 largest_uncommitted; /* the largest run that is not committed; of images 0 */
    u64 largest_empty;       /* the largest run of units without a live block; of images 0 */
} etlheap_map_amounts;

/* Units that follow each other and have the same level. The first and the last one may reach
 * beyond the region; what is counted does not. */
typedef struct etlheap_map_run {
    u64 address, size;
    u64 committed, live, blocks;
} etlheap_map_run;

/* How full a run is: 0 reserved, 1 committed and empty, 2 to 5 a quarter each of what is
 * committed, or of its size if nothing is known of commits. */
#define ETLHEAP_MAP_LEVELS 6
u32 etlheap_map_level(const etlheap_map_run *run);

typedef struct etlheap_map_region {
    u64 address;
    u8 category;   /* etlheap_map_category */
    bool is_known; /* a reservation or an image; else what lies less than 16 units apart */
    bool has_heap; /* all extents and blocks in it are of one heap */
    u64 heap;
    const char *module; /* of an image; else NULL */
    etlheap_map_amounts amounts;
    u32 first_run, run_count; /* of etlheap_map.runs */
} etlheap_map_region;

typedef struct etlheap_map_heap {
    u64 heap;
    u64 committed; /* extents */
    u64 live;
    u64 blocks;
    u64 touched; /* bytes of the units that its blocks lie in */
} etlheap_map_heap;

typedef struct etlheap_map_process {
    const char *name;
    u32 pid;
    etlheap_map_amounts amounts; /* of all regions; the largest runs lie in one region */
    u64 reserved;                /* in reservations */
    etlheap_map_amounts categories[ETLHEAP_MAP_CATEGORY_CAPACITY]; /* by etlheap_map_category */
    u32 category_regions[ETLHEAP_MAP_CATEGORY_CAPACITY];           /* how many there are of each */
    u32 first_region, region_count; /* of etlheap_map.regions, by address */
    u32 first_heap, heap_count;     /* of etlheap_map.heaps, by handle */
} etlheap_map_process;

/* Units in a row that are committed, with live blocks in some of them that take at most a
 * sixteenth of each. It would all be free without these blocks. */
typedef struct etlheap_map_pin {
    u32 process; /* index of etlheap_map.processes */
    u64 address, size;
    u64 committed, live, blocks;
    u64 largest_address, largest_size; /* the largest of the blocks, whose stack is the row's */
    i64 largest_ns;                    /* when it was allocated; INT64_MIN: before the trace */
} etlheap_map_pin;

#define ETLHEAP_MAP_PIN_SHARE 16

typedef struct etlheap_map {
    i64 at_ns;
    u64 unit;                             /* bytes; larger than asked for if there were too many */
    bool has_reservations;                /* false: the store was written before they were kept */
    bool has_virtualalloc;                /* VirtualAlloc events were recorded */
    bool has_extents;                     /* heap extents were recorded */
    const etlheap_map_process *processes; /* most committed or live first */
    u32 process_count;
    const etlheap_map_region *regions;
    u32 region_count;
    const etlheap_map_run *runs;
    u32 run_count;
    const etlheap_map_heap *heaps;
    u32 heap_count;
    const etlheap_map_pin *pins; /* most committed and not live first */
    u32 pin_count;
    /* A row for each pin, in their order: process, heap and stack of its largest block. To be
     * named with etlheap_table_name. */
    const etlheap_table *table;
} etlheap_map;

#define ETLHEAP_MAP_UNIT_DEFAULT ((u64)64 << 10)

typedef struct etlheap_map_options {
    size_t size;  /* sizeof(etlheap_map_options) */
    u64 unit;     /* bytes, a power of two from 4 KiB to 1 TiB; 0: 64 KiB */
    u32 pins_max; /* the largest are listed; 0: all */
} etlheap_map_options;

/* NULL is allowed. */
void etlheap_map_free(etlheap_map *map);

#ifdef __cplusplus
}
#endif

#endif
