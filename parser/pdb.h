/*
 * pdb.h - reads PDB files: functions, source lines and allocated types at addresses of a program.
 *
 *     etl_pdb_open            file -> etl_pdb_file
 *     etl_pdb_resolver_open   a resolver for one thread
 *     etl_pdb_resolver_begin  starts a batch of addresses
 *     etl_pdb_resolver_next   one location per address
 *     etl_pdb_public_next     lists the public symbols
 *
 * A PDB is an MSF 7 file: numbered streams, cut into blocks. The file is mapped, and only blocks
 * that answer a question are read. Opening therefore reads the directory and the list of modules,
 * however large the file is. Format facts and their sources are in symbols/layout_pdb.h.
 *
 * Threads: an etl_pdb_file does not change after etl_pdb_open. Any number of threads may resolve
 * from it at the same time, each with its own resolver.
 *
 * Ownership: views (etl_bytes) borrow from the mapped file or from the resolver; each function says
 * until when. They have no NUL. Names and paths are bytes as in the file: UTF-8 from current tools,
 * a code page from old ones. etl_text_to_utf8 makes either printable.
 *
 * Addresses are RVAs of the image that the PDB belongs to: offsets from where the image was loaded.
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
 *
 *     ETL_ERR_IO           cannot be read
 *     ETL_ERR_UNSUPPORTED  not a PDB, or a kind without addresses or that cannot be read (PDB 2.00,
 *                          MSFZ, portable .NET PDBs, /DEBUG:FASTLINK); the message says what to do
 *     ETL_ERR_CORRUPT      the superblock, the directory or a stream that everything depends on is
 *                          damaged; the message names the stream and the offset
 *     ETL_ERR_MEMORY
 *
 * Damage elsewhere does not make opening fail. Addresses in the damaged part get no name
 * (etl_pdb_resolver_damage).
 */
etl_status etl_pdb_open(const char *path, etl_pdb_file **out, etl_error *err);

/* Opens a PDB in memory. The bytes must stay alive and unchanged until etl_pdb_close. Errors as for
 * etl_pdb_open, except ETL_ERR_IO. */
etl_status etl_pdb_open_memory(etl_bytes bytes, etl_pdb_file **out, etl_error *err);

void etl_pdb_close(etl_pdb_file *file); /* NULL is allowed; close its resolvers first */

/* Facts about a PDB. */
typedef struct etl_pdb_info {
    etl_guid guid;          /* as in the RSDS record of the image */
    uint32_t age;           /* age of the debug information, which RSDS and symbol stores use */
    uint32_t file_age;      /* how often it was written, also by tools that only add streams */
    uint32_t time_date;     /* seconds since 1970 at creation, or a hash in reproducible builds */
    uint16_t machine;       /* IMAGE_FILE_MACHINE_*: 0x14c x86, 0x8664 x64, 0xaa64 ARM64 */
    uint32_t module_count;  /* object files */
    uint32_t section_count; /* of the image */
    bool is_stripped;       /* made with /PDBSTRIPPED: public symbols only, sizes unknown */
    bool has_omap;          /* the image was rearranged after it was linked */
} etl_pdb_info;

/* Owned by the file. */
const etl_pdb_info *etl_pdb_info_of(const etl_pdb_file *file);

/* One section of the image, in the order of its section table. */
typedef struct etl_pdb_section {
    uint32_t rva;
    uint32_t size_bytes;
    uint32_t characteristics; /* IMAGE_SCN_*: 0x20 is code */
} etl_pdb_section;

/* etl_pdb_info.section_count rows, owned by the file. */
const etl_pdb_section *etl_pdb_sections(const etl_pdb_file *file);

/* --- addresses to names ----------------------------------------------------- */

/* Data to find in addition to the function. Each kind makes the resolver read more of a module. */
#define ETL_PDB_WANT_LINES       0x1u /* source file and line */
#define ETL_PDB_WANT_INLINES     0x2u /* inlined calls; their lines need ETL_PDB_WANT_LINES */
#define ETL_PDB_WANT_ALLOC_TYPES 0x4u /* C++ types of heap allocations */
#define ETL_PDB_WANT_ALL         0x7u

typedef enum etl_pdb_symbol_kind {
    ETL_PDB_SYMBOL_NONE,      /* no symbol at or before the address in the section */
    ETL_PDB_SYMBOL_PROCEDURE, /* a function; its name is undecorated, without parameters */
    ETL_PDB_SYMBOL_THUNK, /* a jump made by the linker; has its target's name, which is decorated
                             in incremental links, or none */
    ETL_PDB_SYMBOL_PUBLIC /* a public symbol; its name is decorated */
} etl_pdb_symbol_kind;

