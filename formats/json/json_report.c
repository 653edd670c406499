/*
 * json_report.c - the documents `etlheap-report-1`, `etlheap-tree-1` and `etlheap-focus-1`.
 *
 * In: a table, maybe with a histogram. Out: JSON. A row has the keys it was grouped by, then all
 * measures. Invariant: keys and their order are part of the interface. Each frame, stack and row
 * stands on a line of its own, so that documents compare well line by line.
 */
#include "formats/parts/field_units.h"
#include "formats/writers.h"
#include "formats/parts/churn_parts.h"
#include "formats/parts/layout_read.h"
#include "json_histogram.h"
#include "json_report.h"
#include "json_rows.h"

/* A total has fewer measures than a row: its peaks are not computed. The first ones are always
 * there, the others if rows have them. */
static const etlheap_measure total_measures[] = {
    ETLHEAP_MEASURE_COUNT,
    ETLHEAP_MEASURE_SIZE,
    ETLHEAP_MEASURE_IMPACTING_SIZE,
    ETLHEAP_MEASURE_OUTSTANDING_COUNT,
    ETLHEAP_MEASURE_OUTSTANDING_SIZE,
    ETLHEAP_MEASURE_ALLOC_COUNT,
    ETLHEAP_MEASURE_ALLOC_SIZE,
    ETLHEAP_MEASURE_ALLOC_RATE,
    ETLHEAP_MEASURE_ALLOC_BYTES_RATE,
    ETLHEAP_MEASURE_FREED_COUNT,
    ETLHEAP_MEASURE_FREED_SIZE,
    ETLHEAP_MEASURE_TEMPORARY_COUNT,
    ETLHEAP_MEASURE_TEMPORARY_SIZE,
    ETLHEAP_MEASURE_TEMPORARY_10_COUNT,
    ETLHEAP_MEASURE_TEMPORARY_1MS_COUNT,
};

#define TOTALS_ALWAYS 5

static etl_status write_tree(const etlheap_result *result, const etlheap_table *table,
                             const etlheap_layout *layout, etlheap_sink *sink);
static void write_rows(etlheap_json *json, const etlheap_table *table,
                       const etlheap_layout *layout);
static void write_totals(etlheap_json *json, const etlheap_table *table);
static void write_estimates(etlheap_json *json, const etlheap_table *table,
                            const etlheap_layout *layout);

etl_status etlheap_write_report_json(const etlheap_result *result, const etlheap_table *table,
                                     const etlheap_layout *layout, etlheap_sink *sink)
{
    etlheap_layout own;
    const etl_status status = etlheap_layout_read(layout, &own);
    return status == ETL_OK && own.tree != ETLHEAP_TREE_NONE
               ? write_tree(result, table, &own, sink)
               : etlheap_write_histogram_json(result, table, NULL, layout, sink);
}

/* Writes a tree, or those of a function. */
static etl_status write_tree(const etlheap_result *result, const etlheap_table *table,
                             const etlheap_layout *layout, etlheap_sink *sink)
{
    const bool has_both = layout->tree == ETLHEAP_TREE_BOTH;
    call_tree callers = { .first_root = CALL_TREE_NONE }, tree;
    etlheap_json json;
    bool no_memory = false;
    etl_status status = call_tree_build(table, layout, TREE_PART_CALLEES, &tree);
    if (status == ETL_OK && has_both)
        status = call_tree_build(table, layout, TREE_PART_CALLERS, &callers);
    if (status == ETL_OK)
        status = etlheap_json_document(&json, has_both ? "etlheap-focus-1" : "etlheap-tree-1", 2,
                                       layout, sink);
    if (status == ETL_OK) {
        const json_tree both[] = { { &callers, "callers", "callers_left_out_count" },
                                   { &tree, "callees", "callees_left_out_count" } };
        const json_tree one = { &tree, "nodes", "left_out_count" };
        etlheap_json_recording(&json, result);
        etlheap_json_window(&json, result, table);
        etlheap_json_group_by(&json, table);
        if (!has_both)
            etlheap_json_string(&json, "begins_with",
                                layout->tree == ETLHEAP_TREE_CALLERS ? "callers" : "callees");
        if (layout->tree_root)
            etlheap_json_tree_root(&json, has_both ? "focus" : "root", layout, &tree);
        etlheap_json_trees(&json, table, has_both ? both : &one, has_both ? 2 : 1, &no_memory);
        write_totals(&json, table);
        etlheap_json_diagnostics(&json, &table->diagnostics);
        etlheap_json_document_end(&json);
    }
    call_tree_free(&callers);
    call_tree_free(&tree);
    return no_memory ? ETL_ERR_MEMORY : status;
}

