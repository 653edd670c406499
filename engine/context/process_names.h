/*
 * process_names.h - the names of processes whose records spell them with characters lost.
 */
#ifndef ETLHEAP_PROCESS_NAMES_H
#define ETLHEAP_PROCESS_NAMES_H

#include "context.h"

/* Replaces doubtful names by those of the program's file. Call it when all records are applied.
 * False if memory runs out. */
bool process_names_repair(trace_context *context);

/* True if a name of 8-bit characters, as read, may stand for the name of the file. */
bool process_names_fit(const char *read, const char *file);

#endif
