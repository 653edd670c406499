/*
 * pdb_resolver.c - resolves a batch of addresses, object file by object file.
 *
 * In: addresses of one PDB, ascending. Out: for each a location: function, inlined calls, file and
 * line.
 *
 * One by one, each address would find its module, scan its symbols for the procedure, and scan its
 * lines: quadratic, and a random walk through the file. Here the batch is turned round. Its
 * addresses are grouped by module with a counting sort, which keeps them ascending in each group.
 * Then each module is read once, from front to back, and lays its procedures, inline sites and
 * lines over the group; a binary search finds the addresses concerned.
 *
 *     begin:  address -> section contribution -> module -> place in `order`
 *     next:   module by module: queries <- procedures, inlined calls, lines;
 *             what stayed without a symbol <- nearest public; then one by one
 *
 * Invariant: texts of a location may lie in the scratch of the next record, so they are valid only
 * until the next call.
 */
#include <stdlib.h>

#include "pdb_internal.h"

static bool allocate(etl_pdb_resolver *r);
static void open_streams(etl_pdb_resolver *r);
static bool reserve_batch(etl_pdb_resolver *r, size_t count);
static void group_by_module(etl_pdb_resolver *r);
static bool load_group(etl_pdb_resolver *r);
static bool reserve_queries(etl_pdb_resolver *r, u32 count);
static void fill_queries(etl_pdb_resolver *r, u32 count);
static int compare_queries(const void *left, const void *right);
static void run_passes(etl_pdb_resolver *r);
static void describe(etl_pdb_resolver *r, const pdb_query *query, etl_pdb_location *out);
static void describe_symbol(etl_pdb_resolver *r, const pdb_query *query, etl_pdb_location *out);
static void describe_inlined(etl_pdb_resolver *r, const pdb_query *query, etl_pdb_location *out);

etl_status etl_pdb_resolver_open(const etl_pdb_file *file, u32 want, etl_pdb_resolver **out,
                                 etl_error *err)
{
    *out = NULL;
    if ((want & ~ETL_PDB_WANT_ALL) != 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "unknown PDB_WANT_ bits 0x%x", want);
    etl_pdb_resolver *const r = calloc(1, sizeof *r);
    if (r) {
        r->file = file;
        r->want = want;
    }
    if (!r || !allocate(r)) {
        etl_pdb_resolver_close(r);
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory for a resolver");
    }
    open_streams(r);
    *out = r;
    return ETL_OK;
}

static bool allocate(etl_pdb_resolver *r)
{
    r->record = malloc(PDB_RECORD_BYTES_MAX);
    r->name = malloc(PDB_NAME_MAX);
    r->ends = calloc((size_t)r->file->info.module_count + 1, sizeof *r->ends);
    return r->record && r->name && r->ends;
}

static void open_streams(etl_pdb_resolver *r)
{
    const etl_pdb_file *const file = r->file;
    const msf_file *const msf = &file->msf;
    r->debug = msf_stream_of(msf, PDB_STREAM_DBI);
    r->publics = msf_stream_of(msf, file->publics_stream);
    r->symbols = msf_stream_of(msf, file->symbols_stream);
    r->names = msf_stream_of(msf, file->names_stream);
    r->omap_to_source = msf_stream_of(msf, file->omap_to_source);
    r->omap_from_source = msf_stream_of(msf, file->omap_from_source);
    r->types = (pdb_type_reader){ &file->types, msf_stream_of(msf, file->types.stream),
                                  msf_stream_of(msf, file->types.hash_stream) };
    r->ids = (pdb_type_reader){ &file->ids, msf_stream_of(msf, file->ids.stream),
                                msf_stream_of(msf, file->ids.hash_stream) };
    pdb_open_publics(r);
}

void etl_pdb_resolver_close(etl_pdb_resolver *r)
{
    if (!r)
        return;
    pdb_text_close(&r->text);
    free(r->order);
    free(r->module_of);
    free(r->ends);
    free(r->queries);
    free(r->inlines);
    free(r->inlinees);
    free(r->record);
    free(r->name);
    free(r);
}

