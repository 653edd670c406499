/*
 * pe.h - reads program files (exe, dll, sys): build, PDB, sections and exports.
 *
 *     etl_pe_open           file -> image
 *     etl_pe_info_of        which build it is
 *     etl_pe_pdb_of         which PDB belongs to it
 *     etl_pe_exports_open   its exports, if there is no PDB
 *     etl_pe_exports_find   the export that an address belongs to
 *
 * The file is mapped as it is on disk. Opening reads only the headers and the debug directory;
 * etl_pe_exports_open reads the exports. Format facts and their sources are in symbols/layout_pe.h.
 *
 * Threads: an etl_pe_image and an etl_pe_exports do not change after opening. Any number of threads
 * may use them at the same time.
 *
 * Ownership: views (etl_bytes) borrow from the mapped file and live as long as the image. They have
 * no NUL, and are bytes of unknown code page (etl_text_to_utf8 makes them printable).
 *
 * Addresses are RVAs: offsets from where the image was loaded.
 */
#ifndef ETL_PE_H
#define ETL_PE_H

#include "parser.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct etl_pe_image etl_pe_image;
typedef struct etl_pe_exports etl_pe_exports;

/* --- the image ------------------------------------------------------------- */

/*
 * Opens the image at `path`. On success the caller owns *out (etl_pe_close).
 *
 *     ETL_ERR_IO           cannot be read
 *     ETL_ERR_UNSUPPORTED  not a PE32 or PE32+ image; the message names the kind of file if known
 *     ETL_ERR_CORRUPT      the headers or the section table are cut off or contradictory; the
 *                          message names the field and the offset
 *     ETL_ERR_MEMORY
 *
 * Damage elsewhere does not make opening fail (etl_pe_damage_of).
 */
etl_status etl_pe_open(const char *path, etl_pe_image **out, etl_error *err);

/* Opens an image in memory. The bytes must stay alive and unchanged until etl_pe_close. Errors as
 * for etl_pe_open, except ETL_ERR_IO. */
etl_status etl_pe_open_memory(etl_bytes bytes, etl_pe_image **out, etl_error *err);

void etl_pe_close(etl_pe_image *image); /* NULL is allowed; close its exports first */

/* Facts about an image. */
typedef struct etl_pe_info {
    uint64_t image_base;       /* preferred address */
    uint32_t time_date_stamp;  /* with image_size_bytes the key of the image in symbol stores */
    uint32_t image_size_bytes; /* in memory, a multiple of the section alignment */
    uint32_t image_checksum;   /* 0 if the linker wrote none */
    uint32_t entry_rva;
    uint32_t section_count;
    uint16_t machine;         /* IMAGE_FILE_MACHINE_*: 0x14c x86, 0x8664 x64, 0xaa64 ARM64 */
    uint16_t characteristics; /* IMAGE_FILE_*: 0x2000 is a DLL */
    uint8_t pointer_bytes;    /* 4 for PE32, 8 for PE32+ */
} etl_pe_info;

/* Owned by the image. */
const etl_pe_info *etl_pe_info_of(const etl_pe_image *image);

/* One section of the image, in the order of its section table. */
typedef struct etl_pe_section {
    char name[9]; /* bytes as in the file, with a NUL */
    uint32_t rva;
    uint32_t virtual_size; /* bytes in memory */
    uint32_t file_offset;
    uint32_t file_size;       /* bytes in the file; if less than virtual_size, the rest is zero */
    uint32_t characteristics; /* IMAGE_SCN_*: 0x20 is code */
} etl_pe_section;

/* etl_pe_info.section_count rows in the order of the section table, owned by the image. */
const etl_pe_section *etl_pe_sections(const etl_pe_image *image);

/* How the image names its PDB. */
typedef enum etl_pe_pdb_kind {
    ETL_PE_PDB_NONE, /* no CodeView record: linked without /DEBUG, or stripped */
    ETL_PE_PDB_RSDS, /* PDB 7.00: guid and age */
    ETL_PE_PDB_NB10  /* PDB 2.00, before 2002: signature and age; such PDBs cannot be read */
} etl_pe_pdb_kind;

/* The PDB that the image names. */
typedef struct etl_pe_pdb {
    etl_pe_pdb_kind kind;
    etl_guid guid;      /* RSDS */
    uint32_t signature; /* NB10: when the PDB was made, seconds since 1970 */
    uint32_t age;
    etl_bytes path; /* where the linker wrote the PDB, or only its name */
} etl_pe_pdb;

/* Owned by the image; kind ETL_PE_PDB_NONE when there is none. */
const etl_pe_pdb *etl_pe_pdb_of(const etl_pe_image *image);

/* Damage found in the parts that were read. */
typedef struct etl_pe_damage {
    uint64_t count;  /* number of places */
    etl_error first; /* status ETL_OK when there are none, else ETL_ERR_CORRUPT */
} etl_pe_damage;

/* Damage that opening skipped: in the debug directory or in sections. Owned by the image. */
const etl_pe_damage *etl_pe_damage_of(const etl_pe_image *image);

/* --- exports ---------------------------------------------------------------- */

/* One exported name or ordinal. Views borrow from the image. */
typedef struct etl_pe_export {
    uint32_t rva;        /* 0 for a forwarder */
    uint32_t ordinal;    /* as importers use it, including the base */
    etl_bytes name;      /* as exported, possibly decorated; empty: only an ordinal */
    etl_bytes forwarder; /* "NTDLL.RtlAllocateHeap", "MFC42.#5"; empty: not a forwarder */
} etl_pe_export;

/*
 * Reads the export directory. An image without one has no exports. On success the caller owns *out
 * (etl_pe_exports_close), which borrows from the image. Damaged exports are left out and counted
 * (etl_pe_exports_damage). ETL_ERR_MEMORY.
 */
etl_status etl_pe_exports_open(const etl_pe_image *image, etl_pe_exports **out, etl_error *err);
void etl_pe_exports_close(etl_pe_exports *exports); /* NULL is allowed */

/* Exports by index: first those with an address, by (rva, name), then forwarders by ordinal. A
 * function exported under several names has one row per name. */
uint32_t etl_pe_exports_count(const etl_pe_exports *exports);
/* All zeros for an index beyond the count. */
etl_pe_export etl_pe_exports_at(const etl_pe_exports *exports, uint32_t index);

/*
 * Finds the export to name an address after if there is no PDB: the nearest one at or below it in
 * its section. Exports have no size, so this is a guess that gets worse with the distance; mark it
 * as one. Of several names at one address, the first in alphabetical order wins (NtClose over
 * ZwClose), and names win over bare ordinals. Forwarders have no address. False if there is none.
 */
bool etl_pe_exports_find(const etl_pe_exports *exports, uint32_t rva, etl_pe_export *out);

/*
 * Writes the name to show: the exported name, or "Ordinal17" as debuggers do. Writes at most
 * `capacity` bytes of UTF-8 including a NUL and returns the length of the whole name without the
 * NUL, as snprintf does.
 */
size_t etl_pe_export_display_name(const etl_pe_export *entry, char *out, size_t capacity);

/* Damage found in the export directory. Owned by the exports. */
const etl_pe_damage *etl_pe_exports_damage(const etl_pe_exports *exports);

#ifdef __cplusplus
}
#endif

#endif
