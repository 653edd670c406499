/*
 * symbols.h - front door of the symbol readers: what PDB and PE files say, and
 * what decorated names mean.
 *
 * Like the trace reader they neither print, exit, read the environment nor
 * start threads, and know nothing of symbol paths or caches.
 */
#ifndef ETL_SYMBOLS_H
#define ETL_SYMBOLS_H

#include "pdb.h"
#include "pe.h"
#include "undecorate.h"

#endif
