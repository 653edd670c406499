/*
 * window_rows.h - what the writers of time windows have in common.
 */
#ifndef ETLHEAP_WINDOW_ROWS_H
#define ETLHEAP_WINDOW_ROWS_H

#include "formats.h"

/* X(enumerator, JSON key, title, i64 member of etlheap_cell, is a size) - the numbers
 * of a cell, in the order of JSON and CSV */
#define ETLHEAP_CELL_COLUMNS(X)                                                                    \
    X(AIFI_COUNT, "aifi_count", "AIFI Count", count[ETLHEAP_TYPE_AIFI], false)                     \
    X(AIFI_SIZE, "aifi_size", "AIFI Size", size[ETLHEAP_TYPE_AIFI], true)                          \
    X(AIFO_COUNT, "aifo_count", "AIFO Count", count[ETLHEAP_TYPE_AIFO], false)                     \
    X(AIFO_SIZE, "aifo_size", "AIFO Size", size[ETLHEAP_TYPE_AIFO], true)                          \
    X(AOFI_COUNT, "aofi_count", "AOFI Count", count[ETLHEAP_TYPE_AOFI], false)                     \
    X(AOFI_SIZE, "aofi_size", "AOFI Size", size[ETLHEAP_TYPE_AOFI], true)                          \
    X(AOFO_COUNT, "aofo_count", "AOFO Count", count[ETLHEAP_TYPE_AOFO], false)                     \
    X(AOFO_SIZE, "aofo_size", "AOFO Size", size[ETLHEAP_TYPE_AOFO], true)                          \
    X(OUTSTANDING_COUNT, "outstanding_count", "Outstanding Count", outstanding_count, false)       \
    X(OUTSTANDING_SIZE, "outstanding_size", "Outstanding Size", outstanding_size, true)            \
    X(PEAK_SIZE, "peak_size", "Size Peak", peak_size, true)                                        \
    X(PEAK_COUNT, "peak_count", "Count Peak", peak_count, false)                                   \
    X(IMPACTING_SIZE, "impacting_size", "Impacting Size", impacting_size, true)

typedef enum etlheap_cell_column {
#define ETLHEAP_CELL_ENUM(name, word, title, member, is_size) ETLHEAP_CELL_##name,
    ETLHEAP_CELL_COLUMNS(ETLHEAP_CELL_ENUM)
#undef ETLHEAP_CELL_ENUM
        ETLHEAP_CELL_COLUMN_COUNT
} etlheap_cell_column;

const char *etlheap_cell_word(etlheap_cell_column column);
const char *etlheap_cell_title(etlheap_cell_column column);
bool etlheap_cell_is_size(etlheap_cell_column column);
i64 etlheap_cell_value(const etlheap_cell *cell, etlheap_cell_column column);

/* The values of the key are numbers of frames or stacks of one table. */
bool etlheap_key_has_frames(etlheap_key key);

/* What the growing row grew by in the windows of the rise. */
i64 etlheap_windows_growth_size(const etlheap_windows_answer *answer);

/* Windows that a growth is in; all of them when it is NULL. */
typedef struct etlheap_window_span {
    u32 first, count;
} etlheap_window_span;

etlheap_window_span etlheap_windows_span(const etlheap_windows *windows,
                                         const etlheap_growth *growth);

#endif
