/*
 * wpa_xml_read.h - checks documents of the exporter `wpa-xml` and adds up their tables.
 *
 * For tests that want to know that a document is complete: reads and adds up every row, checks
 * every reference, and compares the totals in the document with the sums. wpa_xml.xsd describes the
 * format.
 *
 * The file is not trusted. It is read as a stream, in memory that does not depend on its size. No
 * other file is opened, and a document type, which could define entities, is refused.
 */
#ifndef TESTS_WPA_XML_READ_H
#define TESTS_WPA_XML_READ_H

#include "engine/engine.h"

/* The sums of a table's rows, limited to the range of their types. */
typedef struct wpa_sums {
    uint64_t rows;
    int64_t count, size_bytes, impacting_size;
} wpa_sums;

/* The sums of one table. */
typedef struct wpa_table {
    bool is_present;
    wpa_sums all;
    wpa_sums of_type[ETLHEAP_TYPE_CAPACITY];
} wpa_table;

/* The sums of a document. */
typedef struct wpa_document {
    bool of_lifetimes; /* one row per lifetime; else rows are sums */
    int64_t from_ns, to_ns;
    wpa_table tables[ETLHEAP_KIND_CAPACITY]; /* by kind */
    uint64_t frame_count, node_count;        /* frames and nodes of the stacks */
} wpa_document;

/*
 * Reads a document from a file, or from memory with a name for messages. *out borrows nothing. Any
 * thread. ETL_ERR_IO, ETL_ERR_CORRUPT (not such a document, damaged or contradictory; the message
 * names the line), ETL_ERR_UNSUPPORTED (another version), ETL_ERR_MEMORY.
 */
etl_status wpa_xml_read(const char *path, wpa_document *out, etl_error *err);
etl_status wpa_xml_parse(etl_bytes bytes, const char *name, wpa_document *out, etl_error *err);

#endif
