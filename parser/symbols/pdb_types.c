/*
 * pdb_types.c - names inlined functions and allocated types.
 *
 * In: numbers of type records. Out: names such as "Class::function" or "const item *".
 *
 * Type records have numbers but no directory: they lie one behind the other. The hash stream knows
 * where about one in 8 KiB of them begins; from the last such place before the wanted one it is at
 * most some hundred records. Nothing else of the type streams is read, and names once made are
 * remembered. Invariant: records refer to each other and may go round in circles, so following them
 * is bounded (TYPE_DEPTH_MAX).
 */
#include "pdb_internal.h"

/* Pointers and the like around a type are followed this far. */
#define TYPE_DEPTH_MAX 32u

/* Text put together in the resolver's scratch. */
typedef struct name_builder {
    u8 *at;
    u32 size;
} name_builder;

static bool find_type(etl_pdb_resolver *r, pdb_type_reader *types, u32 index, pdb_record *out);
static void nearest_indexed(etl_pdb_resolver *r, pdb_type_reader *types, u32 index, u32 *number,
                            u32 *at);
static etl_bytes make_inlinee_name(etl_pdb_resolver *r, u32 id);
static etl_bytes scope_name(etl_pdb_resolver *r, u32 id);
static etl_bytes make_type_name(etl_pdb_resolver *r, u32 type);
static etl_bytes record_name(etl_pdb_resolver *r, pdb_type_reader *types, const pdb_record *record);
static void skip_to_name(etl_cursor *c, u16 kind);
static void skip_number(etl_cursor *c);
static const char *simple_name(u32 type);
static bool is_pointer(u32 type);
static void append(name_builder *b, etl_bytes text);
static void append_text(name_builder *b, const char *text);

/* --- records by number ---------------------------------------------------------------- */

static bool find_type(etl_pdb_resolver *r, pdb_type_reader *types, u32 index, pdb_record *out)
{
    const pdb_type_table *const table = types->table;
    if (index < table->first || index >= table->last)
        return false;
    u32 number = table->first;
    u32 at = 0;
    nearest_indexed(r, types, index, &number, &at);
    const u32 end = table->records_at + table->records_size;
    at += table->records_at;
    for (;;) {
        if (at >= end || !pdb_spend_work(r, &types->records, 1) ||
            !pdb_record_at(r, &types->records, at, end, out))
            return false;
        if (number++ == index)
            return true;
        at = out->next;
    }
}

/* The last place in the index at or before the type; the first record without. */
static void nearest_indexed(etl_pdb_resolver *r, pdb_type_reader *types, u32 index, u32 *number,
                            u32 *at)
{
    const pdb_type_table *const table = types->table;
    u8 scratch[PDB_TYPE_INDEX_BYTES];
    u32 low = 0;
    u32 high = table->index_size / PDB_TYPE_INDEX_BYTES;
    while (low < high) {
        const u32 middle = low + (high - low) / 2;
        const u64 entry_at = (u64)table->index_at + (u64)middle * PDB_TYPE_INDEX_BYTES;
        etl_cursor c =
            etl_cursor_of(entry_at > UINT32_MAX ? (etl_bytes){ NULL, 0 }
                                                : msf_view(&types->hash, (u32)entry_at,
                                                           PDB_TYPE_INDEX_BYTES, scratch));
        const u32 first = etl_u32(&c);
        const u32 offset = etl_u32(&c);
        if (!etl_ok(&c)) {
            (void)pdb_note_damage(r, &types->hash, table->index_at,
                                  "the index of types is cut off");
            return;
        }
        if (first > index) {
            high = middle;
            continue;
        }
        low = middle + 1;
        if (first >= table->first && offset < table->records_size) {
            *number = first;
            *at = offset;
        }
    }
}

/* --- inlined functions --------------------------------------------------------------------- */

etl_bytes pdb_inlinee_name(etl_pdb_resolver *r, u32 id)
{
    etl_bytes name = { NULL, 0 };
    if (pdb_text_find(&r->text, PDB_KEY_INLINEE, id, &name))
        return name;
    name = make_inlinee_name(r, id);
    pdb_text_remember(&r->text, PDB_KEY_INLINEE, id, name);
    return name;
}

