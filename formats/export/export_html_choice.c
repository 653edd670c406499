/*
 * export_html_choice.c - chooses the rows that an HTML report shows one by one, within the page's
 * budget of bytes.
 *
 * In: all rows of the report with their peaks. Out: the chosen rows, and sums of the others per
 * kind, process and heap.
 *
 * Rows are taken by peak, largest first. Invariant: chosen rows and sums together have the totals
 * of the report, and equal input gives an equal choice.
 */
#include "export_html_choice.h"

#include "formats/parts/display.h"
#include "formats/parts/outline.h"
#include "export_html_code.h"

#include <inttypes.h>
#include <stdlib.h>

/* Upper bounds of the bytes that entries take besides their strings. */
#define ROW_BYTES    28
#define STRING_BYTES 8 /* quotes, comma, line break, indent */

/* The bytes kept of a name that is cut: without any, only the module would be left. */
#define NAME_HEAD_BYTES 200

typedef enum frame_bits {
    FRAME_NAMED = 1,
    FRAME_LINE = 2,
    FRAME_INLINED = 4,
    FRAME_MODULE = 8
} frame_bits;

/* A stack with its sort key: its frames, outermost first. */
typedef struct sorted_stack {
    etlheap_indices frames;
    u32 stack;
} sorted_stack;

static int compare_groups(const void *a, const void *b);
static u32 rows_within(const etlheap_table *rows, u32 *stack_number);
static bool make_tables(const etlheap_table *rows, html_choice *choice);
static void clear_tables(const etlheap_table *rows, html_choice *choice);
static u32 list_stacks(const etlheap_table *rows, html_choice *choice, sorted_stack *sorted);
static int compare_stacks(const void *a, const void *b);
static void add_stack(const etlheap_table *rows, const sorted_stack *before,
                      const sorted_stack *stack, html_choice *choice);
static void add_frame(const etlheap_frame *frame, html_choice *choice);
static u32 number_module(const char *name, etlheap_text *text, html_choice *choice);
static u32 number_function(const etlheap_frame *frame, etlheap_text *text, html_choice *choice);
static u32 number_text(export_numbers *numbers, etlheap_text *text);
static u64 bytes_of_strings(const export_numbers *numbers);

etl_status html_choice_make(const etlheap_table *groups, const etlheap_table *rows,
                            html_choice *out, etl_error *err)
{
    bool ok = true;
    out->group_of = calloc((size_t)rows->row_count + 1, sizeof *out->group_of);
    out->stack_number = calloc((size_t)rows->stack_count + 1, sizeof *out->stack_number);
    out->frame_number = calloc((size_t)rows->frame_count + 1, sizeof *out->frame_number);
    ok = out->group_of && out->stack_number && out->frame_number &&
         html_find_groups(groups, rows, rows->row_count, out->group_of);
    if (ok) {
        out->group_count = (u32)etl_min_u64(groups->row_count, HTML_GROUPS_MAX);
        out->row_count = rows_within(rows, out->stack_number);
        ok = make_tables(rows, out);
    }
    /* The size of strings is known only when tables are made, so fewer and fewer rows are tried
     * until they fit. */
    while (ok && html_choice_bytes(out) > HTML_STACK_BYTES && out->row_count > 0) {
        out->row_count -= out->row_count / 8 + 1;
        ok = make_tables(rows, out);
    }
    return ok ? ETL_OK : etl_no_memory(err);
}

void html_choice_close(html_choice *choice)
{
    free(choice->group_of);
    free(choice->stack_number);
    free(choice->frame_number);
    etlheap_text_free(&choice->frames);
    etlheap_text_free(&choice->stacks);
    export_numbers_free(&choice->modules);
    export_numbers_free(&choice->names);
    export_numbers_free(&choice->files);
    *choice = (html_choice){ 0 };
}

u64 html_choice_bytes(const html_choice *choice)
{
    return choice->stacks.size + choice->frames.size + (u64)choice->row_count * ROW_BYTES +
           bytes_of_strings(&choice->modules) + bytes_of_strings(&choice->names) +
           bytes_of_strings(&choice->files);
}

