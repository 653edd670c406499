/*
 * ehs_columns.c - the rows of ehs_columns.h as a table, with a look-up by id.
 */
#include "ehs_columns.h"

static const ehs_column_info columns[] = {
#define EHS_COLUMN_ROW(name, id, text, layout, transform, bytes)                                   \
    { id, text, { EHS_LAYOUT_##layout, EHS_TRANSFORM_##transform, bytes } },
    EHS_COLUMNS(EHS_COLUMN_ROW)
#undef EHS_COLUMN_ROW
};

/* The list is in ascending order of ids; a test sees to it. */
const ehs_column_info *ehs_column_find(u32 id)
{
    size_t low;
    ETL_BISECT(low, 0, ETL_COUNT_OF(columns), columns[low].id < id);
    return low < ETL_COUNT_OF(columns) && columns[low].id == id ? &columns[low] : NULL;
}
