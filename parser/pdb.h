/*
 * pdb.h - what a PDB file says of the addresses of its program.
 *
 *     etl_pdb_open -> etl_pdb_resolver_open -> etl_pdb_resolver_begin (a batch of addresses)
 *              -> etl_pdb_resolver_next (one location per address)
 *
 * A PDB is an MSF 7 file: numbered streams cut into blocks. It is mapped and
 * only the blocks that answer a question are touched, so opening costs what the
 * directory and the list of modules cost, not what the file weighs. Format
 * facts and their sources are in layout_pdb.h.
 *
 * Threads: a etl_pdb_file does not change after etl_pdb_open; any number of threads may
 * resolve from it at once, each with a resolver of its own.
 * Ownership: views (etl_bytes) borrow from the mapping or from the resolver;
 * each function says until when. They do not end with a NUL. Names and paths
 * are bytes as they stand in the file: UTF-8 from today's tools, some code page
 * from old ones (etl_text_to_utf8 makes either printable).
 * Addresses are RVAs of the image that the PDB belongs to: offsets from where
 * the image was loaded.
 */
#ifndef ETL_PDB_H
#define ETL_PDB_H

#include "parser.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct etl_pdb_file etl_pdb_file;
typedef struct etl_pdb_resolver etl_pdb_resolver;

/* --- the file -------------------------------------------------------------- */

/*
 * Opens the PDB at `path`. On success the caller owns *out (etl_pdb_close).
 * ETL_ERR_IO: cannot be read. ETL_ERR_MEMORY. ETL_ERR_UNSUPPORTED: no PDB, or a
 * kind that holds no addresses or that we do not read (PDB 2.00, MSFZ, portable
 * .NET PDBs, /DEBUG:FASTLINK); the message says what to do. ETL_ERR_CORRUPT:
 * the superblock, the directory or a stream that everything hangs on is
 * damaged; the message names the stream and the offset. Damage elsewhere does
 * not fail the opening: it costs the addresses it covers (etl_pdb_resolver_damage).
 */
etl_status etl_pdb_open(const char *path, etl_pdb_file **out, etl_error *err);

/* The same for bytes in memory, which must outlive the file. */
etl_status etl_pdb_open_memory(etl_bytes bytes, etl_pdb_file **out, etl_error *err);

void etl_pdb_close(etl_pdb_file *file); /* NULL is allowed; close its resolvers first */

typedef struct etl_pdb_info {
    etl_guid guid;     /* as the image's RSDS record has it */
    u32 age;           /* of the debug information: the age that RSDS and symbol stores use */
    u32 file_age;      /* times the file was written; tools that only add streams raise this one */
    u32 time_date;     /* seconds since 1970 at creation, or a hash in reproducible builds */
    u16 machine;       /* IMAGE_FILE_MACHINE_*: 0x14c, 0x8664, 0xaa64 */
    u32 module_count;  /* object files */
    u32 section_count; /* of the image */
    bool is_stripped;  /* made with /PDBSTRIPPED: public symbols only, sizes unknown */
    bool has_omap;     /* the image was rearranged after linking */
} etl_pdb_info;

/* Owned by the file. */
const etl_pdb_info *etl_pdb_info_of(const etl_pdb_file *file);

/* One section of the image, in the order of its section table. */
typedef struct etl_pdb_section {
    u32 rva;
    u32 size_bytes;
    u32 characteristics; /* IMAGE_SCN_*: 0x20 is code */
} etl_pdb_section;

/* etl_pdb_info.section_count rows, owned by the file. */
const etl_pdb_section *etl_pdb_sections(const etl_pdb_file *file);

/* --- addresses to names ----------------------------------------------------- */

/* What to find beyond the function; each costs a pass over more of a module. */
#define ETL_PDB_WANT_LINES       0x1u /* source file and line */
#define ETL_PDB_WANT_INLINES     0x2u /* inlined calls; needs ETL_PDB_WANT_LINES for their lines */
#define ETL_PDB_WANT_ALLOC_TYPES 0x4u /* types of heap allocations */
#define ETL_PDB_WANT_ALL         0x7u

