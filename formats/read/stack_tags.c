/*
 * stack_tags.c - reads WPA's stack tags files (*.stacktags).
 *
 * In: the bytes of a file, which is not trusted. Out: tags with paths, priorities and entry points,
 * in an etlheap_tags.
 *
 *     <Tag Name="">
 *       <Tag Name="Allocators" Priority="-1">
 *         <Tag Name="Strings"> <Entrypoint Module="crt*.dll" Method="str*"/> </Tag>
 *         <Entrypoint Module="ntdll.dll"/>
 *       </Tag>
 *       <HintTag Name="RPC" HintOperator="Callee" OnlyShowModule="false">
 *         <Entrypoint Module="rpcrt4.dll" Method="Invoke"/>
 *       </HintTag>
 *     </Tag>
 *
 * The format is known from three sources. "Page" is Microsoft's page "Stack Tags"
 * (learn.microsoft.com/windows-hardware/test/wpt/stack-tags), "MSO" the files of Microsoft's
 * MSO-Scripts (OfficeBasic, VirtualAlloc and ETW-Overhead-for-CPU .stacktags), "ETWAnalyzer" its
 * default.stacktags and its authors' description.
 *
 *   Tags nest, and nested names make a path "A\B\C". Page. The outermost tag of all published
 *     files has the empty name, which adds nothing to paths.
 *   A tag has entry points and nested tags in any order. ETWAnalyzer, MSO.
 *   Module and Method have `*` anywhere: "*clr.dll", "WorkThreadManager::*Proc". MSO,
 *     ETWAnalyzer. The case of modules does not matter: MSO has NT*.exe for ntoskrnl.exe. For
 *     methods nothing is stated; here it does not matter either.
 *   Without Method, the whole module matches: MSO ("clrjit.dll").
 *   Priority is an integer, 0 by default. Page. Higher ones win: the comments of MSO ("Priority
 *     950 ... for top priority"); negative ones are for tags that should lose (ETWAnalyzer,
 *     "Other Activity"). It is not inherited: both repeat it.
 *   Among equal priorities, the frame nearest to the innermost end decides. Page ("the bottom
 *     most mapped frame tag"), ETWAnalyzer ("from bottom to top where the first matching stack
 *     tag definition wins").
 *   For tags that match the same frame with the same priority, nothing is stated. MSO repeats an
 *     entry point in a nested tag, which makes sense if that one wins.
 *   Among several files, the one loaded last comes first. MSO.
 *   A HintTag adds the callee or caller of its entry point to its path: its module,
 *     "RPC\wbemcore.dll", or with OnlyShowModule="false" the function as well. Page. It is not
 *     stated that HintOperator is optional; OnlyShowModule is true by default. Page. On a Tag
 *     (ETWAnalyzer has two) these attributes have no known meaning.
 *   A stack without a tag is "Other": ETWAnalyzer; Microsoft's word is not known.
 *
 * Entry points of tags without a name and without a named parent tag nothing here; MSO has such
 * tags, and their effect is not documented.
 *
 * The file is parsed as a stream into our own state, so there is no tree to grow. A document type
 * is refused before its first declaration, so there are no entities to expand; nothing is loaded
 * from elsewhere. Size, depth and the length of a path have limits. Invariant: an element that is
 * not listed above is an error with its line, because a tag that is silently ignored would be a
 * wrong answer.
 */
#include "stack_tags.h"

#include <errno.h>
#include <libxml/parser.h>
#include <libxml/xmlerror.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "formats/io/xml_quiet.h"
#include "parser/system/files.h"

#define FILE_BYTES_MAX (4u << 20) /* the largest published file has 72 KB */
#define DEPTH_MAX      64u
#define PATH_BYTES_MAX 4096u
#define CHUNK_BYTES    8192u
#define MESSAGE_SIZE   140
#define VALUE_FIELDS   5u /* of an attribute as libxml2 hands it over */

#define NO_TAG UINT32_MAX

#if LIBXML_VERSION >= 21200
typedef const xmlError *reported_error;
#else
typedef xmlErrorPtr reported_error;
#endif

/* An element that is open. */
typedef struct open_tag {
    u32 id;           /* NO_TAG: has no name */
    size_t path_size; /* of the reader's path, up to and with this tag */
} open_tag;

