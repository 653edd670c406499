/*
 * option_values.c - stores the value of an option in its member of cli_options, by its kind.
 *
 * In: a row of the options table, and the text that the user typed. Out: the member, or an error
 * that says what would have been right. The words of a list come from one place (the engine's
 * names, the table of formats) for checks, messages and help. Invariant: lists add up over
 * repetitions; of all other options the last one counts.
 */
#include "choices.h"
#include "custom_heaps.h"
#include "mark_words.h"
#include "nearest.h"
#include "options.h"
#include "output_format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define CHOICES_MAX       64
#define CHOICES_TEXT_SIZE 640 /* an error has room for no more */
#define JOBS_MAX          1024

/* The expected form, for values that are not words of a list. */
static const char *const expectations[] = {
    [CLI_VALUE_NUMBER] = "a number",
    [CLI_VALUE_PERCENT] = "a percentage such as 5, 0.1 or 0",
    [CLI_VALUE_SIZE] = "a size such as 4096, 64K, 1.5M or 2G",
    [CLI_VALUE_TIME] = "a time such as 12s, 350ms, 2020-07-29T00:07:10Z or mark:NAME",
    [CLI_VALUE_DURATION] = "a span of time such as 500ms, 2s or 1.5e6us",
    [CLI_VALUE_MOMENTS] = "marks, or a time such as 12s, 2020-07-29T00:07:10Z or mark:NAME",
    [CLI_VALUE_WINDOWS] = "a window of time such as 10s..12s, 5s.., or mark:load..mark:unload",
    [CLI_VALUE_AT] = "peak, or a time such as 12s, 2020-07-29T00:07:10Z or mark:NAME",
    [CLI_VALUE_LIFETIMES] = "a range of times such as 1s..5s, 1s.. or ..350ms",
    [CLI_VALUE_ADDRESSES] = "an address or a range such as 0x1f0010 or 0x1f0000..0x1f0fff",
    [CLI_VALUE_SIZES] = "a range of sizes such as 64K..1.5M, 64K.. or ..4096",
    [CLI_VALUE_HEAPS] = "a list of heap handles such as 0x1f0000,0x200000",
};

static etl_status bad_value(const cli_option *option, const char *spelled, const char *text,
                            etl_error *err);
static etl_status bad_choice(const cli_option *option, const char *spelled, const char *word,
                             u32 command_bit, etl_error *err);
static bool join(const char *const *choices, u32 count, const char *between, size_t room,
                 char list[CHOICES_TEXT_SIZE]);
static bool is_of_other_command(const cli_option *option, const char *spelled, const char *word,
                                etl_error *err);
static u32 list_choices(cli_value value, u32 command_bit, const char *choices[CHOICES_MAX + 1]);
static bool find_choice(cli_value value, const char *word, u32 *index);
static u32 count_max(const cli_option *option);
static bool parse_number(const cli_option *option, const char *text, u32 *out);
static bool parse_quantity(const cli_option *option, const char *text, void *member,
                           cli_options *out);
static bool store_moment(const char *text, cli_options *out);
static etl_status store_file(const cli_option *option, const char *spelled, const char *text,
                             const char **member, etl_error *err);

static bool parse_numbers(const char *text, cli_options *options, bool *no_memory);
static etl_status store_range(const cli_option *option, const char *spelled, const char *text,
                              cli_options *out, etl_error *err);
static etl_status store_times(const cli_option *option, const char *spelled, const char *text,
                              cli_options *options, etl_error *err);
static etl_status store_list(const cli_option *option, const char *spelled, const char *text,
                             cli_options *out, etl_error *err);
static etl_status store_names(const char *spelled, const char *text, cli_words *names,
                              cli_options *out, etl_error *err);
static etl_status add_key(const char *spelled, u32 key, cli_options *out, etl_error *err);
static etl_status store_choice(const cli_option *option, const char *spelled, const char *text,
                               cli_options *out, etl_error *err);

