/*
 * pdb_address.c - maps addresses to sections and offsets, through OMAP, and to modules.
 *
 * In: RVAs of a batch, mostly ascending. Out: source RVAs, places (section, offset), and numbers of
 * modules.
 *
 * All three tables are sorted arrays. Sections are few and in memory. Section contributions can be
 * a million: they are searched where they lie in the file, beginning at the last answer with steps
 * that double, so that neighbours cost a step or two and a jump costs the logarithm of its width.
 * Invariant: hints only speed up a search; a wrong one must not change the answer.
 */
#include "pdb_internal.h"

typedef struct contribution {
    u32 section, offset, size;
    u32 module;
} contribution;

static bool read_contribution(etl_pdb_resolver *r, u32 i, contribution *out);
static bool begins_after(const contribution *c, u32 section, u32 offset);
static u32 last_at_or_before(etl_pdb_resolver *r, u32 section, u32 offset);
static bool translate(etl_pdb_resolver *r, msf_stream *omap, u32 rva, u32 *out);
static bool read_omap(msf_stream *omap, u32 i, u32 *from, u32 *to);

bool pdb_rva_of(const etl_pdb_file *file, u32 section, u32 offset, u32 *rva)
{
    if (section == 0 || section > file->source_section_count)
        return false;
    const u32 base = file->source_sections[section - 1].rva;
    if (offset > UINT32_MAX - base)
        return false;
    *rva = base + offset;
    return true;
}

bool pdb_place_of(const etl_pdb_file *file, u32 rva, u32 *section, u32 *offset)
{
    u32 after;
    ETL_BISECT(after, 0, file->source_section_count, file->source_sections[after].rva <= rva);
    if (after == 0)
        return false;
    const etl_pdb_section *const found = &file->source_sections[after - 1];
    if (rva - found->rva >= found->size_bytes)
        return false;
    *section = after;
    *offset = rva - found->rva;
    return true;
}

/* --- contributions --------------------------------------------------------------- */

u32 pdb_module_at(etl_pdb_resolver *r, u32 rva)
{
    u32 section = 0;
    u32 offset = 0;
    if (r->file->contribution_count == 0 || !pdb_place_of(r->file, rva, &section, &offset))
        return PDB_NO_MODULE;
    const u32 found = last_at_or_before(r, section, offset);
    contribution c;
    if (found == UINT32_MAX || !read_contribution(r, found, &c))
        return PDB_NO_MODULE;
    r->contribution_hint = found;
    if (c.section != section || offset - c.offset >= c.size ||
        c.module >= r->file->info.module_count)
        return PDB_NO_MODULE;
    return c.module;
}

/* UINT32_MAX when all of them begin after the place. */
static u32 last_at_or_before(etl_pdb_resolver *r, u32 section, u32 offset)
{
    const u32 count = r->file->contribution_count;
    contribution c;
    /* Invariant: the answer is in low - 1 .. high - 1. */
    u32 low = r->contribution_hint;
    u32 high = count;
    if (!read_contribution(r, low, &c))
        return UINT32_MAX;
    if (begins_after(&c, section, offset)) {
        high = low;
        low = 0;
    } else {
        u32 step = 1;
        low++;
        while (step < count - low) {
            if (!read_contribution(r, low + step - 1, &c))
                return UINT32_MAX;
            if (begins_after(&c, section, offset)) {
                high = low + step - 1;
                break;
            }
            low += step;
            step *= 2;
        }
    }
    while (low < high) {
        const u32 middle = low + (high - low) / 2;
        if (!read_contribution(r, middle, &c))
            return UINT32_MAX;
        if (begins_after(&c, section, offset))
            high = middle;
        else
            low = middle + 1;
    }
    return low - 1; /* 0 - 1 is UINT32_MAX */
}

static bool begins_after(const contribution *c, u32 section, u32 offset)
{
    return c->section > section || (c->section == section && c->offset > offset);
}

static bool read_contribution(etl_pdb_resolver *r, u32 i, contribution *out)
{
    const u32 at = r->file->contributions_at + i * r->file->contribution_bytes;
    u8 scratch[PDB_CONTRIBUTION_READ];
    const etl_bytes bytes = msf_view(&r->debug, at, PDB_CONTRIBUTION_READ, scratch);
    if (!bytes.at)
        return pdb_note_damage(r, &r->debug, at, "a section contribution cannot be read");
    *out = (contribution){ .section = etl_load_u16(bytes.at),
                           .offset = etl_load_u32(bytes.at + 4),
                           .size = etl_load_u32(bytes.at + 8),
                           .module = etl_load_u16(bytes.at + 16) };
    return true;
}

/* --- OMAP ---------------------------------------------------------------------------- */

bool pdb_rva_to_source(etl_pdb_resolver *r, u32 rva, u32 *source)
{
    *source = rva;
    return !r->file->info.has_omap || translate(r, &r->omap_to_source, rva, source);
}

bool pdb_rva_from_source(etl_pdb_resolver *r, u32 source, u32 *rva)
{
    *rva = source;
    return !r->file->info.has_omap || translate(r, &r->omap_from_source, source, rva);
}

static bool translate(etl_pdb_resolver *r, msf_stream *omap, u32 rva, u32 *out)
{
    u32 from = 0;
    u32 to = 0;
    u32 low = 0;
    u32 high = omap->size / PDB_OMAP_ENTRY_BYTES;
    while (low < high) {
        const u32 middle = low + (high - low) / 2;
        if (!read_omap(omap, middle, &from, &to))
            return pdb_note_damage(r, omap, middle * PDB_OMAP_ENTRY_BYTES,
                                   "an OMAP entry cannot be read");
        if (from <= rva)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || !read_omap(omap, low - 1, &from, &to) || to == 0 ||
        rva - from > UINT32_MAX - to)
        return false;
    *out = to + (rva - from);
    return true;
}

static bool read_omap(msf_stream *omap, u32 i, u32 *from, u32 *to)
{
    u8 scratch[PDB_OMAP_ENTRY_BYTES];
    const etl_bytes bytes = msf_view(omap, i * PDB_OMAP_ENTRY_BYTES, PDB_OMAP_ENTRY_BYTES, scratch);
    if (!bytes.at)
        return false;
    *from = etl_load_u32(bytes.at);
    *to = etl_load_u32(bytes.at + 4);
    return true;
}
