/*
 * ties.c - finds the order of events that have one time on several processors; see ties.h.
 *
 * In: what each event does, and on which processor. Out: the best merge.
 *
 * How many events of each processor are taken, and whether there is a block, is all that matters
 * for what comes next. So the cheapest way from each such state to the end is computed once, from
 * the end backwards:
 *
 *     state   (events taken of processor 0, of processor 1, ..., block or none)
 *     cost    unknown frees * UNKNOWN + allocations over a block
 *
 * With many processors there may be too many states. Then whatever fits is taken first. Invariant:
 * the events of one processor keep their order.
 */
#include "ties.h"

#define STATES_MAX 8192u
#define UNKNOWN    256u /* more than there can be allocations */

/* The events of one processor, which follow each other in `numbers`. */
typedef struct tie_cpu {
    u32 first, count;
    u32 stride; /* of the number of taken events, in the number of a state */
} tie_cpu;

typedef struct tie_cpus {
    u8 numbers[TIE_EVENTS_MAX]; /* of the events, by processor */
    tie_cpu at[TIE_EVENTS_MAX];
    u32 count, states; /* states: 0: too many */
} tie_cpus;

/* A session that goes on in another file has a processor's events in two places. */
static void sort_numbers(const tie_event *events, u32 count, u8 out[TIE_EVENTS_MAX])
{
    for (u32 i = 0; i < count; i++) {
        u32 place = i;
        for (; place > 0 && events[out[place - 1]].cpu > events[i].cpu; place--)
            out[place] = out[place - 1];
        out[place] = (u8)i;
    }
}

static tie_cpus cpus_of(const tie_event *events, u32 count)
{
    tie_cpus out = { .count = 0, .states = 1 };
    sort_numbers(events, count, out.numbers);
    for (u32 i = 0; i < count; i++) {
        if (i == 0 || events[out.numbers[i]].cpu != events[out.numbers[i - 1]].cpu)
            out.at[out.count++] = (tie_cpu){ .first = i };
        out.at[out.count - 1].count++;
    }
    for (u32 i = 0; i < out.count; i++) {
        out.at[i].stride = out.states;
        out.states *= out.at[i].count + 1;
        if (out.states > STATES_MAX)
            out.states = 0;
    }
    return out;
}

static u32 cost_of(u8 effect, bool is_live)
{
    if (effect == TIE_FREE && !is_live)
        return UNKNOWN;
    return effect == TIE_ALLOC && is_live;
}

static bool live_after(u8 effect, bool is_live)
{
    return effect == TIE_ALLOC || (is_live && effect == TIE_NONE);
}

static u32 taken_of(const tie_cpu *cpu, u32 state)
{
    return state / cpu->stride % (cpu->count + 1);
}

/* The event that a processor has next. */
static u32 next_of(const tie_cpus *cpus, u32 cpu, u32 taken)
{
    return cpus->numbers[cpus->at[cpu].first + taken];
}

/* Finds the processor to take from in a state, and what the way to the end then costs. Of those
 * that cost the same, the one with the first event. */
static u32 best_cpu(const tie_event *events, const tie_cpus *cpus, u32 state, bool is_live,
                    u32 costs[STATES_MAX][2], u8 *cpu_out)
{
    u32 best = UINT32_MAX, first = UINT32_MAX;
    for (u32 i = 0; i < cpus->count; i++) {
        const tie_cpu *const cpu = &cpus->at[i];
        const u32 taken = taken_of(cpu, state);
        if (taken == cpu->count)
            continue;
        const u32 number = next_of(cpus, i, taken);
        const u8 effect = events[number].effect;
        const u32 cost =
            cost_of(effect, is_live) + costs[state + cpu->stride][live_after(effect, is_live)];
        if (cost < best || (cost == best && number < first)) {
            best = cost;
            first = number;
            *cpu_out = (u8)i;
        }
    }
    return best;
}

/* Finds the processor to take from, for all states: those with more events taken have higher
 * numbers, so what comes after a state is known before it. */
static void solve(const tie_event *events, const tie_cpus *cpus, u8 choice[STATES_MAX][2])
{
    u32 costs[STATES_MAX][2];
    costs[cpus->states - 1][false] = costs[cpus->states - 1][true] = 0;
    for (u32 state = cpus->states - 1; state-- > 0;) {
        for (u32 live = 0; live < 2; live++)
            costs[state][live] =
                best_cpu(events, cpus, state, live != 0, costs, &choice[state][live]);
    }
}

/* The processor with the first event that costs nothing now, or else with the first of all. */
static u32 first_fitting(const tie_event *events, const tie_cpus *cpus, const u8 *taken,
                         bool is_live)
{
    u32 best = cpus->count, first = UINT32_MAX;
    for (u32 i = 0; i < cpus->count; i++) {
        if (taken[i] == cpus->at[i].count)
            continue;
        const u32 number = next_of(cpus, i, taken[i]);
        const u32 place = number + (cost_of(events[number].effect, is_live) == 0 ? 0 : UNKNOWN);
        if (place < first) {
            best = i;
            first = place;
        }
    }
    return best;
}

bool ties_merge(const tie_event *events, u32 count, bool is_live, u8 out[TIE_EVENTS_MAX])
{
    const tie_cpus cpus = cpus_of(events, count);
    u8 choice[STATES_MAX][2];
    u8 taken[TIE_EVENTS_MAX] = { 0 };
    bool has_moved = false;
    assert(count <= TIE_EVENTS_MAX);
    if (cpus.states != 0)
        solve(events, &cpus, choice);
    for (u32 place = 0, state = 0; place < count; place++) {
        const u32 i = cpus.states != 0 ? choice[state][is_live]
                                       : first_fitting(events, &cpus, taken, is_live);
        const u32 number = next_of(&cpus, i, taken[i]++);
        out[place] = (u8)number;
        has_moved |= number != place;
        state += cpus.at[i].stride;
        is_live = live_after(events[number].effect, is_live);
    }
    return has_moved;
}
