/*
 * views.c - the table of views, and what refuses combinations with them; see views.h.
 *
 * In: the options of a command line. Out: the rows of the views that are asked for, or an error.
 *
 * Every two options work together, or a sentence that names both refuses them: what only one row
 * knows about is in its row, what concerns options that are no views is in `others`, and --frames
 * has its own check because it depends on the keys. tests/oracles/oracle_option_pairs.py runs all
 * pairs. Invariant: rows are in the order in which views choose the keys; of their orders, the last
 * one counts.
 */
#include "views.h"
#include "wants.h"

#include "given_options.h"
#include "output_format.h"

#include <stdio.h>

#define MEASURE(name) ETLHEAP_MEASURE_BIT(name)
#define KEY(name)     (1u << ETLHEAP_KEY_##name)
#define SPELLED_SIZE  64

static_assert(ETLHEAP_KEY_COUNT <= 32, "a mask has a bit for each key");

static const cli_view views[] = {
    {
        .option = "--pairs",
        .figures = offsetof(etlheap_query, freed_by_other),
        .figures_of = MEASURE(FREED_BY_OTHER),
        .before_tags = true,
        .keys = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_SITE, ETLHEAP_KEY_FREE_SITE },
        .key_count = 4,
        .has_sort = true,
        .sort = ETLHEAP_MEASURE_COUNT,
    },
    {
        .option = "--unmatched",
        .figures = offsetof(etlheap_query, unmatched),
        .before_tags = true,
        .keys = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_HEAP, ETLHEAP_KEY_FREE_STACK },
        .key_count = 4,
        .has_sort = true,
        .sort = ETLHEAP_MEASURE_COUNT,
        .excludes =
            "--pairs --tree --focus --histogram --suspects --growth --churn --at --at-exit --type "
            "--impacting --lifetime --size --require-frame --exclude-frame --stack-tags",
        .excluded_keys = ~(KEY(KIND) | KEY(PROCESS) | KEY(HEAP) | KEY(POOL_TAG) | KEY(FREE_STACK) |
                           KEY(FREE_SITE) | KEY(FREE_MODULE) | KEY(FREE_THREAD)),
        .excluded_measures = ~MEASURE(COUNT),
        .because = "only frees are counted, because their blocks are unknown",
    },
    {
        .option = "--tree",
        .is_tree = true,
        .before_tags = true,
        .keys = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_STACK },
        .key_count = 3,
        .excludes = "--frames --columns",
        .excluded_keys = KEY(FUNCTION),
        .because = "a tree shows whole call stacks, and one measure of them",
    },
    {
        .option = "--focus",
        .is_tree = true,
        .in_markdown = true,
        .tree = ETLHEAP_TREE_BOTH,
        .before_tags = true,
        .keys = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_STACK },
        .key_count = 3,
        .excludes = "--tree --root --frames --columns",
        .excluded_keys = KEY(FUNCTION),
        .because = "two trees show whole call stacks from one function on, and one measure",
    },
    {
        .option = "--suspects",
        .writer = offsetof(etlheap_format, write_suspects),
        .keys = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_SITE, ETLHEAP_KEY_STACK },
        .key_count = 4,
        .excludes =
            "--type --impacting --at --tree --focus --histogram --sort --growth --churn --pairs "
            "--columns",
        .excluded_keys =
            KEY(THREAD) | KEY(THREAD_NAME) | KEY(SIZE_CLASS) | KEY(GENERATION) | KEY(FUNCTION),
        .excludes_ends = true,
        .because = "all blocks of a stack or site are judged together, and suspects have their own "
                   "order",
    },
    {
        .option = "--spikes",
        .writer = offsetof(etlheap_format, write_spikes),
        .keys = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_STACK },
        .key_count = 3,
        .excludes =
            "--type --impacting --at --tree --focus --histogram --sort --growth --churn --pairs "
            "--unmatched --suspects --map --stack-tags --columns",
        .excluded_keys = ~(KEY(KIND) | KEY(PROCESS) | KEY(HEAP) | KEY(STACK)),
        .because = "spikes are those of a kind, a process or a heap, and have their own order",
    },
    {
        .option = "--growth",
        .figures = offsetof(etlheap_query, growth),
        .figures_of = MEASURE(GROWTH_RATE) | MEASURE(STEADINESS),
        .asked_by = MEASURE(GROWTH_RATE) | MEASURE(STEADINESS),
        .keys = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_HEAP, ETLHEAP_KEY_STACK },
        .key_count = 4,
        .has_sort = true,
        .sort = ETLHEAP_MEASURE_GROWTH_RATE,
        .excludes = "--type --impacting --at --tree --focus --histogram --pairs",
        .excluded_keys = KEY(FUNCTION),
        .excluded_measures = MEASURE(FREED_BY_OTHER),
        .excludes_ends = true,
        .because = "growth follows freed and outstanding blocks together over the window, each in "
                   "one row",
    },
    {
        .option = "--churn",
        .figures = offsetof(etlheap_query, churn),
        .figures_of = MEASURE(TEMPORARY_COUNT) | MEASURE(TEMPORARY_SIZE) |
                      MEASURE(TEMPORARY_10_COUNT) | MEASURE(TEMPORARY_1MS_COUNT),
        .keys = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_STACK },
        .key_count = 3,
        .has_sort = true,
        .sort = ETLHEAP_MEASURE_ALLOC_COUNT,
        .excludes = "--at --growth --tree --focus --histogram",
        .because = "churn is measured over a window, in a table of its own",
    },
    {
        .option = "--lifetimes",
        .is_not_sums = true,
        .asked_by = MEASURE(LIFETIME_MEDIAN) | MEASURE(LIFETIME_P99) | MEASURE(LIFETIME_MEAN) |
                    MEASURE(LIFETIME_P90),
        .asked_commands = CLI_DIFF,
        .has_sort = true,
        .sort = ETLHEAP_MEASURE_LIFETIME_MEDIAN,
        .excludes = "--per-second --churn",
        .because = "lifetimes do not add up, and do not grow with the window",
    },
    {
        .option = "--histogram",
        .writer = offsetof(etlheap_format, write_histogram),
        .excludes = "--tree --focus",
        .in_place = "--pairs --sort --columns --top --skip --frames --stack-tags",
        .because = "a histogram has buckets in place of rows",
    },
    {
        .option = "--map",
        .writer = offsetof(etlheap_format, write_map),
        .excludes =
            "--histogram --tree --focus --growth --suspects --churn --pairs --unmatched --type "
            "--impacting --group-by --stack-tags --sort --columns --from",
        .because = "a map shows one moment and has no rows",
    },
};

