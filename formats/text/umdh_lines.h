/*
 * umdh_lines.h - reads the lines of a UMDH log, before they become a table. Private to
 * umdh_log.c and umdh_lines.c.
 *
 *     // UMDH: version 6.1.7015.0: Logtime 2010-07-23 12:26 - Machine=A - PID=6424
 *     // Loaded modules:
 *     //     Base Size Module
 *     //              B30000    39000 D:\Debug\BatteryMeter.exe
 *     //
 *     *- - - - - Start of data for heap @ 3D0000 - - - - -
 *     18 bytes + 18 at 3D07E0 by BackTrace0
 *
 *     21C bytes + 1C at 3D3780 by BackTrace1B10F4      size, overhead, address
 *     	7768DD4D                                        the backtrace, once for each id
 *     	7765442D
 *
 *     *- - - - - End of data for heap @ 3D0000 - - - - -
 *
 * All numbers except the PID are hexadecimal. A log without the first lines, and with titles of
 * heaps ("Heap 0 Hogs") instead of their beginnings and ends, was written by a script so that UMDH
 * finds names; UMDH reads its numbers as hexadecimal, too, even if the script meant decimal.
 * Source: observed, two logs of UMDH 6.1 and one of a script, and Microsoft's pages on UMDH.
 */
#ifndef ETLHEAP_UMDH_LINES_H
#define ETLHEAP_UMDH_LINES_H

#include "formats/io/text_buffer.h"
#include "parser/cursor.h"

/* A block. */
typedef struct umdh_block {
    u64 backtrace, address, heap;
    i64 size_bytes, overhead_bytes;
    u32 number; /* of the block in the log */
    u32 frame_first, frame_count;
} umdh_block;

typedef struct umdh_module {
    u64 base, size_bytes;
    size_t name; /* offset in texts: last component of the path */
} umdh_module;

/* Start from {0}. */
typedef struct umdh_lines {
    umdh_block *blocks;
    size_t block_count, block_capacity;
    u64 *frames; /* innermost first */
    size_t frame_count, frame_capacity;
    umdh_module *modules;
    size_t module_count, module_capacity;
    etlheap_text texts; /* each ends with a NUL; the first is "" */
    size_t version, time, machine;
    u32 pid, heap_count;
    u32 skipped_lines, skipped_first;
} umdh_lines;

/* True if the text begins with a log's first line, or with the list of modules. */
bool umdh_lines_recognise(etl_bytes text);

/* Reads all lines of a log in ASCII or UTF-8. Errors as for etlheap_umdh_open. */
etl_status umdh_lines_read(etl_bytes text, umdh_lines *out, etl_error *err);
void umdh_lines_free(umdh_lines *lines);

/* Consumes a text if it comes next, else nothing. */
bool umdh_take_text(etl_cursor *c, const char *text);

/* Consumes everything up to and including a text; nothing if it does not occur. */
bool umdh_take_until(etl_cursor *c, const char *text, etl_bytes *before);

/* Consumes a number of at least one digit. False also if it does not fit. */
bool umdh_take_hex(etl_cursor *c, u64 *value);

void umdh_take_spaces(etl_cursor *c);

/* Makes room for one more element; `array` points to a pointer. False if memory runs out. */
bool umdh_reserve(void *array, size_t *capacity, size_t count, size_t element_size);

#endif
