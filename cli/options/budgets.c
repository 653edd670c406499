/*
 * budgets.c - reads the budgets of `check` from its options.
 *
 *     limit   [KIND/][PER[:NAME]:]AMOUNT    heap/process:app.exe:10M
 *     AMOUNT  SIZE or N                     at most so much
 *             A, P% or A+P%                 of growth: an amount, and a share of the baseline
 *             +A, P%, A+P% or +A+P%         of limits that take either: more than the baseline
 *
 * In: values of --max-... options, a row of etlheap_limit_at each. Out: rows of etlheap_budget. PER
 * is a scope. Names may have colons, so the amount stands after the last one. Whatever a value
 * leaves out comes from --kind and --per. Invariant: a value is read whole or refused; nothing in
 * it is ignored.
 */
#include "budgets.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define PERCENT_DIGITS_MAX 4 /* after the point: millionths */
#define PERCENT_MAX        1000000
#define NAME_SIZE          32

/* A limit as an option: "--max-outstanding", and what it takes. */
typedef struct budget_option {
    char name[NAME_SIZE];
    const char *expected;
    const etlheap_limit *limit;
    const cli_words *words;
} budget_option;

/* Values that options of a form take, by is_count. */
static const char *const expected[][2] = {
    [ETLHEAP_LIMIT_ABSOLUTE] = { "a limit such as 10M, stack:64K, mark:64K or heap/process:10M",
                                 "a limit such as 1000, stack:50, mark:50 or heap/process:1000" },
    [ETLHEAP_LIMIT_GROWTH] = { "an allowed growth such as 64K, 5% or stack:4K+5%",
                               "an allowed growth such as 10, 5% or stack:2+5%" },
    [ETLHEAP_LIMIT_EITHER] = { "a limit such as 10M, module:app.exe:1M or mark:NAME:64K, or one "
                               "above the baseline such as +64K, 5% or process:64K+5%",
                               "a limit such as 1000, module:app.exe:50 or mark:NAME:0, or one "
                               "above the baseline such as +10, 5% or process:10+5%" },
};

static etl_status check_baseline(const cli_options *options, etl_error *err);
static etl_status check_stdin(const cli_options *options, etl_error *err);
static etl_status add_budgets(const cli_options *options, const budget_option *option,
                              cli_budgets *out, etl_error *err);
static etl_status parse_budget(const budget_option *option, const char *text, cli_budgets *owner,
                               etlheap_budget *out, etl_error *err);
static bool take_word(const char **text, char separator, char word[CLI_WORD_SIZE]);
static bool find_kind(const char *word, u32 *kinds);
static bool find_scope(const char *word, etlheap_scope *scope);
static bool parse_amount(const budget_option *option, const char *text, etlheap_budget *out);
static bool amount_is_too_large(const budget_option *option, const char *text);
static bool parse_plain(const budget_option *option, const char *text, u64 *out);
static bool parse_percent(const char *text, u64 *millionths);

/* A limit above a baseline needs one, and a baseline such a limit. */
static etl_status check_growth(const cli_options *options, const cli_budgets *budgets,
                               etl_error *err)
{
    bool grows = false;
    for (u32 i = 0; i < budgets->count; i++) {
        const etlheap_budget *const budget = &budgets->at[i];
        const etlheap_limit *const limit = etlheap_limit_at(etlheap_limit_of(budget));
        grows |= budget->is_growth;
        if (budget->is_growth && !options->baseline)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 limit->form == ETLHEAP_LIMIT_GROWTH
                                     ? "--%s needs a baseline: --baseline FILE"
                                     : "--%s with + or %% needs a baseline: --baseline FILE",
                                 limit->option);
        if (budget->is_growth && budget->quantity == ETLHEAP_QUANTITY_PEAK &&
            options->suppressions.count > 0)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "--%s above a baseline cannot be used with --suppressions: peaks "
                                 "without the suppressed stacks are not known; use "
                                 "--exclude-frame",
                                 limit->option);
    }
    if (options->baseline && !grows)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--baseline needs a limit: --max-growth 64K");
    return ETL_OK;
}

