/*
 * layout_pdb.h - the format of PDB files on disk.
 *
 * All integers are little endian and nothing is aligned unless stated.
 * Sections are numbered from 1, in the order of the image's section table.
 *
 * Sources, by the short names used below:
 *   MS    microsoft-pdb: msf.cpp, pdb.h, dbi.h, gsi.h, tpi.h, cvinfo.h
 *   RS    the documents of microsoft/pdb-rs
 *   LLVM  llvm.org/docs/PDB and LLVM's DebugInfo/PDB and DebugInfo/CodeView
 *   seen  read from PDBs of MSVC 2010 (x64 and x86) and of clang 16 with lld 16
 */
#ifndef ETL_LAYOUT_PDB_H
#define ETL_LAYOUT_PDB_H

#include "parser/base.h"

/* --- MSF 7, the container ---------------------------------------------------- */

/*
 * Superblock, at offset 0:
 *
 *   +0x00  32 bytes  magic
 *   +0x20  u32       BlockSize          a power of two, 512 .. 65536
 *   +0x24  u32       FreeBlockMapBlock  not read
 *   +0x28  u32       NumBlocks          of the file
 *   +0x2c  u32       NumDirectoryBytes
 *   +0x30  u32       (unused)
 *   +0x34  u32[]     BlockMap           blocks that list the directory's blocks
 *
 * The directory is NumStreams (u32), a size for each stream (u32) and then the
 * block numbers of stream 0, of stream 1 and so on; a size of 0xffffffff means
 * that the stream does not exist. LLVM reads one BlockMap block; MS and RS describe
 * an array, which directories above BlockSize * BlockSize / 4 bytes need.
 * Source: MS, RS, LLVM; seen with block sizes 1024 and 4096.
 */
#define PDB_MAGIC_MSF7         "Microsoft C/C++ MSF 7.00\r\n\x1a\x44\x53\0\0\0"
#define PDB_MAGIC_BYTES        32u
#define PDB_SUPERBLOCK_BYTES   0x34u
#define PDB_BLOCK_BYTES_MIN    512u
#define PDB_BLOCK_BYTES_MAX    65536u
#define PDB_STREAM_ABSENT_SIZE 0xffffffffu
#define PDB_STREAM_NONE        0xffffu
#define PDB_STREAM_COUNT_MAX   (1u << 20)

/* The beginnings of other files called .pdb. Source: MS (2.00), RS (MSFZ),
 * ECMA-335 augments (portable PDB: the metadata signature BSJB). */
#define PDB_MAGIC_MSF2     "Microsoft C/C++ program database 2.00\r\n\x1a"
#define PDB_MAGIC_MSFZ     "Microsoft MSFZ Container"
#define PDB_MAGIC_PORTABLE "BSJB"

/* Streams with fixed numbers. Source: LLVM; seen. */
#define PDB_STREAM_INFO 1u
#define PDB_STREAM_TPI  2u
#define PDB_STREAM_DBI  3u
#define PDB_STREAM_IPI  4u

/* --- PDB information stream -------------------------------------------------- */

/*
 *   +0x00  u32       Version   20000404 since Visual C++ 7
 *   +0x04  u32       Signature time stamp
 *   +0x08  u32       Age
 *   +0x0c  16 bytes  Guid
 *   +0x1c  u32       size of the name buffer, and the names, each with a NUL
 *          u32       entries of the hash table, u32 capacity,
 *          u32       words of the present bit map, and those words,
 *          u32       words of the deleted bit map, and those words,
 *          u32, u32  per entry: offset of its name in the buffer, stream
 *          u32[]     feature codes to the end of the stream; MS reads a 0 (the count
 *                    of free indices of old files) before them as no feature
 * Source: MS pdb.cpp and nmtni.h, LLVM; seen.
 */
#define PDB_INFO_HEADER_BYTES     28u
#define PDB_INFO_BYTES_MAX        (16u << 20)
#define PDB_INFO_VERSION_VC70     20000404u
#define PDB_FEATURE_MINIMAL_DEBUG 0x494e494du /* /DEBUG:FASTLINK. Source: MS, RS */
#define PDB_NAMES_STREAM_NAME     "/names"

/* --- debug information (DBI) stream ------------------------------------------- */

