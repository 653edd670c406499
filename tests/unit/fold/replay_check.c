/* replay_check.c - see replay_check.h. */
#include "replay_check.h"

#include "engine/fold/heap_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/query/needs.h"

void replay_check_same(const check_traces *traces, const etlheap_query *query,
                       const etlheap_result *rows, u64 slice_bytes, const char *name)
{
    const etlheap_options options = {
        .size = sizeof options, .jobs = query->jobs, .slice_bytes = slice_bytes, ASKED_TABLE(query)
    };
    etlheap_result *const kept = check_analyze(traces, &options);
    assert_true(etlheap_result_is_for_questions(kept));
    assert_int_equal(kept->event_list.is_tallied, query_asks_sums(query));
    char *const expected = check_aggregate_text(rows, query);
    char *const found = check_aggregate_text(kept, query);
    const etl_diag_counts *const a = etlheap_result_diagnostics(rows);
    const etl_diag_counts *const b = etlheap_result_diagnostics(kept);
    for (u32 i = 0; i < ETL_DIAG_COUNT; i++) {
        if (a->of[i] != b->of[i])
            fail_msg("%s: %s is %u, wanted %u; slices of %u, %u jobs", name,
                     etl_diag_describe((etl_diag)i)->name, (unsigned)b->of[i], (unsigned)a->of[i],
                     (unsigned)slice_bytes, query->jobs);
    }
    if (!check_same_text(expected, found))
        fail_msg("%s: slices of %u, %u jobs", name, (unsigned)slice_bytes, query->jobs);
    free(expected);
    free(found);
    etlheap_result_free(kept);
}
