/*
 * fuzz_compare.c - diff, trend and check, over times and sizes that are anything.
 *
 * In: two programs (hostile_build.h), the halves of the input. Out: nothing, or a crash: both are
 * analyzed, compared, put into a trend and judged against each other, and every format writes each
 * answer. Output stays below a bound that follows from the number of events.
 *
 *     session  +4 measure  +5 keys, options  +6 start of the window  +7 its shift
 *              +4 of the second program: the limit of the check, +5 its scope
 */
#include "fuzz.h"
#include "hostile_build.h"

#define RUNS 3u /* of a trend: the second run comes twice */

typedef struct comparison {
    hostile_run runs[2];
    etlheap_query query;
    etlheap_table *tables[2];
    const u8 *session, *second; /* of both programs */
    size_t program_bytes;
} comparison;

typedef struct output {
    etlheap_text text;
    hostile_bound bound;
    etlheap_sink *sink;
} output;

static bool begin_output(output *out, const comparison *c)
{
    etl_error err;
    *out = (output){ .sink = NULL };
    out->bound = hostile_bound_of(&out->text, c->program_bytes);
    if (etlheap_sink_open_text(&out->text, &out->sink, &err) != ETL_OK)
        return false;
    etlheap_sink_watch(out->sink, hostile_is_bounded, &out->bound);
    return true;
}

static void end_output(output *out)
{
    etl_error err;
    (void)etlheap_sink_close(out->sink, &err);
    (void)hostile_is_bounded(&out->bound);
    etlheap_text_free(&out->text);
}

static void write_diff(const comparison *c, const etlheap_diff *diff)
{
    const etlheap_layout layout = etlheap_layout_default();
    const etlheap_diff_answer answer = {
        .diff = diff,
        .base = { .name = "a.etl", .result = c->runs[0].result, .table = c->tables[0] },
        .now = { .name = "b.etl", .result = c->runs[1].result, .table = c->tables[1] },
    };
    for (u32 i = 0; i < etlheap_format_count(); i++) {
        output out;
        if (!etlheap_format_at(i)->write_diff || !begin_output(&out, c))
            continue;
        (void)etlheap_format_at(i)->write_diff(&answer, &layout, out.sink);
        end_output(&out);
    }
}

static void compare(const comparison *c)
{
    static const etlheap_measure measures[] = {
        ETLHEAP_MEASURE_OUTSTANDING_SIZE, ETLHEAP_MEASURE_SIZE,          ETLHEAP_MEASURE_COUNT,
        ETLHEAP_MEASURE_IMPACTING_SIZE,   ETLHEAP_MEASURE_REALLOC_COUNT,
    };
    const u8 flags = c->session[5];
    const etlheap_diff_options options = {
        .size = sizeof options,
        .measure = measures[c->session[4] % ETL_COUNT_OF(measures)],
        .ascending = (flags & 1) != 0,
        .by_direction = (flags & 2) != 0,
        .keep_unchanged = (flags & 4) != 0,
        .per_second = (flags & 8) != 0,
        .base_result = c->runs[0].result,
        .new_result = c->runs[1].result,
        .jobs = 1,
    };
    etlheap_diff *diff = NULL;
    etl_error err;
    if (etlheap_diff_tables(c->tables[0], c->tables[1], &options, &diff, &err) == ETL_OK)
        write_diff(c, diff);
    etlheap_diff_free(diff);
}

static void follow(const comparison *c)
{
    const etlheap_layout layout = etlheap_layout_default();
    const etlheap_table *tables[RUNS];
    const etlheap_result *results[RUNS];
    etlheap_trend_run runs[RUNS];
    etlheap_trend_options options = etlheap_trend_options_default();
    etlheap_trend *trend = NULL;
    etl_error err;
    options.keep_steady = (c->session[5] & 4) != 0;
    for (u32 i = 0; i < RUNS; i++) {
        tables[i] = c->tables[i > 0];
        results[i] = c->runs[i > 0].result;
        runs[i] = (etlheap_trend_run){ .name = "a.etl", .result = results[i], .table = tables[i] };
    }
    if (etlheap_trend_tables(tables, results, RUNS, &options, &trend, &err) == ETL_OK) {
        const etlheap_trend_answer answer = { .trend = trend, .runs = runs };
        for (u32 i = 0; i < etlheap_format_count(); i++) {
            output out;
            if (!etlheap_format_at(i)->write_trend || !begin_output(&out, c))
                continue;
            (void)etlheap_format_at(i)->write_trend(&answer, &layout, out.sink);
            end_output(&out);
        }
    }
    etlheap_trend_free(trend);
}

