/*
 * diff_rows.c - the rows of a diff, and what else comes out of it.
 */
#include <stdlib.h>

#include "diff_inside.h"

static bool put_rows(diff_maker *maker);
static bool put_row(diff_maker *maker, const diff_place *place);
static void put_totals(diff_maker *maker);
static void put_states(diff_maker *maker);
static void publish(owned_diff *out);

bool diff_put(diff_maker *maker)
{
    if (!put_rows(maker) || !row_identities_rebuilt(&maker->identities, &maker->out->rebuilt))
        return false;
    maker->out->diff.merged_count = maker->identities.merged_count;
    put_totals(maker);
    if (maker->has_lifetimes && !diff_lifetimes_of_kinds(maker))
        return false;
    put_states(maker);
    publish(maker->out);
    return true;
}

/* The diff is the first member of what was allocated. */
void etlheap_diff_free(etlheap_diff *diff)
{
    static_assert(offsetof(owned_diff, diff) == 0, "a diff is where its owner is");
    owned_diff *const owned = (owned_diff *)diff;
    if (owned == NULL)
        return;
    picked_rows_free(&owned->rows);
    ETLHEAP_VECTOR_FREE(&owned->changes);
    ETLHEAP_VECTOR_FREE(&owned->lifetimes);
    ETLHEAP_VECTOR_FREE(&owned->rebuilt);
    free(owned);
}

void etlheap_diff_keep_top(etlheap_diff *diff, u32 rows)
{
    owned_diff *const owned = (owned_diff *)diff;
    picked_rows_keep(&owned->rows, rows);
    publish(owned);
}

static bool put_rows(diff_maker *maker)
{
    owned_diff *const out = maker->out;
    const etlheap_table *const tables[] = { maker->base, maker->now };
    bool ok = picked_rows_open(&out->rows, &maker->identities, tables, (u32)ETL_COUNT_OF(tables),
                               maker->place_count) &&
              ETLHEAP_RESERVE(&out->changes, maker->place_count);
    for (u32 i = 0; ok && i < maker->place_count; i++)
        ok = put_row(maker, &maker->places[i]);
    picked_rows_close(&out->rows);
    return ok;
}

static bool put_row(diff_maker *maker, const diff_place *place)
{
    const diff_group *const group = &maker->groups[place->group];
    const bool is_new = group->new_row != ETLHEAP_NO_INDEX;
    etlheap_change change = { .state = place->state,
                              .base_ns = group->ns[0],
                              .new_ns = group->ns[1] };
    memcpy(change.base, group->base, sizeof group->base);
    memcpy(change.now, group->now, sizeof group->now);
    const bool is_shared = is_new && group->base_row != ETLHEAP_NO_INDEX;
    const picked_group picked =
        is_new
            ? (picked_group){ 1, group->new_row, maker->next + maker->base->row_count, is_shared }
            : (picked_group){ 0, group->base_row, maker->next, is_shared };
    etlheap_row *const row = picked_rows_add(&maker->out->rows, &picked);
    for (int m = 0; row != NULL && m < ETLHEAP_MEASURES_COUNT; m++) {
        if (m != ETLHEAP_MEASURE_PEAK_COUNT && m != ETLHEAP_MEASURE_PEAK_SIZE)
            row->measures[m] = diff_change_of((etlheap_measure)m, change.base[m], change.now[m]);
    }
    return row != NULL && ETLHEAP_PUSH(&maker->out->changes, change);
}

static void put_totals(diff_maker *maker)
{
    etlheap_table *const table = &maker->out->diff.table;
    table->from_ns = maker->now->from_ns;
    table->to_ns = maker->now->to_ns;
    table->diagnostics = maker->now->diagnostics;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const etlheap_total *const base = &maker->base->totals[kind];
        const etlheap_total *const now = &maker->now->totals[kind];
        etlheap_total *const total = &table->totals[kind];
        etlheap_change *const change = &maker->out->diff.totals[kind];
        total->present = base->present || now->present;
        total->to_ns = now->to_ns;
        change->base_ns = diff_ns_of(maker, base->rates_ns, false);
        change->new_ns = diff_ns_of(maker, now->rates_ns, true);
        for (u32 i = 0; i < DIFF_PAIRS; i++) {
            const etlheap_measure m = diff_comparable[i].measure;
            if ((maker->measures >> m & 1) == 0)
                continue;
            change->base[m] = base->measures[m];
            change->now[m] = now->measures[m];
            total->measures[m] = etlheap_diff_subtract(change->base[m], change->now[m]);
        }
    }
    table->measures = maker->measures;
}

static void put_states(diff_maker *maker)
{
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        etlheap_change *const change = &maker->out->diff.totals[kind];
        const i64 ns[] = { change->base_ns, change->new_ns };
        change->state = (u8)diff_state_of(maker, change->base, change->now, ns);
    }
}

static void publish(owned_diff *out)
{
    picked_rows_publish(&out->rows, &out->diff.table);
    out->diff.changes = out->changes.at;
    out->diff.lifetimes = out->lifetimes.at;
    out->diff.lifetime_count = (u32)out->lifetimes.count;
    out->diff.rebuilt = out->rebuilt.at;
    out->diff.rebuilt_count = (u32)out->rebuilt.count;
}
