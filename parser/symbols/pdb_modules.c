/*
 * pdb_modules.c - finds procedures, thunks and allocation sites in one object file's symbols.
 *
 * In: the symbol records of a module, and the queries of its addresses. Out: for each query its
 * procedure, or another symbol; inline sites are handed to pdb_inlinees.c.
 *
 * A module's symbols are a flat list of records in which procedures, blocks and inlined calls open
 * scopes that a later record closes:
 *
 *     S_GPROC32 f              pEnd ----------------+
 *       S_INLINESITE g           pEnd --+           |
 *         S_INLINESITE h .. _END        |           |
 *       S_INLINESITE_END  <-------------+           |
 *       S_BLOCK32 .. S_END                          |
 *     S_END  <--------------------------------------+
 *
 * A procedure that holds none of the addresses is jumped over, and so is an inlined call: nothing
 * inside can hold them. If two procedures claim an address (functions folded into one by the
 * linker), the first one has it. Parts of a procedure that the compiler moved elsewhere (S_SEPCODE)
 * come after it and name it by address; they are joined in a second scan, if there are any.
 * Invariant: pEnd comes from the file, so a jump is believed only if it leads forward to a record
 * that closes the scope.
 */
#include <stdlib.h>

#include "pdb_internal.h"

/* Scopes nested deeper than this are taken to lie in the deepest one kept. */
#define SCOPE_DEPTH_MAX 512u

typedef struct procedure {
    u32 scope_end; /* stream offset of the record that closes it */
    u32 start;     /* source RVA */
    u32 size;
} procedure;

static u32 symbols_end(etl_pdb_resolver *r, const pdb_module *module);
static u32 visit(etl_pdb_resolver *r, const pdb_record *record, u32 end, u32 *piece_count);
static bool read_procedure(etl_pdb_resolver *r, const pdb_record *record, procedure *out);
static u32 visit_procedure(etl_pdb_resolver *r, const pdb_record *record, u32 end);
static u32 read_scope(etl_pdb_resolver *r, const pdb_record *record, u32 end,
                      const pdb_inline_scope *scope);
static u32 visit_inline_site(etl_pdb_resolver *r, const pdb_record *site, u32 end,
                             const pdb_inline_scope *scope, u32 *depth);
static u32 after_scope(etl_pdb_resolver *r, const pdb_record *record, u32 scope_end, u32 end);
static void visit_thunk(etl_pdb_resolver *r, const pdb_record *record);
static void visit_trampoline(etl_pdb_resolver *r, const pdb_record *record);
static void visit_alloc_site(etl_pdb_resolver *r, const pdb_record *record);
static u32 visit_piece(etl_pdb_resolver *r, const pdb_record *record);
static u32 claim(etl_pdb_resolver *r, const pdb_record *record, u32 start, u32 size);
static void join_pieces(etl_pdb_resolver *r, u32 end, u32 count);
static void join_procedure(etl_pdb_resolver *r, const pdb_record *record, const u64 *pieces,
                           u32 count);

static bool is_procedure(u16 kind)
{
    switch (kind) {
    case PDB_S_GPROC32:
    case PDB_S_LPROC32:
    case PDB_S_GPROC32_ID:
    case PDB_S_LPROC32_ID:
    case PDB_S_LPROC32_DPC:
    case PDB_S_LPROC32_DPC_ID:
        return true;
    default:
        return false;
    }
}

void pdb_find_procedures(etl_pdb_resolver *r, const pdb_module *module)
{
    const u32 end = symbols_end(r, module);
    u32 piece_count = 0;
    pdb_record record;
    for (u32 at = 4; at < end && pdb_record_at(r, &r->module, at, end, &record);)
        at = visit(r, &record, end, &piece_count);
    if (piece_count > 0)
        join_pieces(r, end, piece_count);
}

