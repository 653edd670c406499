/*
 * views.h - options that show something else than outstanding memory: one row each.
 *
 * A row says how its view is grouped and sorted by default, which format writes it, which figures
 * it needs, and what it cannot be combined with. Everyone who treats one view differently from
 * another asks here. A new view is a row, an option, and what computes and writes it.
 */
#ifndef CLI_VIEWS_H
#define CLI_VIEWS_H

#include "options.h"

#define CLI_VIEW_KEYS 4

typedef struct cli_view {
    const char *option;
    u16 writer;   /* offset in etlheap_format of the function that writes it; 0: any format */
    u16 figures;  /* offset in etlheap_query of the bool that asks for its figures; 0: none */
    bool is_tree; /* only text and JSON show it, and Markdown if in_markdown */
    bool in_markdown;
    etlheap_tree tree; /* that the view draws; NONE: none, or the one that its option names */
    bool is_not_sums;  /* only for formats that do not add rows up */
    bool before_tags;  /* its keys go before those of --stack-tags */
    bool has_sort;
    etlheap_measure sort; /* by default */
    etlheap_measure_set
        figures_of; /* bit per measure: an order by it, or its column, needs the same figures */
    etlheap_measure_set asked_by; /* bit per measure: an order by it, or its column, is the view */
    u32 asked_commands;           /* bits of commands in which it is; 0: all */
    u32 key_count;                /* keys by default; 0: those of every report */
    etlheap_key keys[CLI_VIEW_KEYS];
    const char *excludes; /* options, separated by blanks; NULL: none */
    const char *in_place; /* options that are about rows, which only JSON has beside the view */
    u32 excluded_keys;    /* bit per key */
    etlheap_measure_set excluded_measures; /* bit per measure: neither an order nor a column */
    bool excludes_ends;                    /* also keys of types, and of who freed */
    const char *because;                   /* why: the end of a sentence */
} cli_view;

/* The rows. False from the last on. */
u32 cli_view_count(void);
const cli_view *cli_view_at(u32 index);

/* True if the option was given, or if the measure of --sort or --columns is of the view. */
bool cli_view_is_asked(const cli_view *view, const cli_options *options);

/* True if the rows need the view's figures, for the view, to sort by them or as columns. */
bool cli_view_needs_figures(const cli_view *view, const cli_options *options);

/* True if the rows need figures of a view. They are named by the offset in etlheap_query of the
 * bool that asks for them. */
bool cli_views_need(const cli_options *options, size_t figures);

/* The view whose keys group the rows if --group-by is not given; NULL: no view, or tags. */
const cli_view *cli_view_of_keys(const cli_options *options);

/* Sets the order that the views have by default. Not for options with --sort. */
void cli_views_set_sort(cli_options *options);

/* Sets the tree that a view draws. */
void cli_views_set_tree(cli_options *options);

/* Refuses options that do nothing without another that is missing. Errors: ETL_ERR_ARGUMENT. */
etl_status cli_check_companions(const cli_options *options, etl_error *err);

/* Refuses combinations of views with each other, with formats and with other options. The sentence
 * names both options. ETL_ERR_ARGUMENT. */
etl_status cli_check_views(const cli_options *options, etl_error *err);

#endif
