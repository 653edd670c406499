/*
 * kept_sums.c - see kept_sums.h.
 *
 * In: sums of windows, from whoever made them. Out: the same, to whoever asks for the same window.
 *
 * There are a few slots. The one that was taken longest ago is used again, unless it is in use. A
 * thread that makes sums holds its slot, so that others see what is being made. They wait for a
 * number that rises whenever making ends, also when it fails: then one of them makes the sums.
 * Invariant: slots change only under the lock; sums in a slot with users do not change at all.
 */
#include "kept_sums.h"

#include <stdlib.h>

#include "engine/core/cancel.h"
#include "engine/core/workers.h"

#define SLOTS     4u
#define NO_SLOT   UINT32_MAX
#define BYTES_MAX ((u64)64 << 20) /* of all slots */
#define WAIT_MS   20u             /* between looks at the flag that cancels */

typedef struct kept_slot {
    kept_window window;
    type_sums *sums; /* NULL: none */
    bool is_being_made;
    u32 users;
    u64 taken; /* when it was taken last */
} kept_slot;

struct kept_sums {
    etlheap_lock *lock; /* for all of these */
    kept_slot slots[SLOTS];
    u64 now; /* counts takings */
    u64 made, ended;
    etlheap_gauge *endings; /* raised to `ended` */
};

kept_sums *kept_sums_open(u64 origins)
{
    if (origins > BYTES_MAX / (SLOTS * ETLHEAP_TYPE_COUNT * sizeof(type_sums)))
        return NULL;
    kept_sums *const kept = calloc(1, sizeof *kept);
    if (kept == NULL)
        return NULL;
    kept->lock = etlheap_lock_open();
    kept->endings = etlheap_gauge_open();
    if (kept->lock != NULL && kept->endings != NULL)
        return kept;
    kept_sums_close(kept);
    return NULL;
}

void kept_sums_close(kept_sums *kept)
{
    if (kept == NULL)
        return;
    for (u32 i = 0; i < SLOTS; i++)
        free(kept->slots[i].sums);
    etlheap_lock_close(kept->lock);
    etlheap_gauge_close(kept->endings);
    free(kept);
}

static bool same_window(const kept_window *a, const kept_window *b)
{
    return a->from_ticks == b->from_ticks && a->to_ticks == b->to_ticks &&
           a->size_min_bytes == b->size_min_bytes && a->size_max_bytes == b->size_max_bytes &&
           a->exit_frees == b->exit_frees;
}

/* The slot that has the sums, or in which they are being made. */
static u32 find(const kept_sums *kept, const kept_window *window)
{
    for (u32 i = 0; i < SLOTS; i++) {
        const kept_slot *const slot = &kept->slots[i];
        if ((slot->sums != NULL || slot->is_being_made) && same_window(&slot->window, window))
            return i;
    }
    return NO_SLOT;
}

/* The slot to use again; none if all are in use. */
static u32 choose(const kept_sums *kept)
{
    u32 best = NO_SLOT;
    for (u32 i = 0; i < SLOTS; i++) {
        const kept_slot *const slot = &kept->slots[i];
        if (slot->users == 0 && (best == NO_SLOT || slot->taken < kept->slots[best].taken))
            best = i;
    }
    return best;
}

static void begin_making(kept_slot *slot, const kept_window *window)
{
    free(slot->sums);
    *slot = (kept_slot){ .window = *window, .is_being_made = true };
}

/* Takes what is there. False: another thread makes it. The lock is held. */
static bool try_to_take(kept_sums *kept, const kept_window *window, kept_use *out)
{
    u32 number = find(kept, window);
    if (number != NO_SLOT && kept->slots[number].is_being_made)
        return false;
    if (number == NO_SLOT && (number = choose(kept)) != NO_SLOT)
        begin_making(&kept->slots[number], window);
    *out = (kept_use){ .slot = number };
    if (number == NO_SLOT)
        return true;
    kept_slot *const slot = &kept->slots[number];
    out->sums = slot->sums;
    slot->users++;
    slot->taken = ++kept->now;
    return true;
}

etl_status kept_sums_take(kept_sums *kept, const kept_window *window, const u32 *cancel,
                          kept_use *out, etl_error *err)
{
    *out = (kept_use){ .slot = NO_SLOT };
    for (;;) {
        etlheap_lock_take(kept->lock);
        const bool is_taken = try_to_take(kept, window, out);
        const u64 ended = kept->ended;
        etlheap_lock_give(kept->lock);
        if (is_taken)
            return ETL_OK;
        if (cancel_is_set(cancel))
            return cancelled(err);
        (void)etlheap_gauge_await(kept->endings, ended + 1, WAIT_MS);
    }
}

void kept_sums_put(kept_sums *kept, kept_use *use, type_sums *made)
{
    use->sums = made;
    use->own = use->slot == NO_SLOT ? made : NULL;
    etlheap_lock_take(kept->lock);
    kept->made += made != NULL;
    if (use->slot != NO_SLOT) {
        kept->slots[use->slot].sums = made;
        kept->slots[use->slot].is_being_made = false;
    }
    const u64 ended = ++kept->ended;
    etlheap_lock_give(kept->lock);
    etlheap_gauge_raise(kept->endings, ended);
}

void kept_sums_give_back(kept_sums *kept, kept_use *use)
{
    free(use->own);
    if (use->slot != NO_SLOT) {
        etlheap_lock_take(kept->lock);
        kept->slots[use->slot].users--;
        etlheap_lock_give(kept->lock);
    }
    *use = (kept_use){ .slot = NO_SLOT };
}

u64 kept_sums_made(const kept_sums *kept)
{
    etlheap_lock_take(kept->lock);
    const u64 made = kept->made;
    etlheap_lock_give(kept->lock);
    return made;
}
