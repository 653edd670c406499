/*
 * export_html_code.c - writes numbers and cells of windows in the short text form of
 * export_html_code.h. Invariant: the page's script reads numbers in exactly this order.
 */
#include "export_html_code.h"

#define DIGIT_BITS 5

typedef enum news { NEWS_ALLOCATED = 1, NEWS_FREED = 2, NEWS_PEAK = 4, NEWS_STEP = 8 } news;

static i64 larger(i64 a, i64 b);

void html_code_add(etlheap_text *text, u64 value)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char digits[(64 + DIGIT_BITS - 1) / DIGIT_BITS];
    size_t count = 0;
    do {
        const u32 digit = (u32)(value & ((1u << DIGIT_BITS) - 1));
        value >>= DIGIT_BITS;
        digits[count++] = alphabet[digit | (value != 0 ? 1u << DIGIT_BITS : 0)];
    } while (value != 0);
    etlheap_text_add(text, digits, count);
}

void html_code_add_signed(etlheap_text *text, i64 value)
{
    html_code_add(text, value < 0 ? 0 : (u64)value);
}

u32 html_code_add_cells(etlheap_text *text, const etlheap_windows *windows, u32 row,
                        u32 window_count, size_t size_max)
{
    i64 outstanding = html_start_of(windows, row).size;
    u32 next = 0; /* the first window not told */
    u32 count = 0;
    /* Nothing changes in windows without news: in most rows those are nearly all. */
    for (u32 window = etlheap_windows_next_news(windows, row, 0);
         window < window_count && text->size <= size_max;
         window = etlheap_windows_next_news(windows, row, window + 1)) {
        etlheap_cell cell;
        if (!etlheap_windows_cell(windows, row, window, &cell))
            continue;
        const i64 allocated =
            etl_sat_add_i64(cell.count[ETLHEAP_TYPE_AIFI], cell.count[ETLHEAP_TYPE_AIFO]);
        const i64 freed =
            etl_sat_add_i64(cell.count[ETLHEAP_TYPE_AIFI], cell.count[ETLHEAP_TYPE_AOFI]);
        const i64 peak = cell.peak_size - larger(outstanding, cell.outstanding_size);
        const u32 bits = (allocated > 0 ? NEWS_ALLOCATED : 0u) | (freed > 0 ? NEWS_FREED : 0u) |
                         (peak > 0 ? NEWS_PEAK : 0u);
        outstanding = cell.outstanding_size;
        if (bits == 0)
            continue;
        html_code_add(text, (u64)(window - next) * NEWS_STEP + bits);
        next = window + 1;
        count++;
        if (allocated > 0) {
            html_code_add_signed(text, allocated);
            html_code_add_signed(
                text, etl_sat_add_i64(cell.size[ETLHEAP_TYPE_AIFI], cell.size[ETLHEAP_TYPE_AIFO]));
        }
        if (freed > 0) {
            html_code_add_signed(text, freed);
            html_code_add_signed(
                text, etl_sat_add_i64(cell.size[ETLHEAP_TYPE_AIFI], cell.size[ETLHEAP_TYPE_AOFI]));
        }
        if (peak > 0)
            html_code_add_signed(text, peak);
    }
    return count;
}

html_amount html_start_of(const etlheap_windows *windows, u32 row)
{
    etlheap_cell cell;
    if (!etlheap_windows_cell(windows, row, 0, &cell))
        return (html_amount){ 0, 0 };
    return (html_amount){
        .count = etl_sat_add_i64(cell.count[ETLHEAP_TYPE_AOFI], cell.count[ETLHEAP_TYPE_AOFO]),
        .size = etl_sat_add_i64(cell.size[ETLHEAP_TYPE_AOFI], cell.size[ETLHEAP_TYPE_AOFO]),
    };
}

static i64 larger(i64 a, i64 b)
{
    return a > b ? a : b;
}
