/*
 * text_map.c - writes how full the address space is, for people.
 *
 * In: an etlheap_map. Out: for each process three tables: its categories as in VMMap, its heaps,
 * and its largest regions in order of address, each with a bar that shows how full each part of it
 * is. The stretches that a few blocks keep committed (pins) come last, from all processes.
 * Invariant: a bar has at most as many columns as the region has units, or it would show detail
 * that is not there.
 */
#include <stdlib.h>

#include "formats/io/text_buffer.h"
#include "formats/io/units.h"
#include "formats/parts/abilities.h"
#include "formats/parts/display.h"
#include "formats/parts/layout_read.h"
#include "formats/parts/map_parts.h"
#include "formats/parts/text_parts.h"
#include "formats/parts/sessions.h"
#include "formats/writers.h"

#include <inttypes.h>
#include <stdio.h>

#define BAR_COLUMNS 32u

/* By level, see etlheap_map_level. */
static const char *const bars[ETLHEAP_MAP_LEVELS] = { "\u00b7", "\u2591", "\u2582",
                                                      "\u2584", "\u2586", "\u2588" };
static const char *const plain_bars[ETLHEAP_MAP_LEVELS] = { ".", "_", "-", "=", "+", "#" };

typedef struct map_view {
    const etlheap_result *result;
    const etlheap_map *map;
    const etlheap_layout *layout;
    etlheap_sink *sink;
    etlheap_text text; /* scratch */
} map_view;

static i64 bounded(u64 value)
{
    return value > INT64_MAX ? INT64_MAX : (i64)value;
}

static void add_size(etlheap_grid *grid, u64 size)
{
    etlheap_grid_size(grid, bounded(size));
}

/* What no event says is unknown, not 0. */
static void add_known(etlheap_grid *grid, bool is_known, u64 size)
{
    if (is_known)
        add_size(grid, size);
    else
        etlheap_grid_cell(grid, "-");
}

static void add_share(etlheap_grid *grid, u64 part, u64 whole)
{
    char text[ETLHEAP_UNITS_SIZE];
    etlheap_units_share(bounded(part), bounded(whole), text);
    etlheap_grid_cell(grid, text);
}

/* --- a process ------------------------------------------------------------------------------ */

static void add_amounts(etlheap_grid *grid, u32 regions, const etlheap_map_amounts *amounts)
{
    etlheap_grid_count(grid, regions);
    add_size(grid, amounts->size);
    add_known(grid, amounts->is_committed_known, amounts->committed);
    add_size(grid, amounts->live);
    etlheap_grid_count(grid, bounded(amounts->blocks));
    add_share(grid, amounts->used, amounts->committed);
    add_known(grid, amounts->is_committed_known, amounts->largest_uncommitted);
    add_size(grid, amounts->largest_empty);
}

static etl_status write_categories(const map_view *view, const etlheap_map_process *process)
{
    static const etlheap_column columns[] = {
        { .title = "Category" },
        { .title = "Regions", .right = true },
        { .title = "Size", .right = true },
        { .title = "Committed", .right = true },
        { .title = "Outstanding Size", .right = true },
        { .title = "Outstanding Count", .right = true },
        { .title = "Used", .right = true },
        { .title = "Largest Uncommitted", .right = true },
        { .title = "Largest Empty", .right = true },
    };
    etlheap_grid grid = etlheap_grid_begin(columns, (u32)ETL_COUNT_OF(columns));
    for (u32 c = 0; c < ETLHEAP_MAP_CATEGORY_COUNT; c++) {
        if (process->category_regions[c] == 0)
            continue;
        etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_NONE);
        etlheap_grid_cell(&grid, etlheap_map_category_word((etlheap_map_category)c));
        add_amounts(&grid, process->category_regions[c], &process->categories[c]);
    }
    etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_STRONG);
    etlheap_grid_cell(&grid, "all");
    add_amounts(&grid, process->region_count, &process->amounts);
    return etlheap_grid_write(&grid, view->layout, view->sink);
}

