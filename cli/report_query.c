/*
 * report_query.c - makes the engine's query from the options of a command.
 *
 * In: cli_options and the clock of the inputs, for times such as "12:30" or "10s". Out: an
 * etlheap_query with its lists, which the cli_query owns.
 *
 * Defaults that depend on the output are decided here: a tree needs stacks, tags replace sites, and
 * memory of different kinds is never added up. Invariant: the query points into the options and
 * into cli_query, so both must outlive it.
 */
#include "report_query.h"

#include "cli/options/views.h"
#include "cli/options/wants.h"

#include <stdlib.h>

static etl_status add_patterns(const cli_options *options, cli_query *out, etl_error *err);
static etl_status add_threads(const cli_options *options, cli_query *out, etl_error *err);
static etl_status add_tags(const cli_options *options, cli_query *out, etl_error *err);
static etl_status add_pool_tags(const cli_options *options, cli_query *out, etl_error *err);
static u32 impacting_types(const cli_options *options);
static void set_grouping(const cli_options *options, etlheap_query *query);
static void add_kind(const cli_options *options, etlheap_query *query);

/* Asks for the figures that the rows show: those of views have flags of their own. */
static void add_figures(const cli_options *options, etlheap_query *query)
{
    query->lifetime_ranks = (cli_wants_transient(options) && !cli_wants_functions(options)) ||
                            cli_wants_lifetimes(options);
    query->keep_lifetimes = options->command_bit == CLI_DIFF && query->lifetime_ranks;
    query->alloc_times = cli_uses(options, ETLHEAP_MEASURE_BIT(FIRST) | ETLHEAP_MEASURE_BIT(LAST));
    query->heap_pages = cli_uses(options, ETLHEAP_MEASURE_BIT(UNCOMMITTED_SIZE) |
                                              ETLHEAP_MEASURE_BIT(DECOMMITTED_SIZE) |
                                              ETLHEAP_MEASURE_BIT(FRAGMENTATION));
    query->rates = cli_wants_rates(options) || query->keep_lifetimes;
    for (u32 i = 0; i < cli_view_count(); i++) {
        const cli_view *const view = cli_view_at(i);
        bool *const flag = (bool *)(void *)((char *)query + view->figures);
        if (view->figures != 0 && cli_view_needs_figures(view, options))
            *flag = true;
    }
}

/* The first measure of the order and the columns that rows do not have; ETLHEAP_MEASURES_COUNT:
 * none. */
static etlheap_measure find_missing(const cli_options *options, etlheap_measure_set measures)
{
    if ((measures >> options->sort & 1) == 0)
        return options->sort;
    for (u32 i = 0; i < options->columns.count; i++) {
        if ((measures >> options->columns.at[i] & 1) == 0)
            return (etlheap_measure)options->columns.at[i];
    }
    return ETLHEAP_MEASURES_COUNT;
}

/* What rows must be to have the measure. */
static const char *owners_of(etlheap_measure measure)
{
    switch (measure) {
    case ETLHEAP_MEASURE_EXCLUSIVE_COUNT:
    case ETLHEAP_MEASURE_EXCLUSIVE_SIZE:
        return "that are functions: --group-by function";
    default:
        return "that are heaps: --group-by heap, with kind and process if you like";
    }
}

/* Finds what only --columns asks for. */
static etl_status check_measures(const cli_options *options, cli_query *out, etl_error *err)
{
    cli_options plain = *options;
    etlheap_query query = etlheap_query_default();
    plain.columns = (cli_columns){ 0 };
    add_figures(&plain, &query);
    memcpy(query.group_by, out->query.group_by, sizeof query.group_by);
    query.group_by_count = out->query.group_by_count;
    const etlheap_measure_set measures = etlheap_query_measures(&out->query);
    const etlheap_measure missing = find_missing(options, measures);
    out->columns_beside = measures & ~etlheap_query_measures(&query);
    if (missing == ETLHEAP_MEASURES_COUNT)
        return ETL_OK;
    return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s %s needs rows %s",
                         missing == options->sort ? "--sort" : "--columns",
                         etlheap_measure_word(missing), owners_of(missing));
}

