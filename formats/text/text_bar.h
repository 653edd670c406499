/* text_bar.h - bars made of characters. */
#ifndef ETLHEAP_TEXT_BAR_H
#define ETLHEAP_TEXT_BAR_H

#include "formats/io/text_buffer.h"

/* Whole blocks and one that is some eighths wide, `columns` of them for the largest value; what is
 * there shows at all. Replaces the text. */
void text_bar_draw(i64 value, i64 largest, u32 columns, etlheap_text *text);

#endif
