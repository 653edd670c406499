/*
 * xml.c - writes XML through libxml2's streaming writer.
 *
 * In: elements, attributes and text. Out: bytes of a document, given to a write function.
 *
 *     text ──clean──▶ valid characters ──libxml2: escapes──▶ put ──▶ write function
 *
 * Each call adds its failure to `failed`, so callers check once, at the end. Failures of the output
 * are not seen here: the output remembers its own. Invariant: text that comes from a trace may be
 * any bytes, so it must go through clean() before libxml2 gets it. Names of elements and attributes
 * are our own and do not.
 */
#include "xml.h"

#include "units.h"

#include <inttypes.h>
#include <libxml/xmlwriter.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct xml_output {
    etlheap_write_fn *write;
    void *user;
} xml_output;

static bool put_in_sink(void *user, const void *bytes, size_t size);
static int put(void *user, const char *bytes, int size);
static int drop_output(void *user);
static const xmlChar *clean(etlheap_xml *xml, const char *text);
static bool is_character(const char *text, size_t size);

etlheap_xml etlheap_xml_begin(etlheap_sink *sink)
{
    return etlheap_xml_begin_to(put_in_sink, sink);
}

/* libxml2 passes its output a single pointer, so the function and its argument share a struct. It
 * is freed with the buffer (drop_output). */
etlheap_xml etlheap_xml_begin_to(etlheap_write_fn *write, void *user)
{
    etlheap_xml xml = { .writer = NULL };
    xml_output *const output = malloc(sizeof *output);
    xmlOutputBuffer *const buffer =
        output ? xmlOutputBufferCreateIO(put, drop_output, output, NULL) : NULL;
    if (buffer)
        *output = (xml_output){ write, user };
    else
        free(output);
    if (buffer)
        xml.writer = xmlNewTextWriter(buffer);
    if (buffer && !xml.writer)
        (void)xmlOutputBufferClose(buffer);
    xml.failed = !xml.writer || xmlTextWriterSetIndent(xml.writer, 1) < 0 ||
                 xmlTextWriterStartDocument(xml.writer, NULL, "UTF-8", NULL) < 0;
    return xml;
}

etl_status etlheap_xml_end(etlheap_xml *xml)
{
    xml->failed |= !xml->writer || xmlTextWriterEndDocument(xml->writer) < 0;
    if (xml->writer)
        xmlFreeTextWriter(xml->writer);
    const bool failed = xml->failed || xml->scratch.failed;
    etlheap_text_free(&xml->scratch);
    *xml = (etlheap_xml){ .failed = failed };
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}

void etlheap_xml_element(etlheap_xml *xml, const char *name)
{
    xml->failed |=
        !xml->writer || xmlTextWriterStartElement(xml->writer, (const xmlChar *)name) < 0;
}

void etlheap_xml_close(etlheap_xml *xml)
{
    xml->failed |= !xml->writer || xmlTextWriterEndElement(xml->writer) < 0;
}

void etlheap_xml_attribute(etlheap_xml *xml, const char *name, const char *text)
{
    xml->failed |= !xml->writer || xmlTextWriterWriteAttribute(xml->writer, (const xmlChar *)name,
                                                               clean(xml, text)) < 0;
}

void etlheap_xml_attribute_u64(etlheap_xml *xml, const char *name, u64 value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    etlheap_xml_attribute(xml, name, digits);
}

void etlheap_xml_attribute_i64(etlheap_xml *xml, const char *name, i64 value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, value);
    etlheap_xml_attribute(xml, name, digits);
}

void etlheap_xml_attribute_hex(etlheap_xml *xml, const char *name, u64 value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "0x%" PRIx64, value);
    etlheap_xml_attribute(xml, name, digits);
}

void etlheap_xml_text(etlheap_xml *xml, const char *text)
{
    xml->failed |= !xml->writer || xmlTextWriterWriteString(xml->writer, clean(xml, text)) < 0;
}

/* A hyphen at the end of the text would meet the hyphens that end the comment. */
void etlheap_xml_comment(etlheap_xml *xml, const char *text)
{
    etlheap_text parted = { 0 };
    for (const char *at = (const char *)clean(xml, text); *at != '\0'; at++) {
        etlheap_text_add(&parted, at, 1);
        if (at[0] == '-' && (at[1] == '-' || at[1] == '\0'))
            etlheap_text_add_string(&parted, " ");
    }
    xml->failed |=
        !xml->writer || parted.failed ||
        xmlTextWriterWriteComment(xml->writer, (const xmlChar *)etlheap_text_of(&parted)) < 0;
    etlheap_text_free(&parted);
}

static bool put_in_sink(void *user, const void *bytes, size_t size)
{
    etlheap_sink_write(user, bytes, size);
    return true;
}

/* Errors of the sink are sticky and reported when it is closed. */
static int put(void *user, const char *bytes, int size)
{
    const xml_output *const output = user;
    (void)output->write(output->user, bytes, (size_t)size);
    return size;
}

static int drop_output(void *user)
{
    free(user);
    return 0;
}

/* Replaces what XML cannot hold. Text between replacements is copied in runs. The result is valid
 * until the next call. */
static const xmlChar *clean(etlheap_xml *xml, const char *text)
{
    const size_t size = strlen(text);
    size_t run = 0;
    size_t at = 0;
    etlheap_text_clear(&xml->scratch);
    while (at < size) {
        const size_t length = etlheap_units_utf8_length(text + at, size - at);
        const size_t step = length > 0 ? length : 1;
        if (length == 0 || !is_character(text + at, length)) {
            etlheap_text_add(&xml->scratch, text + run, at - run);
            etlheap_text_add_string(&xml->scratch, "\xEF\xBF\xBD");
            run = at + step;
        }
        at += step;
    }
    etlheap_text_add(&xml->scratch, text + run, size - run);
    return (const xmlChar *)etlheap_text_of(&xml->scratch);
}

/* Is a valid UTF-8 character also a Char of XML 1.0, and none of the controls that XML discourages
 * (#x7F-#x9F) and that terminals and build logs obey? */
static bool is_character(const char *text, size_t size)
{
    const u8 *const at = (const u8 *)text;
    if (size == 1)
        return (at[0] >= 0x20 && at[0] != 0x7F) || at[0] == '\t' || at[0] == '\n';
    if (size == 2 && at[0] == 0xC2 && at[1] < 0xA0)
        return false;
    return !(size == 3 && at[0] == 0xEF && at[1] == 0xBF && at[2] >= 0xBE);
}
