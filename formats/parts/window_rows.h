/* window_rows.h - shared by the writers of time windows. */
#ifndef ETLHEAP_WINDOW_ROWS_H
#define ETLHEAP_WINDOW_ROWS_H

#include "columns.h"

/* X(field, value of the cell `c`): the columns of a cell. */
#define ETLHEAP_CELL_COLUMNS(X)                                                                    \
    X(AIFI_COUNT, etlheap_value_number(c->count[ETLHEAP_TYPE_AIFI]))                               \
    X(AIFI_SIZE, etlheap_value_number(c->size[ETLHEAP_TYPE_AIFI]))                                 \
    X(AIFO_COUNT, etlheap_value_number(c->count[ETLHEAP_TYPE_AIFO]))                               \
    X(AIFO_SIZE, etlheap_value_number(c->size[ETLHEAP_TYPE_AIFO]))                                 \
    X(AOFI_COUNT, etlheap_value_number(c->count[ETLHEAP_TYPE_AOFI]))                               \
    X(AOFI_SIZE, etlheap_value_number(c->size[ETLHEAP_TYPE_AOFI]))                                 \
    X(AOFO_COUNT, etlheap_value_number(c->count[ETLHEAP_TYPE_AOFO]))                               \
    X(AOFO_SIZE, etlheap_value_number(c->size[ETLHEAP_TYPE_AOFO]))                                 \
    X(OUTSTANDING_COUNT, etlheap_value_number(c->outstanding_count))                               \
    X(OUTSTANDING_SIZE, etlheap_value_number(c->outstanding_size))                                 \
    X(PEAK_SIZE, etlheap_value_number(c->peak_size))                                               \
    X(PEAK_COUNT, etlheap_value_number(c->peak_count))                                             \
    X(IMPACTING_SIZE, etlheap_value_number(c->impacting_size))

typedef enum etlheap_cell_column {
#define ETLHEAP_CELL_ENUM(name, value) ETLHEAP_CELL_##name,
    ETLHEAP_CELL_COLUMNS(ETLHEAP_CELL_ENUM)
#undef ETLHEAP_CELL_ENUM
        ETLHEAP_CELL_COLUMN_COUNT
} etlheap_cell_column;

extern const etlheap_field_list etlheap_cell_columns;
/* The values of a cell of a row of this kind. */
void etlheap_cell_values(const etlheap_cell *c, u32 kind,
                         etlheap_value out[ETLHEAP_CELL_COLUMN_COUNT]);

/* What the rows that belong to the rising one added and freed in the windows of the rise. */
typedef struct etlheap_window_moves {
    i64 grown_size;  /* of the rows that grew */
    i64 shrunk_size; /* of those that shrank, above 0 */
} etlheap_window_moves;

etlheap_window_moves etlheap_windows_moves(const etlheap_windows_answer *answer);

/* How many windows are shown. */
u32 etlheap_windows_shown(const etlheap_windows_answer *answer);

/* The row of `windows` that has the spike of a window. */
u32 etlheap_windows_spike_row(const etlheap_windows_answer *answer, u32 window);

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
