/*
 * export_writers.h - the writers listed in exporters.c, one file each.
 *
 * Each behaves as described for etlheap_exporter in exporters.h.
 */
#ifndef ETLHEAP_EXPORT_WRITERS_H
#define ETLHEAP_EXPORT_WRITERS_H

#include "formats/formats.h"

etl_status etlheap_export_folded(const etlheap_export_request *request, etlheap_sink *sink,
                                 etl_error *err);
etl_status etlheap_export_speedscope(const etlheap_export_request *request, etlheap_sink *sink,
                                     etl_error *err);
etl_status etlheap_export_pprof(const etlheap_export_request *request, etlheap_sink *sink,
                                etl_error *err);
etl_status etlheap_export_perfetto(const etlheap_export_request *request, etlheap_sink *sink,
                                   etl_error *err);
etl_status etlheap_export_dhat(const etlheap_export_request *request, etlheap_sink *sink,
                               etl_error *err);
etl_status etlheap_export_heaptrack(const etlheap_export_request *request, etlheap_sink *sink,
                                    etl_error *err);
etl_status etlheap_export_csv(const etlheap_export_request *request, etlheap_sink *sink,
                              etl_error *err);
etl_status etlheap_export_ndjson(const etlheap_export_request *request, etlheap_sink *sink,
                                 etl_error *err);
etl_status etlheap_export_wpa_profile(const etlheap_export_request *request, etlheap_sink *sink,
                                      etl_error *err);
etl_status etlheap_export_perfview(const etlheap_export_request *request, etlheap_sink *sink,
                                   etl_error *err);
etl_status etlheap_export_wpa_xml(const etlheap_export_request *request, etlheap_sink *sink,
                                  etl_error *err);
etl_status etlheap_export_html(const etlheap_export_request *request, etlheap_sink *sink,
                               etl_error *err);
etl_status etlheap_export_parquet(const etlheap_export_request *request, etlheap_sink *sink,
                                  etl_error *err);

#endif
