/*
 * description_walk.c - walks the fields of an event, by its description.
 *
 * In: a record and its description, both hostile. Out: one step at a time: a value, or a container
 * that opens or closes.
 *
 * A description is a list of properties, some of which are structures with members, arrays, or
 * both. The walk goes through it and the payload side by side, so nobody needs memory for a tree:
 *
 *     open[0]  the event's own properties      VALUE VALUE
 *     open[1]    an array of structures               ARRAY
 *     open[2]      one of its elements                   STRUCT VALUE VALUE CLOSE
 *                                                     CLOSE VALUE
 *
 * The two sorts of descriptions differ in how a property is read (description_property.c) and where
 * the members of a structure are: behind it, or at an index of their own. After that they are one.
 * Values are read by description_value.c.
 *
 * Invariants: three things keep hostile bytes harmless: a cursor over the payload, a bounded number
 * of open containers, and a bounded sum of work, because arrays of arrays of nothing could multiply
 * without using a byte. A failure ends the walk: all containers are closed, and the rest of the
 * payload is shown as bytes.
 */
#include "description_internal.h"

#include <stdlib.h>
#include <string.h>

typedef enum walk_stage { STAGE_FIELDS, STAGE_CLOSING, STAGE_REST, STAGE_OVER } walk_stage;

typedef enum open_kind { OPEN_STRUCT, OPEN_VALUES, OPEN_STRUCTS } open_kind;

static void fail(etl_walk *walk, etl_diag diag)
{
    if (walk->diag != NULL)
        etl_diag_add(walk->diag, diag, 1);
    walk->stage = STAGE_CLOSING;
}

static int compare_maps(const void *key, const void *member)
{
    return etl_value_map_compare(key, member);
}

static const etl_value_map *map_of(const etl_walk *walk, const etl_property *p)
{
    const etl_value_maps maps = walk->description.maps;
    const etl_value_map key = { .provider = walk->provider, .name = p->map };
    if (p->map.bytes.size == 0 || maps.count == 0 || walk->provider == NULL)
        return NULL;
    return bsearch(&key, maps.at, maps.count, sizeof *maps.at, compare_maps);
}

/* Reads a value; false if the walk ended. After an unknown type, the next value cannot be found. */
static bool read_value(etl_walk *walk, const etl_property *p, etl_value *out)
{
    etl_cursor c = etl_cursor_of(walk->left);
    *out = (etl_value){ .type = ETL_VALUE_BYTES };
    walk->work++;
    if (walk->work > ETL_WALK_WORK_MAX || !etl_value_read(walk, p, &c, out)) {
        fail(walk, ETL_DIAG_description_invalid);
        return false;
    }
    if (!etl_ok(&c)) {
        fail(walk, ETL_DIAG_description_mismatch);
        return false;
    }
    walk->left = (etl_bytes){ c.at, c.left };
    if (p->index < ETL_WALK_REFERENCES_MAX)
        walk->numbers[p->index] = (u32)etl_min_u64(out->number, UINT32_MAX);
    if (out->type <= ETL_VALUE_HEX)
        out->map = map_of(walk, p);
    return true;
}

/* --- the walk ---------------------------------------------------------------------------- */

void etl_walk_begin(etl_walk *walk, const etl_record *record, const etl_description *description,
                    etl_diag_counts *diag)
{
    memset(walk, 0, sizeof *walk);
    walk->description = *description;
    walk->provider = record->provider;
    walk->left = record->payload;
    walk->diag = diag;
    walk->pointer_bytes = record->pointer_bytes == 4 ? 4 : 8;
    walk->stage = description->source == ETL_DESCRIPTION_NONE ? STAGE_OVER : STAGE_FIELDS;
    walk->open[0].kind = OPEN_STRUCT;
    walk->open[0].left = description->source == ETL_DESCRIPTION_TRACELOGGING
                             ? UINT32_MAX
                             : description->top_property_count;
}

static bool push(etl_walk *walk, open_kind kind, u32 at, u32 left, u32 members)
{
    if (walk->depth + 1 >= ETL_WALK_DEPTH_MAX) {
        fail(walk, ETL_DIAG_description_invalid);
        return false;
    }
    walk->depth++;
    walk->open[walk->depth].kind = (u8)kind;
    walk->open[walk->depth].at = walk->open[walk->depth].start = at;
    walk->open[walk->depth].left = left;
    walk->open[walk->depth].members = members;
    return true;
}

/* Counts the elements of an array; false if the walk ended. */
static bool count_elements(etl_walk *walk, const etl_property *p, u32 *count)
{
    if (p->count_by == ETL_BOUND_PREFIX) {
        etl_cursor c = etl_cursor_of(walk->left);
        *count = etl_u16(&c);
        if (etl_ok(&c)) {
            walk->left = (etl_bytes){ c.at, c.left };
            return true;
        }
        fail(walk, ETL_DIAG_description_mismatch);
        return false;
    }
    if (etl_bound_resolve(walk, p->count_by, p->count, count))
        return true;
    fail(walk, ETL_DIAG_description_invalid);
    return false;
}

static bool step_array(etl_walk *walk, const etl_property *p, etl_step *out)
{
    u32 count;
    if (!count_elements(walk, p, &count) ||
        !push(walk, p->is_struct ? OPEN_STRUCTS : OPEN_VALUES, p->first, count, p->members))
        return false;
    if (!p->is_struct)
        walk->element = *p;
    out->kind = ETL_STEP_ARRAY;
    return true;
}