/* Memory of some kinds has no size to be limited. */
static etl_status check_counted(const cli_options *options, const cli_budgets *budgets,
                                etl_error *err)
{
    for (u32 i = 0; i < budgets->count; i++) {
        const etlheap_budget *const budget = &budgets->at[i];
        const u32 kinds = budget->kinds != 0 ? budget->kinds : options->kinds;
        etlheap_budget counted = *budget;
        counted.is_count = true;
        if (counted.quantity == ETLHEAP_QUANTITY_PEAK)
            counted.quantity = ETLHEAP_QUANTITY_OUTSTANDING;
        if (!budget->is_count && (kinds & etlheap_kinds_with(ETLHEAP_KIND_NO_SIZES)) != 0)
            return etl_fail_with(
                err, ETL_ERR_ARGUMENT, 0,
                "--%s cannot be used with --kind handle: handles have no size; use "
                "--%s",
                etlheap_limit_at(etlheap_limit_of(budget))->option,
                etlheap_limit_at(etlheap_limit_of(&counted))->option);
    }
    return ETL_OK;
}

/* The option of a limit. False if the number is past the last limit. */
static bool option_at(const cli_options *options, u32 number, budget_option *out)
{
    const etlheap_limit *const limit = etlheap_limit_at(number);
    if (!limit)
        return false;
    assert(number < CLI_LIMITS_MAX);
    out->limit = limit;
    out->words = &options->limits[number];
    out->expected = expected[limit->form][limit->is_count];
    snprintf(out->name, sizeof out->name, "--%s", limit->option);
    return true;
}

etl_status cli_budgets_parse(const cli_options *options, cli_budgets *out, etl_error *err)
{
    budget_option option;
    *out = (cli_budgets){ 0 };
    if (options->strict && options->lenient)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--strict and --lenient cannot be combined; use one of them");
    etl_status status = check_baseline(options, err);
    for (u32 i = 0; status == ETL_OK && option_at(options, i, &option); i++)
        status = add_budgets(options, &option, out, err);
    if (status == ETL_OK)
        status = check_growth(options, out, err);
    if (status == ETL_OK)
        status = check_counted(options, out, err);
    if (status == ETL_OK && out->count == 0)
        status = etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                               "check needs a limit: --max-outstanding 10M, or --baseline FILE "
                               "with --max-growth 64K");
    return status;
}

void cli_budgets_free(cli_budgets *budgets)
{
    for (u32 i = 0; i < budgets->name_count; i++)
        free(budgets->names[i]);
    free(budgets->names);
    free(budgets->at);
    *budgets = (cli_budgets){ 0 };
}