/*
 *   +0x00  i32  VersionSignature        -1
 *   +0x04  u32  VersionHeader           19990903 since Visual C++ 7
 *   +0x08  u32  Age                     what the image's RSDS record carries
 *   +0x0c  u16  GlobalStreamIndex
 *   +0x0e  u16  BuildNumber
 *   +0x10  u16  PublicStreamIndex       address map of the public symbols
 *   +0x12  u16  PdbDllVersion
 *   +0x14  u16  SymRecordStream         their records
 *   +0x16  u16  PdbDllRbld
 *   +0x18  u32  ModInfoSize             then the substreams follow in this order:
 *   +0x1c  u32  SectionContributionSize
 *   +0x20  u32  SectionMapSize
 *   +0x24  u32  SourceInfoSize
 *   +0x28  u32  TypeServerMapSize
 *   +0x2c  u32  MFCTypeServerIndex
 *   +0x30  u32  OptionalDbgHeaderSize   the last substream
 *   +0x34  u32  ECSubstreamSize         the one before it
 *   +0x38  u16  Flags                   1 incrementally linked, 2 private symbols stripped
 *   +0x3a  u16  Machine                 IMAGE_FILE_MACHINE_*
 *   +0x3c  u32  (padding)
 * Source: MS dbi.h NewDBIHdr, LLVM; seen. Symbol stores index a PDB by this age
 * (MS: the other one counts every write of the file).
 */
#define PDB_DBI_HEADER_BYTES     64u
#define PDB_DBI_SIGNATURE        0xffffffffu
#define PDB_DBI_FLAG_STRIPPED    2u
#define PDB_DBI_MODULE_BYTES_MAX (1u << 30)

/*
 * Module information, one after the other, aligned to 4:
 *   +0x00  u32       (unused)
 *   +0x04  28 bytes  its first section contribution
 *   +0x20  u16       Flags
 *   +0x22  u16       ModuleSymStream   0xffff: no symbols
 *   +0x24  u32       SymByteSize       bytes of symbols with their signature
 *   +0x28  u32       C11ByteSize       then old lines
 *   +0x2c  u32       C13ByteSize       then today's lines
 *   +0x30  u16       SourceFileCount, and 14 bytes more
 *   +0x40  strings   module name and object file name, each with a NUL
 * Source: MS dbi.h MODI, LLVM; seen.
 */
#define PDB_MODULE_FIXED_BYTES 64u
#define PDB_MODULE_COUNT_MAX   (1u << 20)

/*
 * Section contributions: u32 version, then entries sorted by section and offset:
 *   +0x00  u16  Section
 *   +0x02  u16  (padding)
 *   +0x04  u32  Offset
 *   +0x08  u32  Size
 *   +0x0c  u32  Characteristics
 *   +0x10  u16  ModuleIndex
 *   +0x12  u16  (padding), u32 DataCrc, u32 RelocCrc
 *   +0x1c  u32  ISectCoff         version 2 only
 * Source: MS dbi.h SC and SC2, LLVM; seen, version 1 in all files.
 */
#define PDB_CONTRIBUTIONS_V1      0xf12eba2du /* 0xeffe0000 + 19970605 */
#define PDB_CONTRIBUTIONS_V2      0xf13151e4u /* 0xeffe0000 + 20140516 */
#define PDB_CONTRIBUTION_BYTES_V1 28u
#define PDB_CONTRIBUTION_BYTES_V2 32u
#define PDB_CONTRIBUTION_READ     18u /* the fields above that are read */

/* Rows of the optional debug header: u16 stream numbers, 0xffff for none. A
 * shorter header lacks the later ones. Source: MS dbi.h DBGTYPE, LLVM; seen. */
#define PDB_DEBUG_OMAP_TO_SOURCE    3u
#define PDB_DEBUG_OMAP_FROM_SOURCE  4u
#define PDB_DEBUG_SECTIONS          5u
#define PDB_DEBUG_SECTIONS_ORIGINAL 10u
#define PDB_DEBUG_COUNT             11u

/* IMAGE_SECTION_HEADER: 8 bytes name, u32 VirtualSize, u32 VirtualAddress, 20
 * bytes not read, u32 Characteristics. Source: PE specification; seen. */
#define PDB_SECTION_HEADER_BYTES 40u
#define PDB_SECTION_COUNT_MAX    65535u

/*
 * OMAP: pairs of u32 {rva, rva in the other image}, sorted by the first; an
 * address belongs to the last pair at or before it and keeps its distance. If
 * the second is 0, nothing corresponds. "To source" maps the running image to the
 * linked one, "from source" the reverse. The addresses in symbols
 * are those of the linked image, whose sections are PDB_DEBUG_SECTIONS_ORIGINAL.
 * Source: MS dbi.h, LLVM's docs; not seen.
 */
#define PDB_OMAP_ENTRY_BYTES 8u

/* --- public symbols ------------------------------------------------------------ */

/*
 * Public symbol stream: u32 SymHash (bytes of the hash table), u32 AddrMap (bytes
 * of the address map), 20 bytes of thunk tables; then the hash table, then the
 * address map: offsets of S_PUB32 records in SymRecordStream, sorted by address.
 * Source: MS gsi.h PSGSIHDR, LLVM; seen.
 */
#define PDB_PUBLICS_HEADER_BYTES 28u