/* The fields of a TraceLogging event end with its metadata. */
static bool is_complete(const etl_walk *walk)
{
    const bool is_open_ended =
        walk->depth == 0 && walk->description.source == ETL_DESCRIPTION_TRACELOGGING;
    return is_open_ended ? walk->open[0].at >= walk->description.fields.size
                         : walk->open[walk->depth].left == 0;
}

/* The next member of the open structure. */
static bool step_member(etl_walk *walk, etl_step *out)
{
    etl_property p;
    u32 *const at = &walk->open[walk->depth].at;
    walk->open[walk->depth].left--;
    if (!etl_property_read(walk, at, &p) ||
        (p.is_struct && !etl_property_skip_members(walk, at, p.members))) {
        fail(walk, ETL_DIAG_description_invalid);
        return false;
    }
    out->name = p.name;
    if (p.count_by != ETL_BOUND_NONE)
        return step_array(walk, &p, out);
    out->kind = p.is_struct ? ETL_STEP_STRUCT : ETL_STEP_VALUE;
    return p.is_struct ? push(walk, OPEN_STRUCT, p.first, p.members, 0)
                       : read_value(walk, &p, &out->value);
}

/* The next element of the open array. */
static bool step_element(etl_walk *walk, etl_step *out)
{
    const u32 depth = walk->depth;
    walk->open[depth].left--;
    walk->work++;
    if (walk->work > ETL_WALK_WORK_MAX) {
        fail(walk, ETL_DIAG_description_invalid);
        return false;
    }
    if (walk->open[depth].kind == OPEN_VALUES) {
        out->kind = ETL_STEP_VALUE;
        return read_value(walk, &walk->element, &out->value);
    }
    out->kind = ETL_STEP_STRUCT;
    return push(walk, OPEN_STRUCT, walk->open[depth].start, walk->open[depth].members, 0);
}

static bool step_close(etl_walk *walk, etl_step *out)
{
    walk->depth--;
    out->kind = ETL_STEP_CLOSE;
    return true;
}

/* One step of the fields. False: none, because the stage has changed. */
static bool step_fields(etl_walk *walk, etl_step *out)
{
    if (is_complete(walk)) {
        if (walk->depth > 0)
            return step_close(walk, out);
        walk->stage = STAGE_REST;
        return false;
    }
    return walk->open[walk->depth].kind == OPEN_STRUCT ? step_member(walk, out)
                                                       : step_element(walk, out);
}

static bool step_rest(etl_walk *walk, etl_step *out)
{
    static const char name[] = ETL_FIELD_UNDECODED;
    const etl_bytes rest = walk->left;
    walk->stage = STAGE_OVER;
    walk->left = (etl_bytes){ NULL, 0 };
    out->kind = ETL_STEP_VALUE;
    out->name.bytes = (etl_bytes){ (const u8 *)name, sizeof name - 1 };
    out->value = (etl_value){ .type = ETL_VALUE_BYTES, .bytes = rest };
    return rest.size > 0;
}

bool etl_walk_next(etl_walk *walk, etl_step *out)
{
    memset(out, 0, sizeof *out);
    if (walk->stage == STAGE_FIELDS && step_fields(walk, out))
        return true;
    memset(out, 0, sizeof *out);
    if (walk->stage == STAGE_CLOSING) {
        if (walk->depth > 0)
            return step_close(walk, out);
        walk->stage = STAGE_REST;
    }
    return walk->stage == STAGE_REST && step_rest(walk, out);
}

/* --- one field by its name ------------------------------------------------------------------ */

/* Is the text the first part of a path? If so, *rest is behind the dot, or at the end. */
static bool matches_part(etl_text text, const char *path, const char **rest)
{
    const size_t unit = text.is_utf16 ? 2 : 1;
    const size_t count = text.bytes.size / unit;
    for (size_t i = 0; i < count; i++) {
        const u16 c = unit == 2 ? etl_load_u16(text.bytes.at + i * 2) : text.bytes.at[i];
        const u16 wanted = (u8)path[i];
        const bool is_letter = (c | 32) >= 'a' && (c | 32) <= 'z' && c < 128;
        if (wanted == 0 || (c != wanted && !(is_letter && (c ^ wanted) == 32)))
            return false;
    }
    *rest = path + count;
    return path[count] == '\0' || path[count] == '.';
}

bool etl_described_value(const etl_record *record, const etl_description *description,
                         const char *name, etl_value *out)
{
    etl_walk walk;
    etl_step step;
    const char *rest = name;
    const char *path = name;
    u32 depth = 0;   /* containers open */
    u32 matched = 0; /* of these, so many are on the path */
    etl_walk_begin(&walk, record, description, NULL);
    while (etl_walk_next(&walk, &step)) {
        const bool is_element = step.name.bytes.size == 0 && step.kind != ETL_STEP_CLOSE;
        bool is_on_path = depth == matched && step.kind != ETL_STEP_CLOSE;
        if (is_on_path && !is_element)
            is_on_path = *path != '\0' && matches_part(step.name, path, &rest);
        else
            rest = path;
        if (step.kind == ETL_STEP_VALUE) {
            if (is_on_path && *rest == '\0') {
                *out = step.value;
                return true;
            }
            continue;
        }
        if (step.kind == ETL_STEP_CLOSE) {
            /* The path's container has no such member. */
            if (depth == matched)
                return false;
            depth--;
            continue;
        }
        depth++;
        if (is_on_path) {
            matched++;
            path = *rest == '.' ? rest + 1 : rest;
        }
    }
    return false;
}
