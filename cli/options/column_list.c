/* column_list.c - see column_list.h. */
#include "column_list.h"

etl_status cli_columns_add(cli_columns *columns, const char *spelled, char sign,
                           etlheap_measure measure, etl_error *err)
{
    const etlheap_measure_set bit = (etlheap_measure_set)1 << measure;
    const bool is_first = (columns->added | columns->removed) == 0;
    if (!is_first && columns->is_change != (sign != 0))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s: all columns of a list have a sign, as in +a,-b, or none, as in "
                             "a,b",
                             spelled);
    if (((columns->added | columns->removed) & bit) != 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s: %s is given twice", spelled,
                             etlheap_measure_word(measure));
    columns->is_change = sign != 0;
    if (sign == '-') {
        columns->removed |= bit;
        return ETL_OK;
    }
    columns->added |= bit;
    columns->at[columns->count++] = (u8)measure;
    return ETL_OK;
}
