/* record_filter.h - the filter of the records that `dump` lists. */
#ifndef CLI_RECORD_FILTER_H
#define CLI_RECORD_FILTER_H

#include "inputs.h"

/* A selected process: an id, or one lifetime of an id. */
typedef struct cli_wanted_process {
    u32 pid;
    i64 from_ticks, to_ticks; /* both inclusive */
} cli_wanted_process;

typedef struct cli_record_filter {
    i64 from_ns, to_ns;
    cli_words words;      /* of --events; owned */
    cli_words texts;      /* those that are no hook ids */
    cli_numbers hooks;    /* the ids, ascending */
    etlheap_globs *globs; /* of all words; NULL: any event passes */
    etlheap_globs *names; /* of texts */
    bool any_process;
    struct {
        cli_wanted_process *at; /* by pid */
        u32 count;
    } processes;
    u64 tried; /* wanted processes compared with records; tests bound it */
} cli_record_filter;

/*
 * Makes a filter from the options. Free it in any case. Names of processes are looked up in a pass
 * over the traces; ids need none. Errors as for etlheap_analyze, and ETL_ERR_ARGUMENT (an empty
 * window).
 */
etl_status cli_record_filter_build(const cli_options *options, const cli_inputs *inputs,
                                   const cli_guard *guard, cli_record_filter *out, etl_error *err);

void cli_record_filter_free(cli_record_filter *filter);

/* True if a word of --events names a hook, by number or by name with wildcards (NULL: it has none),
 * or a provider, by GUID or name. */
bool cli_word_names_hook(const char *word, u16 hook, const char *name);
bool cli_word_names_provider(const char *word, const u8 *guid);

/* True if the record is to be listed; `event` is its decoded form, or NONE. */
bool cli_record_passes(cli_record_filter *filter, const etlheap_stream_record *record,
                       const etl_event *event, etlheap_text *scratch);

#endif
