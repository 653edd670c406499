/*
 * wpa_xml_read.h - reads what the exporter `wpa-xml` writes: what its tables add up to.
 *
 * Part of formats.h. For those who keep such documents and want to know that one is
 * whole: every row is read and added up, every reference looked at, and the totals that
 * the document states are held against the sums. wpa_xml.xsd describes the format.
 *
 * The file is not trusted: it is read as a stream in memory that does not grow with it,
 * nothing else is opened, and a document type, which could hold entities, is refused.
 */
#ifndef ETLHEAP_WPA_XML_READ_H
#define ETLHEAP_WPA_XML_READ_H

#include "engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums stop at the limits of their type. */
typedef struct etlheap_wpa_sums {
    u64 rows;
    i64 count, size_bytes, impacting_size;
} etlheap_wpa_sums;

typedef struct etlheap_wpa_table {
    bool is_present;
    etlheap_wpa_sums all;
    etlheap_wpa_sums of_type[ETLHEAP_TYPE_CAPACITY];
} etlheap_wpa_table;

typedef struct etlheap_wpa_document {
    bool of_lifetimes; /* a row each; else rows are sums */
    i64 from_ns, to_ns;
    etlheap_wpa_table tables[ETLHEAP_KIND_CAPACITY]; /* by kind */
    u64 frame_count, node_count;                     /* of the stacks */
} etlheap_wpa_document;

/*
 * Reads a document from a file, or from memory under a name for messages. ETL_ERR_IO;
 * ETL_ERR_CORRUPT (no such document, damaged, or its parts contradict each other; the
 * message names the line), ETL_ERR_UNSUPPORTED (another version), ETL_ERR_MEMORY.
 */
etl_status etlheap_wpa_xml_read(const char *path, etlheap_wpa_document *out, etl_error *err);
etl_status etlheap_wpa_xml_parse(etl_bytes bytes, const char *name, etlheap_wpa_document *out,
                                 etl_error *err);

#ifdef __cplusplus
}
#endif

#endif
