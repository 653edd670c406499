/*
 * budgets.c - reads the budgets of `check` from its options.
 *
 *     limit   [KIND/][PER:]AMOUNT    heap/process:10M
 *     AMOUNT  SIZE or N              of outstanding memory
 *             A, P% or A+P%          of growth: an amount, and a share of the baseline
 *
 * In: values of --max-... options. Out: rows of etlheap_budget. PER is a scope; `mark` is for what
 * the interval of each mark leaves behind. Whatever a value leaves out comes from --kind and --per.
 * Invariant: a value is read whole or refused; nothing in it is ignored.
 */
#include "budgets.h"

#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

#define PERCENT_DIGITS_MAX 4 /* after the point: millionths */
#define PERCENT_MAX        1000000

typedef struct budget_option {
    const char *name;
    const char *expected;
    const cli_words *words;
    bool is_growth, is_count;
} budget_option;

static etl_status check_baseline(const cli_options *options, etl_error *err);
static etl_status check_stdin(const cli_options *options, etl_error *err);
static etl_status add_budgets(const cli_options *options, const budget_option *option,
                              cli_budgets *out, etl_error *err);
static etl_status parse_budget(const budget_option *option, const char *text, etlheap_budget *out,
                               etl_error *err);
static bool take_word(const char **text, char separator, char word[CLI_WORD_SIZE]);
static bool find_kind(const char *word, u32 *kinds);
static bool find_scope(const char *word, etlheap_scope *scope);
static bool parse_amount(const budget_option *option, const char *text, etlheap_budget *out);
static bool amount_is_too_large(const budget_option *option, const char *text);
static bool parse_plain(const budget_option *option, const char *text, u64 *out);
static bool parse_percent(const char *text, u64 *millionths);

etl_status cli_budgets_parse(const cli_options *options, cli_budgets *out, etl_error *err)
{
    const budget_option all[] = {
        { "--max-outstanding", "a limit such as 10M, stack:64K, mark:64K or heap/process:10M",
          &options->max_outstanding, false, false },
        { "--max-outstanding-count", "a limit such as 1000, stack:50, mark:50 or heap/process:1000",
          &options->max_outstanding_count, false, true },
        { "--max-growth", "an allowed growth such as 64K, 5% or stack:4K+5%", &options->max_growth,
          true, false },
        { "--max-growth-count", "an allowed growth such as 10, 5% or stack:2+5%",
          &options->max_growth_count, true, true },
    };
    *out = (cli_budgets){ 0 };
    if (options->strict && options->lenient)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--strict and --lenient cannot be combined; use one of them");
    etl_status status = check_baseline(options, err);
    for (size_t i = 0; i < ETL_COUNT_OF(all) && status == ETL_OK; i++)
        status = add_budgets(options, &all[i], out, err);
    if (status == ETL_OK && out->count == 0)
        status = etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                               "check needs a limit: --max-outstanding 10M, or --baseline FILE "
                               "with --max-growth 64K");
    return status;
}

void cli_budgets_free(cli_budgets *budgets)
{
    free(budgets->at);
    *budgets = (cli_budgets){ 0 };
}

static etl_status check_baseline(const cli_options *options, etl_error *err)
{
    const bool growth = options->max_growth.count > 0 || options->max_growth_count.count > 0;
    if (growth && !options->baseline)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--max-growth needs a baseline: --baseline FILE");
    if (options->baseline && !growth)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--baseline needs a limit: --max-growth 64K");
    if (options->require_baseline && !options->baseline)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--require-baseline needs a file to require: --baseline FILE");
    if (options->update_baseline && !options->baseline)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--update-baseline needs a file to update: --baseline FILE");
    if (options->update_baseline && options->output &&
        strcmp(options->output, options->baseline) == 0)
        return etl_fail_with(
            err, ETL_ERR_ARGUMENT, 0,
            "-o and --baseline name the same file; write the verdict to another file");
    if (options->accept && !options->update_baseline)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "--accept needs --update-baseline");
    return options->baseline && cli_is_stdin(options->baseline) ? check_stdin(options, err)
                                                                : ETL_OK;
}

/* Refuses a baseline from standard input where it must be read twice or written. */
static etl_status check_stdin(const cli_options *options, etl_error *err)
{
    if (options->update_baseline)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--update-baseline writes the baseline, so the baseline cannot be "
                             "standard input; name a file");
    for (u32 i = 0; i < options->inputs.count; i++) {
        if (cli_is_stdin(options->inputs.at[i]))
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "the input and the baseline cannot both come from standard "
                                 "input; name a file for one of them");
    }
    return ETL_OK;
}

static etl_status add_budgets(const cli_options *options, const budget_option *option,
                              cli_budgets *out, etl_error *err)
{
    for (u32 i = 0; i < option->words->count; i++) {
        etlheap_budget budget = { .is_growth = option->is_growth,
                                  .is_count = option->is_count,
                                  .scope = (etlheap_scope)options->per };
        const char *const text = option->words->at[i];
        const etl_status status = parse_budget(option, text, &budget, err);
        if (status != ETL_OK)
            return status;
        if (options->kinds != 0 && budget.kinds != 0 && (options->kinds & budget.kinds) == 0)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "%s: '%.60s' limits a kind that --kind leaves out, so it could "
                                 "never fail; name the kind in --kind, too",
                                 option->name, text);
        if (!CLI_APPEND(out, budget))
            return etl_no_memory(err);
    }
    return ETL_OK;
}