static int by_live(const void *a, const void *b)
{
    const etlheap_map_heap *const x = a, *const y = b;
    if (x->live != y->live)
        return x->live > y->live ? -1 : 1;
    return (x->heap > y->heap) - (x->heap < y->heap);
}

/* Does an event state it for any heap of the process? */
static bool has_uncommitted(const map_view *view, const etlheap_map_process *process)
{
    bool has = false;
    for (u32 i = 0; i < process->heap_count; i++)
        has |= view->map->heaps[process->first_heap + i].is_uncommitted_known;
    return has;
}

/* The last column is there if it is known of any heap. */
static etl_status write_heaps(const map_view *view, const etlheap_map_process *process)
{
    static const etlheap_column columns[] = {
        { .title = "Handle", .right = true },
        { .title = "Committed", .right = true },
        { .title = "Outstanding Size", .right = true },
        { .title = "Outstanding Count", .right = true },
        { .title = "Touched", .right = true },
        { .title = "Used", .right = true },
        { .title = "Uncommitted", .right = true },
    };
    const bool has_last = has_uncommitted(view, process);
    const u32 count = process->heap_count, most = view->layout->rows_max;
    etlheap_map_heap *const rows = malloc((count + (size_t)1) * sizeof *rows);
    if (rows == NULL)
        return ETL_ERR_MEMORY;
    if (count > 0) {
        memcpy(rows, view->map->heaps + process->first_heap, count * sizeof *rows);
        qsort(rows, count, sizeof *rows, by_live);
    }
    etlheap_grid grid = etlheap_grid_begin(columns, (u32)ETL_COUNT_OF(columns) - !has_last);
    for (u32 i = 0; i < count && (most == 0 || i < most); i++) {
        char name[ETLHEAP_HEAP_NAME_SIZE];
        etlheap_heap_name(rows[i].heap, name);
        etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_NONE);
        etlheap_grid_cell(&grid, name);
        add_known(&grid, rows[i].committed > 0, rows[i].committed);
        add_size(&grid, rows[i].live);
        etlheap_grid_count(&grid, bounded(rows[i].blocks));
        add_size(&grid, rows[i].touched);
        add_share(&grid, rows[i].live, rows[i].touched);
        if (has_last)
            add_known(&grid, rows[i].is_uncommitted_known, rows[i].uncommitted);
    }
    free(rows);
    if (count > 0)
        etlheap_sink_text(view->sink, "\n");
    return etlheap_grid_write(&grid, view->layout, view->sink);
}

/* --- regions -------------------------------------------------------------------------------- */

/* Adds a bar. Each column is a part of the region, or a unit if it has fewer. No event says what is
 * inside an image or a view. */
static void add_bar(map_view *view, const etlheap_map_region *region)
{
    const bool is_shown = map_region_has_levels(region);
    const char *const *const levels = view->layout->ascii ? plain_bars : bars;
    const u64 unit = view->map->unit, size = region->amounts.size;
    const u64 units = (size + unit - 1) / unit;
    const u32 columns = is_shown ? (u32)(units < BAR_COLUMNS ? units : BAR_COLUMNS) : 0;
    etlheap_text_clear(&view->text);
    for (u32 i = 0; i < columns; i++) {
        const u64 start = region->address + size / columns * i;
        const u64 end = i + 1 == columns ? region->address + size : start + size / columns;
        etlheap_text_add_string(&view->text, levels[map_level_of(view->map, region, start, end)]);
    }
}

