/*
 * folded_path.h - a row as the path of a flame graph: names between semicolons.
 */
#ifndef ETLHEAP_FOLDED_PATH_H
#define ETLHEAP_FOLDED_PATH_H

#include "formats/formats.h"

#include "parser/base.h"

/* Writes "heap;app.exe (4321);ntdll.dll!RtlUserThreadStart;app.exe!main": the row's keys in this
 * order, then its frames if the stack is a key, the outermost first. `scratch` is overwritten;
 * scratch->failed: out of memory. */
void folded_path_write(const etlheap_table *table, const etlheap_row *row, const etlheap_key *keys,
                       u32 key_count, etlheap_text *scratch, etlheap_sink *sink);

#endif