/* "Class::function", "namespace::function" or "function". */
static etl_bytes make_inlinee_name(etl_pdb_resolver *r, u32 id)
{
    pdb_record record;
    if (!find_type(r, &r->ids, id, &record))
        return (etl_bytes){ NULL, 0 };
    const bool is_member = record.kind == PDB_LF_MFUNC_ID;
    if (!is_member && record.kind != PDB_LF_FUNC_ID)
        return (etl_bytes){ NULL, 0 };
    etl_cursor c = pdb_payload(r, &r->ids.records, &record, 4);
    const u32 scope_id = etl_u32(&c);
    etl_bytes scope = { NULL, 0 };
    if (etl_ok(&c) && scope_id != 0)
        scope = is_member ? pdb_type_name(r, scope_id) : scope_name(r, scope_id);

    name_builder b = { r->name, 0 };
    if (scope.size > 0) {
        append(&b, scope);
        append_text(&b, "::");
    }
    append(&b, record_name(r, &r->ids, &record));
    return pdb_text_keep(&r->text, (etl_bytes){ b.at, b.size });
}

/* The scope of a free function: a text of namespaces, or a function around it. */
static etl_bytes scope_name(etl_pdb_resolver *r, u32 id)
{
    pdb_record record;
    if (!find_type(r, &r->ids, id, &record) ||
        (record.kind != PDB_LF_STRING_ID && record.kind != PDB_LF_FUNC_ID &&
         record.kind != PDB_LF_MFUNC_ID))
        return (etl_bytes){ NULL, 0 };
    return pdb_text_keep(&r->text, record_name(r, &r->ids, &record));
}

/* --- types --------------------------------------------------------------------------------- */

etl_bytes pdb_type_name(etl_pdb_resolver *r, u32 type)
{
    etl_bytes name = { NULL, 0 };
    if (pdb_text_find(&r->text, PDB_KEY_TYPE, type, &name))
        return name;
    name = make_type_name(r, type);
    pdb_text_remember(&r->text, PDB_KEY_TYPE, type, name);
    return name;
}

/* The pointers and modifiers around a named or simple type, outermost first. */
typedef struct type_wrapping {
    u16 kind;
    u32 bits;
} type_wrapping;

/* Follows one wrapping to the type inside; false if the record wraps nothing. */
static bool unwrap(etl_pdb_resolver *r, const pdb_record *record, type_wrapping *out, u32 *type)
{
    if (record->kind != PDB_LF_POINTER && record->kind != PDB_LF_MODIFIER &&
        record->kind != PDB_LF_ARRAY)
        return false;
    const u32 size = record->kind == PDB_LF_MODIFIER ? 6 : 8;
    etl_cursor c = pdb_payload(r, &r->types.records, record, size);
    *type = etl_u32(&c);
    *out = (type_wrapping){ record->kind, 0 };
    out->bits = size == 6 ? etl_u16(&c) : etl_u32(&c);
    return etl_ok(&c);
}

static const char *modifier_text(u32 bits)
{
    static const char *const texts[] = { "", "const ", "volatile ", "const volatile " };
    return texts[bits & 3];
}

/* Appends a wrapping. A modifier next to the name comes before it; others follow the pointers that
 * they modify. */
static void append_wrapping(name_builder *b, const type_wrapping *wrapping)
{
    static const char *const pointers[] = { "*", "&", "*", "*", "&&", "*", "*", "*" };
    switch (wrapping->kind) {
    case PDB_LF_POINTER:
        append_text(b, pointers[wrapping->bits >> 5 & 7]);
        break;
    case PDB_LF_ARRAY:
        append_text(b, "[]");
        break;
    default:
        append_text(b, wrapping->bits & 1 ? " const" : "");
        append_text(b, wrapping->bits & 2 ? " volatile" : "");
        break;
    }
}

static etl_bytes make_type_name(etl_pdb_resolver *r, u32 type)
{
    type_wrapping around[TYPE_DEPTH_MAX];
    u32 depth = 0;
    pdb_record record = { 0 };
    bool is_record = false;
    while (type >= PDB_TYPES_FIRST && depth < TYPE_DEPTH_MAX) {
        is_record = find_type(r, &r->types, type, &record);
        if (!is_record || !unwrap(r, &record, &around[depth], &type))
            break;
        is_record = false;
        depth++;
    }
    if (!is_record && type >= PDB_TYPES_FIRST)
        return (etl_bytes){ NULL, 0 };

    name_builder b = { r->name, 0 };
    if (depth > 0 && around[depth - 1].kind == PDB_LF_MODIFIER)
        append_text(&b, modifier_text(around[--depth].bits));
    if (is_record) {
        append(&b, record_name(r, &r->types, &record));
    } else {
        append_text(&b, simple_name(type));
        append_text(&b, is_pointer(type) ? "*" : "");
    }
    while (depth > 0)
        append_wrapping(&b, &around[--depth]);
    return pdb_text_keep(&r->text, (etl_bytes){ b.at, b.size });
}