etl_status cli_value_store(const cli_option *option, const char *spelled, const char *text,
                           cli_options *out, etl_error *err)
{
    void *const member = (char *)out + option->offset;
    bool good = true, no_memory = false;
    switch ((cli_value)option->value) {
    case CLI_VALUE_FLAG:
        *(bool *)member = true;
        break;
    case CLI_VALUE_WORD:
        good = *text != '\0';
        *(const char **)member = text;
        break;
    case CLI_VALUE_FILE:
        return store_file(option, spelled, text, member, err);
    case CLI_VALUE_WORDS:
        if (*text != '\0')
            return cli_words_add(member, text, err);
        good = false;
        break;
    case CLI_VALUE_NAMES:
        if (*text != '\0')
            return store_names(spelled, text, member, out, err);
        good = false;
        break;
    case CLI_VALUE_COUNT:
    case CLI_VALUE_NUMBER:
    case CLI_VALUE_TOP:
    case CLI_VALUE_PERCENT:
    case CLI_VALUE_SIZE:
    case CLI_VALUE_TIME:
    case CLI_VALUE_AT:
    case CLI_VALUE_DURATION:
        good = parse_quantity(option, text, member, out);
        break;
    case CLI_VALUE_MOMENTS:
    case CLI_VALUE_WINDOWS:
        return store_times(option, spelled, text, out, err);
    case CLI_VALUE_MARK_EVENT:
    case CLI_VALUE_CUSTOM:
        return option->value == CLI_VALUE_CUSTOM ? cli_custom_heaps_add(member, spelled, text, err)
                                                 : cli_mark_event_add(spelled, text, out, err);
    case CLI_VALUE_HEAPS:
        good = parse_numbers(text, out, &no_memory);
        break;
    case CLI_VALUE_LIFETIMES:
    case CLI_VALUE_SIZES:
    case CLI_VALUE_ADDRESSES:
        return store_range(option, spelled, text, out, err);
    case CLI_VALUE_KINDS:
    case CLI_VALUE_TYPES:
    case CLI_VALUE_IMPACTING:
    case CLI_VALUE_KEYS:
    case CLI_VALUE_COLUMNS:
        return store_list(option, spelled, text, out, err);
    default: /* one word of a list */
        return store_choice(option, spelled, text, out, err);
    }
    if (no_memory)
        return etl_no_memory(err);
    return good ? ETL_OK : bad_value(option, spelled, text, err);
}

static bool takes_times(const cli_option *option)
{
    return option->value == CLI_VALUE_TIME || option->value == CLI_VALUE_DURATION ||
           option->value == CLI_VALUE_MOMENTS || option->value == CLI_VALUE_WINDOWS ||
           option->value == CLI_VALUE_AT || option->value == CLI_VALUE_LIFETIMES;
}

static bool takes_sizes(const cli_option *option)
{
    return option->value == CLI_VALUE_SIZE || option->value == CLI_VALUE_SIZES;
}

/* The error for a malformed value: the value, and what was expected; or that it is too large. */
static etl_status bad_value(const cli_option *option, const char *spelled, const char *text,
                            etl_error *err)
{
    if (option->value == CLI_VALUE_COUNT || option->value == CLI_VALUE_TOP)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s: invalid value '%.60s': expected a number from 1 to %" PRIu32 "%s",
                             spelled, text, count_max(option),
                             option->value == CLI_VALUE_TOP ? ", or all" : "");
    if (takes_times(option) && cli_time_is_too_large(text))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s: '%.60s' is out of range: times go up to 9223372036s (292 years), "
                             "dates from 1678 to 2261",
                             spelled, text);
    if (takes_sizes(option) && cli_size_is_too_large(text))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s: '%.60s' is out of range: the largest size is %" PRIu64 " bytes",
                             spelled, text, UINT64_MAX);
    const char *const expected =
        option->value < ETL_COUNT_OF(expectations) ? expectations[option->value] : NULL;
    if (!expected)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s needs a value: %s", spelled,
                             option->placeholder);
    return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s: invalid value '%.60s': expected %s",
                         spelled, text, expected);
}

/* The error for an unknown word: where it belongs, the nearest choice, or all choices. A list too
 * long for an error is left to --help: if cut, it might hide what the user looks for. */
static etl_status bad_choice(const cli_option *option, const char *spelled, const char *word,
                             u32 command_bit, etl_error *err)
{
    const char *choices[CHOICES_MAX + 1];
    char hint[CLI_HINT_SIZE];
    char list[CHOICES_TEXT_SIZE];
    const u32 count = list_choices((cli_value)option->value, command_bit, choices);
    if (is_of_other_command(option, spelled, word, err))
        return ETL_ERR_ARGUMENT;
    cli_hint(word, choices, hint);
    if (hint[0] != '\0')
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s: unknown value '%.60s'%s", spelled, word,
                             hint);
    const size_t room = sizeof err->message - strlen(spelled) - sizeof ": '' is not one of ";
    if (join(choices, count, ", ", room - etl_min_u64(strlen(word), 40), list))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s: '%.40s' is not one of %s", spelled,
                             word, list);
    if (join(choices, count, " ", room - etl_min_u64(strlen(word), 16), list))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s: '%.16s' is not one of %s", spelled,
                             word, list);
    return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                         "%s: unknown value '%.60s'; --help lists all %" PRIu32, spelled, word,
                         count);
}

