/*
 * csv_diff.c - the rows of a diff as comma-separated values.
 *
 * State, keys, then each measure of the base, of the new side, and the difference;
 * with --per-second also as amounts per 1000 seconds, which are integers.
 */
#include "formats/parts/diff_parts.h"
#include "formats/writers.h"
#include "formats/parts/layout_read.h"
#include "csv_rows.h"

static void write_head(const etlheap_diff_answer *answer, const etlheap_layout *layout,
                       etlheap_sink *sink);
static void add_names(etlheap_csv_head *head, etlheap_measure measure, bool is_rate);
static void write_amounts(const etlheap_diff *diff, u32 row, etlheap_sink *sink);

etl_status etlheap_write_diff_csv(const etlheap_diff_answer *answer, const etlheap_layout *given,
                                  etlheap_sink *sink)
{
    etlheap_layout own;
    const etlheap_layout *const layout = &own;
    const etl_status layout_status = etlheap_layout_read(given, &own);
    if (layout_status != ETL_OK)
        return layout_status;
    const etlheap_diff *const diff = answer->diff;
    etlheap_text text = { 0 };
    write_head(answer, layout, sink);
    for (u32 i = 0; i < diff->table.row_count && etlheap_sink_ok(sink); i++) {
        const etlheap_diff_state state = (etlheap_diff_state)diff->changes[i].state;
        etlheap_sink_text(sink, etlheap_diff_state_word(state));
        etlheap_sink_text(sink, ",");
        etlheap_csv_compared_keys(&diff->table, &diff->table.rows[i], &text, sink);
        write_amounts(diff, i, sink);
        etlheap_sink_text(sink, "\n");
    }
    const bool failed = text.failed;
    etlheap_text_free(&text);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}

/* A process is a name here, without the id. */
static void write_head(const etlheap_diff_answer *answer, const etlheap_layout *layout,
                       etlheap_sink *sink)
{
    const etlheap_diff *const diff = answer->diff;
    etlheap_csv_head head = etlheap_csv_head_begin(layout, sink);
    etlheap_measure measures[ETLHEAP_MEASURES_COUNT];
    const u32 count = etlheap_diff_measures(diff, measures);
    etlheap_csv_head_field(&head, ETLHEAP_FIELD_STATE);
    for (u32 k = 0; k < diff->table.group_by_count; k++) {
        const etlheap_key key = diff->table.group_by[k];
        etlheap_csv_head_field(&head, etlheap_diff_field(answer, key));
        if (key == ETLHEAP_KEY_TYPE)
            etlheap_csv_head_field(&head, ETLHEAP_FIELD_IMPACTING_TYPE);
    }
    for (u32 i = 0; i < count; i++) {
        add_names(&head, measures[i], false);
        if (diff->per_second)
            add_names(&head, measures[i], true);
    }
    etlheap_csv_head_end(&head);
}

static void add_names(etlheap_csv_head *head, etlheap_measure measure, bool is_rate)
{
    for (int c = 0; c < ETLHEAP_DIFF_COLUMN_COUNT; c++) {
        char name[ETLHEAP_DIFF_NAME_SIZE];
        if (head->titles)
            etlheap_diff_title((etlheap_diff_column)c, measure, is_rate, name);
        else
            etlheap_diff_key((etlheap_diff_column)c, measure, is_rate, name);
        etlheap_csv_head_name(head, name);
    }
}

/* All keys but the process are as in reports: a table of one key writes each. */
void etlheap_csv_compared_keys(const etlheap_table *table, const etlheap_row *row,
                               etlheap_text *text, etlheap_sink *sink)
{
    for (u32 k = 0; k < table->group_by_count; k++) {
        etlheap_table one = *table;
        one.group_by = &table->group_by[k];
        one.group_by_count = 1;
        if (table->group_by[k] == ETLHEAP_KEY_PROCESS) {
            etlheap_text_clear(text);
            etlheap_text_add_key(text, &one, row, ETLHEAP_KEY_PROCESS);
            etlheap_csv_cell(sink, etlheap_text_of(text));
            etlheap_sink_text(sink, ",");
        } else {
            etlheap_csv_keys(&one, row, text, sink);
        }
    }
}

/* A lifetime that is not known is empty. */
static void write_amount(etlheap_sink *sink, etlheap_measure measure, i64 value)
{
    if (value != ETLHEAP_NOT_KNOWN || !etlheap_diff_compares_lifetimes(measure))
        etlheap_sink_signed(sink, value);
}

static void write_amounts(const etlheap_diff *diff, u32 row, etlheap_sink *sink)
{
    const etlheap_change *const change = &diff->changes[row];
    etlheap_measure measures[ETLHEAP_MEASURES_COUNT];
    const u32 count = etlheap_diff_measures(diff, measures);
    for (u32 i = 0; i < count; i++) {
        const etlheap_measure m = measures[i];
        etlheap_sink_text(sink, i > 0 ? "," : "");
        write_amount(sink, m, change->base[m]);
        etlheap_sink_text(sink, ",");
        write_amount(sink, m, change->now[m]);
        etlheap_sink_text(sink, ",");
        write_amount(sink, m, diff->table.rows[row].measures[m]);
        if (!diff->per_second)
            continue;
        const i64 base = etlheap_diff_rate(change->base[m], change->base_ns);
        const i64 now = etlheap_diff_rate(change->now[m], change->new_ns);
        etlheap_sink_text(sink, ",");
        etlheap_sink_signed(sink, base);
        etlheap_sink_text(sink, ",");
        etlheap_sink_signed(sink, now);
        etlheap_sink_text(sink, ",");
        etlheap_sink_signed(sink, etlheap_diff_subtract(base, now));
    }
}
