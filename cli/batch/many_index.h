/*
 * many_index.h - writes the index of a batch, FOLDER/runs.ndjson.
 *
 * A line is added when an input finishes, so that a killed run loses only its current work. At the
 * end the lines are sorted: those of earlier batches first, then the inputs in the given order.
 * Only one batch at a time can hold the index.
 */
#ifndef CLI_MANY_INDEX_H
#define CLI_MANY_INDEX_H

#include "many_list.h"

typedef struct many_index {
    const many_list *list;
    char *path;
    int file; /* -1: not open */
    etlheap_sink *sink;
} many_index;

/* Opens the index, and records in the items what earlier runs left. Returns an exit status, after
 * writing a message. Close it in any case. */
int cli_many_index_open(many_list *list, many_index *out);

/* Adds a line. False if it cannot be written; cli_many_index_finish reports why. */
bool cli_many_index_add(many_index *index, const etlheap_run *run);

/* Sorts the lines. Returns an exit status, after writing a message: on failure the index is
 * unchanged. */
int cli_many_index_finish(many_index *index);

void cli_many_index_close(many_index *index);

#endif
