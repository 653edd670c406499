/*
 * json.c - a streaming JSON writer: escapes, UTF-8 and commas.
 *
 * In: keys and values in the order of the document. Out: text in a sink.
 *
 * Strings come from files and may hold anything. They are written in runs: bytes that stand for
 * themselves are one write, and a run ends at a byte that needs an escape or is not valid UTF-8.
 * Invariant: output is always valid JSON in UTF-8, whatever the strings; containers must be closed
 * in the order in which they were opened, which is the caller's part.
 */
#include "json.h"

#include "formats/io/units.h"
#include "formats/parts/field_units.h"
#include "formats/parts/layout_read.h"

static void begin_value(etlheap_json *json, const char *key);
static void begin_with(etlheap_json *json, const char *key, char first);
static void open_container(etlheap_json *json, const char *key, char bracket);
static void close_container(etlheap_json *json, char bracket);
static void write_text(const etlheap_json *json, const char *text, size_t size);
static const char *escape_of(u8 c, char numeric[8]);

etlheap_json etlheap_json_begin(etlheap_sink *sink, u32 break_depth)
{
    return (etlheap_json){ .sink = sink, .break_depth = break_depth };
}

etl_status etlheap_json_document(etlheap_json *out, const char *schema, u32 break_depth,
                                 const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_layout layout;
    const etl_status status = etlheap_layout_read(given, &layout);
    if (status != ETL_OK)
        return status;
    *out = etlheap_json_begin(sink, break_depth);
    out->hint = layout.hint;
    out->excluded = layout.excluded;
    out->excluded_count = layout.excluded_count;
    out->peak_of = layout.peak_of;
    etlheap_json_object(out, NULL);
    etlheap_json_string(out, "schema", schema);
    return ETL_OK;
}

static void write_excluded(etlheap_json *json, u32 run, u32 kind)
{
    static const etlheap_measure measures[] = {
        ETLHEAP_MEASURE_COUNT,
        ETLHEAP_MEASURE_SIZE,
        ETLHEAP_MEASURE_OUTSTANDING_COUNT,
        ETLHEAP_MEASURE_OUTSTANDING_SIZE,
    };
    const etlheap_total *const total = &json->excluded[run]->totals[kind];
    if (!total->present)
        return;
    etlheap_json_object(json, NULL);
    if (json->excluded_count > 1)
        etlheap_json_u64(json, "run", run + 1);
    etlheap_json_string(json, "kind", etlheap_kind_name((etlheap_kind)kind));
    for (size_t i = 0; i < ETL_COUNT_OF(measures); i++)
        etlheap_json_known(json, etlheap_measure_word(measures[i]),
                           etlheap_shown_measure(kind, measures[i], total->measures[measures[i]]));
    etlheap_json_object_close(json);
}

void etlheap_json_document_end(etlheap_json *json)
{
    if (json->excluded_count > 0) {
        etlheap_json_array(json, "excluded");
        for (u32 run = 0; run < json->excluded_count; run++) {
            for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
                write_excluded(json, run, kind);
        }
        etlheap_json_array_close(json);
    }
    etlheap_json_object_close(json);
    etlheap_json_end(json);
}

void etlheap_json_end(etlheap_json *json)
{
    assert(json->depth == 0);
    etlheap_sink_write(json->sink, "\n", 1);
    json->filled = 0;
}

void etlheap_json_object(etlheap_json *json, const char *key)
{
    open_container(json, key, '{');
}

void etlheap_json_object_close(etlheap_json *json)
{
    close_container(json, '}');
}

void etlheap_json_array(etlheap_json *json, const char *key)
{
    open_container(json, key, '[');
}

void etlheap_json_array_close(etlheap_json *json)
{
    close_container(json, ']');
}

void etlheap_json_string(etlheap_json *json, const char *key, const char *text)
{
    if (text)
        etlheap_json_string_bytes(json, key, text, strlen(text));
    else
        etlheap_json_null(json, key);
}

void etlheap_json_process(etlheap_json *json, const char *key, const char *name)
{
    etlheap_json_string(json, key, name && etlheap_process_is_named(name) ? name : NULL);
}

void etlheap_json_string_bytes(etlheap_json *json, const char *key, const char *text, size_t size)
{
    begin_with(json, key, '"');
    write_text(json, text, size);
    etlheap_sink_write(json->sink, "\"", 1);
}

void etlheap_json_i64(etlheap_json *json, const char *key, i64 value)
{
    begin_value(json, key);
    etlheap_sink_signed(json->sink, value);
}

void etlheap_json_u64(etlheap_json *json, const char *key, u64 value)
{
    begin_value(json, key);
    etlheap_sink_unsigned(json->sink, value);
}

void etlheap_json_bool(etlheap_json *json, const char *key, bool value)
{
    begin_value(json, key);
    etlheap_sink_text(json->sink, value ? "true" : "false");
}

void etlheap_json_null(etlheap_json *json, const char *key)
{
    begin_value(json, key);
    etlheap_sink_text(json->sink, "null");
}

