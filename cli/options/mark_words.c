/*
 * mark_words.c - reads which events count as marks: PROVIDER/EVENT, with FIELD=VALUE if wanted.
 *
 * In: words of the option. Out: rows of etlheap_mark_event, which point into a copy of the words.
 */
#include "mark_words.h"

#include <stdlib.h>

/* Cuts the text at a separator: what is before it stays, what is behind it is returned. NULL: there
 * is none, or nothing behind or before it. */
static char *cut(char *text, char separator)
{
    char *const at = strchr(text, separator);
    if (!at || at == text || at[1] == '\0')
        return NULL;
    *at = '\0';
    return at + 1;
}

/* False: it has another form. */
static bool split(char *text, etlheap_mark_event *out)
{
    char *event = cut(text, '/');
    if (!event)
        return false;
    const size_t size = strlen(text);
    const bool has_braces = size > 2 && text[0] == '{' && text[size - 1] == '}';
    if (has_braces)
        text[size - 1] = '\0';
    *out = (etlheap_mark_event){ .provider = text + has_braces, .event = event };
    if (!strchr(event, ':'))
        return true;
    char *const field = cut(event, ':');
    char *const value = field ? cut(field, '=') : NULL;
    out->field = field;
    out->value = value;
    return value != NULL;
}

etl_status cli_mark_event_add(const char *spelled, const char *text, cli_options *out,
                              etl_error *err)
{
    cli_mark_events *const events = &out->mark_events;
    etlheap_mark_event event;
    char *const own = strdup(text);
    etl_status status = own ? cli_words_add(&out->owned_words, own, err) : ETL_ERR_MEMORY;
    if (status != ETL_OK) {
        free(own);
        return etl_no_memory(err);
    }
    if (!split(own, &event))
        return etl_fail_with(
            err, ETL_ERR_ARGUMENT, 0,
            "%s: invalid value '%.60s': expected PROVIDER/ID or PROVIDER/NAME, and "
            "maybe :FIELD=VALUE, such as MyTests/TestStart:name=*",
            spelled, text);
    return CLI_APPEND(events, event) ? ETL_OK : etl_no_memory(err);
}

static bool names_mark(const cli_times *times)
{
    for (u32 i = 0; i < times->count; i++) {
        if (times->at[i].mark)
            return true;
    }
    return false;
}

bool cli_wants_marks(const cli_options *options)
{
    return options->from.mark || options->to.mark || options->at.mark || options->at_marks ||
           names_mark(&options->moments) || names_mark(&options->windows);
}
