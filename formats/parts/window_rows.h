/* window_rows.h - shared by the writers of time windows. */
#ifndef ETLHEAP_WINDOW_ROWS_H
#define ETLHEAP_WINDOW_ROWS_H

#include "formats/formats.h"

#include "parser/base.h"

/* X(field, i64 member of etlheap_cell, is a size): the numbers of a cell, in the order of JSON and
 * CSV. */
#define ETLHEAP_CELL_COLUMNS(X)                                                                    \
    X(AIFI_COUNT, count[ETLHEAP_TYPE_AIFI], false)                                                 \
    X(AIFI_SIZE, size[ETLHEAP_TYPE_AIFI], true)                                                    \
    X(AIFO_COUNT, count[ETLHEAP_TYPE_AIFO], false)                                                 \
    X(AIFO_SIZE, size[ETLHEAP_TYPE_AIFO], true)                                                    \
    X(AOFI_COUNT, count[ETLHEAP_TYPE_AOFI], false)                                                 \
    X(AOFI_SIZE, size[ETLHEAP_TYPE_AOFI], true)                                                    \
    X(AOFO_COUNT, count[ETLHEAP_TYPE_AOFO], false)                                                 \
    X(AOFO_SIZE, size[ETLHEAP_TYPE_AOFO], true)                                                    \
    X(OUTSTANDING_COUNT, outstanding_count, false)                                                 \
    X(OUTSTANDING_SIZE, outstanding_size, true)                                                    \
    X(PEAK_SIZE, peak_size, true)                                                                  \
    X(PEAK_COUNT, peak_count, false)                                                               \
    X(IMPACTING_SIZE, impacting_size, true)

typedef enum etlheap_cell_column {
#define ETLHEAP_CELL_ENUM(name, member, is_size) ETLHEAP_CELL_##name,
    ETLHEAP_CELL_COLUMNS(ETLHEAP_CELL_ENUM)
#undef ETLHEAP_CELL_ENUM
        ETLHEAP_CELL_COLUMN_COUNT
} etlheap_cell_column;

etlheap_field etlheap_cell_field(etlheap_cell_column column);
bool etlheap_cell_is_size(etlheap_cell_column column);
i64 etlheap_cell_value(const etlheap_cell *cell, etlheap_cell_column column);

/* The amount by which the row grew in the windows of the rise. */
i64 etlheap_windows_growth_size(const etlheap_windows_answer *answer);

/* The last mark at exactly this time; NULL: none. */
const etlheap_mark *etlheap_mark_at(const etlheap_marks *marks, i64 time_ns);

/* The last mark at the moment at which a window begins. NULL: there is none, or windows have no
 * names. */
const etlheap_mark *etlheap_windows_mark(const etlheap_windows_answer *answer, i64 from_ns);

/* The windows of a growth; all of them if it is NULL. */
typedef struct etlheap_window_span {
    u32 first, count;
} etlheap_window_span;

etlheap_window_span etlheap_windows_span(const etlheap_windows *windows,
                                         const etlheap_growth *growth);

#endif
