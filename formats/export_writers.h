/*
 * export_writers.h - the writers that exporters.c lists, one file each.
 *
 * Contracts are those of etlheap_exporter in exporters.h.
 */
#ifndef ETLHEAP_EXPORT_WRITERS_H
#define ETLHEAP_EXPORT_WRITERS_H

#include "formats.h"

etl_status etlheap_export_folded(const etlheap_export_request *request, etlheap_sink *sink,
                                 etl_error *err);

#endif
