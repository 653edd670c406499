/*
 * continued.h - sessions that go on in another file, as those of the mode NEWFILE do.
 *
 *     app1.etl  ├─1─┤├─2─┤├─3─┤
 *     app2.etl                  ├─4─┤├─5─┤     nothing is missing before 4, if app1.etl is given
 */
#ifndef ETLHEAP_CONTINUED_H
#define ETLHEAP_CONTINUED_H

#include "parser/base.h"
#include "parser/parser.h"

/* Returned by continued_from if no other trace has what came before. */
#define CONTINUED_FROM_NONE UINT32_MAX

/* The trace in which the first session of trace `index` began: the one whose last session the
 * session goes on from. The earliest of several. */
u32 continued_from(etl_trace *const *traces, u32 trace_count, u32 index);

/* Takes buffers that lie in another of the traces out of what the traces count as overwritten. */
void continued_correct(etl_trace *const *traces, u32 trace_count, etl_diag_counts *diag);

#endif
