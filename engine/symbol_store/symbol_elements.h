/*
 * symbol_elements.h - parses the text of a symbol path.
 *
 * The syntax is that of symbol_path.h. White space and double quotes around an element, empty
 * elements and final slashes are ignored.
 *
 * Source: "Advanced SymSrv Use" and "Symbol path for Windows debuggers", both learn.microsoft.com.
 * Behaviour of WinDbg that these leave open is taken from the symsrv crate, which compared.
 */
#ifndef ETLHEAP_SYMBOL_ELEMENTS_H
#define ETLHEAP_SYMBOL_ELEMENTS_H

#include "engine/core/arena.h"

#define SYMBOL_CHAIN_STORES_MAX 10 /* SymSrv's limit */

typedef enum symbol_place {
    SYMBOL_PLACE_FOLDER,
    SYMBOL_PLACE_SERVER, /* http:// or https:// */
    SYMBOL_PLACE_DEFAULT /* empty text: the default store */
} symbol_place;

typedef struct symbol_store_text {
    symbol_place place;
    const char *text; /* folder or URL without a final slash; in the arena */
} symbol_store_text;

typedef enum symbol_element_kind {
    SYMBOL_ELEMENT_FOLDER, /* one store, also searched flat, never written to */
    SYMBOL_ELEMENT_CHAIN,
    SYMBOL_ELEMENT_CACHE /* one store, for the elements that follow */
} symbol_element_kind;

typedef struct symbol_element {
    symbol_element_kind kind;
    u32 store_count; /* at least 1 */
    symbol_store_text stores[SYMBOL_CHAIN_STORES_MAX];
} symbol_element;

typedef struct symbol_elements {
    ETLHEAP_VECTOR(symbol_element) list;
    etlheap_arena texts;
} symbol_elements;

/* Parses a path. Start from {0}, and call symbol_elements_free in any case. ETL_ERR_ARGUMENT (a
 * chain with more than SYMBOL_CHAIN_STORES_MAX stores), ETL_ERR_MEMORY. */
etl_status symbol_elements_parse(symbol_elements *elements, const char *text, etl_error *err);
void symbol_elements_free(symbol_elements *elements);

/* True if a folder's text is meant for a shell (~, $HOME, %TEMP%), or for Windows while this is
 * another system (C:\symbols, \\server\share). */
bool symbol_elements_is_foreign(const char *text);

/* True if `place` is "//HOST/SHARE/...", and HOST is that of a share or a server of the path. */
bool symbol_elements_name_host(const symbol_elements *elements, const char *place);

#endif
