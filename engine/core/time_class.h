/* time_class.h - classes of lifetimes in steps of 1, 2 and 5: 1 to 2 ms, 2 to 5 ms, 5 to 10 ms. */
#ifndef ETLHEAP_TIME_CLASS_H
#define ETLHEAP_TIME_CLASS_H

#include "parser/base.h"

#define TIME_CLASSES 58u /* below 1 ns, then three for each power of ten up to 10^18 ns */

u32 time_class_of(u64 ns);

/* What belongs to a class: from the first to below the end, which of the last is UINT64_MAX. */
u64 time_class_first(u32 number);
u64 time_class_end(u32 number);

#endif