/* One function at an address: the symbol itself, or a call inlined into it. */
typedef struct etl_pdb_frame {
    etl_bytes name; /* empty when unknown */
    etl_bytes file; /* path as the compiler wrote it; empty when unknown */
    uint32_t line;  /* 0 when unknown */
} etl_pdb_frame;

/* The result for one address. */
typedef struct etl_pdb_location {
    size_t index; /* of the address within the batch */
    uint32_t rva; /* the address */
    etl_pdb_symbol_kind kind;
    bool is_nearest;        /* a guess: the nearest symbol before the address, of unknown size */
    uint32_t function_rva;  /* where the symbol begins */
    uint32_t function_size; /* in bytes; 0 when unknown */
    uint32_t displacement;  /* distance from the start of the symbol, as it was linked */
    etl_pdb_frame function;
    const etl_pdb_frame *inlined; /* inlined calls, innermost first */
    uint32_t inline_count;
    etl_bytes alloc_type; /* C++ type allocated by the call ending at rva + 1 */
} etl_pdb_location;

/*
 * Makes a resolver for one thread. `want` is ETL_PDB_WANT_* bits. The caller owns *out
 * (etl_pdb_resolver_close) and may use it for any number of batches. The file must outlive it.
 * ETL_ERR_ARGUMENT, ETL_ERR_MEMORY.
 */
etl_status etl_pdb_resolver_open(const etl_pdb_file *file, uint32_t want, etl_pdb_resolver **out,
                                 etl_error *err);
void etl_pdb_resolver_close(etl_pdb_resolver *resolver); /* NULL is allowed */

/*
 * Begins a batch and ends the one before. `rvas` has `count` RVAs in ascending order, equal ones
 * allowed, and is borrowed until the batch ends. Pass return addresses less 1, so that they lie
 * inside the call. Pass all addresses of a module in one batch, because each object file is read
 * once per batch. Needs 8 bytes per address, and memory for the largest object file.
 * ETL_ERR_ARGUMENT (not ascending, or more than 2^32 - 2 addresses), ETL_ERR_MEMORY.
 */
etl_status etl_pdb_resolver_begin(etl_pdb_resolver *resolver, const uint32_t *rvas, size_t count,
                                  etl_error *err);

/*
 * The next location. False when every address of the batch had one, or if memory ran out
 * (etl_pdb_resolver_damage tells). Locations come object file by object file, in ascending order
 * within one, not in the order of the batch; `index` says which address it is. Views in *out are
 * valid until the next call with this resolver.
 */
bool etl_pdb_resolver_next(etl_pdb_resolver *resolver, etl_pdb_location *out);

/* How the compiler summed up a source file. */
typedef enum etl_pdb_checksum_kind {
    ETL_PDB_CHECKSUM_NONE, /* not at all, or in a way that is not known here */
    ETL_PDB_CHECKSUM_MD5,
    ETL_PDB_CHECKSUM_SHA1,
    ETL_PDB_CHECKSUM_SHA256
} etl_pdb_checksum_kind;

#define ETL_PDB_CHECKSUM_BYTES_MAX 32

/* The checksum of the bytes of a source file that the compiler read. */
typedef struct etl_pdb_checksum {
    uint8_t kind; /* etl_pdb_checksum_kind */
    uint8_t size; /* 16, 20 or 32, as the kind has it; 0: none */
    uint8_t bytes[ETL_PDB_CHECKSUM_BYTES_MAX];
} etl_pdb_checksum;

/*
 * Finds the checksum of the file of a frame of the last location: of inlined[level], or of
 * the function if `level` is inline_count. False if the frame has no file. A file whose checksum is
 * unknown or damaged has one of kind NONE. Call it before the next location is asked for.
 */
bool etl_pdb_frame_checksum(etl_pdb_resolver *resolver, uint32_t level, etl_pdb_checksum *out);

/* Damaged or missing data in the parts that this resolver read, over its whole life. */
typedef struct etl_pdb_damage {
    uint64_t count;  /* number of places */
    etl_error first; /* status ETL_OK when there are none */
} etl_pdb_damage;

/* Owned by the resolver. */
const etl_pdb_damage *etl_pdb_resolver_damage(const etl_pdb_resolver *resolver);

/* --- public symbols ---------------------------------------------------------- */

/* A public symbol. */
typedef struct etl_pdb_public {
    uint32_t rva; /* in the image, after OMAP; 0 for a symbol outside all sections */
    bool is_function;
    etl_bytes name; /* decorated; valid until the next call with this resolver */
} etl_pdb_public;

/* Lists the public symbols in address order. *at starts at 0 and is advanced. False after the last
 * one. Damaged symbols are skipped and counted. */
bool etl_pdb_public_next(etl_pdb_resolver *resolver, uint32_t *at, etl_pdb_public *out);

#ifdef __cplusplus
}
#endif

#endif
