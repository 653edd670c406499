/* info_rank.h - which rows of a description come first: shared by text and JSON. */
#ifndef ETLHEAP_INFO_RANK_H
#define ETLHEAP_INFO_RANK_H

#include "formats/formats.h"

#include "parser/base.h"

/* A row of a table, with its sort key. */
typedef struct info_row {
    u64 weight;
    u32 index;
} info_row;

/* Sorts rows: the largest first, ties in the order of the result. */
void info_rank(info_row *rows, u32 count);

/* The processes of a result, those with the most events of memory first. The caller frees the rows
 * (etlheap_process_count of them); NULL if memory runs out. */
info_row *info_processes(const etlheap_result *result);

/* Marks the `most` first processes; 0: all. The caller frees the marks; NULL if memory runs out. */
bool *info_choose_processes(const etlheap_result *result, u32 most);

#endif
