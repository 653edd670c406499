/*
 * made_table.h - a small table of results with known content, for writers.
 *
 *     kind   process         heap  type  stack         size  outstanding
 *     heap   leaky.exe (10)  0x10  AIFO  0: a < b < m   300          300
 *     heap   leaky.exe (10)  0x10  AIFO  1: c < b < m   200          200
 *     heap   quiet.exe (20)  0x20  AOFO  none           100          100
 *     heap   leaky.exe (10)  0x20  AIFI  2: c            50            0
 *     va     quiet.exe (20)        AIFO  0: a < b < m  4096         4096
 *
 * in the order of outstanding size, largest first.
 */
#ifndef TESTS_MADE_TABLE_H
#define TESTS_MADE_TABLE_H

#include "engine/engine.h"

#define MADE_ROWS 5

/* Valid until the program ends; a copy may be changed. */
etlheap_table made_table(void);

#endif
