/*
 * export_html_suspects.c - the `suspects` of an HTML report's document.
 *
 * null if the input has no times, by which suspects are told. Otherwise:
 *
 *     groups    how many groups have blocks that are never freed
 *     hidden    how many suspects are left out
 *     rows      those with the highest scores, as JSON of `report --suspects` has them, but with
 *               numbers of texts for their frames, and the number of the page's stack, from 1;
 *               0 if the page does not show the stack
 *     frames    texts of frames, each once: a stack has up to 192
 */
#include "export_html.h"

#include "formats/io/text_buffer.h"
#include "formats/json/json_rows.h"

#define SUSPECTS_MAX 100u

typedef struct writer {
    etlheap_json *json;
    const html_answers *answers;
    const html_choice *choice;
    etlheap_text *scratch;
    export_numbers texts; /* of frames */
} writer;

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool is_same_frame(const etlheap_frame *a, const etlheap_frame *b)
{
    const bool is_same_place =
        a->module != NULL ? a->offset == b->offset : a->address == b->address;
    return is_same_place && is_same_text(a->module, b->module) && a->line == b->line &&
           a->is_inlined == b->is_inlined && is_same_text(a->symbol, b->symbol) &&
           is_same_text(a->file, b->file);
}

static bool is_same_stack(const etlheap_table *a, const etlheap_row *of_a, const etlheap_table *b,
                          const etlheap_row *of_b)
{
    const etlheap_indices x = etlheap_row_frames(a, of_a), y = etlheap_row_frames(b, of_b);
    bool is_same = x.count == y.count;
    for (u32 i = 0; is_same && i < x.count; i++)
        is_same = is_same_frame(&a->frames[x.at[i]], &b->frames[y.at[i]]);
    return is_same;
}

/* Tables number stacks each in their own way, so the page's is found by its frames. */
static u32 page_stack_of(const writer *w, const etlheap_row *suspect)
{
    const etlheap_table *const rows = w->answers->rows->table;
    for (u32 i = 0; suspect->stack != ETLHEAP_NO_INDEX && i < w->choice->row_count; i++) {
        const etlheap_row *const row = &rows->rows[i];
        if (row->kind == suspect->kind && row->pid == suspect->pid &&
            row->stack != ETLHEAP_NO_INDEX &&
            is_same_stack(rows, row, w->answers->suspects->table, suspect))
            return w->choice->stack_number[row->stack];
    }
    return 0;
}

static void write_frames(writer *w, const etlheap_row *row)
{
    const etlheap_table *const table = w->answers->suspects->table;
    const etlheap_indices frames = etlheap_row_frames(table, row);
    etlheap_json_array(w->json, "frames");
    for (u32 i = 0; i < frames.count; i++) {
        u32 number;
        etlheap_text_clear(w->scratch);
        etlheap_text_add_function(w->scratch, &table->frames[frames.at[i]]);
        etlheap_text_add_source(w->scratch, &table->frames[frames.at[i]]);
        const etl_bytes text = { (const u8 *)etlheap_text_of(w->scratch), w->scratch->size };
        (void)export_number_of(&w->texts, text, &number);
        etlheap_json_u64(w->json, NULL, number);
    }
    etlheap_json_array_close(w->json);
}

static void write_row(writer *w, u32 index)
{
    const etlheap_suspects *const suspects = w->answers->suspects;
    const etlheap_row *const row = &suspects->table->rows[index];
    etlheap_json_object(w->json, NULL);
    etlheap_json_key(w->json, row, ETLHEAP_KEY_KIND);
    etlheap_json_key(w->json, row, ETLHEAP_KEY_PROCESS);
    write_frames(w, row);
    etlheap_json_u64(w->json, "page_stack", page_stack_of(w, row));
    etlheap_json_suspect(w->json, row, &suspects->rows[index], w->scratch);
    etlheap_json_object_close(w->json);
}

static void write_texts(writer *w)
{
    etlheap_json_array(w->json, "frames");
    for (u32 i = 0; i < w->texts.count; i++) {
        const etl_bytes text = export_number_key(&w->texts, i);
        etlheap_json_string_bytes(w->json, NULL, (const char *)text.at, text.size);
    }
    etlheap_json_array_close(w->json);
}

void html_write_suspects(etlheap_json *json, const html_answers *answers, const html_choice *choice,
                         etlheap_text *scratch)
{
    const etlheap_suspects *const suspects = answers->suspects;
    writer w = { .json = json, .answers = answers, .choice = choice, .scratch = scratch };
    if (!suspects) {
        etlheap_json_null(json, "suspects");
        return;
    }
    const u32 count = suspects->table->row_count;
    const u32 shown = (u32)etl_min_u64(count, SUSPECTS_MAX);
    etlheap_json_object(json, "suspects");
    etlheap_json_u64(json, "groups", suspects->group_count);
    etlheap_json_u64(json, "hidden", count - shown);
    etlheap_json_array(json, "rows");
    for (u32 i = 0; i < shown; i++)
        write_row(&w, i);
    etlheap_json_array_close(json);
    write_texts(&w);
    etlheap_json_object_close(json);
    scratch->failed |= w.texts.failed;
    export_numbers_free(&w.texts);
}