static etl_status check_baseline(const cli_options *options, etl_error *err)
{
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
        etlheap_budget budget = { .is_growth = option->limit->form == ETLHEAP_LIMIT_GROWTH,
                                  .is_count = option->limit->is_count,
                                  .quantity = option->limit->quantity,
                                  .scope = (etlheap_scope)options->per };
        const char *const text = option->words->at[i];
        const etl_status status = parse_budget(option, text, out, &budget, err);
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

/* Takes the kind before a slash. Names may have slashes, too, but stand behind a colon. */
static bool take_kind(const char **text, u32 *kinds)
{
    char word[CLI_WORD_SIZE];
    const char *const slash = strchr(*text, '/');
    const char *const colon = strchr(*text, ':');
    if (!slash || (colon && colon < slash))
        return true;
    return take_word(text, '/', word) && find_kind(word, kinds);
}

/* Takes "PER:" or "PER:NAME:". The name is copied to the budgets. False if PER is unknown or the
 * name is empty. */
static bool take_scope(const char **text, cli_budgets *owner, etlheap_budget *out, bool *has_memory)
{
    char word[CLI_WORD_SIZE];
    const char *const last = strrchr(*text, ':');
    if (!last)
        return true;
    if (!take_word(text, ':', word) || !find_scope(word, &out->scope))
        return false;
    if (last < *text)
        return true;
    const size_t size = (size_t)(last - *text);
    char *const name = malloc(size + 1);
    char **const names = realloc(owner->names, (owner->name_count + (size_t)1) * sizeof *names);
    owner->names = names ? names : owner->names;
    *has_memory = name != NULL && names != NULL;
    if (!*has_memory) {
        free(name);
        return false;
    }
    memcpy(name, *text, size);
    name[size] = '\0';
    owner->names[owner->name_count++] = name;
    out->name = name;
    *text = last + 1;
    return size > 0;
}

/* Refuses what a scope cannot be limited by. */
static etl_status check_scope(const budget_option *option, const char *text,
                              const etlheap_budget *budget, etl_error *err)
{
    if (budget->is_growth && budget->scope == ETLHEAP_SCOPE_HEAP)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s: growth cannot be limited per heap, because heap handles differ "
                             "from run to run; use process:, stack: or total:",
                             option->name);
    if (budget->is_growth && budget->scope == ETLHEAP_SCOPE_MARK)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s: growth cannot be limited per mark; use process:, stack: or "
                             "total:, or %s",
                             option->name,
                             option->limit->form == ETLHEAP_LIMIT_GROWTH
                                 ? "--max-outstanding mark:SIZE"
                                 : "an amount without + and %");
    if (budget->scope == ETLHEAP_SCOPE_POOL_TAG &&
        (budget->kinds & ~etlheap_kinds_with(ETLHEAP_KIND_HAS_POOL_TAG)) != 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s: '%.60s' limits memory without pool tags; write pool/pool_tag:",
                             option->name, text);
    if (budget->name && budget->scope == ETLHEAP_SCOPE_TOTAL)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s: '%.60s' names a part of the total; write total:AMOUNT, or "
                             "process:NAME:AMOUNT",
                             option->name, text);
    return ETL_OK;
}

static etl_status parse_budget(const budget_option *option, const char *text, cli_budgets *owner,
                               etlheap_budget *out, etl_error *err)
{
    const char *rest = text;
    bool has_memory = true;
    const bool good = take_kind(&rest, &out->kinds) && take_scope(&rest, owner, out, &has_memory);
    if (!has_memory)
        return etl_no_memory(err);
    if (good && amount_is_too_large(option, rest))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s: '%.60s' is out of range: the largest limit is %" PRId64,
                             option->name, text, INT64_MAX);
    if (!good || !parse_amount(option, rest, out))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s: invalid value '%.60s': expected %s",
                             option->name, text, option->expected);
    if (out->scope == ETLHEAP_SCOPE_POOL_TAG && out->kinds == 0)
        out->kinds = etlheap_kinds_with(ETLHEAP_KIND_HAS_POOL_TAG);
    return check_scope(option, text, out, err);
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

/* The parts of growth may be in either order, each at most once. Where both forms are allowed, a
 * plus in front or a share make it growth. */
static bool parse_amount(const budget_option *option, const char *text, etlheap_budget *out)
{
    char first[CLI_WORD_SIZE];
    if (option->limit->form == ETLHEAP_LIMIT_EITHER) {
        out->is_growth = strpbrk(text, "+%") != NULL;
        text += *text == '+';
    }
    if (!out->is_growth)
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
    text += option->limit->form == ETLHEAP_LIMIT_EITHER && *text == '+';
    const bool two = option->limit->form != ETLHEAP_LIMIT_ABSOLUTE && take_word(&text, '+', first);
    const char *const parts[] = { text, two ? first : "" };
    for (size_t i = 0; i < ETL_COUNT_OF(parts); i++) {
        const bool is_size = !option->limit->is_count && cli_parse_size(parts[i], &value);
        const bool is_count =
            option->limit->is_count && cli_parse_count(parts[i], UINT64_MAX, &value);
        const bool is_plain =
            !option->limit->is_count || strspn(parts[i], "0123456789") == strlen(parts[i]);
        if (is_size || is_count ? value > INT64_MAX : is_plain && cli_size_is_too_large(parts[i]))
            return true;
    }
    return false;
}

static bool parse_plain(const budget_option *option, const char *text, u64 *out)
{
    return option->limit->is_count ? cli_parse_count(text, INT64_MAX, out)
                                   : cli_parse_size(text, out);
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
