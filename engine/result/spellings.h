/*
 * spellings.h - one spelling for each name of a result.
 *
 * Windows writes a module now as "KERNEL32.DLL", now as "kernel32.dll", and a process
 * likewise. All that groups, compares or looks up names within one result would have to
 * mind that. So it is settled once, when a result is complete: names that differ in case
 * alone (parser/system/name_fold.h) become one and the same text.
 *
 * That text is the spelling that comes first in byte order, of processes and of modules
 * each by themselves. The rule takes no account of where a name occurs, so a trace, its
 * store and its summary agree, and summaries may be merged in any order: the first of
 * some spellings and others is the first of them all.
 */
#ifndef ETLHEAP_SPELLINGS_H
#define ETLHEAP_SPELLINGS_H

#include "result.h"

/* Sets the names of the result's processes and modules; false without memory. Doing it
 * again changes nothing. */
bool spellings_settle(etlheap_result *result);

#endif