/* Joins choices into one text; false if they do not fit. */
static bool join(const char *const *choices, u32 count, const char *between, size_t room,
                 char list[CHOICES_TEXT_SIZE])
{
    size_t used = 0;
    list[0] = '\0';
    for (u32 i = 0; i < count; i++) {
        const size_t size = strlen(choices[i]) + (i > 0 ? strlen(between) : 0);
        if (used + size > room || used + size >= CHOICES_TEXT_SIZE)
            return false;
        snprintf(list + used, CHOICES_TEXT_SIZE - used, "%s%s", i > 0 ? between : "", choices[i]);
        used += size;
    }
    return true;
}

/* Is the word a choice of another command, such as a page for browsers, a format of `export`? */
static bool is_of_other_command(const cli_option *option, const char *spelled, const char *word,
                                etl_error *err)
{
    u32 index;
    if (option->value == CLI_VALUE_FORMAT && find_choice(CLI_VALUE_EXPORTER, word, &index)) {
        (void)cli_refuse_exporter(spelled, etlheap_exporter_at(index), err);
        return true;
    }
    if (option->value == CLI_VALUE_EXPORTER && find_choice(CLI_VALUE_FORMAT, word, &index)) {
        const etlheap_format *const format = etlheap_format_at(index);
        const char *const command = format->write_report  ? "report"
                                    : format->write_check ? "check"
                                                          : "allocations";
        etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                      "%s: '%s' is a format of other commands: etlheap %s INPUT --format %s",
                      spelled, format->name, command, format->name);
        return true;
    }
    return false;
}

/* Lists the choices of a command in an array that ends with NULL, for cli_hint. */
static u32 list_choices(cli_value value, u32 command_bit, const char *choices[CHOICES_MAX + 1])
{
    u32 count = 0;
    for (u32 i = 0; count < CHOICES_MAX && cli_value_choice(value, i); i++) {
        choices[count] = cli_value_choice(value, i);
        count += cli_choice_fits(value, i, command_bit);
    }
    choices[count] = NULL;
    return count;
}

/* Letters match in either case: AIFO or aifo. */
static bool find_choice(cli_value value, const char *word, u32 *index)
{
    for (u32 i = 0; cli_value_choice(value, i); i++) {
        if (strcasecmp(word, cli_value_choice(value, i)) == 0) {
            *index = i;
            return true;
        }
    }
    return false;
}

static u32 count_max(const cli_option *option)
{
    return option->letter == 'j' ? JOBS_MAX : UINT32_MAX - 1;
}

static bool parse_number(const cli_option *option, const char *text, u32 *out)
{
    u64 value = CLI_TOP_ALL;
    const bool is_all = option->value == CLI_VALUE_TOP && strcasecmp(text, "all") == 0;
    if (!is_all && (!cli_parse_count(text, count_max(option), &value) ||
                    (value == 0 && option->value != CLI_VALUE_NUMBER)))
        return false;
    *out = (u32)value;
    return true;
}

static bool parse_quantity(const cli_option *option, const char *text, void *member,
                           cli_options *out)
{
    switch ((cli_value)option->value) {
    case CLI_VALUE_COUNT:
    case CLI_VALUE_NUMBER:
    case CLI_VALUE_TOP:
        return parse_number(option, text, member);
    case CLI_VALUE_PERCENT:
        return cli_parse_percent(text, member);
    case CLI_VALUE_SIZE:
        return cli_parse_size(text, member) && *(u64 *)member > 0;
    case CLI_VALUE_AT:
        return store_moment(text, out);
    case CLI_VALUE_DURATION:
        return cli_parse_duration(text, member) && *(i64 *)member > 0;
    default:
        return cli_parse_time(text, member);
    }
}

/* Stores a moment; the last one given counts. */
static bool store_moment(const char *text, cli_options *out)
{
    out->at_peak = strcasecmp(text, "peak") == 0;
    out->at = (cli_time){ .given = false };
    return out->at_peak || cli_parse_time(text, &out->at);
}