/* What selects memory, of the command that lists symbols. */
#define SELECTIONS                                                                                 \
    "--from --to --at-exit --kind --process --heap --size --cull-frame --cull-list --no-cull"

static bool writes_csv(const cli_options *options)
{
    return strcmp(cli_format_of(options)->name, "csv") == 0;
}

static bool chooses_moment(const cli_options *options)
{
    return options->at.given;
}

static bool selects_ranges(const cli_options *options)
{
    return options->kinds == 1u << ETLHEAP_KIND_VIRTUALALLOC;
}

/* Each of some kinds counts as one and has no size. */
static bool selects_counted(const cli_options *options)
{
    return (options->kinds & etlheap_kinds_with(ETLHEAP_KIND_NO_SIZES)) != 0;
}

/* Are rows ordered by a size, which none of them has? */
static bool sorts_by_no_size(const cli_options *options)
{
    const char *const word = etlheap_measure_word(options->sort);
    const size_t length = strlen(word), end = strlen("size");
    const bool is_size = length >= end && strcmp(word + length - end, "size") == 0;
    return etlheap_kinds_are_counted(options->kinds) &&
           (is_size || options->sort == ETLHEAP_MEASURE_ALLOC_BYTES_RATE);
}

static bool shows_equal_rows(const cli_options *options)
{
    return cli_format_of(options)->shows_equal;
}

/* Text and Markdown of a comparison have one column, that of the order. */
static bool sorts_without_rates(const cli_options *options)
{
    return cli_format_of(options)->for_people && !cli_sorts_by_rates(options);
}