bool html_name_add(etlheap_text *text, const char *name)
{
    etlheap_text shown = { 0 };
    etlheap_display_add(&shown, name);
    const bool cut = shown.size > HTML_NAME_BYTES_MAX;
    if (cut) {
        const char *const bytes = etlheap_text_of(&shown);
        size_t head = NAME_HEAD_BYTES;
        size_t tail = shown.size - (HTML_NAME_BYTES_MAX - NAME_HEAD_BYTES);
        /* Not inside of a character. */
        while (((u8)bytes[head] & 0xC0) == 0x80)
            head--;
        while (((u8)bytes[tail] & 0xC0) == 0x80)
            tail++;
        etlheap_text_add(text, bytes, head);
        etlheap_text_add_string(text, "\xE2\x80\xA6"); /* an ellipsis */
        etlheap_text_add(text, bytes + tail, shown.size - tail);
    } else {
        etlheap_text_add(text, etlheap_text_of(&shown), shown.size);
    }
    text->failed |= shown.failed;
    etlheap_text_free(&shown);
    return cut;
}

bool html_find_groups(const etlheap_table *groups, const etlheap_table *rows, u32 count,
                      u32 *group_of)
{
    const etlheap_row **const sorted = calloc((size_t)groups->row_count + 1, sizeof *sorted);
    if (sorted == NULL)
        return false;
    for (u32 i = 0; i < groups->row_count; i++)
        sorted[i] = &groups->rows[i];
    qsort(sorted, groups->row_count, sizeof *sorted, compare_groups);
    for (u32 i = 0; i < count; i++) {
        const etlheap_row *const row = &rows->rows[i];
        const etlheap_row *const *const found =
            bsearch(&row, sorted, groups->row_count, sizeof *sorted, compare_groups);
        assert(found != NULL);
        group_of[i] = found != NULL ? (u32)(*found - groups->rows) : 0;
    }
    free(sorted);
    return true;
}

static int compare_groups(const void *a, const void *b)
{
    static const etlheap_key keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_HEAP };
    const etlheap_row *const x = *(const etlheap_row *const *)a;
    const etlheap_row *const y = *(const etlheap_row *const *)b;
    int order = 0;
    for (size_t k = 0; order == 0 && k < ETL_COUNT_OF(keys); k++)
        order = etlheap_row_compare_key(x, y, keys[k]);
    return order;
}

/* The number of first rows that together have no more stacks than a page shows. */
static u32 rows_within(const etlheap_table *rows, u32 *stack_number)
{
    const u32 most = (u32)etl_min_u64(rows->row_count, HTML_ROWS_MAX);
    u32 stacks = 0;
    for (u32 i = 0; i < most; i++) {
        const u32 stack = rows->rows[i].stack;
        if (stack == ETLHEAP_NO_INDEX || stack_number[stack] != 0)
            continue;
        if (stacks == HTML_STACKS_MAX)
            return i;
        stack_number[stack] = ++stacks;
    }
    return most;
}

/* False: out of memory. */
static bool make_tables(const etlheap_table *rows, html_choice *choice)
{
    sorted_stack *const sorted = calloc((size_t)choice->row_count + 1, sizeof *sorted);
    if (sorted == NULL)
        return false;
    clear_tables(rows, choice);
    choice->stack_count = list_stacks(rows, choice, sorted);
    qsort(sorted, choice->stack_count, sizeof *sorted, compare_stacks);
    for (u32 i = 0; i < choice->stack_count; i++) {
        add_stack(rows, i > 0 ? &sorted[i - 1] : NULL, &sorted[i], choice);
        choice->stack_number[sorted[i].stack] = i + 1;
    }
    free(sorted);
    return !choice->stacks.failed && !choice->frames.failed && !choice->modules.failed &&
           !choice->names.failed && !choice->files.failed;
}

static void clear_tables(const etlheap_table *rows, html_choice *choice)
{
    memset(choice->stack_number, 0, (size_t)rows->stack_count * sizeof *choice->stack_number);
    memset(choice->frame_number, 0, (size_t)rows->frame_count * sizeof *choice->frame_number);
    etlheap_text_clear(&choice->stacks);
    etlheap_text_clear(&choice->frames);
    export_numbers_free(&choice->modules);
    export_numbers_free(&choice->names);
    export_numbers_free(&choice->files);
    choice->modules = choice->names = choice->files = (export_numbers){ 0 };
    choice->frame_count = 0;
    choice->names_cut = 0;
    choice->latest_module = NULL;
}

static u32 list_stacks(const etlheap_table *rows, html_choice *choice, sorted_stack *sorted)
{
    u32 count = 0;
    for (u32 i = 0; i < choice->row_count; i++) {
        const etlheap_row *const row = &rows->rows[i];
        if (row->stack == ETLHEAP_NO_INDEX || choice->stack_number[row->stack] != 0)
            continue;
        choice->stack_number[row->stack] = 1;
        sorted[count++] = (sorted_stack){ etlheap_row_frames(rows, row), row->stack };
    }
    return count;
}

