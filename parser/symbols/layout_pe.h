/*
 * layout_pe.h - the format of program files on disk.
 *
 * All integers are little endian. An RVA is an offset in the image in memory,
 * where sections begin on pages. In the file they are packed more closely, so each
 * RVA is translated through the section table.
 *
 * Sources, by the short names used below:
 *   PE    "PE Format", Microsoft's specification of PE and COFF
 *   MSDN  "An In-Depth Look into the Win32 Portable Executable File Format",
 *         Matt Pietrek, and winnt.h of the Windows SDK
 *   CV    the CodeView records as LLVM (llvm/Object/CVDebugRecord.h) and Wine
 *         (dbghelp/pe_module.c) read them, who agree
 *   seen  four MSVC programs and what lld-link makes, compared with llvm-readobj
 */
#ifndef ETL_LAYOUT_PE_H
#define ETL_LAYOUT_PE_H

#include "parser/base.h"

/*
 * The file begins with a DOS program, of which two fields matter:
 *   +0x00  u16  e_magic    "MZ"
 *   +0x3c  u32  e_lfanew   file offset of the PE header
 * Source: PE, MSDN; seen.
 */
#define PE_DOS_MAGIC         0x5a4du
#define PE_DOS_LFANEW_OFFSET 0x3cu

/*
 * PE header, at e_lfanew:
 *   +0x00  u32  Signature              "PE\0\0"
 *   +0x04  u16  Machine
 *   +0x06  u16  NumberOfSections
 *   +0x08  u32  TimeDateStamp          time of linking, or a hash (/Brepro)
 *   +0x0c  u32  PointerToSymbolTable   not read
 *   +0x10  u32  NumberOfSymbols        not read
 *   +0x14  u16  SizeOfOptionalHeader
 *   +0x16  u16  Characteristics
 *   +0x18       optional header, then the section table
 * Source: PE; seen.
 */
#define PE_SIGNATURE         0x00004550u
#define PE_HEADER_BYTES      0x18u
#define PE_SECTION_COUNT_MAX 4096u /* Windows loads at most 96 */

/*
 * Optional header; P is 4 in PE32 and 8 in PE32+:
 *   +0x00  u16  Magic                0x10b PE32, 0x20b PE32+
 *   +0x10  u32  AddressOfEntryPoint
 *   +0x1c  P    ImageBase            at +0x18 in PE32+, which has no BaseOfData
 *   +0x38  u32  SizeOfImage
 *   +0x3c  u32  SizeOfHeaders        bytes that are in memory as in the file
 *   +0x40  u32  CheckSum
 *   +0x5c  u32  NumberOfRvaAndSizes  at +0x6c in PE32+
 *   +0x60       data directories     at +0x70 in PE32+; u32 RVA, u32 size each
 * Source: PE; seen for both.
 */
#define PE_MAGIC_PE32               0x10bu
#define PE_MAGIC_PE32_PLUS          0x20bu
#define PE_MAGIC_ROM                0x107u
#define PE_OPTIONAL_BYTES_PE32      0x60u /* before the data directories */
#define PE_OPTIONAL_BYTES_PE32_PLUS 0x70u
#define PE_DIRECTORY_BYTES          8u
#define PE_DIRECTORY_EXPORT         0u
#define PE_DIRECTORY_DEBUG          6u
#define PE_DIRECTORY_COUNT          16u

/*
 * Section header:
 *   +0x00  8 bytes  Name               ended by a NUL unless it fills the field
 *   +0x08  u32      VirtualSize        0 from some old linkers: SizeOfRawData counts
 *   +0x0c  u32      VirtualAddress
 *   +0x10  u32      SizeOfRawData
 *   +0x14  u32      PointerToRawData
 *   +0x18  12 bytes (relocations and line numbers of object files; not read)
 *   +0x24  u32      Characteristics
 * Source: PE; seen.
 */
#define PE_SECTION_BYTES      40u
#define PE_SECTION_NAME_BYTES 8u

/*
 * Debug directory: entries of 28 bytes.
 *   +0x00  u32  Characteristics
 *   +0x04  u32  TimeDateStamp
 *   +0x08  u16  MajorVersion
 *   +0x0a  u16  MinorVersion
 *   +0x0c  u32  Type
 *   +0x10  u32  SizeOfData
 *   +0x14  u32  AddressOfRawData   RVA, 0 when the data is not mapped
 *   +0x18  u32  PointerToRawData   file offset
 * Source: PE; seen.
 */
#define PE_DEBUG_ENTRY_BYTES   28u
#define PE_DEBUG_TYPE_CODEVIEW 2u

/*
 * CodeView record, PDB 7.00 and PDB 2.00:
 *   +0x00  u32       "RSDS"          +0x00  u32  "NB10"
 *   +0x04  16 bytes  GUID            +0x04  u32  offset, 0
 *   +0x14  u32       age             +0x08  u32  signature
 *   +0x18  string    path            +0x0c  u32  age
 *                                    +0x10  string  path
 * Source: CV; RSDS seen.
 */
#define PE_CODEVIEW_RSDS 0x53445352u
#define PE_CODEVIEW_NB10 0x3031424eu

/*
 * Export directory:
 *   +0x00  u32  ExportFlags
 *   +0x04  u32  TimeDateStamp
 *   +0x08  u16  MajorVersion
 *   +0x0a  u16  MinorVersion
 *   +0x0c  u32  Name                   RVA of the DLL's name
 *   +0x10  u32  Base                   ordinal of the first address
 *   +0x14  u32  NumberOfFunctions
 *   +0x18  u32  NumberOfNames
 *   +0x1c  u32  AddressOfFunctions     RVA of u32 RVAs, 0 for an unused ordinal
 *   +0x20  u32  AddressOfNames         RVA of u32 RVAs of names, in byte order
 *   +0x24  u32  AddressOfNameOrdinals  RVA of u16 indices into the addresses
 * An address inside the export directory itself is not code: there is the name of
 * the function that this one is forwarded to.
 * Source: PE; seen with names, bare ordinals, aliases and forwarders.
 */
#define PE_EXPORT_DIRECTORY_BYTES 40u

/* Name ordinals are u16, which bounds the addresses; aliases may outnumber them. */
#define PE_EXPORT_FUNCTIONS_MAX 0x10000u
#define PE_EXPORT_NAMES_MAX     0x20000u

/* MSVC shortens decorated names beyond 4096 bytes to a hash. Source: MSDN on C2552. */
#define PE_EXPORT_NAME_BYTES_MAX 4096u

#endif