/* --- symbol records ----------------------------------------------------------- */

/*
 * A module stream begins with a u32 signature; 4 is today's form. A record is
 * u16 length of what follows, u16 kind, then the payload, aligned to 4. Source:
 * MS cvinfo.h; seen. pEnd is the stream offset of the record that closes a scope.
 */
#define PDB_SYMBOLS_C13         4u
#define PDB_RECORD_HEADER_BYTES 4u
#define PDB_RECORD_BYTES_MAX    (65535u + 2u)

#define PDB_S_END            0x0006u
#define PDB_S_THUNK32        0x1102u
#define PDB_S_BLOCK32        0x1103u
#define PDB_S_WITH32         0x1104u
#define PDB_S_PUB32          0x110eu
#define PDB_S_LPROC32        0x110fu
#define PDB_S_GPROC32        0x1110u
#define PDB_S_TRAMPOLINE     0x112cu
#define PDB_S_SEPCODE        0x1132u
#define PDB_S_LPROC32_ID     0x1146u
#define PDB_S_GPROC32_ID     0x1147u
#define PDB_S_INLINESITE     0x114du
#define PDB_S_INLINESITE_END 0x114eu
#define PDB_S_PROC_ID_END    0x114fu
#define PDB_S_LPROC32_DPC    0x1155u
#define PDB_S_LPROC32_DPC_ID 0x1156u
#define PDB_S_INLINESITE2    0x115du
#define PDB_S_HEAPALLOCSITE  0x115eu

/* S_[LG]PROC32 and its kin: u32 pParent, pEnd, pNext, Length, DbgStart, DbgEnd,
 * Type, Offset; u16 Section, u8 flags, the name with a NUL. Seen. */
#define PDB_PROC_NAME_AT 35u
/* S_THUNK32: u32 pParent, pEnd, pNext, Offset; u16 Section, u16 Length, u8
 * ordinal, the name. Seen. */
#define PDB_THUNK_NAME_AT 21u
/* S_TRAMPOLINE: u16 type, u16 size of the thunk, u32 thunk offset, u32 target
 * offset, u16 thunk section, u16 target section. Source: MS; seen. */
#define PDB_TRAMPOLINE_BYTES 16u
/* S_SEPCODE, a piece of a procedure that lies elsewhere: u32 pParent, pEnd,
 * Length, flags, Offset, offset of the parent; u16 Section, section of the
 * parent. Source: MS; not seen. */
#define PDB_SEPCODE_BYTES 28u
/* S_PUB32: u32 flags, u32 Offset, u16 Section, the name. Seen. */
#define PDB_PUBLIC_NAME_AT       10u
#define PDB_PUBLIC_FLAG_FUNCTION 2u
/* S_HEAPALLOCSITE: u32 Offset and u16 Section of a call, u16 its length in
 * bytes, u32 the type that is allocated. Source: MS; seen (clang at -O0). */
#define PDB_ALLOC_SITE_BYTES 12u
/* S_INLINESITE: u32 pParent, pEnd, Inlinee (an id in the IPI stream), then
 * annotations; S_INLINESITE2 has a u32 count before them. Source: MS; first seen. */
#define PDB_INLINE_SITE_BYTES  12u
#define PDB_INLINE_SITE2_BYTES 16u

/*
 * Annotations are a small program that lists code ranges with their lines. Each
 * number takes one byte (0xxxxxxx), two (10xxxxxx) or four (110xxxxx), highest
 * first; a signed one has its sign in bit 0. Operands of 12 are the length, then
 * the step; 11 is one number, line delta * 16 + code delta. 3, 11 and 12 begin a
 * range, which ends at the next one or where 4 (or 12) says; after 4 the code
 * offset is at the end of the range. Source: MS cvinfo.h, LLVM's writer, the
 * pdb crate; 3, 4, 5, 6 and 11 seen.
 */
#define PDB_BA_END                   0u
#define PDB_BA_CODE_OFFSET           1u
#define PDB_BA_CODE_OFFSET_BASE      2u
#define PDB_BA_CODE_DELTA            3u
#define PDB_BA_CODE_LENGTH           4u
#define PDB_BA_FILE                  5u
#define PDB_BA_LINE_DELTA            6u
#define PDB_BA_LINE_END_DELTA        7u
#define PDB_BA_RANGE_KIND            8u
#define PDB_BA_COLUMN_START          9u
#define PDB_BA_COLUMN_END_DELTA      10u
#define PDB_BA_CODE_AND_LINE_DELTA   11u
#define PDB_BA_CODE_LENGTH_AND_DELTA 12u
#define PDB_BA_COLUMN_END            13u

/* --- C13 lines ------------------------------------------------------------------ */

