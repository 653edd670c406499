/*
 * index_begins.h - reads the beginnings of many buffers side by side (private to the parser).
 *
 * A header says where the next one is, so indexing looks at one after the other, and a call
 * of the system for each takes longer than all else. But buffers are nearly always of one
 * size: after a run of equal ones the next are read where that size puts them, by as many
 * threads as the caller lends. Indexing then finds what it looks at here, or looks for
 * itself: a wrong guess costs reads and changes nothing. So that wrong guesses cost little,
 * no more is read at a time than some times the run so far. Of a file that is not in memory
 * nothing is read like this: the system is asked for it (index_ahead.h).
 */
#ifndef ETL_INDEX_BEGINS_H
#define ETL_INDEX_BEGINS_H

#include "buffer_peek.h"
#include "parser/system/map.h"

/* Start from { .map, .descriptor, .run_tasks, .run_user }; without run_tasks or a descriptor
 * nothing is ever read. */
typedef struct etl_index_begins {
    const etl_map *map;
    int descriptor;
    etl_run_tasks_fn *run_tasks;
    void *run_user;
    u32 stride; /* of the run of equal buffers, and how many they are */
    u32 run;
    etl_peeked *at; /* the beginnings read last: `count`, each a stride behind the one before */
    u64 first;
    u32 at_stride;
    u32 count;
} etl_index_begins;

/* Indexing has got to the buffer at `offset`, of so many bytes in the file. */
void etl_index_begins_at(etl_index_begins *begins, u64 offset, u32 stored_size);

/* What was read at the offset, or NULL. Valid until the next etl_index_begins_at. */
const etl_peeked *etl_index_begins_find(const etl_index_begins *begins, u64 offset);

void etl_index_begins_free(etl_index_begins *begins);

#endif
