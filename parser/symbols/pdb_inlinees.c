/*
 * pdb_inlinees.c - finds the inlined calls that an address lies in.
 *
 * In: the inline sites of a procedure, and the queries (addresses) inside it. Out: for each query a
 * list of calls with their lines.
 *
 * Each inline site has a program of annotations (layout_pdb.h) that lists its code ranges with
 * their lines. It runs once, and each range is laid over the addresses of the procedure. Sites come
 * outermost first, and an address inside a site must be inside the one around it. So the calls of
 * an address are a list to which each site is pushed at the front:
 *
 *     query.innermost -> h -> g -> 0        h inlined into g inlined into f
 *
 * Invariant: a site is pushed only if the list's front is the site around it, or a procedure folded
 * into this one would add its own calls.
 */
#include <stdlib.h>

#include "pdb_internal.h"

/* A run of a site's program. Offsets are from the procedure's start; file and line_delta in `call`
 * are those of the next range. */
typedef struct site_run {
    etl_pdb_resolver *r;
    const pdb_inline_scope *scope;
    pdb_inline call;
    u32 code_offset;
    bool is_elsewhere; /* offsets count from a separate piece of the procedure */
    bool is_open;      /* a range began at `begin` and has not ended */
    u32 begin;
    pdb_inline open_call;
    bool is_inside; /* an address was in some range */
} site_run;

static const char hash_anchor = 0;

static void step(site_run *run, u32 op, u32 operand, u32 second);
static void begin_range(site_run *run);
static void end_range(site_run *run, u32 end);
static bool push(etl_pdb_resolver *r, pdb_query *query, const pdb_inline *call);
static u32 number(etl_cursor *c);
static u32 signed_number(u32 encoded);
static pdb_inlinee *inlinee_place(const etl_pdb_resolver *r, u32 id);

bool pdb_add_inline_site(etl_pdb_resolver *r, const pdb_record *site, const pdb_inline_scope *scope)
{
    etl_cursor c = pdb_payload_all(r, &r->module, site);
    etl_skip(&c, 8);
    site_run run = { .r = r, .scope = scope };
    run.call = (pdb_inline){ .site = site->at, .file = PDB_FILE_OF_INLINEE };
    run.call.inlinee = etl_u32(&c);
    if (site->kind == PDB_S_INLINESITE2)
        etl_skip(&c, 4);
    while (etl_ok(&c) && c.left > 0) {
        const u32 op = number(&c);
        if (op == PDB_BA_END)
            break; /* the rest aligns the record */
        const u32 operand = number(&c);
        const u32 second = op == PDB_BA_CODE_LENGTH_AND_DELTA ? number(&c) : 0;
        if (!etl_ok(&c) || op > PDB_BA_COLUMN_END) {
            (void)pdb_note_damage(r, &r->module, site->at, "an inlined call's ranges are damaged");
            break;
        }
        step(&run, op, operand, second);
    }
    return run.is_inside;
}

static void step(site_run *run, u32 op, u32 operand, u32 second)
{
    switch (op) {
    case PDB_BA_CODE_OFFSET_BASE:
        run->is_elsewhere = operand != 0;
        break;
    case PDB_BA_CODE_OFFSET:
        run->code_offset = operand;
        begin_range(run);
        break;
    case PDB_BA_CODE_DELTA:
        run->code_offset += operand;
        begin_range(run);
        break;
    case PDB_BA_CODE_AND_LINE_DELTA:
        run->code_offset += operand & 0xf;
        run->call.line_delta += signed_number(operand >> 4);
        begin_range(run);
        break;
    case PDB_BA_CODE_LENGTH_AND_DELTA:
        run->code_offset += second;
        begin_range(run);
        end_range(run, run->code_offset + operand);
        break;
    case PDB_BA_CODE_LENGTH:
        run->code_offset += operand;
        end_range(run, run->code_offset);
        break;
    case PDB_BA_FILE:
        run->call.file = operand;
        break;
    case PDB_BA_LINE_DELTA:
        run->call.line_delta += signed_number(operand);
        break;
    default: /* columns, ends of lines, kinds of ranges */
        break;
    }
}