/* The end of the records; 0 if there are none. */
static u32 symbols_end(etl_pdb_resolver *r, const pdb_module *module)
{
    u32 end = module->symbols_size;
    if (end < 4)
        return 0;
    if (end > r->module.size) {
        (void)pdb_note_damage(r, &r->module, r->module.size, "the symbols of a module are cut off");
        end = r->module.size;
    }
    u8 scratch[4];
    etl_cursor c = etl_cursor_of(msf_view(&r->module, 0, 4, scratch));
    if (etl_u32(&c) != PDB_SYMBOLS_C13) {
        (void)pdb_note_damage(r, &r->module, 0, "symbols of an unknown form");
        return 0;
    }
    return pdb_spend_work(r, &r->module, end / 8) ? end : 0;
}

/* Takes a record outside every procedure; returns where the next one is. */
static u32 visit(etl_pdb_resolver *r, const pdb_record *record, u32 end, u32 *piece_count)
{
    if (is_procedure(record->kind))
        return visit_procedure(r, record, end);
    switch (record->kind) {
    case PDB_S_THUNK32:
        visit_thunk(r, record);
        break;
    case PDB_S_TRAMPOLINE:
        visit_trampoline(r, record);
        break;
    case PDB_S_SEPCODE:
        *piece_count += visit_piece(r, record);
        break;
    case PDB_S_HEAPALLOCSITE:
        visit_alloc_site(r, record);
        break;
    default:
        break;
    }
    return record->next;
}

/* --- procedures -------------------------------------------------------------------- */

static bool read_procedure(etl_pdb_resolver *r, const pdb_record *record, procedure *out)
{
    etl_cursor c = pdb_payload(r, &r->module, record, PDB_PROC_NAME_AT);
    etl_skip(&c, 4);
    out->scope_end = etl_u32(&c);
    etl_skip(&c, 4);
    out->size = etl_u32(&c);
    etl_skip(&c, 12);
    const u32 offset = etl_u32(&c);
    const u32 section = etl_u16(&c);
    return etl_ok(&c) && pdb_rva_of(r->file, section, offset, &out->start);
}

static u32 visit_procedure(etl_pdb_resolver *r, const pdb_record *record, u32 end)
{
    procedure p;
    if (!read_procedure(r, record, &p))
        return record->next;
    const u32 claimed = claim(r, record, p.start, p.size);
    if (claimed == 0 || (r->want & (ETL_PDB_WANT_INLINES | ETL_PDB_WANT_ALLOC_TYPES)) == 0)
        return after_scope(r, record, p.scope_end, end);
    pdb_inline_scope scope = { .start = p.start, .procedure = record->at };
    scope.first = pdb_first_query(r, p.start);
    scope.end = pdb_query_behind(r, p.start, p.size);
    return read_scope(r, record, end, &scope);
}

/* Reads on to the record that closes the procedure; returns what follows that. */
static u32 read_scope(etl_pdb_resolver *r, const pdb_record *record, u32 end,
                      const pdb_inline_scope *scope)
{
    u32 sites[SCOPE_DEPTH_MAX] = { 0 }; /* per open scope: the inline site it is in */
    u32 depth = 0;
    pdb_record inner;
    for (u32 at = record->next; at < end;) {
        if (!pdb_record_at(r, &r->module, at, end, &inner))
            return end;
        at = inner.next;
        const u32 deepest = depth < SCOPE_DEPTH_MAX ? depth : SCOPE_DEPTH_MAX - 1;
        pdb_inline_scope here = *scope;
        here.outer = sites[deepest];
        u32 opened = 0;
        switch (inner.kind) {
        case PDB_S_END:
        case PDB_S_INLINESITE_END:
        case PDB_S_PROC_ID_END:
            if (depth == 0)
                return at;
            depth--;
            continue;
        case PDB_S_HEAPALLOCSITE:
            visit_alloc_site(r, &inner);
            continue;
        case PDB_S_INLINESITE:
        case PDB_S_INLINESITE2:
            at = visit_inline_site(r, &inner, end, &here, &opened);
            break;
        case PDB_S_BLOCK32:
        case PDB_S_WITH32:
        case PDB_S_THUNK32:
        case PDB_S_SEPCODE:
            opened = here.outer + 1;
            break;
        default:
            continue;
        }
        if (opened > 0) {
            depth++;
            if (depth < SCOPE_DEPTH_MAX)
                sites[depth] = opened - 1;
        }
    }
    (void)pdb_note_damage(r, &r->module, record->at, "a procedure without an end");
    return end;
}

