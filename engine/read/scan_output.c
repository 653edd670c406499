/*
 * scan_output.c - what a task of the scan leaves: emptied for the next slice, and freed.
 *
 * Lists keep their memory from slice to slice; strings and new stacks do not.
 */
#include "scan_inside.h"

void scan_output_reset(scan_output *out)
{
    out->events.count = out->unresolved.count = out->spans.count = out->pieces.count =
        out->key_uses.count = out->sample.count = out->local_events.count = out->trails.count = 0;
    out->range_frees.count = out->realloc_frees.count = 0;
    out->definitions.count = out->system.count = out->targets.count = out->turns.count = 0;
    out->heap_notes.count = out->memory_notes.count = out->thread_names.count = 0;
    out->marks.count = 0;
    out->met = out->item_free_stacks = 0;
    out->kinds = 0;
    out->is_unsorted = out->first_trail.is_known = false;
    if (out->new_stacks.list.count > 0)
        stack_table_free(&out->new_stacks);
    if (out->arena.chunks != NULL)
        etlheap_arena_free(&out->arena);
    memset(&out->diag, 0, sizeof out->diag);
}

void scan_output_free(scan_output *out)
{
    ETLHEAP_VECTOR_FREE(&out->events);
    ETLHEAP_VECTOR_FREE(&out->unresolved);
    ETLHEAP_VECTOR_FREE(&out->spans);
    ETLHEAP_VECTOR_FREE(&out->sample);
    ETLHEAP_VECTOR_FREE(&out->local_events);
    ETLHEAP_VECTOR_FREE(&out->trails);
    ETLHEAP_VECTOR_FREE(&out->range_frees);
    ETLHEAP_VECTOR_FREE(&out->realloc_frees);
    ETLHEAP_VECTOR_FREE(&out->pieces);
    ETLHEAP_VECTOR_FREE(&out->turns);
    ETLHEAP_VECTOR_FREE(&out->key_uses);
    ETLHEAP_VECTOR_FREE(&out->definitions);
    ETLHEAP_VECTOR_FREE(&out->system);
    ETLHEAP_VECTOR_FREE(&out->heap_notes);
    ETLHEAP_VECTOR_FREE(&out->memory_notes);
    ETLHEAP_VECTOR_FREE(&out->thread_names);
    ETLHEAP_VECTOR_FREE(&out->marks);
    ETLHEAP_VECTOR_FREE(&out->targets);
    stack_table_free(&out->new_stacks);
    etlheap_arena_free(&out->arena);
    inventory_free(&out->inventory);
}