/* Stores the name of another output: one for each format, none of them standard output. */
static etl_status store_file(const cli_option *option, const char *spelled, const char *text,
                             const char **member, etl_error *err)
{
    if (*text == '\0')
        return bad_value(option, spelled, text, err);
    if (strcmp(text, "-") == 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s needs a file name; to write to standard output, use --format %s",
                             spelled, spelled + strlen("--"));
    if (*member)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s is given twice, with '%.60s' and '%.60s': name one file", spelled,
                             *member, text);
    *member = text;
    return ETL_OK;
}

/* Appends numbers: --heap A --heap B is the same as --heap A,B. */
static bool parse_numbers(const char *text, cli_options *options, bool *no_memory)
{
    char word[CLI_WORD_SIZE];
    cli_numbers *const out = &options->heaps;
    while (*text != '\0') {
        u64 value;
        if (!cli_next_word(&text, word) || !cli_custom_heap_named(options, word, &value))
            return false;
        *no_memory = !CLI_APPEND(out, value);
        if (*no_memory)
            return false;
    }
    return out->count > 0;
}

/* Stores a range. An empty range gets its own error, because it is a slip with a simple remedy. */
static etl_status store_range(const cli_option *option, const char *spelled, const char *text,
                              cli_options *out, etl_error *err)
{
    bool empty = false, good = false;
    if (option->value == CLI_VALUE_LIFETIMES)
        good = cli_parse_duration_range(text, &out->lifetime_min_ns, &out->lifetime_max_ns, &empty);
    else if (option->value == CLI_VALUE_ADDRESSES)
        good = cli_parse_address_range(text, &out->address_first, &out->address_last, &empty);
    else
        good = cli_parse_size_range(text, &out->size_min_bytes, &out->size_max_bytes, &empty);
    if (empty)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s: the range %.60s is empty; the smaller end comes first", spelled,
                             text);
    return good ? ETL_OK : bad_value(option, spelled, text, err);
}

/* Appends a range. If one end is an instant, the ends are compared once the trace is open. */
static etl_status store_times(const cli_option *option, const char *spelled, const char *text,
                              cli_options *options, etl_error *err)
{
    cli_times *const out =
        option->value == CLI_VALUE_MOMENTS ? &options->moments : &options->windows;
    cli_time times[2];
    const u32 count = option->value == CLI_VALUE_MOMENTS ? 1 : 2;
    if (count == 1 && strcasecmp(text, "marks") == 0) {
        options->at_marks = true;
        return ETL_OK;
    }
    const bool good =
        count == 1 ? cli_parse_time(text, times) : cli_parse_time_range(text, &times[0], &times[1]);
    if (!good)
        return bad_value(option, spelled, text, err);
    for (u32 i = 0; i < count; i++) {
        if (!CLI_APPEND(out, times[i]))
            return etl_no_memory(err);
    }
    return ETL_OK;
}

/* Stores a list of measures, each maybe with a sign. The last list counts. */
static etl_status store_columns(const cli_option *option, const char *spelled, const char *text,
                                cli_options *out, etl_error *err)
{
    const char *rest = text;
    etl_status status = ETL_OK;
    out->columns = (cli_columns){ 0 };
    do {
        char word[CLI_WORD_SIZE];
        u32 index;
        if (!cli_next_word(&rest, word))
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "%s: '%.60s' is not a list of columns separated by commas",
                                 spelled, text);
        const char sign = word[0] == '+' || word[0] == '-' ? word[0] : '\0';
        const char *const name = word + (sign != '\0');
        if (!find_choice((cli_value)option->value, name, &index))
            return bad_choice(option, spelled, name, out->command_bit, err);
        status = cli_columns_add(&out->columns, spelled, sign, (etlheap_measure)index, err);
    } while (status == ETL_OK && *rest != '\0');
    return status;
}

/* Stores a list of words: masks are combined, keys keep their order. */
static etl_status store_list(const cli_option *option, const char *spelled, const char *text,
                             cli_options *out, etl_error *err)
{
    u32 *const mask = (u32 *)(void *)((char *)out + option->offset); /* of all but keys */
    const char *rest = text;
    if (option->value == CLI_VALUE_COLUMNS)
        return store_columns(option, spelled, text, out, err);
    if (option->value == CLI_VALUE_KEYS)
        out->group_by_count = 0;
    do {
        char word[CLI_WORD_SIZE];
        u32 index;
        if (!cli_next_word(&rest, word))
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "%s: '%.60s' is not a list of words separated by commas", spelled,
                                 text);
        if (!find_choice((cli_value)option->value, word, &index))
            return bad_choice(option, spelled, word, out->command_bit, err);
        if (option->value != CLI_VALUE_KEYS) {
            *mask |= 1u << index;
            continue;
        }
        const etl_status status = add_key(spelled, index, out, err);
        if (status != ETL_OK)
            return status;
    } while (*rest != '\0');
    return ETL_OK;
}