etl_status etlheap_write_histogram_json(const etlheap_result *result, const etlheap_table *table,
                                        const etlheap_histogram *histogram,
                                        const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_json json;
    etlheap_layout layout;
    etl_status status = etlheap_layout_read(given, &layout);
    if (status == ETL_OK)
        status = etlheap_json_document(&json, "etlheap-report-1", 2, &layout, sink);
    if (status != ETL_OK)
        return status;
    etlheap_json_recording(&json, result);
    etlheap_json_window(&json, result, table);
    etlheap_json_group_by(&json, table);
    if (etlheap_rows_share_blocks(table))
        etlheap_json_bool(&json, "inclusive", true);
    etlheap_json_frames(&json, table);
    etlheap_json_stacks(&json, table);
    write_rows(&json, table, &layout);
    write_totals(&json, table);
    write_estimates(&json, table, &layout);
    if (histogram)
        etlheap_json_histogram(&json, histogram);
    etlheap_json_diagnostics(&json, &table->diagnostics);
    etlheap_json_document_end(&json);
    return ETL_OK;
}

/* Stops when nobody reads any more: there may be millions. */
static void write_rows(etlheap_json *json, const etlheap_table *table, const etlheap_layout *layout)
{
    const report_columns columns = report_columns_all(table, layout);
    etlheap_json_array(json, "rows");
    for (u32 i = 0; i < table->row_count && etlheap_sink_ok(json->sink); i++) {
        const etlheap_row *const row = &table->rows[i];
        etlheap_json_object(json, NULL);
        for (u32 k = 0; k < table->group_by_count; k++)
            etlheap_json_key(json, row, table->group_by[k]);
        etlheap_json_measures(json, &columns, row);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

/* Distinguishes what no event says from what was counted. */
static void write_estimates(etlheap_json *json, const etlheap_table *table,
                            const etlheap_layout *layout)
{
    const i64 count = table->totals[ETLHEAP_KIND_HEAP].measures[ETLHEAP_MEASURE_TEMPORARY_COUNT];
    if ((report_measures_of(table, layout) >> ETLHEAP_MEASURE_TEMPORARY_COUNT & 1) == 0)
        return;
    etlheap_json_object(json, "estimates");
    etlheap_json_i64(json, "temporary_cost_ns", etlheap_churn_cost_ns(count));
    etlheap_json_i64(json, "assumed_ns_per_temporary", ETLHEAP_CHURN_COST_NS);
    etlheap_json_object_close(json);
}

/* Kinds that the trace does not have are left out, not zero. */
static void write_totals(etlheap_json *json, const etlheap_table *table)
{
    etlheap_json_array(json, "totals");
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const etlheap_total *const total = &table->totals[kind];
        if (!total->present)
            continue;
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, "kind", etlheap_kind_name((etlheap_kind)kind));
        for (size_t i = 0; i < ETL_COUNT_OF(total_measures); i++) {
            const etlheap_measure measure = total_measures[i];
            if (i < TOTALS_ALWAYS || (table->measures >> measure & 1) != 0)
                etlheap_json_known(
                    json, etlheap_measure_word(measure),
                    etlheap_shown_measure((u32)kind, measure, total->measures[measure]));
        }
        etlheap_json_u64(json, "free_without_alloc", total->free_without_alloc);
        if (table->at_end)
            etlheap_json_i64(json, "at_ns", total->to_ns);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}