void etlheap_json_known(etlheap_json *json, const char *key, i64 value)
{
    if (value == ETLHEAP_NOT_KNOWN)
        etlheap_json_null(json, key);
    else
        etlheap_json_i64(json, key, value);
}

void etlheap_json_copy(etlheap_json *json, etl_bytes key, etl_bytes value)
{
    begin_with(json, NULL, '"');
    etlheap_sink_write(json->sink, key.at, key.size);
    etlheap_sink_write(json->sink, "\": ", 3);
    etlheap_sink_write(json->sink, value.at, value.size);
}

void etlheap_json_hex(etlheap_json *json, const char *key, u64 value, int digits)
{
    begin_with(json, key, '"');
    etlheap_sink_write(json->sink, "0x", 2);
    etlheap_sink_hex(json->sink, value, digits);
    etlheap_sink_write(json->sink, "\"", 1);
}

void etlheap_json_heap(etlheap_json *json, const char *key, u64 handle)
{
    char name[ETLHEAP_HEAP_NAME_SIZE];
    etlheap_heap_name(handle, name);
    etlheap_json_string(json, key, name);
}

void etlheap_json_time(etlheap_json *json, const char *key, i64 filetime)
{
    char time[ETLHEAP_UNITS_SIZE];
    etlheap_units_filetime(filetime, time);
    etlheap_json_string(json, key, filetime > 0 ? time : NULL);
}

void etlheap_json_start(etlheap_json *json, const etlheap_trace_info *trace)
{
    char time[ETLHEAP_UNITS_SIZE];
    etlheap_units_start(trace, time);
    etlheap_json_string(json, "start_time", trace->start_time_filetime > 0 ? time : NULL);
}

void etlheap_json_window_open(etlheap_json *json, const etlheap_result *result, i64 from_ns,
                              i64 to_ns)
{
    const bool is_moment = etlheap_result_is_snapshot(result);
    etlheap_json_object(json, "window");
    if (is_moment)
        etlheap_json_null(json, "from_ns");
    else
        etlheap_json_i64(json, "from_ns", from_ns);
    if (is_moment)
        etlheap_json_null(json, "to_ns");
    else
        etlheap_json_i64(json, "to_ns", to_ns);
}

void etlheap_json_trace(etlheap_json *json, const etlheap_trace_info *trace)
{
    etlheap_json_object(json, "trace");
    etlheap_json_array(json, "files");
    for (u32 i = 0; i < trace->file_count; i++)
        etlheap_json_string(json, NULL, trace->files[i]);
    etlheap_json_array_close(json);
    etlheap_json_string(json, "session", trace->session);
    etlheap_json_string(json, "computer", trace->computer);
    etlheap_json_u64(json, "os_build", trace->os_build);
    etlheap_json_u64(json, "pointer_bits", trace->pointer_bits);
    etlheap_json_u64(json, "cpus", trace->cpus);
    etlheap_json_string(json, "clock", trace->clock);
    etlheap_json_u64(json, "clock_hz", trace->clock_hz);
    etlheap_json_start(json, trace);
    etlheap_json_i64(json, "duration_ns", trace->duration_ns);
    etlheap_json_u64(json, "buffers", trace->buffers);
    etlheap_json_u64(json, "events", trace->events);
    etlheap_json_u64(json, "events_lost", trace->events_lost);
    etlheap_json_u64(json, "buffers_lost", trace->buffers_lost);
    etlheap_json_object_close(json);
}

void etlheap_json_recorded(etlheap_json *json, const etlheap_result *result)
{
    const etlheap_recorded *const recorded = etlheap_result_trace(result)->recorded;
    const u32 kinds = etlheap_result_kinds(result);
    etlheap_json_array(json, "recorded");
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const bool is_told = etlheap_kind_has(kind, ETLHEAP_KIND_DEFAULT) ||
                             etlheap_kind_at((etlheap_kind)kind)->recorded_with == kind;
        if ((kinds >> kind & 1) == 0 || !is_told)
            continue;
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, "kind", etlheap_kind_name((etlheap_kind)kind));
        if (recorded[kind].is_known) {
            etlheap_json_i64(json, "from_ns", recorded[kind].from_ns);
            etlheap_json_i64(json, "to_ns", recorded[kind].to_ns);
        } else {
            etlheap_json_null(json, "from_ns");
            etlheap_json_null(json, "to_ns");
        }
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

void etlheap_json_recording(etlheap_json *json, const etlheap_result *result)
{
    etlheap_json_trace(json, etlheap_result_trace(result));
    etlheap_json_recorded(json, result);
}

void etlheap_json_diagnostics(etlheap_json *json, const etl_diag_counts *counts)
{
    char sentence[ETLHEAP_SENTENCE_SIZE];
    etlheap_json_array(json, "diagnostics");
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        const etl_diag_info *const info = etl_diag_describe((etl_diag)i);
        if (counts->of[i] == 0)
            continue;
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, "name", info->name);
        etlheap_json_string(json, "severity", etl_severity_name(info->severity));
        etlheap_json_u64(json, "count", counts->of[i]);
        etlheap_diag_sentence((etl_diag)i, json->hint, sentence);
        etlheap_json_string(json, "advice", sentence);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

