/*
 * csv_symbols.c - which modules have symbols, as comma-separated values.
 */
#include "writers.h"

etl_status etlheap_write_symbols_csv(const etlheap_result *result, const etlheap_symbol_list *list,
                                     const etlheap_layout *layout, etlheap_sink *sink)
{
    (void)result;
    (void)layout;
    etlheap_sink_text(sink, "Module,Status,Expected,File,Note,Path");
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const char *const name = etlheap_kind_name((etlheap_kind)kind);
        etlheap_sink_format(sink, ",%s Size,%s Named Size", name, name);
    }
    etlheap_sink_text(sink, "\n");
    for (u32 i = 0; i < list->module_count; i++) {
        const etlheap_symbol_module *const row = &list->modules[i];
        const char *const cells[] = { row->module->name, etlheap_symbol_state_word(row->state),
                                      row->expected,     row->file ? row->file : "",
                                      row->note,         row->module->path };
        for (size_t c = 0; c < ETL_COUNT_OF(cells); c++) {
            etlheap_sink_text(sink, c > 0 ? "," : "");
            etlheap_csv_cell(sink, cells[c]);
        }
        for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
            etlheap_sink_text(sink, ",");
            etlheap_sink_signed(sink, row->size[kind]);
            etlheap_sink_text(sink, ",");
            etlheap_sink_signed(sink, row->named_size[kind]);
        }
        etlheap_sink_text(sink, "\n");
    }
    return ETL_OK;
}
