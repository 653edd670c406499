/*
 * spellings.h - one spelling for each name in a result.
 *
 * Windows writes a module sometimes as "KERNEL32.DLL", sometimes as "kernel32.dll", and processes
 * likewise. All code that groups, compares or looks up names in a result would have to allow for
 * that. Instead, when a result is complete, names that differ only in case
 * (parser/system/name_fold.h) get the same text: the spelling that comes first in byte order,
 * separately for processes and modules. The rule does not depend on where a name occurs, so a
 * trace, its store and its summary agree, and summaries may be merged in any order: the first of
 * all spellings is also the first of the firsts.
 */
#ifndef ETLHEAP_SPELLINGS_H
#define ETLHEAP_SPELLINGS_H

#include "result.h"

/* Sets the names of the result's processes and modules. False if memory runs out. Calling it again
 * changes nothing. */
bool spellings_set(etlheap_result *result);

/* Gives modules of which one process loaded several files of one name names with folders, as part
 * of spellings_set: see module_names.c. False if memory runs out. */
bool module_names_set(etlheap_result *result);

/* The file of a name that has folders. */
const char *module_plain_name(const char *name);

#endif