/* Enters the site (*opened is 1 + its offset) or, when it holds no address, goes
 * past it; returns where the next record is. */
static u32 visit_inline_site(etl_pdb_resolver *r, const pdb_record *site, u32 end,
                             const pdb_inline_scope *scope, u32 *opened)
{
    *opened = 0;
    if ((r->want & ETL_PDB_WANT_INLINES) && pdb_add_inline_site(r, site, scope)) {
        *opened = site->at + 1;
        return site->next;
    }
    etl_cursor c = pdb_payload(r, &r->module, site, PDB_INLINE_SITE_BYTES);
    etl_skip(&c, 4);
    const u32 scope_end = etl_u32(&c);
    const u32 next = after_scope(r, site, scope_end, end);
    if (next == site->next)
        *opened = site->at + 1; /* no believable end: read through it */
    return next;
}

/* The record after the one that closes the scope; if pEnd does not lead to one, the next record. */
static u32 after_scope(etl_pdb_resolver *r, const pdb_record *record, u32 scope_end, u32 end)
{
    pdb_record last;
    if (scope_end < record->next || scope_end >= end ||
        !pdb_record_at(r, &r->module, scope_end, end, &last))
        return record->next;
    const bool closes = last.kind == PDB_S_END || last.kind == PDB_S_PROC_ID_END ||
                        last.kind == PDB_S_INLINESITE_END;
    return closes ? last.next : record->next;
}

/* --- what is no procedure ------------------------------------------------------------ */

static void visit_thunk(etl_pdb_resolver *r, const pdb_record *record)
{
    etl_cursor c = pdb_payload(r, &r->module, record, PDB_THUNK_NAME_AT);
    etl_skip(&c, 12);
    const u32 offset = etl_u32(&c);
    const u32 section = etl_u16(&c);
    const u32 size = etl_u16(&c);
    u32 start = 0;
    if (etl_ok(&c) && pdb_rva_of(r->file, section, offset, &start))
        (void)claim(r, record, start, size);
}

static void visit_trampoline(etl_pdb_resolver *r, const pdb_record *record)
{
    etl_cursor c = pdb_payload(r, &r->module, record, PDB_TRAMPOLINE_BYTES);
    etl_skip(&c, 2);
    const u32 size = etl_u16(&c);
    const u32 offset = etl_u32(&c);
    etl_skip(&c, 4);
    const u32 section = etl_u16(&c);
    u32 start = 0;
    if (etl_ok(&c) && pdb_rva_of(r->file, section, offset, &start))
        (void)claim(r, record, start, size);
}

static void visit_alloc_site(etl_pdb_resolver *r, const pdb_record *record)
{
    if ((r->want & ETL_PDB_WANT_ALLOC_TYPES) == 0)
        return;
    etl_cursor c = pdb_payload(r, &r->module, record, PDB_ALLOC_SITE_BYTES);
    const u32 offset = etl_u32(&c);
    const u32 section = etl_u16(&c);
    const u32 call_size = etl_u16(&c);
    const u32 type = etl_u32(&c);
    u32 start = 0;
    if (!etl_ok(&c) || call_size == 0 || !pdb_rva_of(r->file, section, offset, &start))
        return;
    /* Addresses are already reduced by 1, so the last byte of the call is looked up. */
    const u64 last = (u64)start + call_size - 1;
    for (u32 i = last > UINT32_MAX ? r->query_count : pdb_first_query(r, (u32)last);
         i < r->query_count && r->queries[i].rva == last; i++)
        if (r->queries[i].alloc_type == 0)
            r->queries[i].alloc_type = type;
}