static void begin_range(site_run *run)
{
    end_range(run, run->code_offset);
    run->is_open = true;
    run->begin = run->code_offset;
    run->open_call = run->call;
}

/* Ends the open range, if any. Damaged offsets that run backwards make it empty. */
static void end_range(site_run *run, u32 end)
{
    const u32 start = run->scope->start;
    if (!run->is_open)
        return;
    run->is_open = false;
    if (run->is_elsewhere || end <= run->begin || end > UINT32_MAX - start)
        return;
    etl_pdb_resolver *const r = run->r;
    for (u32 i = pdb_first_query(r, start + run->begin); i < run->scope->end; i++) {
        pdb_query *const query = &r->queries[i];
        if (query->rva >= start + end || !pdb_spend_work(r, &r->module, 1))
            return;
        const u32 around = query->innermost > 0 ? r->inlines[query->innermost - 1].site : 0;
        if (query->record != run->scope->procedure || around != run->scope->outer)
            continue; /* of a procedure folded into this one, or in no outer site */
        if (!push(r, query, &run->open_call))
            return;
        run->is_inside = true;
    }
}

static bool push(etl_pdb_resolver *r, pdb_query *query, const pdb_inline *call)
{
    if (r->inline_count == r->inline_capacity) {
        const u32 capacity = r->inline_capacity > 0 ? r->inline_capacity * 2 : 1024;
        pdb_inline *const grown =
            capacity > PDB_INLINES_MAX ? NULL : realloc(r->inlines, capacity * sizeof *grown);
        if (!grown)
            return pdb_note_damage(r, &r->module, call->site, "more inlined calls than are kept");
        r->inlines = grown;
        r->inline_capacity = capacity;
    }
    r->inlines[r->inline_count] = *call;
    r->inlines[r->inline_count].outer = query->innermost;
    query->innermost = ++r->inline_count;
    return true;
}

/* A number of the annotations, in one, two or four bytes. */
static u32 number(etl_cursor *c)
{
    const u32 first = etl_u8(c);
    if (first < 0x80)
        return first;
    const u32 second = etl_u8(c);
    if (first < 0xc0)
        return (first & 0x3f) << 8 | second;
    const u32 third = etl_u8(c);
    const u32 fourth = etl_u8(c);
    if (first >= 0xe0)
        etl_fail(c);
    return (first & 0x1f) << 24 | second << 16 | third << 8 | fourth;
}

/* Decodes a signed number; modulo 2^32, because it is added. */
static u32 signed_number(u32 encoded)
{
    const u32 magnitude = encoded >> 1;
    return encoded & 1 ? 0 - magnitude : magnitude;
}

/* --- inlinees ------------------------------------------------------------------------ */

/* Collects the inlinees in a hash table with room for twice as many as there can be. */
bool pdb_collect_inlinees(etl_pdb_resolver *r)
{
    u32 places = 64;
    while (places < r->inline_count * 2)
        places *= 2;
    if (places > r->inlinee_capacity) {
        free(r->inlinees);
        r->inlinees = malloc(places * sizeof *r->inlinees);
        r->inlinee_capacity = r->inlinees ? places : 0;
    }
    r->inlinee_places = r->inlinees ? places : 0;
    if (!r->inlinees)
        return false;
    memset(r->inlinees, 0, places * sizeof *r->inlinees);
    for (u32 i = 0; i < r->inline_count; i++)
        if (r->inlines[i].inlinee != 0)
            inlinee_place(r, r->inlines[i].inlinee)->id = r->inlines[i].inlinee;
    return true;
}

pdb_inlinee *pdb_inlinee_of(const etl_pdb_resolver *r, u32 id)
{
    if (r->inlinee_places == 0 || id == 0)
        return NULL;
    pdb_inlinee *const place = inlinee_place(r, id);
    return place->id == id ? place : NULL;
}

static pdb_inlinee *inlinee_place(const etl_pdb_resolver *r, u32 id)
{
    const u32 mask = r->inlinee_places - 1;
    u32 at = (u32)etl_mix_u64(id ^ etl_hash_seed(&hash_anchor)) & mask;
    while (r->inlinees[at].id != 0 && r->inlinees[at].id != id)
        at = (at + 1) & mask;
    return &r->inlinees[at];
}