typedef enum etl_pdb_symbol_kind {
    ETL_PDB_SYMBOL_NONE,      /* no symbol at or before the address in its section */
    ETL_PDB_SYMBOL_PROCEDURE, /* a function; its name is undecorated and qualified, without parameters */
    ETL_PDB_SYMBOL_THUNK, /* a jump made by the linker; has its target's name, which is decorated
                             in incremental links, or none */
    ETL_PDB_SYMBOL_PUBLIC /* a public symbol; its name is decorated as the linker has it */
} etl_pdb_symbol_kind;

/* One level of calls at an address. */
typedef struct etl_pdb_frame {
    etl_bytes name; /* empty when unknown */
    etl_bytes file; /* path as the compiler wrote it; empty when unknown */
    u32 line;       /* 0 when unknown */
} etl_pdb_frame;

typedef struct etl_pdb_location {
    size_t index; /* of the address within the batch */
    u32 rva;      /* the address */
    etl_pdb_symbol_kind kind;
    bool is_nearest;   /* the symbol has no size: the nearest one before the address */
    u32 function_rva;  /* where the symbol begins */
    u32 function_size; /* in bytes; 0 when unknown */
    u32 displacement;  /* from where the symbol begins, as it was linked */
    etl_pdb_frame function;
    const etl_pdb_frame *inlined; /* inline_count calls inlined at the address, innermost first */
    u32 inline_count;
    etl_bytes alloc_type; /* C++ type allocated by the call that ends at rva + 1; else empty */
} etl_pdb_location;

/*
 * Makes a resolver for one thread; `want` is PDB_WANT_* bits. The caller owns
 * *out (etl_pdb_resolver_close) and may use it for any number of batches.
 * ETL_ERR_ARGUMENT, ETL_ERR_MEMORY.
 */
etl_status etl_pdb_resolver_open(const etl_pdb_file *file, u32 want, etl_pdb_resolver **out,
                                 etl_error *err);
void etl_pdb_resolver_close(etl_pdb_resolver *resolver); /* NULL is allowed */

/*
 * Begins a batch: `count` RVAs in ascending order (equal ones are allowed),
 * which are borrowed until the batch ends. A former batch ends here. Memory is
 * 8 bytes an address and what the largest module needs; give all addresses of
 * a module of the traced program at once, for each object file is read once a
 * batch. Return addresses are to be given less 1, so that they lie inside the
 * call. ETL_ERR_ARGUMENT: not ascending, or more than 2^32 - 2 of them.
 * ETL_ERR_MEMORY.
 */
etl_status etl_pdb_resolver_begin(etl_pdb_resolver *resolver, const u32 *rvas, size_t count,
                                  etl_error *err);

/*
 * The next location; false when each address of the batch has had one, or when
 * memory ran out (etl_pdb_resolver_damage tells). They come object file by object
 * file, ascending within one, not in the order of the batch: `index` says
 * which. The views in it are valid until the next call with this resolver.
 */
bool etl_pdb_resolver_next(etl_pdb_resolver *resolver, etl_pdb_location *out);

/* What was damaged or lacking where this resolver read; sums up over its life. */
typedef struct etl_pdb_damage {
    u64 count;       /* places */
    etl_error first; /* status ETL_OK when there are none */
} etl_pdb_damage;

/* Owned by the resolver. */
const etl_pdb_damage *etl_pdb_resolver_damage(const etl_pdb_resolver *resolver);

/* --- public symbols ---------------------------------------------------------- */

typedef struct etl_pdb_public {
    u32 rva; /* in the image, after OMAP; 0 for symbols outside every section */
    bool is_function;
    etl_bytes name; /* decorated; valid until the next call with this resolver */
} etl_pdb_public;

/*
 * Public symbols in address order: *at is 0 at first and is advanced past what
 * was read. False after the last one. Damaged ones are skipped and counted.
 */
bool etl_pdb_public_next(etl_pdb_resolver *resolver, u32 *at, etl_pdb_public *out);

#ifdef __cplusplus
}
#endif

#endif
