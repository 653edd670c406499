/*
 * wpa_xml_read.c - reads the document that export_wpa_xml.c writes, and checks its sums.
 *
 * In: a file or bytes. Out: an wpa_document, or an error with its line.
 *
 *     libxml2's reader ──node by node──▶ row of the table of elements ──▶ begin function
 *     open[]    the path of open elements; each element says where it may stand
 *
 * Invariant: a document that lost rows must not pass, so the sums of rows are compared with the
 * Total that the writer stated, and a node may refer only to nodes before it.
 */
#include "wpa_xml_read.h"

#include <errno.h>
#include <libxml/tree.h>
#include <libxml/xmlerror.h>
#include <libxml/xmlreader.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/io/xml_quiet.h"
#include "parser/system/files.h"

#define NAMESPACE    "urn:etlheap:wpa-xml:1"
#define DEPTH_MAX    4
#define MESSAGE_SIZE 160
#define NOT_GIVEN    (-1)

#define LINE_MAX_OF_NODE 65535

#if LIBXML_VERSION >= 21200
typedef const xmlError *reported_error;
#else
typedef xmlErrorPtr reported_error;
#endif

typedef enum element {
    DOCUMENT, /* what the outermost element stands in */
    TABLES,
    TRACE,
    TRACE_FILE,
    WINDOW,
    TABLE,
    COLUMNS,
    COLUMN,
    ROWS,
    ROW,
    TOTAL,
    STACKS,
    FRAME,
    NODE,
    DIAGNOSTICS,
    DIAGNOSTIC,
    ELEMENT_COUNT
} element;

typedef struct wpa_reader {
    xmlTextReader *xml;
    const char *name;
    wpa_document *document;
    etl_error *err;
    etl_status status;
    element open[DEPTH_MAX + 1]; /* by depth, the document first */
    wpa_table *table;            /* whose rows are read; NULL before the first */
    i64 node_max;                /* that a row refers to */
    bool has_window, has_stacks;
    bool awaits_total; /* of the table */
    FILE *file;
    bool cannot_read;
} wpa_reader;

typedef void element_fn(wpa_reader *r);

static void begin_tables(wpa_reader *r);
static void begin_window(wpa_reader *r);
static void begin_table(wpa_reader *r);
static void begin_row(wpa_reader *r);
static void begin_total(wpa_reader *r);
static void begin_stacks(wpa_reader *r);
static void begin_frame(wpa_reader *r);
static void begin_node(wpa_reader *r);

static const struct {
    const char *name;
    element parent;
    element_fn *begin; /* NULL: nothing that matters here */
} elements[ELEMENT_COUNT] = {
    [TABLES] = { "WpaTables", DOCUMENT, begin_tables },
    [TRACE] = { "Trace", TABLES, NULL },
    [TRACE_FILE] = { "File", TRACE, NULL },
    [WINDOW] = { "Window", TABLES, begin_window },
    [TABLE] = { "Table", TABLES, begin_table },
    [COLUMNS] = { "Columns", TABLE, NULL },
    [COLUMN] = { "Column", COLUMNS, NULL },
    [ROWS] = { "Rows", TABLE, NULL },
    [ROW] = { "Row", ROWS, begin_row },
    [TOTAL] = { "Total", TABLE, begin_total },
    [STACKS] = { "Stacks", TABLES, begin_stacks },
    [FRAME] = { "Frame", STACKS, begin_frame },
    [NODE] = { "Node", STACKS, begin_node },
    [DIAGNOSTICS] = { "Diagnostics", TABLES, NULL },
    [DIAGNOSTIC] = { "Diagnostic", DIAGNOSTICS, NULL },
};

static int read_file(void *user, char *bytes, int size);
static etl_status read_all(wpa_reader *r);
static void note_error(void *user, reported_error error);
static void read_node(wpa_reader *r);
static void begin_element(wpa_reader *r);
static void check_whole(wpa_reader *r);
static void add_sums(wpa_sums *sums, const wpa_sums *more);
static bool is_attribute(wpa_reader *r, const char *name, const char *value);
static i64 number_of(wpa_reader *r, const char *name);
static i64 count_of(wpa_reader *r, const char *name);
static bool take_number(wpa_reader *r, const char *name, i64 *out);
static void fail_at_line(wpa_reader *r, etl_status status, const char *format, ...)
    ETL_PRINTF(3, 4);
