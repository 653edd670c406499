/*
 * xml.h - writes XML as a stream into a sink, with libxml2.
 *
 * Escapes all text, which may be any bytes: characters that XML 1.0 lacks (controls except tab and
 * line feed, U+FFFE, U+FFFF) and invalid UTF-8 become U+FFFD. Running out of memory is sticky and
 * reported at the end.
 */
#ifndef ETLHEAP_XML_H
#define ETLHEAP_XML_H

#include "text_buffer.h"

typedef struct etlheap_xml {
    struct _xmlTextWriter *writer;
    etlheap_text scratch;
    bool failed;
} etlheap_xml;

/* Writes the declaration; elements are indented. */
etlheap_xml etlheap_xml_begin(etlheap_sink *sink);

/* Begins a document that goes to a function. The function's result is ignored; it must remember its
 * own failures. */
etlheap_xml etlheap_xml_begin_to(etlheap_write_fn *write, void *user);

/* Ends the document and frees the writer. All elements must be closed. ETL_ERR_MEMORY. */
etl_status etlheap_xml_end(etlheap_xml *xml);

/* Begin an element; its attributes must come next. Names must be valid. */
void etlheap_xml_element(etlheap_xml *xml, const char *name);
void etlheap_xml_close(etlheap_xml *xml);
void etlheap_xml_attribute(etlheap_xml *xml, const char *name, const char *text);
void etlheap_xml_attribute_u64(etlheap_xml *xml, const char *name, u64 value);
void etlheap_xml_attribute_i64(etlheap_xml *xml, const char *name, i64 value);
void etlheap_xml_attribute_hex(etlheap_xml *xml, const char *name, u64 value); /* "0x1f0000" */
void etlheap_xml_text(etlheap_xml *xml, const char *text);

/* Writes a comment. Two hyphens in a row, which are not allowed in comments, are separated by a
 * space. */
void etlheap_xml_comment(etlheap_xml *xml, const char *text);

#endif
