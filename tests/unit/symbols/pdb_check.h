/*
 * pdb_check.h - what the PDB reader says of a file built by pdb_build, as text.
 *
 * A location is one line, innermost call first:
 *
 *     "h b.h:3 < g a.cpp:7 < main+0x14 a.cpp:9 new Foo"
 *
 * with "name file:line" for an inlined call, "name+distance file:line" for the
 * symbol, "thunk " before a thunk's name and "near " before a public symbol's,
 * "-" for no symbol, no " file:line" where there is none, and " new TYPE" after
 * an allocation.
 */
#ifndef TESTS_PDB_CHECK_H
#define TESTS_PDB_CHECK_H

#include "parser/pdb.h"
#include "tests/support/pdb_build.h"

typedef struct pdb_check {
    pdb_build built; /* what to open; filled by the test */
    hand_bytes bytes;
    hand_guarded memory;
    etl_pdb_file *file;
    etl_pdb_resolver *resolver;
    etl_error error;
    char text[8192];
} pdb_check;

/* Begins with an empty PDB; ends what was opened. */
void pdb_check_begin(pdb_check *c);
void pdb_check_end(pdb_check *c);

/* Writes c->built to c->bytes; a test may break bytes and then reopen. */
void pdb_check_write(pdb_check *c);

/* Opens c->bytes, in memory that ends with them; on success with a resolver. */
etl_status pdb_check_reopen(pdb_check *c);

/* Both, and fails the test when it does not open. */
void pdb_check_open(pdb_check *c);

/* The location as text, valid until the next call. */
const char *pdb_check_text(pdb_check *c, const etl_pdb_location *location);

/* Of one address, asked for by itself. */
const char *pdb_check_at(pdb_check *c, u32 rva);

/* Fails the test when the address is not told as `wanted`. */
#define pdb_check_says(c, rva, wanted) assert_string_equal(pdb_check_at(c, rva), wanted)

#endif