/* What stands before a value, or ends a container. Documents are millions of short pieces, so it is
 * put together here and written at once. */
typedef struct value_lead {
    char text[2 * ETLHEAP_JSON_DEPTH_MAX + 64];
    size_t size;
} value_lead;

static inline void add_char(value_lead *lead, char c)
{
    lead->text[lead->size++] = c;
}

static inline void add_line(const etlheap_json *json, value_lead *lead)
{
    add_char(lead, '\n');
    memset(lead->text + lead->size, ' ', (size_t)json->depth * 2);
    lead->size += (size_t)json->depth * 2;
}

/* Adds comma and line break. */
static inline void add_break(etlheap_json *json, value_lead *lead)
{
    const u32 bit = (u32)1 << (json->depth - 1);
    const bool breaks = json->depth <= json->break_depth;
    if (json->filled & bit)
        add_char(lead, ',');
    if ((json->filled & bit) && !breaks)
        add_char(lead, ' ');
    if (breaks)
        add_line(json, lead);
    json->filled |= bit;
}

/* Adds a key. One that is long is written from where it is. */
static inline void add_key(etlheap_json *json, value_lead *lead, const char *key)
{
    static const char end[] = { '"', ':', ' ' };
    const size_t length = strlen(key);
    add_char(lead, '"');
    if (length > sizeof lead->text - lead->size - sizeof end - 1) {
        etlheap_sink_write(json->sink, lead->text, lead->size);
        etlheap_sink_write(json->sink, key, length);
        lead->size = 0;
    } else {
        memcpy(lead->text + lead->size, key, length);
        lead->size += length;
    }
    memcpy(lead->text + lead->size, end, sizeof end);
    lead->size += sizeof end;
}

/* Writes what stands before a value: comma, line break, key; and `first`, with which the value
 * begins, unless it is 0. */
static void begin_with(etlheap_json *json, const char *key, char first)
{
    value_lead lead;
    lead.size = 0;
    if (!json->is_named && json->depth > 0)
        add_break(json, &lead);
    if (!json->is_named && key != NULL)
        add_key(json, &lead, key);
    if (first != 0)
        add_char(&lead, first);
    json->is_named = false;
    etlheap_sink_write(json->sink, lead.text, lead.size);
}

static void begin_value(etlheap_json *json, const char *key)
{
    begin_with(json, key, 0);
}

void etlheap_json_name(etlheap_json *json, const char *name, size_t size)
{
    begin_with(json, NULL, '"');
    write_text(json, name, size);
    etlheap_sink_text(json->sink, "\": ");
    json->is_named = true;
}

void etlheap_json_real(etlheap_json *json, const char *key, double value)
{
    char text[ETLHEAP_UNITS_SIZE];
    if (!etlheap_units_real(value, text)) {
        etlheap_json_string(json, key, text);
        return;
    }
    begin_value(json, key);
    etlheap_sink_text(json->sink, text);
}

/* A container begins without members, whatever was at its depth before. */
static void open_container(etlheap_json *json, const char *key, char bracket)
{
    assert(json->depth < ETLHEAP_JSON_DEPTH_MAX);
    begin_with(json, key, bracket);
    json->filled &= ~((u32)1 << json->depth);
    json->depth++;
}

/* Only a container with members is closed on a line of its own. */
static void close_container(etlheap_json *json, char bracket)
{
    assert(json->depth > 0);
    const bool breaks = json->depth <= json->break_depth;
    value_lead lead;
    lead.size = 0;
    json->depth--;
    if (breaks && (json->filled & ((u32)1 << json->depth)))
        add_line(json, &lead);
    add_char(&lead, bracket);
    etlheap_sink_write(json->sink, lead.text, lead.size);
}

/* Writes a string in runs; see the top of the file. */
static void write_text(const etlheap_json *json, const char *text, size_t size)
{
    etlheap_sink *const sink = json->sink;
    size_t run = 0; /* start of the bytes not yet written */
    size_t at = 0;
    while (at < size) {
        char numeric[8];
        const u8 c = (u8)text[at];
        if (c >= 0x20 && c < 0x7F && c != '"' && c != '\\' && !(c == '<' && json->in_markup)) {
            at++;
            continue;
        }
        const size_t length = etlheap_units_utf8_length(text + at, size - at);
        const char *const instead = length == 0 ? "\xEF\xBF\xBD" : escape_of(c, numeric);
        if (!instead) {
            at += length;
            continue;
        }
        etlheap_sink_write(sink, text + run, at - run);
        etlheap_sink_text(sink, instead);
        at++;
        run = at;
    }
    etlheap_sink_write(sink, text + run, size - run);
}

/* The escape of a character that must not be in a string; NULL for others. */
static const char *escape_of(u8 c, char numeric[8])
{
    static const char digits[] = "0123456789abcdef";
    switch (c) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    default:
        break;
    }
    if (c >= 0x20 && c != 0x7F && c != '<')
        return NULL;
    memcpy(numeric, "\\u00", 4);
    numeric[4] = digits[c >> 4];
    numeric[5] = digits[c & 15];
    numeric[6] = '\0';
    return numeric;
}
