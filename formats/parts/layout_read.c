/*
 * layout_read.c - reads the layout that a writer was given, by its size, and appends the program's
 * words to sentences with a hint.
 */
#include "layout_read.h"

#include <stdio.h>

#include "parser/sized.h"

void etlheap_layout_init(etlheap_layout *layout, size_t size)
{
    static const etlheap_layout own = { .size = sizeof own,
                                        .width = 100,
                                        .rows_max = 25,
                                        .rows_of_each_kind = true,
                                        .frames_max = 4,
                                        .sort = ETLHEAP_MEASURE_OUTSTANDING_SIZE,
                                        .tree_min_ppm = 10000 };
    etl_init_sized(layout, size, &own, sizeof own);
}

etl_status etlheap_layout_read(const etlheap_layout *given, etlheap_layout *own)
{
    *own = etlheap_layout_default();
    const etl_status status = etl_read_sized(given, "etlheap_layout", own, sizeof *own, NULL);
    if (status != ETL_OK)
        return status;
    own->rows_of_each_kind &= own->rows_skip == 0;
    const bool is_known = (u32)own->sort < ETLHEAP_MEASURES_COUNT &&
                          (u32)own->tree <= (u32)ETLHEAP_TREE_BOTH &&
                          (own->tree != ETLHEAP_TREE_BOTH || own->tree_root);
    return is_known ? ETL_OK : ETL_ERR_ARGUMENT;
}

u32 etlheap_layout_most(const etlheap_layout *layout)
{
    return layout->rows_of_each_kind ? 0 : layout->rows_max;
}

const char *etlheap_hint_words(etl_hint_fn *say, etl_hint hint)
{
    const char *const words = say && hint != ETL_HINT_NONE ? say(hint) : NULL;
    return words ? words : "";
}

void etlheap_diag_sentence(etl_diag diag, etl_hint_fn *say, char out[ETLHEAP_SENTENCE_SIZE])
{
    snprintf(out, ETLHEAP_SENTENCE_SIZE, "%s%s", etl_diag_describe(diag)->advice,
             etlheap_hint_words(say, etl_diag_hint(diag)));
}