etl_status cli_query_build(const cli_options *options, const cli_clock *clock, cli_query *out,
                           etl_error *err)
{
    *out = (cli_query){ .query = etlheap_query_default() };
    etlheap_query *const query = &out->query;
    etl_status status = cli_window(options, clock, &query->from_ns, &query->to_ns, err);
    if (status == ETL_OK)
        status = add_patterns(options, out, err);
    if (status == ETL_OK)
        status = add_threads(options, out, err);
    if (status == ETL_OK)
        status = add_tags(options, out, err);
    if (status == ETL_OK)
        status = add_pool_tags(options, out, err);
    query->at_exit_freed = options->at_exit != 0;
    query->kinds = options->kinds == 0 && clock->part ? clock->part->kinds : options->kinds;
    query->types = options->types | impacting_types(options);
    query->at_end = options->at_peak || options->at.given;
    add_figures(options, query);
    query->processes = options->processes.at;
    query->process_count = options->processes.count;
    query->heaps = options->heaps.at;
    query->heap_count = options->heaps.count;
    query->lifetime_min_ns = options->lifetime_min_ns;
    query->lifetime_max_ns = options->lifetime_max_ns;
    query->size_min_bytes = options->size_min_bytes;
    query->size_max_bytes = options->size_max_bytes;
    query->sort = options->sort;
    query->sort_ascending = options->sort_ascending;
    query->jobs = options->jobs;
    query->cancel = options->served ? options->served->cancel : NULL;
    set_grouping(options, query);
    return status == ETL_OK ? check_measures(options, out, err) : status;
}

static u32 impacting_types(const cli_options *options)
{
    static const u32 types[CLI_IMPACTING_COUNT] = {
        [CLI_IMPACTING_TRANSIENT] = 1u << ETLHEAP_TYPE_AIFI,
        [CLI_IMPACTING_IMPACTING] = 1u << ETLHEAP_TYPE_AIFO | 1u << ETLHEAP_TYPE_AOFI,
        [CLI_IMPACTING_PERSISTENT] = 1u << ETLHEAP_TYPE_AOFO,
    };
    u32 mask = options->impacting_only ? types[CLI_IMPACTING_IMPACTING] : 0;
    for (u32 i = 0; i < CLI_IMPACTING_COUNT; i++)
        mask |= (options->impacting >> i & 1) != 0 ? types[i] : 0;
    return mask;
}

void cli_query_free(cli_query *query)
{
    cli_patterns_free(&query->require_frames);
    cli_patterns_free(&query->exclude_frames);
    cli_patterns_free(&query->fold_modules);
    cli_patterns_free(&query->cull_frames);
    cli_patterns_free(&query->root);
    etlheap_tags_close(query->tags);
    etlheap_pool_tags_close(query->pool_tags);
    query->tags = NULL;
    query->pool_tags = NULL;
    free(query->threads);
    free((void *)query->thread_names);
    query->threads = NULL;
    query->thread_names = NULL;
}

etl_status cli_window(const cli_options *options, const cli_clock *clock, i64 *from_ns, i64 *to_ns,
                      etl_error *err)
{
    *from_ns = clock->part ? clock->part->from_ns : INT64_MIN;
    *to_ns = clock->part ? clock->part->to_ns : INT64_MAX;
    etl_status status = ETL_OK;
    if (options->from.given)
        status = cli_clock_time(clock, &options->from, "--from", from_ns, err);
    if (status == ETL_OK && options->to.given)
        status = cli_clock_time(clock, &options->to, "--to", to_ns, err);
    if (status == ETL_OK && options->at.given)
        status = cli_clock_time(clock, &options->at, "--at", to_ns, err);
    if (status != ETL_OK)
        return status;
    if (options->from.given && (options->to.given || options->at.given) && *from_ns > *to_ns)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--from is after --%s, so the window is empty",
                             options->to.given ? "to" : "at");
    return ETL_OK;
}

static etl_status add_root(const cli_options *options, cli_query *out, etl_error *err)
{
    const char *word = options->focus ? options->focus : options->root;
    const cli_words words = { .at = &word, .count = word ? 1 : 0 };
    return cli_patterns_add_words(&out->root, &words, options->focus ? "--focus" : "--root", err);
}

/* Adds patterns to cull. --no-cull removes only the built-in ones; the user's own stay. */
static etl_status add_patterns(const cli_options *options, cli_query *out, etl_error *err)
{
    etl_status status = cli_patterns_add_words(&out->require_frames, &options->require_frames,
                                               "--require-frame", err);
    if (status == ETL_OK)
        status = cli_patterns_add_words(&out->exclude_frames, &options->exclude_frames,
                                        "--exclude-frame", err);
    if (status == ETL_OK)
        status = cli_patterns_add_modules(&out->fold_modules, &options->fold_modules,
                                          "--fold-module", err);
    if (status == ETL_OK)
        status = add_root(options, out, err);
    if (status == ETL_OK)
        status =
            cli_patterns_add_words(&out->cull_frames, &options->cull_frames, "--cull-frame", err);
    for (u32 i = 0; status == ETL_OK && i < options->cull_lists.count; i++)
        status = cli_patterns_add_file(&out->cull_frames, options->cull_lists.at[i], err);
    if (status == ETL_OK && !options->no_cull)
        status = cli_patterns_add_allocators(&out->cull_frames, err);
    out->query.require_frames = out->require_frames.at;
    out->query.require_frame_count = out->require_frames.count;
    out->query.exclude_frames = out->exclude_frames.at;
    out->query.exclude_frame_count = out->exclude_frames.count;
    out->query.fold_modules = out->fold_modules.at;
    out->query.fold_module_count = out->fold_modules.count;
    out->query.cull_frames = out->cull_frames.at;
    out->query.cull_frame_count = out->cull_frames.count;
    return status;
}