static void write_check(const comparison *c, const etlheap_gate *gate)
{
    const etlheap_layout layout = etlheap_layout_default();
    const etlheap_check check = { .gate = gate, .baseline_name = "a.etl", .may_compare = true };
    for (u32 i = 0; i < etlheap_format_count(); i++) {
        output out;
        if (!etlheap_format_at(i)->write_check || !begin_output(&out, c))
            continue;
        (void)etlheap_format_at(i)->write_check(c->runs[1].result, &check, &layout, out.sink);
        end_output(&out);
    }
}

/* Judges the first budgets. A budget that the runs cannot answer refuses them all. */
static void judge(const comparison *c, u32 count)
{
    const u8 limit = c->second[4], how = c->second[5];
    const etlheap_gate_side baseline = { c->runs[0].result, &c->query };
    const etlheap_gate_side now = { c->runs[1].result, &c->query };
    const etlheap_budget budgets[] = {
        { .scope = (etlheap_scope)(how % ETLHEAP_SCOPE_MARK),
          .is_count = (how & 16) != 0,
          .limit = hostile_number(limit, how) },
        { .scope = (how & 32) != 0 ? ETLHEAP_SCOPE_STACK : ETLHEAP_SCOPE_PROCESS,
          .is_growth = true,
          .limit = limit,
          .baseline_millionths = hostile_number(limit, how) },
        { .scope = (etlheap_scope)(limit % ETLHEAP_SCOPE_COUNT),
          .quantity = (etlheap_quantity)(how % ETLHEAP_QUANTITY_COUNT),
          .is_count = (how & 16) != 0,
          .is_growth = (how & 8) != 0,
          .limit = limit },
    };
    const etlheap_gate_options options = { .size = sizeof options,
                                           .budgets = budgets,
                                           .budget_count = count,
                                           .baseline = &baseline,
                                           .stacks_max = 3,
                                           .passes_max = 5 };
    const etlheap_gate *gate = NULL;
    etl_error err;
    if (etlheap_gate_judge(&now, &options, &gate, &err) == ETL_OK)
        write_check(c, gate);
    etlheap_gate_free(gate);
}

static void set_query(comparison *c)
{
    static const etlheap_key last[] = { ETLHEAP_KEY_SITE, ETLHEAP_KEY_STACK, ETLHEAP_KEY_FRAME,
                                        ETLHEAP_KEY_MODULE };
    c->query = etlheap_query_default();
    c->query.jobs = 1;
    c->query.group_by[0] = ETLHEAP_KEY_KIND;
    c->query.group_by[1] = ETLHEAP_KEY_PROCESS;
    c->query.group_by[2] = last[c->session[5] >> 6];
    c->query.group_by_count = 3;
    if (c->session[6] != 0)
        c->query.from_ns = (i64)hostile_number(c->session[6], c->session[7]);
    c->query.growth = (c->session[5] & 16) != 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    const size_t half = size / 2 / HOSTILE_STEP_BYTES * HOSTILE_STEP_BYTES;
    if (half < 2 * HOSTILE_STEP_BYTES)
        return 0;
    comparison c = { .session = data, .second = data + half, .program_bytes = size };
    etl_error err;
    set_query(&c);
    const etlheap_question question = { .size = sizeof question,
                                        .kind = ETLHEAP_ASK_EVENTS,
                                        .query = &c.query };
    bool ok = true;
    for (u32 i = 0; i < 2; i++)
        ok = hostile_open(&c.runs[i], i == 0 ? data : data + half, i == 0 ? half : size - half,
                          &question, 1) &&
             ok;
    for (u32 i = 0; ok && i < 2; i++)
        ok = etlheap_aggregate(c.runs[i].result, &c.query, &c.tables[i], &err) == ETL_OK;
    if (ok) {
        compare(&c);
        follow(&c);
        judge(&c, 2);
        judge(&c, 3);
    }
    for (u32 i = 0; i < 2; i++) {
        etlheap_table_free(c.tables[i]);
        hostile_close(&c.runs[i]);
    }
    return 0;
}
