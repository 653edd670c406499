/*
 * csv_diff.c - the rows of a diff as comma-separated values.
 *
 * State, keys, then each measure of the base, of the new side, and the difference;
 * with --per-second also as amounts per 1000 seconds, which are integers.
 */
#include "csv_rows.h"
#include "formats/parts/field_units.h"
#include "formats/parts/diff_parts.h"
#include "formats/writers.h"

static void add_names(etlheap_csv *csv, etlheap_measure measure, bool is_rate)
{
    for (int c = 0; c < ETLHEAP_DIFF_COLUMN_COUNT; c++) {
        char name[ETLHEAP_DIFF_NAME_SIZE];
        if (csv->layout.titles)
            etlheap_diff_title((etlheap_diff_column)c, measure, is_rate, name);
        else
            etlheap_diff_key((etlheap_diff_column)c, measure, is_rate, name);
        etlheap_csv_text(csv, name);
    }
}

static void write_head(etlheap_csv *csv, const etlheap_diff_answer *answer)
{
    const etlheap_diff *const diff = answer->diff;
    etlheap_measure measures[ETLHEAP_MEASURES_COUNT];
    const u32 count = etlheap_diff_measures(diff, measures);
    etlheap_csv_field(csv, ETLHEAP_FIELD_STATE);
    for (u32 k = 0; k < diff->table.group_by_count; k++)
        etlheap_csv_compared_name(csv, etlheap_diff_field(answer, diff->table.group_by[k]));
    for (u32 i = 0; i < count; i++) {
        add_names(csv, measures[i], false);
        if (diff->per_second)
            add_names(csv, measures[i], true);
    }
    etlheap_csv_line(csv);
}

static void write_number(etlheap_csv *csv, u8 kind, etlheap_measure measure, i64 value)
{
    etlheap_csv_number(csv, etlheap_shown_measure(kind, measure, value));
}

static void write_amounts(etlheap_csv *csv, const etlheap_diff *diff, u32 row)
{
    const etlheap_change *const change = &diff->changes[row];
    etlheap_measure measures[ETLHEAP_MEASURES_COUNT];
    const u8 row_kind = diff->table.rows[row].kind;
    const u32 count = etlheap_diff_measures(diff, measures);
    for (u32 i = 0; i < count; i++) {
        const etlheap_measure m = measures[i];
        write_number(csv, row_kind, m, change->base[m]);
        write_number(csv, row_kind, m, change->now[m]);
        write_number(csv, row_kind, m, diff->table.rows[row].measures[m]);
        if (!diff->per_second)
            continue;
        const i64 base = etlheap_diff_rate(change->base[m], change->base_ns);
        const i64 now = etlheap_diff_rate(change->now[m], change->new_ns);
        write_number(csv, row_kind, m, base);
        write_number(csv, row_kind, m, now);
        write_number(csv, row_kind, m, etlheap_diff_subtract(base, now));
    }
}

etl_status etlheap_write_diff_csv(const etlheap_diff_answer *answer, const etlheap_layout *given,
                                  etlheap_sink *sink)
{
    const etlheap_diff *const diff = answer->diff;
    etlheap_csv csv;
    const etl_status status = etlheap_csv_begin(given, sink, &csv);
    if (status != ETL_OK)
        return status;
    write_head(&csv, answer);
    for (u32 i = 0; i < diff->table.row_count && etlheap_sink_ok(sink); i++) {
        const etlheap_diff_state state = (etlheap_diff_state)diff->changes[i].state;
        etlheap_csv_text(&csv, etlheap_diff_state_word(state));
        etlheap_csv_compared_keys(&csv, &diff->table, &diff->table.rows[i]);
        write_amounts(&csv, diff, i);
        etlheap_csv_line(&csv);
    }
    return etlheap_csv_end(&csv);
}