static etl_status parse_budget(const budget_option *option, const char *text, etlheap_budget *out,
                               etl_error *err)
{
    const char *rest = text;
    char word[CLI_WORD_SIZE];
    bool good = !take_word(&rest, '/', word) || find_kind(word, &out->kinds);
    good = good && (!take_word(&rest, ':', word) || find_scope(word, &out->scope));
    if (good && amount_is_too_large(option, rest))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s: '%.60s' is out of range: the largest limit is %" PRId64,
                             option->name, text, INT64_MAX);
    if (!good || !parse_amount(option, rest, out))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s: invalid value '%.60s': expected %s",
                             option->name, text, option->expected);
    if (out->is_growth && out->scope == ETLHEAP_SCOPE_HEAP)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s: growth cannot be limited per heap, because heap handles differ "
                             "from run to run; use process:, stack: or total:",
                             option->name);
    if (out->is_growth && out->scope == ETLHEAP_SCOPE_MARK)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s: growth cannot be limited per mark; use process:, stack: or "
                             "total:, or --max-outstanding mark:SIZE",
                             option->name);
    return ETL_OK;
}

/* Takes the word before a separator, and the separator; false if there is none. */
static bool take_word(const char **text, char separator, char word[CLI_WORD_SIZE])
{
    const char *const end = strchr(*text, separator);
    const size_t size = end ? (size_t)(end - *text) : CLI_WORD_SIZE;
    if (size >= CLI_WORD_SIZE)
        return false;
    memcpy(word, *text, size);
    word[size] = '\0';
    *text = end + 1;
    return true;
}

static bool find_kind(const char *word, u32 *kinds)
{
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (strcasecmp(word, etlheap_kind_name((etlheap_kind)kind)) == 0) {
            *kinds = 1u << kind;
            return true;
        }
    }
    return false;
}

static bool find_scope(const char *word, etlheap_scope *scope)
{
    for (u32 i = 0; i < ETLHEAP_SCOPE_COUNT; i++) {
        if (strcasecmp(word, etlheap_scope_word((etlheap_scope)i)) == 0) {
            *scope = (etlheap_scope)i;
            return true;
        }
    }
    return false;
}

/* The parts of growth may be in either order, each at most once. */
static bool parse_amount(const budget_option *option, const char *text, etlheap_budget *out)
{
    char first[CLI_WORD_SIZE];
    if (!option->is_growth)
        return parse_plain(option, text, &out->limit);
    const bool two = take_word(&text, '+', first);
    const size_t size = strlen(text);
    const bool ends_in_percent = size > 0 && text[size - 1] == '%';
    if (!two)
        return ends_in_percent ? parse_percent(text, &out->baseline_millionths)
                               : parse_plain(option, text, &out->limit);
    const char *const percent = ends_in_percent ? text : first;
    const char *const plain = ends_in_percent ? first : text;
    return parse_percent(percent, &out->baseline_millionths) &&
           parse_plain(option, plain, &out->limit);
}

/* Is a part of the amount, such as "4K" in "4K+5%", well-formed but too large? */
static bool amount_is_too_large(const budget_option *option, const char *text)
{
    char first[CLI_WORD_SIZE];
    u64 value;
    const bool two = option->is_growth && take_word(&text, '+', first);
    const char *const parts[] = { text, two ? first : "" };
    for (size_t i = 0; i < ETL_COUNT_OF(parts); i++) {
        const bool is_size = !option->is_count && cli_parse_size(parts[i], &value);
        const bool is_count = option->is_count && cli_parse_count(parts[i], UINT64_MAX, &value);
        const bool is_plain =
            !option->is_count || strspn(parts[i], "0123456789") == strlen(parts[i]);
        if (is_size || is_count ? value > INT64_MAX : is_plain && cli_size_is_too_large(parts[i]))
            return true;
    }
    return false;
}

static bool parse_plain(const budget_option *option, const char *text, u64 *out)
{
    return option->is_count ? cli_parse_count(text, INT64_MAX, out) : cli_parse_size(text, out);
}

/* "5%", "0.25%" */
static bool parse_percent(const char *text, u64 *millionths)
{
    const u64 per_percent = ETLHEAP_BUDGET_MILLIONTHS / 100;
    const size_t whole = strcspn(text, ".%");
    char digits[CLI_WORD_SIZE];
    if (whole == 0 || whole >= sizeof digits)
        return false;
    memcpy(digits, text, whole);
    digits[whole] = '\0';
    u64 percent;
    if (!cli_parse_count(digits, PERCENT_MAX, &percent))
        return false;
    u64 fraction = 0;
    u64 unit = per_percent;
    text += whole;
    if (*text == '.') {
        const char *const begin = ++text;
        for (; *text >= '0' && *text <= '9'; text++) {
            unit /= 10;
            fraction += (u64)(*text - '0') * unit;
        }
        if (text == begin || text - begin > PERCENT_DIGITS_MAX)
            return false;
    }
    *millionths = percent * per_percent + fraction;
    return strcmp(text, "%") == 0;
}