static long line_of(const wpa_reader *r);

etl_status wpa_xml_read(const char *path, wpa_document *out, etl_error *err)
{
    wpa_reader r = { .name = path, .document = out, .err = err, .node_max = -1 };
    *out = (wpa_document){ .of_lifetimes = false };
    r.file = etl_file_stream(path);
    if (!r.file)
        return etl_fail_with(err, ETL_ERR_IO, 0, "cannot read %.80s: %s", path, strerror(errno));
    const xml_quiet quiet = xml_quiet_begin();
    r.xml = xmlReaderForIO(read_file, NULL, &r, NULL, NULL, XML_PARSE_NONET);
    const etl_status status = read_all(&r);
    xml_quiet_end(&quiet);
    fclose(r.file);
    return r.cannot_read ? etl_fail_with(err, ETL_ERR_IO, 0, "cannot read %.80s", path) : status;
}

etl_status wpa_xml_parse(etl_bytes bytes, const char *name, wpa_document *out, etl_error *err)
{
    wpa_reader r = { .name = name, .document = out, .err = err, .node_max = -1 };
    *out = (wpa_document){ .of_lifetimes = false };
    if (bytes.size > INT32_MAX)
        return etl_fail_with(err, ETL_ERR_LIMIT, 0, "%.80s has more than 2 GiB in memory", name);
    const xml_quiet quiet = xml_quiet_begin();
    r.xml =
        xmlReaderForMemory((const char *)bytes.at, (int)bytes.size, NULL, NULL, XML_PARSE_NONET);
    const etl_status status = read_all(&r);
    xml_quiet_end(&quiet);
    return status;
}

static int read_file(void *user, char *bytes, int size)
{
    wpa_reader *const r = user;
    const size_t got = fread(bytes, 1, (size_t)size, r->file);
    r->cannot_read = ferror(r->file) != 0;
    return r->cannot_read ? -1 : (int)got;
}

static etl_status read_all(wpa_reader *r)
{
    if (!r->xml)
        return etl_fail_with(r->err, ETL_ERR_MEMORY, 0, "out of memory");
    xmlTextReaderSetStructuredErrorHandler(r->xml, note_error, r);
    int more = xmlTextReaderRead(r->xml);
    for (; more == 1 && r->status == ETL_OK; more = xmlTextReaderRead(r->xml))
        read_node(r);
    if (r->status == ETL_OK && more < 0)
        fail_at_line(r, ETL_ERR_CORRUPT, "not well-formed XML");
    if (r->status == ETL_OK)
        check_whole(r);
    xmlFreeTextReader(r->xml);
    return r->status;
}

/* Notes libxml2's complaint: the first sentence, without its line end. */
static void note_error(void *user, reported_error error)
{
    wpa_reader *const r = user;
    const char *const message = error->message ? error->message : "not XML";
    if (error->level < XML_ERR_ERROR || r->status != ETL_OK)
        return;
    if (error->code == XML_ERR_NO_MEMORY)
        r->status = etl_fail_with(r->err, ETL_ERR_MEMORY, 0, "out of memory");
    else
        r->status = etl_fail_with(r->err, ETL_ERR_CORRUPT, 0, "%.80s, line %d: %.*s", r->name,
                                  error->line, (int)strcspn(message, "\n"), message);
}

static void read_node(wpa_reader *r)
{
    switch (xmlTextReaderNodeType(r->xml)) {
    case XML_READER_TYPE_ELEMENT:
        begin_element(r);
        break;
    case XML_READER_TYPE_END_ELEMENT:
    case XML_READER_TYPE_WHITESPACE:
    case XML_READER_TYPE_SIGNIFICANT_WHITESPACE:
    case XML_READER_TYPE_COMMENT:
    case XML_READER_TYPE_PROCESSING_INSTRUCTION:
        break;
    case XML_READER_TYPE_DOCUMENT_TYPE:
        fail_at_line(r, ETL_ERR_CORRUPT, "a document type is not allowed here");
        break;
    default:
        fail_at_line(r, ETL_ERR_CORRUPT, "there is text between the elements");
    }
}