static void add_region(map_view *view, const etlheap_map_region *region, etlheap_grid *grid)
{
    char name[ETLHEAP_HEAP_NAME_SIZE] = "";
    char address[ETLHEAP_UNITS_SIZE];
    snprintf(address, sizeof address, "0x%" PRIx64, region->address);
    if (region->has_heap)
        etlheap_heap_name(region->heap, name);
    etlheap_grid_row(grid, ETLHEAP_EMPHASIS_NONE);
    etlheap_grid_cell(grid, address);
    add_size(grid, region->amounts.size);
    etlheap_grid_cell(grid, etlheap_map_category_word((etlheap_map_category)region->category));
    etlheap_grid_cell(grid, region->module != NULL ? region->module : name);
    add_known(grid, region->amounts.is_committed_known, region->amounts.committed);
    add_size(grid, region->amounts.live);
    etlheap_grid_count(grid, bounded(region->amounts.blocks));
    add_bar(view, region);
    etlheap_grid_cell(grid, etlheap_text_of(&view->text));
}

static void write_omitted(const map_view *view, u32 omitted)
{
    if (omitted == 0)
        return;
    etlheap_emphasis_on(view->sink, view->layout, ETLHEAP_EMPHASIS_WEAK);
    etlheap_sink_format(view->sink, "%" PRIu32 " more %s%s\n", omitted,
                        omitted == 1 ? "region" : "regions",
                        etlheap_hint_words(view->layout->hint, ETL_HINT_MORE_ROWS));
    etlheap_emphasis_off(view->sink, view->layout, ETLHEAP_EMPHASIS_WEAK);
}

static etl_status write_regions(map_view *view, const etlheap_map_process *process)
{
    static const etlheap_column columns[] = {
        { .title = "Address", .right = true },
        { .title = "Size", .right = true },
        { .title = "Category" },
        { .title = "Handle, Module" },
        { .title = "Committed", .right = true },
        { .title = "Outstanding Size", .right = true },
        { .title = "Outstanding Count", .right = true },
        { .title = "Map" },
    };
    bool *const listed = map_choose(view->map, process, view->layout->rows_max);
    etlheap_grid grid = etlheap_grid_begin(columns, (u32)ETL_COUNT_OF(columns));
    u32 omitted = 0;
    for (u32 i = 0; listed != NULL && i < process->region_count; i++) {
        omitted += !listed[i];
        if (listed[i])
            add_region(view, &view->map->regions[process->first_region + i], &grid);
    }
    const bool ok = listed != NULL;
    free(listed);
    etlheap_sink_text(view->sink, "\n");
    const etl_status status = etlheap_grid_write(&grid, view->layout, view->sink);
    write_omitted(view, omitted);
    return ok ? status : ETL_ERR_MEMORY;
}

static etl_status write_process(map_view *view, const etlheap_map_process *process)
{
    etlheap_text_clear(&view->text);
    etlheap_display_add(&view->text, process->name);
    etlheap_text_add_format(&view->text, " (%" PRIu32 ")", process->pid);
    etlheap_text_heading(view->sink, view->layout, etlheap_text_of(&view->text));
    etl_status status = write_categories(view, process);
    if (status == ETL_OK)
        status = write_heaps(view, process);
    return status == ETL_OK ? write_regions(view, process) : status;
}

/* --- pins ------------------------------------------------------------------------------------ */

static void add_pin(map_view *view, u32 index, etlheap_grid *grid)
{
    const etlheap_map_pin *const pin = &view->map->pins[index];
    const etlheap_row *const row = &view->map->table->rows[index];
    char words[ETLHEAP_UNITS_SIZE];
    etlheap_text_clear(&view->text);
    etlheap_text_add_key_source(&view->text, view->map->table, row, ETLHEAP_KEY_STACK);
    etlheap_grid_row(grid, ETLHEAP_EMPHASIS_NONE);
    etlheap_grid_name(grid, etlheap_text_of(&view->text));
    etlheap_text_clear(&view->text);
    etlheap_text_add_key(&view->text, view->map->table, row, ETLHEAP_KEY_PROCESS);
    etlheap_grid_cell(grid, etlheap_text_of(&view->text));
    snprintf(words, sizeof words, "0x%" PRIx64, pin->address);
    etlheap_grid_cell(grid, words);
    add_size(grid, pin->committed);
    add_size(grid, pin->live);
    etlheap_grid_count(grid, bounded(pin->blocks));
    add_size(grid, pin->largest_size);
    etlheap_units_seconds(pin->largest_ns, words);
    etlheap_grid_cell(grid, pin->largest_ns == INT64_MIN ? "" : words);
    etlheap_grid_frames(grid, view->map->table, row, view->layout->frames_max, 2);
}

