/*
 * export_html_rises.c - a document of an HTML page that takes two questions: lasting rises, and the
 * call stacks that explain the largest.
 *
 * It is made as the command `windows` makes it, by windows of the page's length.
 */
#include "export_html_documents.h"

#include "formats/writers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define RISES_SHOWN 5u
#define PID_SIZE    16

typedef struct rises {
    etlheap_windows_options windows;
    etlheap_windows *all, *stacks;
    etlheap_growth found[RISES_SHOWN]; /* the largest first */
    bool *explains;
    etlheap_windows_answer answer;
} rises;

/* The same windows by stack, of the process that rises most. */
static etl_status make_stacks(const html_inquiry *inquiry, rises *out, etl_error *err)
{
    const etlheap_row *const row = &out->all->table->rows[out->found[0].row];
    etlheap_windows_options windows = out->windows;
    etlheap_query query = inquiry->query;
    char pid[PID_SIZE];
    const char *const processes[] = { row->pid == ETL_NO_ID ? row->process : pid };
    snprintf(pid, sizeof pid, "%" PRIu32, row->pid);
    query.kinds = 1u << row->kind;
    query.processes = processes;
    query.process_count = 1;
    query.group_by[query.group_by_count++] = ETLHEAP_KEY_STACK;
    query.sort = ETLHEAP_MEASURE_IMPACTING_SIZE;
    windows.measured_first = out->found[0].first_window;
    windows.measured_count = out->found[0].window_count;
    return etlheap_windows_make(inquiry->answers->request->result, &query, &windows, &out->stacks,
                                err);
}

/* Leaves the stacks that explain the rise. */
static etl_status explain(const html_inquiry *inquiry, rises *out, etl_error *err)
{
    etlheap_table *const table = out->stacks->table;
    u32 listed = table->row_count;
    out->explains = calloc((size_t)table->row_count + 1, sizeof *out->explains);
    if (!out->explains)
        return etl_no_memory(err);
    out->answer.stacks = out->stacks;
    out->answer.explains = out->explains;
    out->answer.unexplained =
        etlheap_windows_explain(&out->answer, &inquiry->layout, out->explains);
    while (listed > 0 && !out->explains[listed - 1])
        listed--;
    const etl_status status = etlheap_table_keep_top(table, listed, err);
    return status == ETL_OK && inquiry->query.symbols
               ? etlheap_table_name(table, inquiry->query.symbols, out->explains, err)
               : status;
}

static etl_status make_rises(const html_inquiry *inquiry, rises *out, etl_error *err)
{
    out->windows = (etlheap_windows_options){ .size = sizeof out->windows,
                                              .every_ns = inquiry->answers->kinds->every_ns };
    etl_status status = etlheap_windows_make(inquiry->answers->request->result, &inquiry->query,
                                             &out->windows, &out->all, err);
    if (status != ETL_OK)
        return status;
    const u32 count = etlheap_windows_find_rises(out->all, out->found, RISES_SHOWN);
    out->answer.windows = out->all;
    out->answer.growth_wanted = true;
    if (count == 0)
        return ETL_OK;
    out->answer.growth = out->found;
    out->answer.other_count = count - 1;
    status = make_stacks(inquiry, out, err);
    return status == ETL_OK ? explain(inquiry, out, err) : status;
}

etl_status html_write_growth(html_inquiry *inquiry, etl_error *err)
{
    rises made = { .all = NULL };
    etl_status status = make_rises(inquiry, &made, err);
    if (status == ETL_OK)
        status = etlheap_write_windows_json(inquiry->answers->request->result, &made.answer,
                                            &inquiry->layout, inquiry->sink);
    free(made.explains);
    etlheap_windows_free(made.stacks);
    etlheap_windows_free(made.all);
    return status;
}
