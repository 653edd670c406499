/*
 * sparkline.c - draws a curve as one line of characters of eight heights; several windows share a
 * column if there are more windows than columns.
 */
#include "sparkline.h"

#include "formats/io/text_buffer.h"

#define HEIGHTS 8u

/* U+2581 to U+2588, lower one eighth block to full block, each three bytes. */
static const char *const blocks[HEIGHTS] = { "\xE2\x96\x81", "\xE2\x96\x82", "\xE2\x96\x83",
                                             "\xE2\x96\x84", "\xE2\x96\x85", "\xE2\x96\x86",
                                             "\xE2\x96\x87", "\xE2\x96\x88" };
static const char *const marks[HEIGHTS] = { "_", ".", ":", "-", "=", "+", "*", "#" };

/* Rounded up, so that what is little still stands above nothing. Values past 60
 * bits lose what no eye sees in place of overflowing. */
static u32 height_of(u64 value, u64 largest)
{
    const u32 shift = largest >> 60 ? 4 : 0;
    const u64 part = value >> shift;
    const u64 whole = largest >> shift;
    if (value == 0)
        return 0;
    return (u32)((part * (HEIGHTS - 1) + whole - 1) / whole + (part == 0 ? 1 : 0));
}

static i64 most_of(const i64 *values, u32 count)
{
    i64 most = values[0];
    for (u32 i = 1; i < count; i++)
        most = values[i] > most ? values[i] : most;
    return most;
}

static i64 least_of(const i64 *values, u32 count)
{
    i64 least = values[0];
    for (u32 i = 1; i < count; i++)
        least = values[i] < least ? values[i] : least;
    return least;
}

void etlheap_sparkline_add(etlheap_text *text, const i64 *values, u32 count,
                           const etlheap_sparkline *how)
{
    if (count == 0)
        return;
    const i64 least = how->from_least ? least_of(values, count) : 0;
    const i64 most = how->largest > 0 ? how->largest : most_of(values, count);
    const u32 shown = how->columns > 0 && how->columns < count ? how->columns : count;
    for (u32 i = 0; i < shown; i++) {
        const u32 from = (u32)((u64)count * i / shown);
        const u32 to = (u32)((u64)count * (i + 1) / shown);
        i64 value = most_of(values + from, to - from);
        value = value > most ? most : value < least ? least : value;
        const u32 height = height_of((u64)value - (u64)least, (u64)most - (u64)least);
        etlheap_text_add_string(text, (how->ascii ? marks : blocks)[height]);
    }
}

i64 etlheap_sparkline_largest(const i64 *values, u32 count)
{
    i64 largest = 0;
    for (u32 i = 0; i < count; i++)
        largest = values[i] > largest ? values[i] : largest;
    return largest;
}