/* Pairs of options that are no views, and of which one may be refused because of its value. */
static const struct {
    u32 commands;
    const char *option, *excludes;
    bool (*applies)(const cli_options *options);
    const char *because;
} others[] = {
    { CLI_REPORT | CLI_ALLOCATIONS, "--type", "--impacting", NULL, "both choose types" },
    { CLI_REPORT, "--at", "--type --impacting", NULL, "only outstanding memory is shown" },
    { CLI_REPORT, "--at", "--to", chooses_moment, "both set the end of the window" },
    { CLI_REPORT, "--at", "--sort", cli_sorts_by_rates, "rates are measured over a window" },
    { CLI_REPORT, "--at", "--columns", cli_wants_rates, "rates are measured over a window" },
    { CLI_SYMBOLS, "--source", SELECTIONS, NULL, "lines are shown whatever memory is selected" },
    { CLI_SYMBOLS, "--source", "--format --output", writes_csv,
      "lines of code are shown as text or JSON" },
    { CLI_REPORT, "--skip", "--tree --focus --suspects --spikes --map", NULL,
      "only rows of a table can be skipped" },
    { CLI_WINDOWS, "--skip", "--find-growth", NULL, "the growth of one group is shown" },
    { CLI_WINDOWS, "--skip", "--find-spikes", NULL, "only rows of a table can be skipped" },
    { CLI_REPORT, "--heap", "--kind", selects_ranges, "ranges of virtualalloc belong to no heap" },
    { CLI_REPORT | CLI_WINDOWS | CLI_DIFF | CLI_TREND, "--kind", "--sort", sorts_by_no_size,
      "handles have no sizes; sort by a count, such as outstanding_count" },
    { CLI_REPORT, "--kind", "--spikes --histogram --map", selects_counted,
      "handles have no sizes" },
    { CLI_WINDOWS, "--kind", "--find-spikes --find-growth", selects_counted,
      "handles have no sizes" },
    { CLI_WINDOWS, "--find-spikes", "--every --window --at --find-growth", NULL,
      "each spike has a window of its own" },
    { CLI_WINDOWS, "--find-spikes", "--sort", NULL, "spikes are listed by their height" },
    { CLI_WINDOWS, "--find-spikes", "--stack-tags", NULL,
      "spikes are those of a kind, a process or a heap" },
    { CLI_WINDOWS, "--find-growth", "--sort", NULL, "stacks are listed by how much they grew" },
    { CLI_DIFF, "--all", "--format --output", shows_equal_rows,
      "the format always has unchanged rows" },
    { CLI_DIFF, "--frames", "--format --output", shows_equal_rows,
      "the format has whole call stacks" },
    { CLI_DIFF, "--churn", "--sort", sorts_without_rates,
      "the columns of churn are only in other formats, such as --format json" },
};

static bool has_tree(const cli_options *options)
{
    return options->tree != ETLHEAP_TREE_NONE;
}

static bool has_one_tree(const cli_options *options)
{
    return options->tree != ETLHEAP_TREE_NONE && !options->focus;
}

static bool has_map(const cli_options *options)
{
    return options->map;
}

static bool writes_sarif(const cli_options *options)
{
    return options->side_files[CLI_SIDE_SARIF] ||
           strcmp(cli_format_of(options)->name, "sarif") == 0;
}

static bool has_source(const cli_options *options)
{
    return options->sources.count > 0;
}

static bool has_roots(const cli_options *options)
{
    return options->source_roots.count > 0;
}

/* Options that do nothing without another. */
static const struct {
    const char *option;
    bool (*has_other)(const cli_options *options);
    const char *other;
} companions[] = {
    { "--map-unit", has_map, "--map" },
    { "--tree-min", has_tree, "--tree or --focus" },
    { "--root", has_one_tree, "--tree" },
    { "--source", has_roots, "--source-root" },
    { "--source-lines", has_source, "--source" },
    { "--source-links", has_roots, "--source-root" },
    { "--sarif-results", writes_sarif, "--format sarif or --sarif FILE" },
    { "--sarif-category", writes_sarif, "--format sarif or --sarif FILE" },
};

u32 cli_view_count(void)
{
    return (u32)ETL_COUNT_OF(views);
}

const cli_view *cli_view_at(u32 index)
{
    assert(index < ETL_COUNT_OF(views));
    return &views[index];
}

bool cli_view_is_asked(const cli_view *view, const cli_options *options)
{
    const bool by_measure =
        view->asked_commands == 0 || (view->asked_commands & options->command_bit) != 0;
    return cli_is_given(options, view->option) || (by_measure && cli_uses(options, view->asked_by));
}

bool cli_view_needs_figures(const cli_view *view, const cli_options *options)
{
    return cli_view_is_asked(view, options) || cli_uses(options, view->figures_of);
}

bool cli_views_need(const cli_options *options, size_t figures)
{
    bool need = false;
    for (size_t i = 0; i < ETL_COUNT_OF(views); i++)
        need |= views[i].figures == figures && cli_view_needs_figures(&views[i], options);
    return need;
}

const cli_view *cli_view_of_keys(const cli_options *options)
{
    for (size_t i = 0; i < ETL_COUNT_OF(views); i++) {
        const bool after_tags = options->stack_tags.count > 0 && !views[i].before_tags;
        if (views[i].key_count > 0 && !after_tags && cli_view_is_asked(&views[i], options))
            return &views[i];
    }
    return NULL;
}

void cli_views_set_sort(cli_options *options)
{
    for (size_t i = 0; i < ETL_COUNT_OF(views); i++) {
        if (views[i].has_sort && cli_is_given(options, views[i].option))
            options->sort = views[i].sort;
    }
}

