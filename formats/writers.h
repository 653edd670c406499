/*
 * writers.h - the writers listed in formats.c, one file each.
 *
 * Each behaves as described for etlheap_format in formats.h.
 */
#ifndef ETLHEAP_WRITERS_H
#define ETLHEAP_WRITERS_H

#include "formats.h"

#include "parser/base.h"

etl_status etlheap_write_report_text(const etlheap_result *result, const etlheap_table *table,
                                     const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_report_json(const etlheap_result *result, const etlheap_table *table,
                                     const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_report_csv(const etlheap_result *result, const etlheap_table *table,
                                    const etlheap_layout *layout, etlheap_sink *sink);

etl_status etlheap_write_report_markdown(const etlheap_result *result, const etlheap_table *table,
                                         const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_diff_markdown(const etlheap_diff_answer *answer,
                                       const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_check_markdown(const etlheap_result *result, const etlheap_check *check,
                                        const etlheap_layout *layout, etlheap_sink *sink);

etl_status etlheap_write_windows_text(const etlheap_result *result,
                                      const etlheap_windows_answer *answer,
                                      const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_windows_json(const etlheap_result *result,
                                      const etlheap_windows_answer *answer,
                                      const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_windows_csv(const etlheap_result *result,
                                     const etlheap_windows_answer *answer,
                                     const etlheap_layout *layout, etlheap_sink *sink);

etl_status etlheap_write_check_text(const etlheap_result *result, const etlheap_check *check,
                                    const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_check_json(const etlheap_result *result, const etlheap_check *check,
                                    const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_check_junit(const etlheap_result *result, const etlheap_check *check,
                                     const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_check_sarif(const etlheap_result *result, const etlheap_check *check,
                                     const etlheap_layout *layout, etlheap_sink *sink);

etl_status etlheap_write_histogram_text(const etlheap_result *result, const etlheap_table *table,
                                        const etlheap_histogram *histogram,
                                        const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_histogram_json(const etlheap_result *result, const etlheap_table *table,
                                        const etlheap_histogram *histogram,
                                        const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_histogram_csv(const etlheap_result *result, const etlheap_table *table,
                                       const etlheap_histogram *histogram,
                                       const etlheap_layout *layout, etlheap_sink *sink);

etl_status etlheap_write_map_text(const etlheap_result *result, const etlheap_map *map,
                                  const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_map_json(const etlheap_result *result, const etlheap_map *map,
                                  const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_map_csv(const etlheap_result *result, const etlheap_map *map,
                                 const etlheap_layout *layout, etlheap_sink *sink);

etl_status etlheap_write_spikes_text(const etlheap_result *result, const etlheap_spikes *spikes,
                                     const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_spikes_json(const etlheap_result *result, const etlheap_spikes *spikes,
                                     const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_spikes_csv(const etlheap_result *result, const etlheap_spikes *spikes,
                                    const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_spikes_markdown(const etlheap_result *result, const etlheap_spikes *spikes,
                                         const etlheap_layout *layout, etlheap_sink *sink);

/* Writes the tables of a histogram, without the head and end of a report. */
etl_status etlheap_write_buckets_text(const etlheap_histogram *histogram,
                                      const etlheap_layout *layout, etlheap_sink *sink);

/* Writes the call trees of a table with stacks, for layout->tree. */
etl_status etlheap_write_tree_text(const etlheap_table *table, const etlheap_layout *layout,
                                   etlheap_sink *sink);

etl_status etlheap_write_diff_text(const etlheap_diff_answer *answer, const etlheap_layout *layout,
                                   etlheap_sink *sink);
etl_status etlheap_write_diff_json(const etlheap_diff_answer *answer, const etlheap_layout *layout,
                                   etlheap_sink *sink);
etl_status etlheap_write_diff_csv(const etlheap_diff_answer *answer, const etlheap_layout *layout,
                                  etlheap_sink *sink);

etl_status etlheap_write_diff_folded(const etlheap_diff_answer *answer,
                                     const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_diff_speedscope(const etlheap_diff_answer *answer,
                                         const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_diff_html(const etlheap_diff_answer *answer, const etlheap_layout *layout,
                                   etlheap_sink *sink);

etl_status etlheap_write_suspects_text(const etlheap_result *result,
                                       const etlheap_suspects *suspects,
                                       const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_suspects_json(const etlheap_result *result,
                                       const etlheap_suspects *suspects,
                                       const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_suspects_csv(const etlheap_result *result,
                                      const etlheap_suspects *suspects,
                                      const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_suspects_markdown(const etlheap_result *result,
                                           const etlheap_suspects *suspects,
                                           const etlheap_layout *layout, etlheap_sink *sink);

/* All of them number runs from 1. */
etl_status etlheap_write_trend_text(const etlheap_trend_answer *answer,
                                    const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_trend_json(const etlheap_trend_answer *answer,
                                    const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_trend_csv(const etlheap_trend_answer *answer, const etlheap_layout *layout,
                                   etlheap_sink *sink);
etl_status etlheap_write_trend_html(const etlheap_trend_answer *answer,
                                    const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_trend_markdown(const etlheap_trend_answer *answer,
                                        const etlheap_layout *layout, etlheap_sink *sink);

/* Writes a comparison of two logs of one process, in the form of UMDH's own comparison. */
void etlheap_write_umdh_text(const etlheap_diff_answer *answer, const etlheap_layout *layout,
                             etlheap_text *text, etlheap_sink *sink);

etl_status etlheap_write_allocations_text(etlheap_lifetimes *walk, const etlheap_layout *layout,
                                          etlheap_sink *sink);
etl_status etlheap_write_allocations_json(etlheap_lifetimes *walk, const etlheap_layout *layout,
                                          etlheap_sink *sink);
etl_status etlheap_write_allocations_ndjson(etlheap_lifetimes *walk, const etlheap_layout *layout,
                                            etlheap_sink *sink);
etl_status etlheap_write_allocations_csv(etlheap_lifetimes *walk, const etlheap_layout *layout,
                                         etlheap_sink *sink);

etl_status etlheap_write_symbols_text(const etlheap_result *result, const etlheap_symbol_list *list,
                                      const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_symbols_json(const etlheap_result *result, const etlheap_symbol_list *list,
                                      const etlheap_layout *layout, etlheap_sink *sink);
etl_status etlheap_write_symbols_csv(const etlheap_result *result, const etlheap_symbol_list *list,
                                     const etlheap_layout *layout, etlheap_sink *sink);

/* Finds the moment of a report about outstanding memory at one time. False: it has none, or kinds
 * have different ones. */
bool etlheap_table_moment(const etlheap_table *table, i64 *at_ns);

/* Writes a CSV cell, quoted if needed. */
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