const etl_pdb_damage *etl_pdb_resolver_damage(const etl_pdb_resolver *r)
{
    return &r->damage;
}

/* --- a batch -------------------------------------------------------------------- */

etl_status etl_pdb_resolver_begin(etl_pdb_resolver *r, const u32 *rvas, size_t count,
                                  etl_error *err)
{
    r->count = r->taken = 0;
    r->query_count = r->query_at = 0;
    if (count >= UINT32_MAX)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "a batch of %zu addresses is too large",
                             count);
    for (size_t i = 1; i < count; i++)
        if (rvas[i] < rvas[i - 1])
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "address %zu is below the one before",
                                 i);
    if (!reserve_batch(r, count))
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory for %zu addresses", count);
    r->rvas = rvas;
    r->count = (u32)count;
    r->group = 0;
    r->contribution_hint = r->public_hint = 0;
    r->work_left = ETL_MIB + (u64)count * 1024 + r->file->msf.bytes.size * 4;
    r->gave_up = false;
    group_by_module(r);
    return ETL_OK;
}

static bool reserve_batch(etl_pdb_resolver *r, size_t count)
{
    if (count <= r->capacity)
        return true;
    free(r->order);
    free(r->module_of);
    r->order = malloc(count * sizeof *r->order);
    r->module_of = malloc(count * sizeof *r->module_of);
    r->capacity = r->order && r->module_of ? (u32)count : 0;
    return r->capacity > 0;
}

/* A counting sort: `ends` counts, then says where each group begins, and, as the
 * group is filled, where it ends. */
static void group_by_module(etl_pdb_resolver *r)
{
    const u32 none = r->file->info.module_count;
    memset(r->ends, 0, ((size_t)none + 1) * sizeof *r->ends);
    for (u32 i = 0; i < r->count; i++) {
        u32 source = 0;
        const bool is_somewhere = pdb_rva_to_source(r, r->rvas[i], &source);
        const u32 module = is_somewhere ? pdb_module_at(r, source) : PDB_NO_MODULE;
        r->module_of[i] = module == PDB_NO_MODULE ? none : module;
        r->ends[r->module_of[i]]++;
    }
    u32 begin = 0;
    for (u32 m = 0; m <= none; m++) {
        const u32 size = r->ends[m];
        r->ends[m] = begin;
        begin += size;
    }
    for (u32 i = 0; i < r->count; i++)
        r->order[r->ends[r->module_of[i]]++] = i;
}

bool etl_pdb_resolver_next(etl_pdb_resolver *r, etl_pdb_location *out)
{
    pdb_text_trim(&r->text);
    if (r->query_at == r->query_count && !load_group(r))
        return false;
    describe(r, &r->queries[r->query_at++], out);
    return true;
}

/* --- one module -------------------------------------------------------------------- */

/* The next module's addresses, or the next part of them, with all that is known
 * of each; false when there are none left. */
static bool load_group(etl_pdb_resolver *r)
{
    r->query_count = r->query_at = r->query_hint = 0;
    if (r->taken == r->count)
        return false;
    while (r->taken == r->ends[r->group])
        r->group++;
    const u32 left = r->ends[r->group] - r->taken;
    const u32 count = left < PDB_QUERIES_MAX ? left : PDB_QUERIES_MAX;
    if (!reserve_queries(r, count)) {
        r->count = r->taken;
        (void)etl_fail_with(&r->damage.first, ETL_ERR_MEMORY, 0, "no memory for %u addresses",
                            count);
        r->damage.count++;
        return false;
    }
    fill_queries(r, count);
    run_passes(r);
    return true;
}

static bool reserve_queries(etl_pdb_resolver *r, u32 count)
{
    if (count <= r->query_capacity)
        return true;
    /* Twice as many, so that modules of growing need do not each allocate. */
    const u32 capacity = count < PDB_QUERIES_MAX / 2 ? count * 2 : PDB_QUERIES_MAX;
    free(r->queries);
    r->queries = malloc(capacity * sizeof *r->queries);
    r->query_capacity = r->queries ? capacity : 0;
    return r->queries != NULL;
}

