/*
 * index_begins.h - reads the beginnings of many buffers in parallel (private to the parser).
 *
 * A header says where the next one is, so indexing reads one after the other, and a system call for
 * each takes longer than everything else. But buffers nearly always have the same size. After a run
 * of equal ones, the next are read where that size puts them, on as many threads as the caller
 * provides. Indexing uses them if it gets there, or else reads itself: a wrong guess costs reads
 * and changes nothing. To keep wrong guesses cheap, the number read at a time is limited to a
 * multiple of the run so far. If a file is not in memory, the system is asked to read it instead
 * (index_ahead.h).
 */
#ifndef ETL_INDEX_BEGINS_H
#define ETL_INDEX_BEGINS_H

#include "buffer_peek.h"
#include "parser/system/map.h"

/* Start from { .map, .descriptor, .run_tasks, .run_user }. Without run_tasks or a descriptor it
 * reads nothing. */
typedef struct etl_index_begins {
    const etl_map *map;
    int descriptor;
    etl_run_tasks_fn *run_tasks;
    void *run_user;
    u32 stride; /* size of the buffers in the run, and their number */
    u32 run;
    etl_peeked *at; /* the `count` beginnings read last, each a stride after the one before */
    u64 first;
    u32 at_stride;
    u32 count;
} etl_index_begins;

/* Call it when indexing reaches the buffer at `offset`, which takes `stored_size` bytes in the
 * file. */
void etl_index_begins_at(etl_index_begins *begins, u64 offset, u32 stored_size);

/* The beginning that was read at the offset, or NULL. Valid until the next etl_index_begins_at. */
const etl_peeked *etl_index_begins_find(const etl_index_begins *begins, u64 offset);

void etl_index_begins_free(etl_index_begins *begins);

#endif
