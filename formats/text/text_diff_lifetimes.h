/* text_diff_lifetimes.h - what a diff of lifetimes says of everything, before its rows. */
#ifndef ETLHEAP_TEXT_DIFF_LIFETIMES_H
#define ETLHEAP_TEXT_DIFF_LIFETIMES_H

#include "formats/io/text_buffer.h"
#include "formats/parts/text_parts.h"

/* An amount of a diff that is no rate; a dash for a lifetime that is not known. With a sign if it
 * is a change. */
void text_diff_add_cell(etlheap_grid *grid, etlheap_measure measure, i64 value, bool is_change);

/* Lifetimes, freed and outstanding blocks of each kind on both sides, and how many blocks lived
 * how long. */
etl_status text_diff_write_lifetimes(const etlheap_diff *diff, const etlheap_layout *layout,
                                     etlheap_sink *sink);

#endif