static void fill_queries(etl_pdb_resolver *r, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        const u32 index = r->order[r->taken + i];
        pdb_query *const query = &r->queries[i];
        *query = (pdb_query){ .index = index };
        if (!pdb_rva_to_source(r, r->rvas[index], &query->rva))
            query->rva = UINT32_MAX; /* in no section, and so without a symbol */
    }
    r->taken += count;
    r->query_count = count;
    if (r->file->info.has_omap)
        qsort(r->queries, count, sizeof *r->queries, compare_queries);
}

static int compare_queries(const void *left, const void *right)
{
    const pdb_query *const a = left;
    const pdb_query *const b = right;
    if (a->rva != b->rva)
        return a->rva < b->rva ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

static void run_passes(etl_pdb_resolver *r)
{
    r->inline_count = 0;
    r->checksums_size = 0;
    if (r->group < r->file->info.module_count) {
        const pdb_module *const module = &r->file->modules[r->group];
        r->module = msf_stream_of(&r->file->msf, module->stream);
        if (r->module.size > 0) {
            pdb_find_procedures(r, module);
            if (r->want & ETL_PDB_WANT_LINES)
                pdb_find_lines(r, module);
        }
    }
    pdb_find_publics(r);
}

/* --- one location ---------------------------------------------------------------------- */

static void describe(etl_pdb_resolver *r, const pdb_query *query, etl_pdb_location *out)
{
    *out = (etl_pdb_location){ .index = query->index, .rva = r->rvas[query->index] };
    u32 file = PDB_NO_FILE;
    if (query->has_line && (query->line_runs == 1 || query->line_runs == query->claims)) {
        file = query->line_file;
        out->function.line = query->line;
        out->function.file = pdb_file_name(r, file);
    }
    describe_inlined(r, query, out);
    r->frame_files[out->inline_count] = file;
    r->frame_count = out->inline_count + 1;
    if (query->alloc_type != 0)
        out->alloc_type = pdb_type_name(r, query->alloc_type);
    /* Last, for its name may lie in the scratch that reading records uses. */
    describe_symbol(r, query, out);
}

static void describe_symbol(etl_pdb_resolver *r, const pdb_query *query, etl_pdb_location *out)
{
    if (query->record_kind == 0)
        return;
    switch (query->record_kind) {
    case PDB_S_PUB32:
        out->kind = ETL_PDB_SYMBOL_PUBLIC;
        out->is_nearest = true;
        break;
    case PDB_S_THUNK32:
    case PDB_S_TRAMPOLINE:
        out->kind = ETL_PDB_SYMBOL_THUNK;
        break;
    default:
        out->kind = ETL_PDB_SYMBOL_PROCEDURE;
    }
    out->function.name = pdb_symbol_name(r, query);
    out->function_size = query->size;
    /* A piece of the procedure that was moved may lie before it. */
    out->displacement = query->rva < query->start ? 0 : query->rva - query->start;
    if (!pdb_rva_from_source(r, query->start, &out->function_rva))
        out->function_rva = 0;
}

static void describe_inlined(etl_pdb_resolver *r, const pdb_query *query, etl_pdb_location *out)
{
    u32 at = query->innermost;
    while (at != 0 && out->inline_count < PDB_INLINE_DEPTH_MAX) {
        const pdb_inline *const call = &r->inlines[at - 1];
        const pdb_inlinee *const inlinee = pdb_inlinee_of(r, call->inlinee);
        u32 *const file = &r->frame_files[out->inline_count];
        etl_pdb_frame *const frame = &r->frames[out->inline_count++];
        *frame = (etl_pdb_frame){ .name = pdb_inlinee_name(r, call->inlinee) };
        *file = PDB_NO_FILE;
        if (inlinee && inlinee->is_known) {
            *file = call->file == PDB_FILE_OF_INLINEE ? inlinee->file : call->file;
            frame->file = pdb_file_name(r, *file);
            frame->line = inlinee->line + call->line_delta;
        }
        at = call->outer;
    }
    out->inlined = out->inline_count > 0 ? r->frames : NULL;
}
