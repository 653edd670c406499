/*
 * symbols.h - front door of the symbol readers.
 *
 *     pdb.h         functions, source lines and types at addresses, from a PDB file
 *     pe.h          build, PDB and exports of a program file (exe, dll, sys)
 *     undecorate.h  readable names from decorated ("mangled") ones
 *
 * Include this to read single symbol files. To name the frames of a trace, use etlheap_symbols_open
 * of engine/engine.h, which finds the files on a symbol path. The readers do not print, exit, read
 * the environment or start threads, and do not use the network.
 */
#ifndef ETL_SYMBOLS_H
#define ETL_SYMBOLS_H

#include "pdb.h"
#include "pe.h"
#include "undecorate.h"

#endif