typedef struct tags_reader {
    xmlParserCtxtPtr context;
    const char *name;
    etlheap_tags *tags;
    etl_error *err;
    etl_status status;
    u64 size_bytes;
    xml_quiet quiet;
    u32 depth;
    bool has_begun, in_entry;
    open_tag open[DEPTH_MAX];
    char path[PATH_BYTES_MAX + 1];
} tags_reader;

/* Attributes of an element; borrowed for the call. */
typedef struct xml_attributes {
    const xmlChar **at;
    u32 count;
} xml_attributes;

static etl_status open_reader(tags_reader *r, const char *name, etlheap_tags *tags, etl_error *err);
static void close_reader(tags_reader *r);
static void feed(tags_reader *r, const void *bytes, size_t size, bool is_end);
static void fail_at_line(tags_reader *r, etl_status status, const char *format, ...)
    ETL_PRINTF(3, 4);
static void begin_tag(tags_reader *r, const char *element, const xml_attributes *attributes);
static void begin_entry(tags_reader *r, const xml_attributes *attributes);

etl_status etlheap_stack_tags_read(const char *path, etlheap_tags *tags, etl_error *err)
{
    const char *why;
    FILE *const file = etl_file_stream_regular(path, &why);
    tags_reader *const r = calloc(1, sizeof *r);
    etl_status status = ETL_OK;
    if (!file)
        status =
            etl_fail_with(err, ETL_ERR_IO, 0, "cannot read the stack tags %.80s: %s", path, why);
    else if (!r)
        status = etl_no_memory(err);
    else
        status = open_reader(r, path, tags, err);
    while (status == ETL_OK && !feof(file)) {
        u8 chunk[CHUNK_BYTES];
        const size_t size = fread(chunk, 1, sizeof chunk, file);
        if (ferror(file))
            status = etl_fail_with(err, ETL_ERR_IO, 0, "cannot read the stack tags %.80s", path);
        else
            feed(r, chunk, size, feof(file) != 0);
        status = status == ETL_OK ? r->status : status;
    }
    if (r)
        close_reader(r);
    free(r);
    if (file)
        fclose(file);
    return status;
}

etl_status etlheap_stack_tags_parse(etl_bytes bytes, const char *name, etlheap_tags *tags,
                                    etl_error *err)
{
    tags_reader *const r = calloc(1, sizeof *r);
    if (!r)
        return etl_no_memory(err);
    etl_status status = open_reader(r, name, tags, err);
    for (size_t at = 0; status == ETL_OK && at < bytes.size; at += CHUNK_BYTES) {
        const size_t size = bytes.size - at < CHUNK_BYTES ? bytes.size - at : CHUNK_BYTES;
        feed(r, bytes.at + at, size, false);
        status = r->status;
    }
    if (status == ETL_OK) {
        feed(r, NULL, 0, true);
        status = r->status;
    }
    close_reader(r);
    free(r);
    return status;
}

/* --- what libxml2 calls ------------------------------------------------------------ */

/* A document type, before anything in it. */
static void refuse_document_type(void *user, const xmlChar *name, const xmlChar *external,
                                 const xmlChar *system)
{
    (void)name, (void)external, (void)system;
    fail_at_line(user, ETL_ERR_CORRUPT, "a document type is not allowed in a stack tags file");
}

static void begin_element(void *user, const xmlChar *name, const xmlChar *prefix,
                          const xmlChar *uri, int namespace_count, const xmlChar **namespaces,
                          int count, int defaulted_count, const xmlChar **values)
{
    tags_reader *const r = user;
    const xml_attributes attributes = { values, (u32)count };
    const char *const element = (const char *)name;
    (void)prefix, (void)uri, (void)namespace_count, (void)namespaces, (void)defaulted_count;
    if (r->status != ETL_OK)
        return;
    r->has_begun = true;
    if (r->in_entry)
        fail_at_line(r, ETL_ERR_CORRUPT, "<%.40s> is not allowed inside <Entrypoint>", element);
    else if (strcmp(element, "Tag") == 0 || strcmp(element, "HintTag") == 0)
        begin_tag(r, element, &attributes);
    else if (r->depth == 0)
        fail_at_line(r, ETL_ERR_CORRUPT,
                     "the file begins with <%.40s>; a stack tags file begins with <Tag>", element);
    else if (strcmp(element, "Entrypoint") == 0)
        begin_entry(r, &attributes);
    else
        fail_at_line(r, ETL_ERR_CORRUPT, "<%.40s> is not an element of stack tags", element);
}