static void begin_element(wpa_reader *r)
{
    const char *const name = (const char *)xmlTextReaderConstLocalName(r->xml);
    const char *const uri = (const char *)xmlTextReaderConstNamespaceUri(r->xml);
    const int depth = xmlTextReaderDepth(r->xml);
    if (!uri || strcmp(uri, NAMESPACE) != 0 || depth < 0 || depth >= DEPTH_MAX) {
        fail_at_line(r, ETL_ERR_CORRUPT, "<%.40s> is not an element of wpa-xml", name ? name : "");
        return;
    }
    const element parent = r->open[depth];
    for (int i = DOCUMENT + 1; i < ELEMENT_COUNT; i++) {
        if (elements[i].parent != parent || strcmp(elements[i].name, name) != 0)
            continue;
        r->open[depth + 1] = (element)i;
        if (elements[i].begin)
            elements[i].begin(r);
        return;
    }
    fail_at_line(r, ETL_ERR_CORRUPT, "<%.40s> is not allowed there", name);
}

static void begin_tables(wpa_reader *r)
{
    if (!is_attribute(r, "Version", "1"))
        fail_at_line(r, ETL_ERR_UNSUPPORTED, "unknown version of the document");
    r->document->of_lifetimes = is_attribute(r, "Rows", "lifetimes");
    if (!r->document->of_lifetimes && !is_attribute(r, "Rows", "sums"))
        fail_at_line(r, ETL_ERR_CORRUPT, "Rows is neither lifetimes nor sums");
}

static void begin_window(wpa_reader *r)
{
    r->has_window = true;
    r->document->from_ns = number_of(r, "From");
    r->document->to_ns = number_of(r, "To");
}

static void begin_table(wpa_reader *r)
{
    if (r->awaits_total)
        fail_at_line(r, ETL_ERR_CORRUPT, "a table ends without its total");
    r->table = NULL;
    r->awaits_total = true;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (is_attribute(r, "Kind", etlheap_kind_name((etlheap_kind)kind)))
            r->table = &r->document->tables[kind];
    }
    if (!r->table)
        fail_at_line(r, ETL_ERR_CORRUPT, "a table has no known Kind");
    else if (r->table->is_present)
        fail_at_line(r, ETL_ERR_CORRUPT, "two tables have the same Kind");
    else
        r->table->is_present = true;
}

static void begin_row(wpa_reader *r)
{
    const wpa_sums row = { .rows = 1,
                           .count = count_of(r, "Count"),
                           .size_bytes = count_of(r, "Size"),
                           .impacting_size = number_of(r, "ImpactingSize") };
    i64 node = NOT_GIVEN;
    u32 type = 0;
    if (!r->awaits_total)
        fail_at_line(r, ETL_ERR_CORRUPT, "a row comes after its total");
    if (take_number(r, "Stack", &node) && node < 0)
        fail_at_line(r, ETL_ERR_CORRUPT, "Stack is below 0");
    while (type < ETLHEAP_TYPE_COUNT &&
           !is_attribute(r, "Type", etlheap_type_name((etlheap_type)type)))
        type++;
    if (type == ETLHEAP_TYPE_COUNT) {
        fail_at_line(r, ETL_ERR_CORRUPT, "a row has no known Type");
        return;
    }
    r->node_max = node > r->node_max ? node : r->node_max;
    add_sums(&r->table->all, &row);
    add_sums(&r->table->of_type[type], &row);
}

/* Compares the rows with the writer's Total, so that a document that lost rows does not pass. */
static void begin_total(wpa_reader *r)
{
    const wpa_sums *const all = &r->table->all;
    if (!r->awaits_total)
        fail_at_line(r, ETL_ERR_CORRUPT, "a table has two totals");
    r->awaits_total = false;
    if ((u64)count_of(r, "Rows") != all->rows || number_of(r, "Count") != all->count ||
        number_of(r, "Size") != all->size_bytes ||
        number_of(r, "ImpactingSize") != all->impacting_size)
        fail_at_line(r, ETL_ERR_CORRUPT, "the rows do not add up to the total");
}

static void begin_stacks(wpa_reader *r)
{
    r->has_stacks = true;
}

