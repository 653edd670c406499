/*
 * told_names.h - names of functions that a store itself has, because it is anonymised: there is no
 * PDB with its words.
 *
 *     build   a module, and what looking for its symbols found
 *     place   (build, offset) with its calls
 *     call    a function, or an inlined call in it
 */
#ifndef ETLHEAP_TOLD_NAMES_H
#define ETLHEAP_TOLD_NAMES_H

#include "engine/log/ehs_table.h"

#define ANONYMISED_SCHEME 1u

typedef struct told_call {
    const char *function, *file;
    u32 line; /* 0 unknown */
} told_call;

typedef struct told_place {
    const char *type; /* that the call before the place allocates */
    u32 build;        /* index into builds */
    u32 offset;       /* of the byte before the return address */
    u32 displacement, quality;
    u32 calls;      /* number */
    u32 first_call; /* index into calls; not in the file */
} told_place;

typedef struct told_build {
    u32 module; /* index into the result's list */
    u32 state;  /* etlheap_symbol_state */
} told_build;

/* Whether a store is anonymised, and with which key. */
typedef struct anonymised_row {
    u64 key_check;
    u32 scheme; /* 0: not anonymised */
} anonymised_row;

typedef struct told_names {
    ETLHEAP_VECTOR(told_build) builds;
    ETLHEAP_VECTOR(told_place) places; /* ascending by (build, offset) */
    ETLHEAP_VECTOR(told_call) calls;
    anonymised_row anonymised;
} told_names;

void told_names_free(told_names *names);

/* The place; NULL: it has no name. */
const told_place *told_names_find(const told_names *names, u32 build, u32 offset);

/* False if memory runs out. */
bool told_names_save(ehs_saver *saver, const told_names *names);

/* Loads the names of a store with so many modules. ETL_ERR_CORRUPT, ETL_ERR_UNSUPPORTED (a later
 * scheme), ETL_ERR_MEMORY, ETL_ERR_LIMIT. */
etl_status told_names_load(ehs_loader *loader, size_t module_count, told_names *names);

#endif
