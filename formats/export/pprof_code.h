/*
 * pprof_code.h - the functions, mappings and locations of a pprof profile.
 *
 * These fields of the profile are written just before the first sample that needs them. Strings,
 * which everything refers to by number, come last. So only numbers are kept.
 *
 * A trace has one address space per process, a profile has one for all. So code is put at the
 * address at which the first module of its build is loaded. An inlined call is a line in the
 * location of the code that contains it, innermost first.
 */
#ifndef ETLHEAP_PPROF_CODE_H
#define ETLHEAP_PPROF_CODE_H

#include "formats/io/gzip.h"
#include "formats/parts/export_numbers.h"
#include "protobuf.h"

/* Fields of the profile. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE,
    PROFILE_MAPPING,
    PROFILE_LOCATION,
    PROFILE_FUNCTION,
    PROFILE_STRING,
    PROFILE_TIME = 9,
    PROFILE_DURATION,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_TYPE
};

/* The address in the profile for code at some place. */
typedef struct pprof_mapping {
    u32 id; /* 0: the module is unknown, and the address stays */
    u64 base;
} pprof_mapping;

/* Start from {0} with the borrowed members set, and request "" first: string 0 is empty. */
typedef struct pprof_code {
    const etlheap_result *result;
    const etlheap_table *table;
    etlheap_gzip *gzip;
    export_numbers strings, functions, locations;
    export_numbers modules;  /* by index: modules that are mappings */
    export_numbers places;   /* names and bases of modules in frames */
    pprof_mapping *mappings; /* by place */
    u32 mapping_capacity;
    etlheap_text head, message, lines, line, name, clean; /* being built */
    bool failed;                                          /* no memory */
} pprof_code;

/* The index of the module that is the program of a process; ETLHEAP_NO_INDEX: the trace does not
 * name it. pid ETL_NO_ID: any process. */
u32 pprof_program_module(const pprof_code *code, const char *process, u32 pid);

/* Writes the mapping of a module, unless it was written before. */
void pprof_add_mapping(pprof_code *code, u32 module);

/* Appends the ids of a row's locations to a list, innermost first. */
void pprof_add_locations(pprof_code *code, const etlheap_row *row, etlheap_text *list);

/* The number of a string, after replacing what cannot be printed. */
u32 pprof_string(pprof_code *code, const char *text);

/* Writes a field of the profile and empties its message. */
void pprof_put(pprof_code *code, u32 field, etlheap_text *message);

/* True if nothing failed. */
bool pprof_code_ok(const pprof_code *code);

/* Frees everything that is not borrowed. */
void pprof_code_free(pprof_code *code);

#endif
