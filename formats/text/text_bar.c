/* text_bar.c - see text_bar.h. */
#include "text_bar.h"

void text_bar_draw(i64 value, i64 largest, u32 columns, etlheap_text *text)
{
    static const char *const eighths[] = { "",       "\u258F", "\u258E", "\u258D",
                                           "\u258C", "\u258B", "\u258A", "\u2589" };
    etlheap_text_clear(text);
    if (value <= 0)
        return;
    u32 width = (u32)((double)value / (double)largest * 8 * columns + 0.5);
    width = width == 0 ? 1 : width;
    for (; width >= 8; width -= 8)
        etlheap_text_add_string(text, "\u2588");
    etlheap_text_add_string(text, eighths[width]);
}
