/*
 * pprof_code.h - the code that a profile for pprof refers to: where stacks lie.
 *
 * Functions, mappings and locations are fields of the profile that are written when
 * the first sample needs them, before it; strings, which everything refers to by
 * number, come last. So nothing but what was numbered is kept.
 *
 * A trace has one address space a process, a profile has one for all: code is put at
 * the address at which the first module of its build is loaded. An inlined call is a
 * line of the location of the code that it is part of, innermost first.
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

/* Where the code of a place that frames were seen at is put. */
typedef struct pprof_mapping {
    u32 id; /* 0: it stays where it was, the module is not known */
    u64 base;
} pprof_mapping;

/* Start from {0} with what is borrowed, and ask for "" first: string 0 is empty. */
typedef struct pprof_code {
    const etlheap_result *result;
    const etlheap_table *table;
    etlheap_gzip *gzip;
    export_numbers strings, functions, locations;
    export_numbers modules;  /* by index: those that are mappings */
    export_numbers places;   /* names and bases of modules as frames tell them */
    pprof_mapping *mappings; /* by place */
    u32 mapping_capacity;
    etlheap_text head, message, lines, line, name, clean; /* in the making */
    bool failed;                                          /* no memory */
} pprof_code;

/* The module that the program of a process is, by index; ETLHEAP_NO_INDEX: the trace
 * does not name it. pid: ETL_NO_ID takes that of any process. */
u32 pprof_program_module(const pprof_code *code, const char *process, u32 pid);

/* Writes the mapping of a module, unless it is written. */
void pprof_add_mapping(pprof_code *code, u32 module);

/* Appends the ids of a row's locations to a list, innermost first. */
void pprof_add_locations(pprof_code *code, const etlheap_row *row, etlheap_text *list);

/* The number of a string, which is made fit to be shown. */
u32 pprof_string(pprof_code *code, const char *text);

/* Writes a field of the profile and empties its message. */
void pprof_put(pprof_code *code, u32 field, etlheap_text *message);

/* True: all that was asked for is there. */
bool pprof_code_ok(const pprof_code *code);

/* What is borrowed stays the caller's. */
void pprof_code_free(pprof_code *code);

#endif