/* Adds threads: a number is an id, anything else a name. */
static etl_status add_threads(const cli_options *options, cli_query *out, etl_error *err)
{
    const u32 count = options->threads.count;
    etlheap_query *const query = &out->query;
    if (count == 0)
        return ETL_OK;
    out->threads = calloc(count, sizeof *out->threads);
    out->thread_names = calloc(count, sizeof *out->thread_names);
    if (!out->threads || !out->thread_names)
        return etl_no_memory(err);
    for (u32 i = 0; i < count; i++) {
        u64 tid;
        if (cli_parse_count(options->threads.at[i], UINT32_MAX, &tid))
            out->threads[query->thread_count++] = (u32)tid;
        else
            out->thread_names[query->thread_name_count++] = options->threads.at[i];
    }
    query->threads = out->threads;
    query->thread_names = out->thread_names;
    return ETL_OK;
}

/* Adds stack tags. As in WPA, the file loaded last comes first. */
static etl_status add_tags(const cli_options *options, cli_query *out, etl_error *err)
{
    etl_status status = ETL_OK;
    if (options->stack_tags.count > 0)
        status = etlheap_tags_open(&out->tags, err);
    for (u32 i = options->stack_tags.count; i > 0 && status == ETL_OK; i--)
        status = etlheap_stack_tags_read(options->stack_tags.at[i - 1], out->tags, err);
    out->query.tags = out->tags;
    return status;
}

static etl_status add_pool_tags(const cli_options *options, cli_query *out, etl_error *err)
{
    if (options->pool_tags == NULL)
        return ETL_OK;
    etl_status status = etlheap_pool_tags_open(&out->pool_tags, err);
    if (status == ETL_OK)
        status = etlheap_pool_tags_read(options->pool_tags, out->pool_tags, &out->pool_tags_skipped,
                                        err);
    out->query.pool_tags = out->pool_tags;
    return status;
}

static bool is_grouped_by(const cli_options *options, etlheap_key key)
{
    bool given = false;
    for (u32 i = 0; i < options->group_by_count; i++)
        given |= options->group_by[i] == key;
    return given;
}

/* Sets the keys: those given, or else those of a view. A tree always has stacks: those of frees if
 * rows are grouped by these. Tags are for what is larger than a stack. */
static void set_grouping(const cli_options *options, etlheap_query *query)
{
    static const etlheap_key tag_keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS,
                                            ETLHEAP_KEY_TAG };
    const cli_view *const view = cli_view_of_keys(options);
    if (options->group_by_count > 0) {
        query->group_by_count = 0;
        add_kind(options, query);
        memcpy(query->group_by + query->group_by_count, options->group_by,
               options->group_by_count * sizeof options->group_by[0]);
        query->group_by_count += options->group_by_count;
        if (options->tree != ETLHEAP_TREE_NONE && !is_grouped_by(options, ETLHEAP_KEY_STACK) &&
            !is_grouped_by(options, ETLHEAP_KEY_IMPACTING_STACK) &&
            !is_grouped_by(options, ETLHEAP_KEY_FREE_STACK))
            query->group_by[query->group_by_count++] = ETLHEAP_KEY_STACK;
    } else if (view) {
        memcpy(query->group_by, view->keys, view->key_count * sizeof view->keys[0]);
        query->group_by_count = view->key_count;
    } else if (options->stack_tags.count > 0) {
        memcpy(query->group_by, tag_keys, sizeof tag_keys);
        query->group_by_count = (u32)ETL_COUNT_OF(tag_keys);
    }
}

/* The same bytes may be in a block, an extent and a committed range. So each row is of one kind,
 * whether or not the user asked for that column. */
static void add_kind(const cli_options *options, etlheap_query *query)
{
    const bool one_kind = query->kinds != 0 && (query->kinds & (query->kinds - 1)) == 0;
    if (!one_kind && !is_grouped_by(options, ETLHEAP_KEY_KIND))
        query->group_by[query->group_by_count++] = ETLHEAP_KEY_KIND;
}

void cli_group_windows(const cli_options *options, etlheap_query *query)
{
    static const etlheap_key keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS };
    if (options->group_by_count > 0 || options->stack_tags.count > 0)
        return;
    memcpy(query->group_by, keys, sizeof keys);
    query->group_by_count = (u32)ETL_COUNT_OF(keys);
}