/*
 * Subsections: u32 kind (bit 31: ignore it), u32 size, data, aligned to 4.
 *
 * Lines: u32 Offset, u16 Section, u16 flags (1: columns follow the lines), u32
 * CodeSize; then a block for each file: u32 file, u32 count, u32 size of the
 * block with these 12 bytes, then per line u32 offset from Offset and u32 line in
 * bits 0..23. A file is an offset into the checksum subsection, where a u32 leads
 * to its name in the stream "/names" (a header of 12 bytes, then the names). After
 * it: u8 size and u8 kind of a checksum (0 none, 1 MD5, 2 SHA-1, 3 SHA-256), and its
 * bytes.
 *
 * Inlinee lines: u32 signature (1: extra files follow each entry), then u32
 * inlinee, u32 file, u32 line of its first one, [u32 count, u32 files].
 * Source: MS cvinfo.h, RS, LLVM; seen.
 */
#define PDB_FILE_BYTES               6u
#define PDB_SUBSECTION_HEADER_BYTES  8u
#define PDB_SUBSECTION_LINES         0xf2u
#define PDB_SUBSECTION_CHECKSUMS     0xf4u
#define PDB_SUBSECTION_INLINEE_LINES 0xf6u
#define PDB_LINES_HEADER_BYTES       12u
#define PDB_LINE_BLOCK_BYTES         12u
#define PDB_LINE_BYTES               8u
#define PDB_LINE_MASK                0x00ffffffu
#define PDB_INLINEE_LINE_BYTES       12u
#define PDB_INLINEE_EXTRA_FILES      1u
#define PDB_NAMES_SIGNATURE          0xeffeeffeu
#define PDB_NAMES_HEADER_BYTES       12u

/* Lines that say "do not step onto" and "do not step into" this code; no source
 * line. Source: MS cvinfo.h; the first seen. */
#define PDB_LINE_NO_STEP_ONTO 0xfeefeeu
#define PDB_LINE_NO_STEP_INTO 0xf00f00u

/* --- types (TPI) and ids (IPI) ---------------------------------------------------- */

/*
 *   +0x00  u32       Version
 *   +0x04  u32       HeaderSize
 *   +0x08  u32, u32  first type index, one past the last
 *   +0x10  u32       TypeRecordBytes   records follow the header
 *   +0x14  u16       HashStreamIndex
 *   +0x16  u16       (auxiliary hash stream)
 *   +0x18  16 bytes  hash key size, buckets, offset and size of the hash values
 *   +0x28  u32, u32  offset and size of the index: {type index, record offset}
 *                    for one record in about 8 KiB
 * Source: MS tpi.h HDR, LLVM; seen.
 */
#define PDB_TYPES_HEADER_BYTES 56u
#define PDB_TYPES_FIRST        0x1000u
#define PDB_TYPE_INDEX_BYTES   8u

#define PDB_LF_MODIFIER   0x1001u /* u32 type, u16 bits: 1 const, 2 volatile */
#define PDB_LF_POINTER    0x1002u /* u32 type, u32 attributes: bits 5..7 say & and && */
#define PDB_LF_PROCEDURE  0x1008u
#define PDB_LF_MFUNCTION  0x1009u
#define PDB_LF_ARRAY      0x1503u /* u32 element, u32 index type, number: bytes */
#define PDB_LF_CLASS      0x1504u /* u16 count, bits, u32 fields, derived, shape, number, name */
#define PDB_LF_STRUCTURE  0x1505u
#define PDB_LF_UNION      0x1506u /* u16 count, u16 bits, u32 fields, number, name */
#define PDB_LF_ENUM       0x1507u /* u16 count, u16 bits, u32 type, fields, name */
#define PDB_LF_INTERFACE  0x1519u
#define PDB_LF_CLASS2     0x1608u /* u32 bits, fields, derived, shape, u16 count, number, name */
#define PDB_LF_STRUCTURE2 0x1609u
#define PDB_LF_UNION2     0x160au /* u32 bits, u32 fields, u16 count, number, name */
#define PDB_LF_INTERFACE2 0x160bu
#define PDB_LF_FUNC_ID    0x1601u /* u32 scope id, u32 type, name */
#define PDB_LF_MFUNC_ID   0x1602u /* u32 class type, u32 type, name */
#define PDB_LF_STRING_ID  0x1605u /* u32 list of parts, text */

/* A number in types is a u16 below 0x8000, or a leaf that gives the type of what follows. */
#define PDB_NUMBER_LEAF      0x8000u
#define PDB_NUMBER_CHAR      0x8000u
#define PDB_NUMBER_SHORT     0x8001u
#define PDB_NUMBER_USHORT    0x8002u
#define PDB_NUMBER_LONG      0x8003u
#define PDB_NUMBER_ULONG     0x8004u
#define PDB_NUMBER_QUADWORD  0x8009u
#define PDB_NUMBER_UQUADWORD 0x800au

#endif