static etl_status write_pins(map_view *view)
{
    static const etlheap_column columns[] = {
        { .title = "Largest Block's Stack", .flexible = true },
        { .title = "Process" },
        { .title = "Address", .right = true },
        { .title = "Committed", .right = true },
        { .title = "Outstanding Size", .right = true },
        { .title = "Outstanding Count", .right = true },
        { .title = "Largest Block", .right = true },
        { .title = "Alloc Time (s)", .right = true },
    };
    if (view->map->pin_count == 0)
        return ETL_OK;
    etlheap_text_heading(
        view->sink, view->layout,
        "Pinned: committed memory in which blocks fill at most a sixteenth of each unit");
    etlheap_grid grid = etlheap_grid_begin(columns, (u32)ETL_COUNT_OF(columns));
    for (u32 i = 0; i < view->map->pin_count; i++)
        add_pin(view, i, &grid);
    return etlheap_grid_write(&grid, view->layout, view->sink);
}

/* --- all ------------------------------------------------------------------------------------- */

/* Writes the head. The moment is exact, because users copy it into the next command. */
static void write_head(map_view *view)
{
    const etlheap_layout *const layout = view->layout;
    const char *const *const levels = layout->ascii ? plain_bars : bars;
    char words[ETLHEAP_UNITS_SIZE];
    etlheap_units_moment(view->map->at_ns, words);
    etlheap_text_clear(&view->text);
    etlheap_text_add_format(&view->text, "%s s", words);
    etlheap_text_label(view->sink, layout, "Moment", etlheap_text_of(&view->text));
    etlheap_units_size(bounded(view->map->unit), words);
    etlheap_text_label(view->sink, layout, "Unit", words);
    etlheap_text_clear(&view->text);
    etlheap_text_add_format(
        &view->text,
        "%s reserved  %s committed and empty  %s%s%s%s filled with blocks up to "
        "25, 50, 75, 100 %%",
        levels[0], levels[1], levels[2], levels[3], levels[4], levels[5]);
    etlheap_text_label(view->sink, layout, "Map", etlheap_text_of(&view->text));
    etlheap_text_excluded(view->sink, layout, NULL);
    if (map_hint(view->map) != NULL)
        etlheap_text_label(view->sink, layout, "Hint", map_hint(view->map));
}

etl_status etlheap_write_map_text(const etlheap_result *result, const etlheap_map *map,
                                  const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_layout layout;
    etl_status status = etlheap_layout_read(given, &layout);
    if (status != ETL_OK)
        return status;
    map_view view = { .result = result, .map = map, .layout = &layout, .sink = sink };
    const etlheap_abilities abilities = etlheap_result_abilities(result);
    etlheap_text_trace(sink, &layout, etlheap_result_trace(result), &view.text);
    if (etlheap_abilities_lack_memory(&abilities)) {
        etlheap_text_missing(sink, &layout, result, &view.text);
    } else {
        write_head(&view);
        if (map->process_count == 0)
            etlheap_text_heading(
                sink, &layout,
                etlheap_empty_words(result, "Nothing matches the moment and the filters."));
        for (u32 i = 0; i < map->process_count && status == ETL_OK; i++)
            status = write_process(&view, &map->processes[i]);
        if (status == ETL_OK)
            status = write_pins(&view);
    }
    etlheap_text_diagnostics(sink, &layout, &map->table->diagnostics);
    if (view.text.failed)
        status = ETL_ERR_MEMORY;
    etlheap_text_free(&view.text);
    return status;
}
