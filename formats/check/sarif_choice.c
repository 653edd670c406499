/*
 * sarif_choice.c - chooses the results of a SARIF log if there are more than a host takes.
 *
 * In: failed subjects with their stacks, and a limit. Out: how many stacks of each subject, and how
 * many subjects of each budget, are listed. All failures get equally many, found by bisection.
 */
#include "sarif_choice.h"

static u64 count_results(const etlheap_gate *gate, u32 subjects_max, u32 stacks_max)
{
    u64 count = gate->unmet_count;
    for (u32 b = 0; b < gate->budget_count; b++) {
        const etlheap_gate_budget *const budget = &gate->budgets[b];
        count += sarif_is_unmeasured(budget);
        for (u32 s = 0; s < budget->failed_count && s < subjects_max; s++) {
            const u64 stacks = etl_min_u64(budget->subjects[s].stack_count, stacks_max);
            count += stacks > 0 ? stacks : 1;
        }
    }
    return count;
}

/* The largest bound with which no more than results_max results are left, 1 at least. */
static u32 largest_bound(const etlheap_gate *gate, u32 results_max, bool of_subjects)
{
    u32 low = 1, high = results_max;
    while (low < high) {
        const u32 middle = low + (high - low + 1) / 2;
        const u64 count =
            of_subjects ? count_results(gate, middle, 1) : count_results(gate, UINT32_MAX, middle);
        if (count <= results_max)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

sarif_choice sarif_choose(const etlheap_gate *gate, u32 results_max)
{
    const u32 max = results_max > 0 ? results_max : SARIF_RESULTS_DEFAULT;
    sarif_choice choice = { .subjects_max = UINT32_MAX,
                            .stacks_max = UINT32_MAX,
                            .found = count_results(gate, UINT32_MAX, UINT32_MAX) };
    if (choice.found > max) {
        choice.stacks_max = largest_bound(gate, max, false);
        if (count_results(gate, UINT32_MAX, choice.stacks_max) > max)
            choice.subjects_max = largest_bound(gate, max, true);
    }
    choice.listed =
        (u32)etl_min_u64(count_results(gate, choice.subjects_max, choice.stacks_max), max);
    return choice;
}