static int compare_stacks(const void *a, const void *b)
{
    const sorted_stack *const x = a;
    const sorted_stack *const y = b;
    const u32 common = x->frames.count < y->frames.count ? x->frames.count : y->frames.count;
    for (u32 i = 1; i <= common; i++) {
        const u32 p = x->frames.at[x->frames.count - i];
        const u32 q = y->frames.at[y->frames.count - i];
        if (p != q)
            return p < q ? -1 : 1;
    }
    if (x->frames.count != y->frames.count)
        return x->frames.count < y->frames.count ? -1 : 1;
    return x->stack < y->stack ? -1 : 1;
}

static void add_stack(const etlheap_table *rows, const sorted_stack *before,
                      const sorted_stack *stack, html_choice *choice)
{
    const etlheap_indices frames = stack->frames;
    const u32 before_count = before == NULL ? 0 : before->frames.count;
    u32 shared = 0;
    while (shared < frames.count && shared < before_count &&
           frames.at[frames.count - 1 - shared] == before->frames.at[before_count - 1 - shared])
        shared++;
    html_code_add(&choice->stacks, shared);
    html_code_add(&choice->stacks, frames.count - shared);
    for (u32 i = shared; i < frames.count; i++) {
        const u32 frame = frames.at[frames.count - 1 - i];
        html_code_add(&choice->stacks, choice->frame_number[frame]);
        if (choice->frame_number[frame] == 0) {
            add_frame(&rows->frames[frame], choice);
            choice->frame_number[frame] = ++choice->frame_count;
        }
    }
}

static void add_frame(const etlheap_frame *frame, html_choice *choice)
{
    etlheap_text text = { 0 };
    const bool has_name = frame->module != NULL && frame->symbol != NULL;
    const bool has_line = frame->line != 0 && frame->file != NULL;
    const u32 bits = (has_name ? FRAME_NAMED : 0u) | (has_line ? FRAME_LINE : 0u) |
                     (frame->is_inlined ? FRAME_INLINED : 0u);
    u32 module = 0;
    if (frame->module != NULL)
        module = number_module(frame->module, &text, choice) + 1;
    html_code_add(&choice->frames, (u64)module * FRAME_MODULE + bits);
    if (has_name)
        html_code_add(&choice->frames, number_function(frame, &text, choice));
    else
        html_code_add(&choice->frames, frame->module != NULL ? frame->offset : frame->address);
    if (has_line) {
        html_name_add(&text, frame->file);
        html_code_add(&choice->frames, number_text(&choice->files, &text));
        html_code_add(&choice->frames, frame->line);
    }
    choice->names.failed |= text.failed;
    etlheap_text_free(&text);
}

/* Numbers a module. Neighbours are mostly of one module, whose name is one string. */
static u32 number_module(const char *name, etlheap_text *text, html_choice *choice)
{
    if (name != choice->latest_module) {
        html_name_add(text, name);
        choice->latest_number = number_text(&choice->modules, text);
        choice->latest_module = name;
    }
    return choice->latest_number;
}

static u32 number_function(const etlheap_frame *frame, etlheap_text *text, html_choice *choice)
{
    choice->names_cut += html_name_add(text, frame->symbol);
    if (frame->is_nearest)
        etlheap_text_add_format(text, "+0x%" PRIx64, frame->displacement);
    return number_text(&choice->names, text);
}

/* The text is empty afterwards. */
static u32 number_text(export_numbers *numbers, etlheap_text *text)
{
    u32 number = 0;
    const char *const bytes = etlheap_text_of(text);
    export_number_of(numbers, (etl_bytes){ (const u8 *)bytes, text->size }, &number);
    etlheap_text_clear(text);
    return number;
}

/* The size as JSON: an escaped byte takes at most six bytes. */
static u64 bytes_of_strings(const export_numbers *numbers)
{
    u64 bytes = numbers->keys.size + (u64)numbers->count * STRING_BYTES;
    for (size_t i = 0; i < numbers->keys.size; i++) {
        const u8 c = (u8)numbers->keys.bytes[i];
        bytes += c < 0x20 || c == '<' || c == '"' || c == '\\' || c == 0x7F ? 5 : 0;
    }
    return bytes;
}
