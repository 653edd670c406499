/*
 * writers.h - the writers that formats.c lists, one file each.
 *
 * Contracts are those of etlheap_format in formats.h.
 */
#ifndef ETLHEAP_WRITERS_H
#define ETLHEAP_WRITERS_H

#include "formats.h"

etl_status etlheap_write_report_text(const etlheap_result *result, const etlheap_table *table,
                                     const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_report_json(const etlheap_result *result, const etlheap_table *table,
                                     const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_report_csv(const etlheap_result *result, const etlheap_table *table,
                                    const etlheap_layout *layout, etlheap_sink *sink);

/* The call trees of a table whose rows have stacks, for layout->tree. */
etl_status etlheap_write_tree_text(const etlheap_table *table, const etlheap_layout *layout,
                                   etlheap_sink *sink);

etl_status etlheap_write_symbols_text(const etlheap_result *result, const etlheap_symbol_list *list,
                                      const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_symbols_json(const etlheap_result *result, const etlheap_symbol_list *list,
                                      const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_symbols_csv(const etlheap_result *result, const etlheap_symbol_list *list,
                                     const etlheap_layout *layout, etlheap_sink *sink);

/* A cell of CSV, quoted when it must be. */
void etlheap_csv_cell(etlheap_sink *sink, const char *text);

etl_status etlheap_write_info_text(const etlheap_result *result, const etlheap_layout *layout,
                                   etlheap_sink *sink);
etl_status etlheap_write_info_json(const etlheap_result *result, const etlheap_layout *layout,
                                   etlheap_sink *sink);

void etlheap_write_dump_head_text(etlheap_sink *sink);
etl_status etlheap_write_record_text(const etlheap_stream_record *record, const etl_event *event,
                                     etlheap_text *scratch, etlheap_sink *sink);
etl_status etlheap_write_record_json(const etlheap_stream_record *record, const etl_event *event,
                                     etlheap_text *scratch, etlheap_sink *sink);

#endif
