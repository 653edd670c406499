/*
 * json.h - writes JSON as a stream.
 *
 * The writer adds commas, line breaks and escapes; the caller says what comes next. Output is
 * always valid UTF-8: invalid bytes are replaced with U+FFFD. The key is NULL for members of an
 * array and for the outermost value.
 */
#ifndef ETLHEAP_JSON_H
#define ETLHEAP_JSON_H

#include "formats/formats.h"

#include "parser/base.h"

#define ETLHEAP_JSON_DEPTH_MAX 16

typedef struct etlheap_json {
    etlheap_sink *sink;
    u32 depth;           /* number of open containers */
    u32 break_depth;     /* containers opened above this depth have one member per line */
    u32 filled;          /* bit d: the container at depth d + 1 has a member */
    etl_hint_fn *hint;   /* the program's hints in diagnostics; NULL: none */
    const char *peak_of; /* as in the layout */
    bool is_named;       /* the key of the next value was already written */
    const etlheap_table *const *excluded; /* as in the layout */
    u32 excluded_count;
    bool in_markup; /* escape `<` in strings, for text in an HTML element */
} etlheap_json;

/* Begins a document. break_depth 0 writes one line; 2 breaks an object and the arrays in it. */
etlheap_json etlheap_json_begin(etlheap_sink *sink, u32 break_depth);

/* Begins a document for a writer: reads its layout, opens the outermost object and writes the
 * schema's name. Fails if the layout is invalid. */
etl_status etlheap_json_document(etlheap_json *out, const char *schema, u32 break_depth,
                                 const etlheap_layout *given, etlheap_sink *sink);
void etlheap_json_document_end(etlheap_json *json);

/* Ends the document. All containers must be closed. */
void etlheap_json_end(etlheap_json *json);

void etlheap_json_object(etlheap_json *json, const char *key);
void etlheap_json_object_close(etlheap_json *json);
void etlheap_json_array(etlheap_json *json, const char *key);
void etlheap_json_array_close(etlheap_json *json);

/* Sets the key of the next value, which replaces its own: for names from files, which may contain
 * anything. */
void etlheap_json_name(etlheap_json *json, const char *name, size_t size);

/* Writes a text; NULL becomes null. */
void etlheap_json_string(etlheap_json *json, const char *key, const char *text);
/* Writes the name of a process; null if no record names it. */
void etlheap_json_process(etlheap_json *json, const char *key, const char *name);
void etlheap_json_string_bytes(etlheap_json *json, const char *key, const char *text, size_t size);
void etlheap_json_i64(etlheap_json *json, const char *key, i64 value);
void etlheap_json_u64(etlheap_json *json, const char *key, u64 value);
/* Writes the shortest number that reads back as the same value; NaN and infinities as strings. */
void etlheap_json_real(etlheap_json *json, const char *key, double value);

void etlheap_json_bool(etlheap_json *json, const char *key, bool value);
void etlheap_json_null(etlheap_json *json, const char *key);
void etlheap_json_known(etlheap_json *json, const char *key, i64 value); /* or null */

/* Copies a member from another document; its key has no quotes. */
void etlheap_json_copy(etlheap_json *json, etl_bytes key, etl_bytes value);

/* "0x1f0000", with at least `digits` digits. */
void etlheap_json_hex(etlheap_json *json, const char *key, u64 value, int digits);
void etlheap_json_heap(etlheap_json *json, const char *key, u64 handle); /* the heap's name */

/* An instant, "2020-07-29T00:07:00.000000000Z"; null for a FILETIME of 0 or less, which is
 * unknown. */
void etlheap_json_time(etlheap_json *json, const char *key, i64 filetime);

/* Writes "start_time" of a trace, without the Z if it is local time. */
void etlheap_json_start(etlheap_json *json, const etlheap_trace_info *trace);

/* Opens the object "window" with "from_ns" and "to_ns"; null for a list of one moment, such as a
 * UMDH log. */
void etlheap_json_window_open(etlheap_json *json, const etlheap_result *result, i64 from_ns,
                              i64 to_ns);

/* Write the `trace` object and the `diagnostics` array, which all documents have. */
void etlheap_json_trace(etlheap_json *json, const etlheap_trace_info *trace);

/* Writes "recorded": when each kind of memory that the result has was recorded. Reservations, which
 * a trace keeps only if they are asked for, were recorded when virtualalloc was. */
void etlheap_json_recorded(etlheap_json *json, const etlheap_result *result);

/* Writes `trace` and `recorded`. */
void etlheap_json_recording(etlheap_json *json, const etlheap_result *result);
void etlheap_json_diagnostics(etlheap_json *json, const etl_diag_counts *counts);

#endif
