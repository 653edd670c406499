/*
 * xml.h - a streaming XML writer into a sink, over libxml2's.
 *
 * Escapes are its business. Text may be any bytes: what XML 1.0 has no character for
 * (controls but tab and line feed, U+FFFE, U+FFFF) and what is no valid UTF-8 becomes
 * U+FFFD. Running out of memory is sticky and told at the end.
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

/* The same for bytes that go elsewhere. What `write` returns does not matter: who
 * takes bytes remembers his own failures. */
etlheap_xml etlheap_xml_begin_to(etlheap_write_fn *write, void *user);

/* Ends the document, whose elements are closed, and frees the writer. ETL_ERR_MEMORY. */
etl_status etlheap_xml_end(etlheap_xml *xml);

/* Attributes follow their element's begin at once. Names are our own, valid ones. */
void etlheap_xml_element(etlheap_xml *xml, const char *name);
void etlheap_xml_close(etlheap_xml *xml);
void etlheap_xml_attribute(etlheap_xml *xml, const char *name, const char *text);
void etlheap_xml_attribute_u64(etlheap_xml *xml, const char *name, u64 value);
void etlheap_xml_attribute_i64(etlheap_xml *xml, const char *name, i64 value);
void etlheap_xml_attribute_hex(etlheap_xml *xml, const char *name, u64 value); /* "0x1f0000" */
void etlheap_xml_text(etlheap_xml *xml, const char *text);

/* What may not stand in a comment, two hyphens in a row, is parted by a space. */
void etlheap_xml_comment(etlheap_xml *xml, const char *text);

#endif
