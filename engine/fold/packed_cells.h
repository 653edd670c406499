/*
 * packed_cells.h - cells packed into bytes; shared by the code that makes and reads cells.
 *
 * A cell is its interval and eight amounts. An amount is packed as its difference from what the
 * others imply, which is small or zero in most cells, in as few bytes as the number needs.
 * Differences are of unsigned numbers, so sums that stopped at the largest number are restored,
 * too.
 *
 *     walked    group, interval and widths, in 4 bytes each │ amounts
 *     kept      interval │ amounts, their widths kept once for the group
 */
#ifndef ETLHEAP_PACKED_CELLS_H
#define ETLHEAP_PACKED_CELLS_H

#include "windows_cells.h"

#define CELL_AMOUNTS 8u

/* The bytes that must exist after a number, because numbers are read and written as whole words. */
#define PACKED_SLACK sizeof(u64)

/* A cell in one piece. */
typedef struct window_cell {
    u32 group, interval;
    i64 size, count;           /* outstanding at its end; in a walked cell: change since it began */
    i64 peak_size, peak_count; /* largest in it, including at its beginning */
    i64 alloc_size, alloc_count;
    i64 aifi_size, aifi_count; /* allocated and freed in it */
} window_cell;

typedef struct cell_amounts {
    u64 at[CELL_AMOUNTS];
} cell_amounts;

/* Packs the cells of the groups of one task, one group after the other. */
typedef struct cell_packer {
    u32 first, end;                    /* groups */
    ETLHEAP_VECTOR(window_cell) cells; /* of the group at hand */
    ETLHEAP_VECTOR(u8) packed;         /* of all its groups so far */
    bool failed;
} cell_packer;

/* Packs the cells of the group at hand. False if memory runs out. */
bool cell_packer_pack(cell_packer *packer, window_cell_group *group);

/* Joins what was packed to out->at; out->groups are those that were packed. False if memory runs
 * out. */
bool cell_packers_gather(cell_packer *packers, u32 count, window_cells *out);
void cell_packers_free(cell_packer *packers, u32 count);

static inline u32 packed_width(u64 value)
{
    return value == 0 ? 0 : (64 - (u32)__builtin_clzll(value) + 7) / 8;
}

static inline u32 packed_width_at(u32 widths, u32 amount)
{
    return widths >> 4 * amount & 15;
}

static inline u32 packed_widths_of(const cell_amounts *amounts)
{
    u32 widths = 0;
    for (u32 i = 0; i < CELL_AMOUNTS; i++)
        widths |= packed_width(amounts->at[i]) << 4 * i;
    return widths;
}

/* The number of bytes of all amounts. */
static inline u32 packed_widths_sum(u32 widths)
{
    const u32 pairs = (widths & 0x0F0F0F0F) + (widths >> 4 & 0x0F0F0F0F);
    return (pairs * 0x01010101) >> 24;
}

static inline u8 *packed_put(u8 *to, u64 value, u32 width)
{
    memcpy(to, &value, sizeof value);
    return to + width;
}

static inline u64 packed_get(const u8 *at, u32 width)
{
    u64 value;
    memcpy(&value, at, sizeof value);
    return width == 0 ? 0 : value & UINT64_MAX >> (64 - 8 * width);
}

static inline cell_amounts packed_get_amounts(const u8 *at, u32 widths)
{
    cell_amounts out;
    for (u32 i = 0; i < CELL_AMOUNTS; i++) {
        const u32 width = packed_width_at(widths, i);
        out.at[i] = packed_get(at, width);
        at += width;
    }
    return out;
}

static inline u8 *packed_put_amounts(u8 *to, const cell_amounts *amounts, u32 widths)
{
    for (u32 i = 0; i < CELL_AMOUNTS; i++)
        to = packed_put(to, amounts->at[i], packed_width_at(widths, i));
    return to;
}

/* The amounts of a kept cell, which at its end is never above its peak. */
static inline cell_amounts kept_amounts(const window_cell *cell)
{
    return (cell_amounts){ {
        (u64)cell->alloc_size,
        (u64)cell->alloc_count,
        (u64)cell->aifi_size,
        (u64)cell->aifi_count,
        (u64)cell->size,
        (u64)cell->count,
        (u64)cell->peak_size - (u64)cell->size,
        (u64)cell->peak_count - (u64)cell->count,
    } };
}

static inline window_cell cell_of_kept(const cell_amounts *amounts)
{
    const u64 *const at = amounts->at;
    return (window_cell){ .alloc_size = (i64)at[0],
                          .alloc_count = (i64)at[1],
                          .aifi_size = (i64)at[2],
                          .aifi_count = (i64)at[3],
                          .size = (i64)at[4],
                          .count = (i64)at[5],
                          .peak_size = (i64)(at[6] + at[4]),
                          .peak_count = (i64)(at[7] + at[5]) };
}

static inline u32 packed_interval_at(const window_cells *cells, const window_cell_group *group,
                                     u32 number)
{
    return (u32)packed_get(cells->at + group->start + (u64)number * group->stride,
                           group->interval_width);
}

static inline window_cell packed_cell_at(const window_cells *cells, const window_cell_group *group,
                                         u32 number)
{
    const u8 *const at = cells->at + group->start + (u64)number * group->stride;
    const cell_amounts amounts = packed_get_amounts(at + group->interval_width, group->widths);
    return cell_of_kept(&amounts);
}

#endif