void cli_views_set_tree(cli_options *options)
{
    for (size_t i = 0; i < ETL_COUNT_OF(views); i++) {
        if (views[i].tree != ETLHEAP_TREE_NONE && cli_is_given(options, views[i].option))
            options->tree = views[i].tree;
    }
}

/* --- refusals --------------------------------------------------------------------------- */

/* An option as it is named in a refusal: with its value if that is what excludes the other. The
 * name of the output may choose the format. */
static const char *spell(const cli_options *options, const char *option, char text[SPELLED_SIZE])
{
    if (strcmp(option, "--sort") == 0)
        snprintf(text, SPELLED_SIZE, "%s %s", option, etlheap_measure_word(options->sort));
    else if (strcmp(option, "--format") == 0)
        snprintf(text, SPELLED_SIZE, "%s %s", option, cli_format_of(options)->name);
    else
        snprintf(text, SPELLED_SIZE, "%s", option);
    return text;
}

/* The order or the column that is one of the measures. */
static const char *spell_measure(const cli_options *options, etlheap_measure_set measures,
                                 char text[SPELLED_SIZE])
{
    if ((measures >> options->sort & 1) != 0)
        return spell(options, "--sort", text);
    for (u32 i = 0; i < options->columns.count; i++) {
        const u8 column = options->columns.at[i];
        if ((measures >> column & 1) == 0)
            continue;
        snprintf(text, SPELLED_SIZE, "--columns %s", etlheap_measure_word((etlheap_measure)column));
        break;
    }
    return text;
}

/* The option of a view, or the order or column that is one. */
static const char *spell_view(const cli_options *options, const cli_view *view,
                              char text[SPELLED_SIZE])
{
    return cli_is_given(options, view->option) ? spell(options, view->option, text)
                                               : spell_measure(options, view->asked_by, text);
}

static etl_status refuse(const char *first, const char *second, const char *because, etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s and %s cannot be combined: %s", first,
                         second, because);
}

/* Is the option one of the words, which are separated by blanks? */
static bool is_among(const char *words, const char *option)
{
    const size_t size = strlen(option);
    for (; *words != '\0'; words += strspn(words, " ")) {
        const size_t word = strcspn(words, " ");
        if (word == size && strncmp(words, option, size) == 0)
            return true;
        words += word;
    }
    return false;
}

/* The first option of the command line that is one of the words; NULL: none. */
static const char *given_among(const cli_options *options, const char *words)
{
    for (u32 i = 0; words && i < options->given.count; i++) {
        if (is_among(words, options->given.at[i].option->name))
            return options->given.at[i].option->name;
    }
    return NULL;
}

static etl_status check_format(const cli_options *options, const cli_view *view,
                               const char *spelled, etl_error *err)
{
    const etlheap_format *const format = cli_format_of(options);
    void (*writer)(void);
    const char *const trees = view->in_markdown ? "text json markdown" : "text json";
    if (view->is_tree && !is_among(trees, format->name))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s is only for text%s and JSON; with --format %s, every row has its "
                             "stack",
                             spelled, view->in_markdown ? ", Markdown" : "", format->name);
    if (view->is_not_sums && format->adds_up)
        return etl_fail_with(
            err, ETL_ERR_ARGUMENT, 0,
            "--format %s cannot be combined with %s: lifetimes do not add up over stacks; "
            "use --format html",
            format->name, spelled);
    memcpy(&writer, (const char *)format + view->writer, sizeof writer);
    if (view->writer != 0 && !writer)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "--format %s cannot be combined with %s",
                             format->name, spelled);
    return ETL_OK;
}

static etl_status check_keys(const cli_options *options, const cli_view *view, const char *spelled,
                             etl_error *err)
{
    for (u32 i = 0; i < options->group_by_count; i++) {
        const etlheap_key key = options->group_by[i];
        char text[SPELLED_SIZE];
        if ((view->excluded_keys >> key & 1) == 0 &&
            !(view->excludes_ends &&
              (etlheap_key_is_of_free(key) || etlheap_key_form_of(key) == ETLHEAP_FORM_TYPE)))
            continue;
        snprintf(text, sizeof text, "--group-by %s", etlheap_key_word(key));
        return refuse(spelled, text, view->because, err);
    }
    return ETL_OK;
}