/* --- names in records ------------------------------------------------------------------------ */

static etl_bytes record_name(etl_pdb_resolver *r, pdb_type_reader *types, const pdb_record *record)
{
    static const char function[] = "(function)";
    if (record->kind == PDB_LF_PROCEDURE || record->kind == PDB_LF_MFUNCTION)
        return (etl_bytes){ (const u8 *)function, sizeof function - 1 };
    etl_cursor c = pdb_payload_all(r, &types->records, record);
    skip_to_name(&c, record->kind);
    return etl_string8(&c);
}

static void skip_to_name(etl_cursor *c, u16 kind)
{
    switch (kind) {
    case PDB_LF_CLASS:
    case PDB_LF_STRUCTURE:
    case PDB_LF_INTERFACE:
        etl_skip(c, 16);
        skip_number(c);
        break;
    case PDB_LF_CLASS2:
    case PDB_LF_STRUCTURE2:
    case PDB_LF_INTERFACE2:
        etl_skip(c, 18);
        skip_number(c);
        break;
    case PDB_LF_UNION:
        etl_skip(c, 8);
        skip_number(c);
        break;
    case PDB_LF_UNION2:
        etl_skip(c, 10);
        skip_number(c);
        break;
    case PDB_LF_ENUM:
        etl_skip(c, 12);
        break;
    case PDB_LF_FUNC_ID:
    case PDB_LF_MFUNC_ID:
        etl_skip(c, 8);
        break;
    case PDB_LF_STRING_ID:
        etl_skip(c, 4);
        break;
    default:
        etl_fail(c);
        break;
    }
}

static void skip_number(etl_cursor *c)
{
    const u32 leaf = etl_u16(c);
    if (leaf < PDB_NUMBER_LEAF)
        return;
    switch (leaf) {
    case PDB_NUMBER_CHAR:
        etl_skip(c, 1);
        break;
    case PDB_NUMBER_SHORT:
    case PDB_NUMBER_USHORT:
        etl_skip(c, 2);
        break;
    case PDB_NUMBER_LONG:
    case PDB_NUMBER_ULONG:
        etl_skip(c, 4);
        break;
    case PDB_NUMBER_QUADWORD:
    case PDB_NUMBER_UQUADWORD:
        etl_skip(c, 8);
        break;
    default:
        etl_fail(c);
        break;
    }
}

/* Types below 0x1000 have no record: bits 0..7 are the type, 8..11 a pointer to
 * it. Source: MS cvinfo.h TYPE_ENUM_e; names as MSVC writes them. */
static const char *simple_name(u32 type)
{
    static const struct {
        u8 type;
        const char *name;
    } names[] = {
        { 0x03, "void" },
        { 0x08, "HRESULT" },
        { 0x10, "signed char" },
        { 0x11, "short" },
        { 0x12, "long" },
        { 0x13, "__int64" },
        { 0x14, "__int128" },
        { 0x20, "unsigned char" },
        { 0x21, "unsigned short" },
        { 0x22, "unsigned long" },
        { 0x23, "unsigned __int64" },
        { 0x24, "unsigned __int128" },
        { 0x30, "bool" },
        { 0x40, "float" },
        { 0x41, "double" },
        { 0x42, "long double" },
        { 0x46, "_Float16" },
        { 0x68, "__int8" },
        { 0x69, "unsigned __int8" },
        { 0x70, "char" },
        { 0x71, "wchar_t" },
        { 0x72, "short" },
        { 0x73, "unsigned short" },
        { 0x74, "int" },
        { 0x75, "unsigned" },
        { 0x76, "__int64" },
        { 0x77, "unsigned __int64" },
        { 0x78, "__int128" },
        { 0x79, "unsigned __int128" },
        { 0x7a, "char16_t" },
        { 0x7b, "char32_t" },
        { 0x7c, "char8_t" },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(names); i++)
        if (names[i].type == (type & 0xff))
            return names[i].name;
    return "";
}

static bool is_pointer(u32 type)
{
    return (type >> 8 & 0xf) != 0;
}

/* --- text ------------------------------------------------------------------------------------ */

/* Appends text; what does not fit is left out. */
static void append(name_builder *b, etl_bytes text)
{
    const u32 left = PDB_NAME_MAX - b->size;
    const u32 part = text.size < left ? (u32)text.size : left;
    if (part > 0)
        memcpy(b->at + b->size, text.at, part);
    b->size += part;
}

static void append_text(name_builder *b, const char *text)
{
    append(b, (etl_bytes){ (const u8 *)text, strlen(text) });
}