/* Gives the symbol to the addresses that it covers and that have none yet; returns how many. */
static u32 claim(etl_pdb_resolver *r, const pdb_record *record, u32 start, u32 size)
{
    const u32 first = pdb_first_query(r, start);
    const u32 end = pdb_query_behind(r, start, size);
    u32 claimed = 0;
    for (u32 i = first; i < end; i++) {
        pdb_query *const query = &r->queries[i];
        query->claims++;
        if (query->record_kind != 0)
            continue;
        query->record = record->at;
        query->record_kind = record->kind;
        query->start = start;
        query->size = size;
        claimed++;
    }
    return claimed;
}

/* --- pieces of procedures --------------------------------------------------------------- */

/* Visits a piece. Until join_pieces, `start` of a claimed address is that of the piece's
 * procedure. */
static u32 visit_piece(etl_pdb_resolver *r, const pdb_record *record)
{
    etl_cursor c = pdb_payload(r, &r->module, record, PDB_SEPCODE_BYTES);
    etl_skip(&c, 8);
    const u32 size = etl_u32(&c);
    etl_skip(&c, 4);
    const u32 offset = etl_u32(&c);
    const u32 parent_offset = etl_u32(&c);
    const u32 section = etl_u16(&c);
    const u32 parent_section = etl_u16(&c);
    u32 start = 0;
    u32 parent = 0;
    if (!etl_ok(&c) || !pdb_rva_of(r->file, section, offset, &start) ||
        !pdb_rva_of(r->file, parent_section, parent_offset, &parent))
        return 0;
    const u32 claimed = claim(r, record, start, size);
    for (u32 i = pdb_first_query(r, start); claimed > 0 && i < r->query_count; i++) {
        if (r->queries[i].record == record->at)
            r->queries[i].start = parent;
        else if (r->queries[i].rva - start >= size)
            break;
    }
    return claimed;
}

static int compare_u64(const void *left, const void *right)
{
    u64 a;
    u64 b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    return a < b ? -1 : a > b;
}

/* Looks for the procedures of the pieces: sorted by where those begin, each
 * procedure finds its pieces by binary search. */
static void join_pieces(etl_pdb_resolver *r, u32 end, u32 count)
{
    u64 *const pieces = malloc(count * sizeof *pieces);
    u32 used = 0;
    for (u32 i = 0; i < r->query_count; i++) {
        if (r->queries[i].record_kind != PDB_S_SEPCODE)
            continue;
        if (pieces && used < count)
            pieces[used++] = (u64)r->queries[i].start << 32 | i;
        r->queries[i].record_kind = 0; /* for the public symbols, unless it is found */
    }
    if (used > 0)
        qsort(pieces, used, sizeof *pieces, compare_u64);
    pdb_record record;
    for (u32 at = 4; used > 0 && at < end && pdb_record_at(r, &r->module, at, end, &record);
         at = record.next)
        if (is_procedure(record.kind))
            join_procedure(r, &record, pieces, used);
    free(pieces);
}

static void join_procedure(etl_pdb_resolver *r, const pdb_record *record, const u64 *pieces,
                           u32 count)
{
    procedure p;
    if (!read_procedure(r, record, &p))
        return;
    u32 at;
    ETL_BISECT(at, 0, count, pieces[at] >> 32 < p.start);
    for (; at < count && pieces[at] >> 32 == p.start; at++) {
        pdb_query *const query = &r->queries[pieces[at] & UINT32_MAX];
        if (query->record_kind != 0)
            continue;
        query->record = record->at;
        query->record_kind = record->kind;
        query->start = p.start;
        query->size = p.size;
    }
}
