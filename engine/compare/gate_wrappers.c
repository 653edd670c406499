/*
 * gate_wrappers.c - allocation functions of the program's own, which hide who allocates.
 *
 * If one function is the innermost of most outstanding bytes of a kind, and many functions call
 * it, every verdict is about that function. Its bytes are a majority, so one pass with a
 * weighted vote finds the only candidate, and a second one its bytes and its callers.
 */
#include <stdlib.h>

#include "gate.h"

#define CALLERS_MIN 3

static const etlheap_frame *frame_at(const owned_gate *gate, const gate_row *row, u32 place)
{
    const etlheap_table *const table = gate->table;
    if (row->stack == ETLHEAP_NO_INDEX)
        return NULL;
    const u32 at = table->stack_starts[row->stack] + place;
    return at < table->stack_starts[row->stack + 1] ? &table->frames[table->frame_indices[at]]
                                                    : NULL;
}

/* By module and function; frames without a name are no function. */
static int compare_functions(const etlheap_frame *a, const etlheap_frame *b)
{
    const int order = strcmp(a->module, b->module);
    return order != 0 ? order : strcmp(a->symbol, b->symbol);
}

static bool has_name(const etlheap_frame *frame)
{
    return frame != NULL && frame->module != NULL && frame->symbol != NULL;
}

static bool is_of(const gate_row *row, u8 kind)
{
    return row->kind == kind && row->suppression == SUPPRESSION_NONE;
}

/* The only function that can have more than half of the bytes; NULL: there is none. */
static const etlheap_frame *vote(const owned_gate *gate, u8 kind)
{
    const etlheap_frame *winner = NULL;
    u64 lead = 0;
    for (size_t i = 0; i < gate->absolute.list.count; i++) {
        const gate_row *const row = &gate->absolute.list.at[i];
        const etlheap_frame *const frame = frame_at(gate, row, 0);
        const u64 size = is_of(row, kind) ? row->now.size_bytes : 0;
        if (winner != NULL && has_name(frame) && compare_functions(winner, frame) == 0) {
            lead = etl_sat_add_u64(lead, size);
        } else if (size <= lead) {
            lead -= size;
        } else {
            winner = has_name(frame) ? frame : NULL;
            lead = size - lead;
        }
    }
    return winner;
}

static int by_function(const void *a, const void *b)
{
    const etlheap_frame *const *const left = a;
    const etlheap_frame *const *const right = b;
    return compare_functions(*left, *right);
}

/* Fills in the bytes and the callers of a function. False without memory. */
static bool measure(const owned_gate *gate, const etlheap_frame *function, u8 kind,
                    etlheap_gate_wrapper *out)
{
    const size_t rows = gate->absolute.list.count;
    const etlheap_frame **const callers = malloc((rows + 1) * sizeof(etlheap_frame *));
    size_t count = 0;
    *out = (etlheap_gate_wrapper){ .kind = (etlheap_kind)kind,
                                   .module = function->module,
                                   .symbol = function->symbol };
    for (size_t i = 0; callers != NULL && i < rows; i++) {
        const gate_row *const row = &gate->absolute.list.at[i];
        const etlheap_frame *const frame = frame_at(gate, row, 0);
        const etlheap_frame *const caller = frame_at(gate, row, 1);
        const u64 size = is_of(row, kind) ? row->now.size_bytes : 0;
        out->of_bytes = etl_sat_add_u64(out->of_bytes, size);
        if (size == 0 || !has_name(frame) || compare_functions(frame, function) != 0)
            continue;
        out->size_bytes = etl_sat_add_u64(out->size_bytes, size);
        if (has_name(caller))
            callers[count++] = caller;
    }
    if (count > 0)
        qsort(callers, count, sizeof *callers, by_function);
    for (size_t i = 0; i < count; i++)
        out->callers += i == 0 || compare_functions(callers[i], callers[i - 1]) != 0;
    const bool ok = callers != NULL;
    free(callers);
    return ok;
}

bool gate_find_wrappers(owned_gate *gate)
{
    for (u8 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        etlheap_gate_wrapper found;
        const etlheap_frame *const function = vote(gate, kind);
        if (function == NULL)
            continue;
        if (!measure(gate, function, kind, &found))
            return false;
        if (found.size_bytes > found.of_bytes / 2 && found.callers >= CALLERS_MIN)
            gate->gate.wrappers[gate->gate.wrapper_count++] = found;
    }
    return true;
}
