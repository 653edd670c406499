/*
 * gate_fingerprint.c - names of findings that outlive ids and addresses.
 *
 * A tracker of findings wants to know whether this build's leak is that of the last
 * build. So a fingerprint is a hash of what stays: the name of the process, modules
 * and functions, but no process id, heap handle, address or line. Functions count by their stable
 * names (stable_name.h). Where a function is not known its offset stands for it, which changes with
 * the next build.
 */
#include "engine/core/stable_name.h"
#include "parser/system/name_fold.h"
#include "gate.h"

static u64 mix(u64 hash, u64 value);
static u64 hash_name(const char *name);
static u64 hash_frame(const etlheap_frame *frame);

/* How much of a name counts if something has to be left out of it. */
#define NAME_SIZE 4096

static u64 hash_function(const char *symbol)
{
    char name[NAME_SIZE], stable[NAME_SIZE];
    if (!stable_name_differs(symbol))
        return etlheap_mix_bytes(symbol, strlen(symbol));
    const size_t size = strnlen(symbol, sizeof name - 1);
    memcpy(name, symbol, size);
    name[size] = '\0';
    return etlheap_mix_bytes(stable, stable_name_write(name, stable));
}

void etlheap_stable_function(const char *symbol, char *out)
{
    (void)stable_name_write(symbol, out);
}

u64 gate_stack_fingerprint(const etlheap_table *table, const char *process, u32 stack)
{
    u64 hash = hash_name(process);
    if (stack == ETLHEAP_NO_INDEX)
        return mix(hash, 0);
    for (u32 k = table->stack_starts[stack]; k < table->stack_starts[stack + 1]; k++)
        hash = mix(hash, hash_frame(&table->frames[table->frame_indices[k]]));
    return hash;
}

u64 gate_subject_fingerprint(const etlheap_table *table, const etlheap_budget *budget,
                             const etlheap_gate_subject *subject)
{
    u64 hash = hash_name(etlheap_scope_word(budget->scope));
    hash = mix(hash, (u64)subject->kind << 2 | (u64)budget->is_growth << 1 | budget->is_count);
    if (budget->quantity != ETLHEAP_QUANTITY_OUTSTANDING)
        hash = mix(hash, (u64)budget->quantity);
    if (budget->scope == ETLHEAP_SCOPE_MODULE)
        return mix(mix(hash, hash_name(subject->process)), hash_name(subject->module));
    if (budget->scope == ETLHEAP_SCOPE_FUNCTION)
        return mix(mix(hash, hash_name(subject->process)),
                   subject->frame == ETLHEAP_NO_INDEX ? 0
                                                      : hash_frame(&table->frames[subject->frame]));
    if (budget->scope == ETLHEAP_SCOPE_STACK)
        return mix(hash, gate_stack_fingerprint(table, subject->process, subject->stack));
    if (budget->scope == ETLHEAP_SCOPE_MARK)
        return mix(mix(hash, etlheap_mix_bytes(subject->mark, strlen(subject->mark))),
                   subject->mark_number);
    if (budget->scope == ETLHEAP_SCOPE_POOL_TAG)
        return mix(hash, etlheap_mix_bytes(subject->pool_tag, strlen(subject->pool_tag)));
    return mix(hash, hash_name(subject->process));
}

static u64 mix(u64 hash, u64 value)
{
    return etlheap_mix_u64(hash * 31 + value);
}

static u64 hash_name(const char *name)
{
    return etl_name_fnv1a(ETL_FNV1A_START, name == NULL ? "" : name);
}

static u64 hash_frame(const etlheap_frame *frame)
{
    if (frame->module == NULL)
        return 0;
    const u64 function =
        frame->symbol != NULL ? hash_function(frame->symbol) : etlheap_mix_u64(frame->offset);
    return mix(hash_name(frame->module), function);
}