static void begin_frame(wpa_reader *r)
{
    if ((u64)count_of(r, "Id") != r->document->frame_count)
        fail_at_line(r, ETL_ERR_CORRUPT, "frames are not numbered from 0");
    r->document->frame_count++;
}

/* A node comes after its callers, so it cannot call itself. */
static void begin_node(wpa_reader *r)
{
    i64 parent = NOT_GIVEN;
    const i64 id = count_of(r, "Id");
    if ((u64)id != r->document->node_count)
        fail_at_line(r, ETL_ERR_CORRUPT, "nodes are not numbered from 0");
    if ((u64)count_of(r, "Frame") >= r->document->frame_count)
        fail_at_line(r, ETL_ERR_CORRUPT, "a node has a frame that does not exist");
    if (take_number(r, "Parent", &parent) && (parent < 0 || parent >= id))
        fail_at_line(r, ETL_ERR_CORRUPT, "a node comes before its parent");
    r->document->node_count++;
}

static void check_whole(wpa_reader *r)
{
    if (!r->has_window || !r->table || r->awaits_total || !r->has_stacks)
        fail_at_line(r, ETL_ERR_CORRUPT, "a window, a table, a total or the stacks are missing");
    else if (r->node_max >= (i64)r->document->node_count)
        fail_at_line(r, ETL_ERR_CORRUPT, "a row has a stack that does not exist");
}

/* --- numbers ------------------------------------------------------------------------- */

static void add_sums(wpa_sums *sums, const wpa_sums *more)
{
    sums->rows += more->rows;
    sums->count = etl_sat_add_i64(sums->count, more->count);
    sums->size_bytes = etl_sat_add_i64(sums->size_bytes, more->size_bytes);
    sums->impacting_size = etl_sat_add_i64(sums->impacting_size, more->impacting_size);
}

static bool is_attribute(wpa_reader *r, const char *name, const char *value)
{
    xmlChar *const text = xmlTextReaderGetAttribute(r->xml, (const xmlChar *)name);
    const bool is_it = text && strcmp((const char *)text, value) == 0;
    xmlFree(text);
    return is_it;
}

/* 0 after a failure. */
static i64 number_of(wpa_reader *r, const char *name)
{
    i64 number = 0;
    if (!take_number(r, name, &number))
        fail_at_line(r, ETL_ERR_CORRUPT, "%s is missing", name);
    return number;
}

static i64 count_of(wpa_reader *r, const char *name)
{
    const i64 number = number_of(r, name);
    if (number >= 0)
        return number;
    fail_at_line(r, ETL_ERR_CORRUPT, "%s is below 0", name);
    return 0;
}

/* Reads an attribute; false, with *out unchanged, if there is none. */
static bool take_number(wpa_reader *r, const char *name, i64 *out)
{
    xmlChar *const text = xmlTextReaderGetAttribute(r->xml, (const xmlChar *)name);
    const char *const digits = (const char *)text;
    char *end = NULL;
    if (!text)
        return false;
    const bool is_decimal = (digits[0] >= '0' && digits[0] <= '9') ||
                            (digits[0] == '-' && digits[1] >= '0' && digits[1] <= '9');
    errno = 0;
    const long long number = is_decimal ? strtoll(digits, &end, 10) : 0;
    if (!is_decimal || *end != '\0' || errno != 0)
        fail_at_line(r, ETL_ERR_CORRUPT, "%s is not a number: %.40s", name, digits);
    else
        *out = number;
    xmlFree(text);
    return true;
}

/* The first failure stays. */
static void fail_at_line(wpa_reader *r, etl_status status, const char *format, ...)
{
    char message[MESSAGE_SIZE];
    va_list arguments;
    if (r->status != ETL_OK)
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    r->status =
        etl_fail_with(r->err, status, 0, "%.80s, line %ld: %s", r->name, line_of(r), message);
}

/* A node knows the first 65534 lines. The parser knows all, but is some rows ahead. */
static long line_of(const wpa_reader *r)
{
    const xmlNode *const node = xmlTextReaderCurrentNode(r->xml);
    const long line = node ? xmlGetLineNo(node) : -1;
    return line > 0 && line < LINE_MAX_OF_NODE ? line : xmlTextReaderGetParserLineNumber(r->xml);
}
