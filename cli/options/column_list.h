/*
 * column_list.h - the columns of --columns: a list in place of those of the view, or changes to
 * them.
 */
#ifndef CLI_COLUMN_LIST_H
#define CLI_COLUMN_LIST_H

#include "engine/engine.h"

#include "parser/base.h"

/* Start from {0}: the columns of the view. */
typedef struct cli_columns {
    u8 at[ETLHEAP_MEASURES_CAPACITY]; /* measures, in the order in which they are shown */
    u32 count;
    bool is_change; /* `at` follows the columns of the view, without those in `removed` */
    etlheap_measure_set added; /* those in `at` */
    etlheap_measure_set removed;
} cli_columns;

/* Appends a measure; the sign is '+', '-' or 0. Refuses a measure that is given twice, and a list
 * in which only some have a sign. ETL_ERR_ARGUMENT. */
etl_status cli_columns_add(cli_columns *columns, const char *spelled, char sign,
                           etlheap_measure measure, etl_error *err);

#endif
