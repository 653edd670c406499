/*
 * many_index.h - the index of a batch, FOLDER/runs.ndjson, while it is written.
 *
 * A line is added as each input finishes, so that a run that is killed loses no
 * more than what it was working on. At the end the lines are put in order: those of
 * earlier batches first, then the inputs as they were given. One batch at a time
 * has the index.
 */
#ifndef CLI_MANY_INDEX_H
#define CLI_MANY_INDEX_H

#include "many_list.h"

typedef struct many_index {
    const many_list *list;
    char *path;
    int file; /* -1: none is open */
    etlheap_sink *sink;
} many_index;

/* Opens the index and notes in the items what earlier runs left of them. Returns an
 * exit status, having complained. To be closed in any case. */
int cli_many_index_open(many_list *list, many_index *out);

/* Adds a line. False when it cannot be written; finishing tells why. */
bool cli_many_index_add(many_index *index, const etlheap_run *run);

/* Puts the lines in order. Returns an exit status, having complained: then the index
 * is still there as it was. */
int cli_many_index_finish(many_index *index);

void cli_many_index_close(many_index *index);

#endif
