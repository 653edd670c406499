/*
 * etlheap.h - all of the library: traces, analysis, output, and PDB and PE files.
 *
 *     #include <etlheap/etlheap.h>
 *
 * It is installed beside the folders of the headers that it includes. parser/parser.h alone is
 * enough to read records, engine/engine.h to analyze them.
 */
#ifndef ETLHEAP_ETLHEAP_H
#define ETLHEAP_ETLHEAP_H

#include "formats/formats.h"
#include "parser/symbols.h"

#endif
