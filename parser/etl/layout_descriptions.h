/*
 * layout_descriptions.h - the descriptions of events on disk (private to the parser).
 *
 * Sources: SDK = TraceLoggingProvider.h and tdh.h of the Windows SDK, with Microsoft's pages
 * on TRACE_EVENT_INFO, EVENT_PROPERTY_INFO and EVENT_MAP_INFO; TE = PerfView's readers.
 */
#ifndef ETL_LAYOUT_DESCRIPTIONS_H
#define ETL_LAYOUT_DESCRIPTIONS_H

/*
 * Item PROVIDER_TRAITS: u16 size of the whole, then the provider's name, UTF-8 with a NUL,
 * then traits {u16 size, u8 type, data}, which are not needed.
 *
 * Item SCHEMA_TL: u16 size of the whole, tag bytes (the last one without bit 7), the
 * event's name, UTF-8 with a NUL, then the fields until the end. A field is
 *
 *   name    UTF-8 with a NUL
 *   u8      type on the wire; bits 5 and 6: array, bit 7: the next byte is there
 *   u8      type to show; bit 7: tag bytes follow. Of a structure, whose type is 24, the
 *           number of fields after it that are its members
 *   tags    bytes, the last one without bit 7
 *   u16     fixed number of elements, of an array of that kind
 *   u16, n  size and bytes of a private type, if bits 5 and 6 are both set
 *
 * Values are packed. An array of variable length has its u16 number of elements before it.
 * Source: SDK, TE. Seen: types 2, 4 to 7, 9 to 11, 15, 17, 18, 22 and 24 in two traces;
 * private types not.
 */
#define ETL_TL_ARRAY_FIXED 0x20u
#define ETL_TL_ARRAY       0x40u
#define ETL_TL_PRIVATE     0x60u
#define ETL_TL_TYPE_MASK   0x1fu
#define ETL_TL_CHAIN       0x80u
#define ETL_TL_STRUCT      24u

/* Types to show: TraceLogging's own up to 18, TDH's from 34 on. */
#define ETL_TL_OUT_STRING   2u
#define ETL_TL_OUT_BOOLEAN  3u
#define ETL_TL_OUT_HEX      4u
#define ETL_TL_OUT_PORT     7u
#define ETL_TL_OUT_IPV4     8u
#define ETL_TL_OUT_IPV6     9u
#define ETL_TL_OUT_NTSTATUS 14u
#define ETL_TL_OUT_HRESULT  15u
#define ETL_TL_OUT_FILETIME 16u
#define ETL_TL_OUT_SIGNED   17u
#define ETL_TL_OUT_UNSIGNED 18u

/*
 * MetaData/EventInfo, class 0x22 by GUID only: a TRACE_EVENT_INFO.
 *   +00  GUID provider               +30  u32  source: 0 manifest, 1 MOF, 3 TraceLogging
 *   +10  GUID event (classic)        +34  u32  offset of the provider's name
 *   +20  u16  id                     +44  u32  offset of the task's name
 *   +22  u8   version                +48  u32  offset of the opcode's name
 *   +23  u8   channel                +5c  u32  offset of the event's name (newer builds)
 *   +24  u8   level                  +64  u32  number of properties
 *   +25  u8   opcode                 +68  u32  number that are not members
 *   +26  u16  task                   +6c  u32  flags
 *   +28  u64  keyword                +70       properties, 24 bytes each
 *
 * Property: +0 u32 flags, +4 u32 offset of its name; +8 u16 type on the wire, u16 type to
 * show, u32 offset of its map's name; of a structure u16 first member, u16 members. +10 u16
 * number of elements, or the property that has it; +12 u16 length, likewise; +14 u32 tags.
 * Names are UTF-16 with a NUL. Source: SDK. Seen: 109 in three traces.
 *
 * MetaData/EventMapInfo: +0 GUID provider, +10 an EVENT_MAP_INFO, to which offsets relate:
 * +0 u32 offset of its name, +4 u32 flags, +8 u32 entries, +c u32 type of the values, +10
 * entries {u32 offset of the name, u32 value}. Names end in a space. Source: SDK; the GUID
 * in front observed. Seen: 33 in three traces.
 */
#define ETL_KEY_EVENT_INFO 0x2220u
#define ETL_KEY_EVENT_MAP  0x2221u

#define ETL_INFO_BYTES      0x70u
#define ETL_PROPERTY_BYTES  24u
#define ETL_MAP_BYTES       0x10u
#define ETL_MAP_ENTRY_BYTES 8u

#define ETL_INFO_SOURCE_MOF 1u

#define ETL_PROPERTY_STRUCT    0x1u
#define ETL_PROPERTY_LENGTH_BY 0x2u
#define ETL_PROPERTY_COUNT_BY  0x4u
#define ETL_PROPERTY_ARRAY     0x20u

#define ETL_MAP_BITS    0x12u /* of a manifest, of a class */
#define ETL_MAP_PATTERN 0x4u  /* its values are texts */

/* Types on the wire. TraceLogging's are the same numbers. Source: SDK (TDH_INTYPE). */
enum {
    ETL_IN_NULL,
    ETL_IN_TEXT16, /* with a NUL, or of the stated length in characters */
    ETL_IN_TEXT8,
    ETL_IN_I8,
    ETL_IN_U8,
    ETL_IN_I16,
    ETL_IN_U16,
    ETL_IN_I32,
    ETL_IN_U32,
    ETL_IN_I64,
    ETL_IN_U64,
    ETL_IN_FLOAT,
    ETL_IN_DOUBLE,
    ETL_IN_BOOL32,
    ETL_IN_BINARY, /* of the stated length; in TraceLogging preceded by a u16 size */
    ETL_IN_GUID,
    ETL_IN_POINTER,
    ETL_IN_FILETIME,
    ETL_IN_SYSTEMTIME,
    ETL_IN_SID,
    ETL_IN_HEX32,
    ETL_IN_HEX64,
    ETL_IN_COUNTED_TEXT16, /* u16 size in bytes before it */
    ETL_IN_COUNTED_TEXT8,
    ETL_IN_COUNTED_BINARY = 25,
    ETL_IN_CLASS_COUNTED_TEXT16 = 300,
    ETL_IN_CLASS_COUNTED_TEXT8,
    ETL_IN_REVERSED_TEXT16, /* u16 size, highest byte first */
    ETL_IN_REVERSED_TEXT8,
    ETL_IN_REST_TEXT16, /* to the end of the payload */
    ETL_IN_REST_TEXT8,
    ETL_IN_CHAR16,
    ETL_IN_CHAR8,
    ETL_IN_SIZE,
    ETL_IN_HEX_DUMP, /* u32 size before it */
    ETL_IN_CLASS_SID /* two pointers before it; one u32 of 0: there is none */
};

/* Types to show that matter here. Source: SDK (TDH_OUTTYPE). */
#define ETL_OUT_BOOLEAN   13u
#define ETL_OUT_HEX_FIRST 16u /* hexadecimal of 1, 2, 4 and 8 bytes */
#define ETL_OUT_HEX_LAST  19u
#define ETL_OUT_PORT      22u
#define ETL_OUT_IPV4      23u
#define ETL_OUT_IPV6      24u
#define ETL_OUT_NTSTATUS  31u
#define ETL_OUT_HRESULT   32u
#define ETL_OUT_UTF8      35u
#define ETL_OUT_POINTER   37u

#define ETL_SID_BYTES     8u
#define ETL_SID_PARTS_MAX 15u

#endif