/* Appends the words of a list, from a copy of the text. */
static etl_status store_names(const char *spelled, const char *text, cli_words *names,
                              cli_options *out, etl_error *err)
{
    char *const list = strdup(text);
    etl_status status = list ? cli_words_add(&out->owned_words, list, err) : ETL_ERR_MEMORY;
    if (status != ETL_OK) {
        free(list);
        return etl_no_memory(err);
    }
    for (char *word = list; status == ETL_OK && word;) {
        char *const comma = strchr(word, ',');
        if (comma)
            *comma = '\0';
        if (*word == '\0')
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "%s: '%.60s' is not a list of names separated by commas", spelled,
                                 text);
        status = cli_words_add(names, word, err);
        word = comma ? comma + 1 : NULL;
    }
    /* The name of a process may contain commas, so the list is one more name; ids have none. */
    const bool has_names = text[strspn(text, "0123456789,")] != '\0';
    const bool are_processes = names == &out->processes || names == &out->required_processes;
    if (status == ETL_OK && are_processes && strchr(text, ',') && has_names)
        status = cli_words_add(names, text, err);
    return status;
}

/* Appends a key. A repeated key would give a column twice, so it is refused. */
static etl_status add_key(const char *spelled, u32 key, cli_options *out, etl_error *err)
{
    for (u32 i = 0; i < out->group_by_count; i++) {
        if (out->group_by[i] == (etlheap_key)key)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "%s: %s is given twice", spelled,
                                 etlheap_key_word((etlheap_key)key));
        if (etlheap_keys_exclude(out->group_by[i], (etlheap_key)key)) {
            const u32 other = out->group_by[i];
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "%s: %s and %s cannot be combined; use one of them", spelled,
                                 etlheap_key_word((etlheap_key)(key < other ? key : other)),
                                 etlheap_key_word((etlheap_key)(key < other ? other : key)));
        }
    }
    out->group_by[out->group_by_count] = (etlheap_key)key;
    out->group_by_count++;
    return ETL_OK;
}

/* Stores a single word as its index, or as the value that the index stands for. */
static etl_status store_choice(const cli_option *option, const char *spelled, const char *text,
                               cli_options *out, etl_error *err)
{
    const cli_value value = (cli_value)option->value;
    u32 *const member = (u32 *)(void *)((char *)out + option->offset);
    const bool is_sort = value == CLI_VALUE_SORT || value == CLI_VALUE_LIFETIME_SORT;
    const bool reversed = is_sort && text[0] == '-';
    u32 index = 0; /* of a tree without a value: callees */
    if (text && !find_choice(value, text + (reversed ? 1 : 0), &index))
        return bad_choice(option, spelled, text, out->command_bit, err);
    switch (value) {
    case CLI_VALUE_SORT:
        out->sort = (etlheap_measure)index;
        out->sort_given = true;
        out->sort_ascending = reversed;
        break;
    case CLI_VALUE_LIFETIME_SORT:
        out->lifetime_sort = (etlheap_lifetime_column)index;
        /* Times begin with the earliest, as the list does by default. */
        out->lifetime_descending = reversed == (index == ETLHEAP_LIFETIME_ALLOC_TIME ||
                                                index == ETLHEAP_LIFETIME_FREE_TIME);
        break;
    case CLI_VALUE_FORMAT:
        out->format = etlheap_format_at(index)->name;
        break;
    case CLI_VALUE_EXPORTER:
        out->format = etlheap_exporter_at(index)->name;
        break;
    case CLI_VALUE_TREE:
        out->tree = index == 0 ? ETLHEAP_TREE_CALLEES : ETLHEAP_TREE_CALLERS;
        break;
    case CLI_VALUE_HISTOGRAM:
    case CLI_VALUE_LINK:
    case CLI_VALUE_METRIC:
        *member = index + 1;
        break;
    default:
        *member = index;
        break;
    }
    return ETL_OK;
}