static void end_element(void *user, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
    tags_reader *const r = user;
    (void)name, (void)prefix, (void)uri;
    if (r->status != ETL_OK)
        return;
    if (r->in_entry)
        r->in_entry = false;
    else
        r->depth--;
}

/* Notes libxml2's complaint: the first sentence, without its line end. */
static void note_error(void *user, reported_error error)
{
    tags_reader *const r = user;
    const bool is_empty = !r->has_begun && (error->code == XML_ERR_DOCUMENT_EMPTY ||
                                            error->code == XML_ERR_DOCUMENT_END);
    const char *const message = is_empty || !error->message ? "not XML" : error->message;
    if (error->level < XML_ERR_ERROR || r->status != ETL_OK)
        return;
    if (error->code == XML_ERR_NO_MEMORY)
        r->status = etl_no_memory(r->err);
    else
        r->status = etl_fail_with(r->err, ETL_ERR_CORRUPT, 0, "%.80s, line %d: %.*s", r->name,
                                  error->line, (int)strcspn(message, "\n"), message);
}

/* --- the parser ----------------------------------------------------------------------- */

static etl_status open_reader(tags_reader *r, const char *name, etlheap_tags *tags, etl_error *err)
{
    xmlSAXHandler handler = { .initialized = XML_SAX2_MAGIC,
                              .internalSubset = refuse_document_type,
                              .startElementNs = begin_element,
                              .endElementNs = end_element,
                              .serror = note_error };
    *r = (tags_reader){ .name = name, .tags = tags, .err = err, .quiet = xml_quiet_begin() };
    r->context = xmlCreatePushParserCtxt(&handler, r, NULL, 0, NULL);
    if (r->context)
        xmlCtxtUseOptions(r->context, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    else
        r->status = etl_no_memory(err);
    return r->status;
}

static void close_reader(tags_reader *r)
{
    if (r->context)
        xmlFreeParserCtxt(r->context);
    if (r->quiet.former)
        xml_quiet_end(&r->quiet);
}

static void feed(tags_reader *r, const void *bytes, size_t size, bool is_end)
{
    r->size_bytes += size;
    if (r->size_bytes > FILE_BYTES_MAX) {
        r->status = etl_fail_with(r->err, ETL_ERR_LIMIT, 0,
                                  "%.80s is larger than %u MiB, too large for stack tags", r->name,
                                  FILE_BYTES_MAX >> 20);
        return;
    }
    if (xmlParseChunk(r->context, bytes, (int)size, is_end) != XML_ERR_OK && r->status == ETL_OK)
        fail_at_line(r, ETL_ERR_CORRUPT, "not XML");
}

/* Keeps the first failure, and ends parsing. */
static void fail_at_line(tags_reader *r, etl_status status, const char *format, ...)
{
    char message[MESSAGE_SIZE];
    va_list arguments;
    if (r->status != ETL_OK)
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    r->status = etl_fail_with(r->err, status, 0, "%.80s, line %d: %s", r->name,
                              xmlSAX2GetLineNumber(r->context), message);
    xmlStopParser(r->context);
}

/* --- elements ---------------------------------------------------------------------------- */

/*
 * Copies an attribute's value; NULL if there is none, or without memory, which *ok tells. Entities
 * are not substituted, so libxml2 leaves every ampersand in a value as "&#38;".
 */
static char *value_of(const xml_attributes *attributes, const char *name, bool *ok)
{
    static const char ampersand[] = "&#38;";
    for (u32 i = 0; i < attributes->count; i++) {
        const xmlChar *const *const field = attributes->at + (size_t)i * VALUE_FIELDS;
        if (strcmp((const char *)field[0], name) != 0)
            continue;
        const char *const from = (const char *)field[3];
        const size_t size = (size_t)(field[4] - field[3]);
        char *const value = malloc(size + 1);
        size_t to = 0;
        *ok = value != NULL;
        for (size_t at = 0; value && at < size; at++) {
            value[to++] = from[at];
            if (size - at >= sizeof ampersand - 1 &&
                memcmp(from + at, ampersand, sizeof ampersand - 1) == 0)
                at += sizeof ampersand - 2;
        }
        if (value)
            value[to] = '\0';
        return value;
    }
    return NULL;
}

/* Whole numbers with or without a sign. */
static bool parse_priority(const char *text, i32 *out)
{
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    *out = (i32)value;
    return errno == 0 && end != text && *end == '\0' && value >= INT32_MIN && value <= INT32_MAX;
}

static bool read_priority(tags_reader *r, const xml_attributes *attributes, etlheap_tag *tag,
                          bool *ok)
{
    char *const text = value_of(attributes, "Priority", ok);
    const bool good = !text || parse_priority(text, &tag->priority);
    if (!good)
        fail_at_line(r, ETL_ERR_CORRUPT, "invalid Priority '%.40s': expected a whole number", text);
    free(text);
    return good;
}

static bool read_hint(tags_reader *r, const xml_attributes *attributes, etlheap_tag *tag, bool *ok)
{
    bool more = true;
    char *const way = value_of(attributes, "HintOperator", ok);
    char *const only = *ok ? value_of(attributes, "OnlyShowModule", &more) : NULL;
    *ok &= more;
    bool good = true;
    if (way && strcasecmp(way, "Callee") == 0)
        tag->hint = ETLHEAP_TAG_CALLEE;
    else if (way && strcasecmp(way, "Caller") == 0)
        tag->hint = ETLHEAP_TAG_CALLER;
    else
        good = false;
    if (!good)
        fail_at_line(r, ETL_ERR_CORRUPT, "invalid HintOperator '%.40s': expected Caller or Callee",
                     way ? way : "");
    tag->hint_names_function = only && (strcasecmp(only, "false") == 0 || strcmp(only, "0") == 0);
    free(way);
    free(only);
    return good;
}

/* Adds a name to the path. The first part has no backslash before it. */
static bool extend_path(tags_reader *r, const char *name, size_t *path_size)
{
    const size_t size = r->depth == 0 ? 0 : r->open[r->depth - 1].path_size;
    const size_t more = strlen(name);
    const size_t gap = size > 0 && more > 0 ? 1 : 0;
    *path_size = size + gap + more;
    if (more > PATH_BYTES_MAX || *path_size > PATH_BYTES_MAX) {
        fail_at_line(r, ETL_ERR_LIMIT, "the names of nested tags are too long");
        return false;
    }
    if (gap > 0)
        r->path[size] = '\\';
    memcpy(r->path + size + gap, name, more);
    r->path[*path_size] = '\0';
    return true;
}

/* Opens a tag whose attributes were read. */
static void add_tag(tags_reader *r, const char *name, etlheap_tag *tag)
{
    open_tag *const opened = &r->open[r->depth];
    if (!extend_path(r, name, &opened->path_size))
        return;
    opened->id = NO_TAG;
    tag->path = r->path;
    tag->depth = r->depth;
    r->depth++;
    if (opened->path_size > 0)
        r->status = etlheap_tags_add(r->tags, tag, &opened->id, r->err);
}

static void begin_tag(tags_reader *r, const char *element, const xml_attributes *attributes)
{
    etlheap_tag tag = { .hint = ETLHEAP_TAG_PLAIN };
    bool ok = true;
    if (r->depth == DEPTH_MAX) {
        fail_at_line(r, ETL_ERR_LIMIT, "tags are nested too deep");
        return;
    }
    char *const name = value_of(attributes, "Name", &ok);
    if (ok && !name)
        fail_at_line(r, ETL_ERR_CORRUPT, "a <%s> needs a Name", element);
    else if (ok && read_priority(r, attributes, &tag, &ok) &&
             (strcmp(element, "Tag") == 0 || read_hint(r, attributes, &tag, &ok)) && ok)
        add_tag(r, name, &tag);
    if (!ok && r->status == ETL_OK)
        r->status = etl_no_memory(r->err);
    free(name);
}

static void begin_entry(tags_reader *r, const xml_attributes *attributes)
{
    const u32 tag = r->open[r->depth - 1].id;
    bool ok = true, more = true;
    char *const module = value_of(attributes, "Module", &ok);
    char *const method = ok ? value_of(attributes, "Method", &more) : NULL;
    const etlheap_pattern entry = { .module = module, .symbol = method };
    r->in_entry = true;
    if (!ok || !more)
        r->status = etl_no_memory(r->err);
    else if (tag != NO_TAG)
        r->status = etlheap_tags_add_entry(r->tags, tag, &entry, r->err);
    free(module);
    free(method);
}
