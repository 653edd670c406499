/*
 * json.h - a streaming JSON writer.
 *
 * Commas, line breaks and escapes are its business; the caller says what comes
 * next. Output is always valid UTF-8: bytes that are not are replaced by U+FFFD.
 * A key is NULL for members of an array and for the outermost value.
 */
#ifndef ETLHEAP_JSON_H
#define ETLHEAP_JSON_H

#include "formats/formats.h"

#define ETLHEAP_JSON_DEPTH_MAX 16

typedef struct etlheap_json {
    etlheap_sink *sink;
    u32 depth;         /* open containers */
    u32 break_depth;   /* containers opened above this depth have one member a line */
    u32 filled;        /* bit d: the container at depth d + 1 has a member */
    etl_hint_fn *hint; /* what the program says in diagnostics; NULL: nothing */
    bool is_named;     /* the next value has its key already */
    bool in_markup;    /* `<` is escaped in strings: the text stands in an element of HTML */
} etlheap_json;

/* break_depth 0 writes one line; 2 breaks an object and the arrays in it. */
etlheap_json etlheap_json_begin(etlheap_sink *sink, u32 break_depth);

/* Ends the line. All containers are closed. */
void etlheap_json_end(etlheap_json *json);

void etlheap_json_object(etlheap_json *json, const char *key);
void etlheap_json_object_close(etlheap_json *json);
void etlheap_json_array(etlheap_json *json, const char *key);
void etlheap_json_array_close(etlheap_json *json);

/* The key of the next value, whose own is then ignored: for names from files, which may hold
 * anything. */
void etlheap_json_name(etlheap_json *json, const char *name, size_t size);

/* A NULL text becomes null. */
void etlheap_json_string(etlheap_json *json, const char *key, const char *text);
void etlheap_json_string_bytes(etlheap_json *json, const char *key, const char *text, size_t size);
void etlheap_json_i64(etlheap_json *json, const char *key, i64 value);
void etlheap_json_u64(etlheap_json *json, const char *key, u64 value);
/* The shortest number that reads back as the same; of what is no number a string. */
void etlheap_json_real(etlheap_json *json, const char *key, double value);

void etlheap_json_bool(etlheap_json *json, const char *key, bool value);
void etlheap_json_null(etlheap_json *json, const char *key);

/* A member as it stands in another document, its key without quotes. */
void etlheap_json_copy(etlheap_json *json, etl_bytes key, etl_bytes value);

/* "0x1f0000", with at least `digits` digits. */
void etlheap_json_hex(etlheap_json *json, const char *key, u64 value, int digits);
void etlheap_json_heap(etlheap_json *json, const char *key, u64 handle); /* by its name */

/* The `trace` object and the `diagnostics` array that all documents share. */
void etlheap_json_trace(etlheap_json *json, const etlheap_trace_info *trace);
void etlheap_json_diagnostics(etlheap_json *json, const etl_diag_counts *counts);

#endif