/* Only JSON shows rows beside a view that has something else in place of rows. */
static etl_status check_rows(const cli_options *options, const cli_view *view, const char *spelled,
                             etl_error *err)
{
    const char *other = given_among(options, view->in_place);
    char text[SPELLED_SIZE];
    u32 keys = 0;
    if (!view->in_place || strcmp(cli_format_of(options)->name, "json") == 0)
        return ETL_OK;
    for (u32 i = 0; i < options->group_by_count; i++)
        keys |= 1u << options->group_by[i];
    if (!other && keys != 0 && (keys & (KEY(KIND) | KEY(PROCESS))) == 0)
        other = "--group-by";
    if (!other)
        return ETL_OK;
    return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                         "%s and %s cannot be combined: %s; --format json has both", spelled,
                         spell(options, other, text), view->because);
}

static etl_status check_view(const cli_options *options, const cli_view *view, etl_error *err)
{
    char first[SPELLED_SIZE], second[SPELLED_SIZE];
    const char *const spelled = spell_view(options, view, first);
    etl_status status = check_format(options, view, spelled, err);
    const char *const other = given_among(options, view->excludes);
    if (status == ETL_OK && other)
        status = refuse(spelled, spell(options, other, second), view->because, err);
    const bool is_chosen =
        options->sort_given || (view->excluded_measures & options->columns.added) != 0;
    if (status == ETL_OK && is_chosen && cli_uses(options, view->excluded_measures))
        status = refuse(spelled, spell_measure(options, view->excluded_measures, second),
                        view->because, err);
    if (status == ETL_OK)
        status = check_keys(options, view, spelled, err);
    return status == ETL_OK ? check_rows(options, view, spelled, err) : status;
}

etl_status cli_check_companions(const cli_options *options, etl_error *err)
{
    for (size_t i = 0; i < ETL_COUNT_OF(companions); i++) {
        if (cli_is_given(options, companions[i].option) && !companions[i].has_other(options))
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s needs %s", companions[i].option,
                                 companions[i].other);
    }
    return ETL_OK;
}

static etl_status check_others(const cli_options *options, etl_error *err)
{
    char first[SPELLED_SIZE], second[SPELLED_SIZE];
    for (size_t i = 0; i < ETL_COUNT_OF(others); i++) {
        const char *const other = given_among(options, others[i].excludes);
        if (other && (others[i].commands & options->command_bit) != 0 &&
            cli_is_given(options, others[i].option) &&
            (!others[i].applies || others[i].applies(options)))
            return refuse(spell(options, others[i].option, first), spell(options, other, second),
                          others[i].because, err);
    }
    return ETL_OK;
}

static bool lists_stacks(const etlheap_key *keys, u32 count)
{
    bool found = false;
    for (u32 i = 0; i < count; i++)
        found |= etlheap_key_form_of(keys[i]) == ETLHEAP_FORM_STACK;
    return found;
}

/* Has a row a call stack, if neither an option nor a view says what makes a row? */
static bool has_stacks(const cli_options *options)
{
    return (options->command_bit & (CLI_WINDOWS | CLI_TREND)) == 0;
}

/* --frames cuts call stacks, so there must be some. Formats for programs have them whole: --format
 * json may follow a suggested command that has --frames. */
static etl_status check_frames(const cli_options *options, etl_error *err)
{
    const bool is_report = options->command_bit == CLI_REPORT;
    const char *const because = is_report ? "rows have call stacks only if --group-by lists stack, "
                                            "impacting_stack or free_stack"
                                          : "rows have call stacks only if --group-by lists stack";
    const cli_view *const view = is_report ? cli_view_of_keys(options) : NULL;
    char text[SPELLED_SIZE];
    if (!cli_format_of(options)->for_people || options->find_growth)
        return ETL_OK;
    if (options->group_by_count > 0)
        return lists_stacks(options->group_by, options->group_by_count)
                   ? ETL_OK
                   : refuse("--frames", "--group-by", because, err);
    if (view && !lists_stacks(view->keys, view->key_count))
        return refuse("--frames", spell_view(options, view, text), because, err);
    if (!view && options->stack_tags.count > 0)
        return refuse("--frames", "--stack-tags", because, err);
    return has_stacks(options)
               ? ETL_OK
               : etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "--frames needs --group-by%s: %s",
                               options->command_bit == CLI_WINDOWS ? " or --find-growth" : "",
                               because);
}

etl_status cli_check_views(const cli_options *options, etl_error *err)
{
    etl_status status = ETL_OK;
    for (size_t i = 0; i < ETL_COUNT_OF(views) && status == ETL_OK; i++) {
        if (cli_view_is_asked(&views[i], options))
            status = check_view(options, &views[i], err);
    }
    if (status == ETL_OK)
        status = cli_check_companions(options, err);
    if (status == ETL_OK)
        status = check_others(options, err);
    if (status == ETL_OK && cli_is_given(options, "--frames"))
        status = check_frames(options, err);
    return status;
}
