/*
 * row_spans.c - the time that rates of rows are about; see row_spans.h.
 *
 * In: keys of rows, the recorded spans of kinds, the lives of processes. Out: a span, and the
 * length that rates are divided by. Invariant: equal kinds and processes have one span, computed
 * once.
 */
#include "row_spans.h"

#include "engine/result/summary.h"

#include <stdlib.h>

static const etlheap_time_range whole_time = { INT64_MIN, INT64_MAX };

/* The life of a process. It has not begun or ended where the trace does not tell. */
static etlheap_time_range life_of(const etl_session *session, const etlheap_process_info *info)
{
    etlheap_time_range out = whole_time;
    if (info->start_ticks != ETLHEAP_TICKS_BEFORE)
        out.from_ns = etl_time_ns(session, info->start_ticks);
    if (info->end_ticks != ETLHEAP_TICKS_NEVER)
        out.to_ns = etl_time_ns(session, info->end_ticks);
    return out;
}

static void join(etlheap_time_range *to, etlheap_time_range life)
{
    to->from_ns = life.from_ns < to->from_ns ? life.from_ns : to->from_ns;
    to->to_ns = life.to_ns > to->to_ns ? life.to_ns : to->to_ns;
}

/* Processes that share a row live from the first one's start to the last one's end. */
static void join_lives(row_spans *spans)
{
    const aggregator *const a = spans->a;
    const etlheap_time_range nothing = { INT64_MAX, INT64_MIN };
    const u32 count = (u32)a->result->processes.count;
    bool has_any = false;
    for (u32 i = 0; i <= count; i++)
        spans->lives[i] = nothing;
    for (u32 i = 1; i <= count; i++) {
        const etlheap_time_range life =
            life_of(a->result->base.base, &a->result->processes.at[i - 1]);
        join(&spans->lives[a->same_name[i]], life);
        if (a->query->process_count > 0 && a->plan.process_selected[i]) {
            join(&spans->lives[0], life);
            has_any = true;
        }
    }
    if (!has_any)
        spans->lives[0] = whole_time;
}

bool row_spans_open(row_spans *out, const aggregator *a, bool keeps_lives)
{
    const size_t count = a->result->processes.count + 1;
    *out = (row_spans){ .a = a,
                        .by_kind = query_groups_by(a->query, ETLHEAP_KEY_KIND),
                        .keeps_lives = keeps_lives,
                        .lives = malloc(count * sizeof *out->lives),
                        .numbers = calloc(count * (ETLHEAP_KIND_COUNT + 1), sizeof(u32)) };
    if (out->lives == NULL || out->numbers == NULL)
        return false;
    join_lives(out);
    return true;
}

void row_spans_close(row_spans *spans)
{
    free(spans->lives);
    free(spans->numbers);
    ETLHEAP_VECTOR_FREE(&spans->spans);
    *spans = (row_spans){ 0 };
}

static bool knows_any(const etlheap_trace_info *trace, u32 kinds)
{
    bool knows = false;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        knows |= (kinds >> kind & 1) != 0 && trace->recorded[kind].is_known;
    return knows;
}

/* Memory of these kinds stays when processes end, and so does the time in which it is freed. */
static bool are_outliving(u32 kinds)
{
    return (kinds & ~etlheap_kinds_with(ETLHEAP_KIND_OUTLIVES)) == 0;
}

/* A process that did not live in the recorded part of the window has no rows there; so its time is
 * that part, which no amount is divided by. */
static etlheap_time_range make_span(const row_spans *spans, u32 kinds, u32 process)
{
    const query_plan *const plan = &spans->a->plan;
    const etlheap_trace_info *const trace = &spans->a->result->info;
    const etlheap_time_range life = are_outliving(kinds) ? whole_time : spans->lives[process];
    const etlheap_time_range part =
        etlheap_recorded_part(trace, kinds, (etlheap_time_range){ plan->from_ns, plan->to_ns });
    const etlheap_time_range lived = { life.from_ns > part.from_ns ? life.from_ns : part.from_ns,
                                       life.to_ns < part.to_ns ? life.to_ns : part.to_ns };
    const bool counts = spans->keeps_lives || knows_any(trace, kinds);
    return counts && lived.from_ns < lived.to_ns ? lived : part;
}

static u32 kinds_of(const row_spans *spans, const group_key *key)
{
    return spans->by_kind ? 1u << key->kind : query_kinds(spans->a->query);
}

bool row_spans_find(row_spans *spans, const group_key *key, u32 *number)
{
    const u32 origin = spans->by_kind ? key->kind : ETLHEAP_KIND_COUNT;
    const size_t places = spans->a->result->processes.count + 1;
    u32 *const known = &spans->numbers[origin * places + key->process];
    if (*known == 0) {
        const etlheap_time_range span = make_span(spans, kinds_of(spans, key), key->process);
        if (!ETLHEAP_PUSH(&spans->spans, span))
            return false;
        *known = (u32)spans->spans.count;
    }
    *number = *known - 1;
    return true;
}

etlheap_time_range row_spans_of_kinds(const row_spans *spans, u32 kinds)
{
    return make_span(spans, kinds, 0);
}

static i64 length_of(etlheap_time_range span)
{
    i64 ns;
    return __builtin_sub_overflow(span.to_ns, span.from_ns, &ns) ? INT64_MAX : ns;
}

static i64 summary_ns(const summary_data *summary)
{
    i64 sum = 0;
    for (size_t i = 0; i < summary->traces.count; i++) {
        const summary_trace *const trace = &summary->traces.at[i];
        const i64 from_ns = trace->from_ns < 0 ? trace->from_ns : 0;
        sum = etl_sat_add_i64(sum, length_of((etlheap_time_range){ from_ns, trace->info.end_ns }));
    }
    return sum;
}

i64 row_spans_ns_of_kinds(const row_spans *spans, u32 kinds)
{
    const summary_data *const summary = spans->a->result->summary;
    return summary != NULL ? summary_ns(summary) : length_of(row_spans_of_kinds(spans, kinds));
}

i64 row_spans_ns(row_spans *spans, const group_key *key)
{
    u32 number;
    if (spans->a->result->summary != NULL)
        return summary_ns(spans->a->result->summary);
    /* Without memory for a list of spans, the span is made for this one row. */
    if (!row_spans_find(spans, key, &number))
        return length_of(make_span(spans, kinds_of(spans, key), key->process));
    return length_of(spans->spans.at[number]);
}
