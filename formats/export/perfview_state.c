/*
 * perfview_state.c - how PerfView's window looks when it opens what we export.
 *
 *     StackWindow/StackWindowGuiState
 *       FilterGuiState       what the boxes above the table hold
 *         GroupRegEx         Value, and History: the choices of the box
 *         FoldPercent        Value
 *       Notes                the text of the pane beside the table
 *       Columns/string       the columns that are shown
 *       NotesPaneHidden, ScalingPolicy, TabSelected
 *
 * Source: microsoft/perfview, StackWindowGuiState, FilterGuiState and TextBoxGuiState in
 * Extensibility.cs, which read these elements, and StackWindow.xaml.cs, which has the
 * names of tabs. Elements come in the order in which PerfView writes them; a box without
 * a value keeps PerfView's own. Nothing here depends on where the trace lies.
 *
 * Kinds must not be added up, and a list by name would do that: so the call tree is what
 * is seen first. Grouping is PerfView's default; what is folded into other functions
 * would be missed by who looks for a leak, so nothing is.
 */
#include "perfview_state.h"

#include "formats/io/units.h"

#include <inttypes.h>

#define MODULE_ENTRIES "[group module entries]  {%}!=>module $1"

static const char *const groupings[] = {
    "[no grouping]",
    MODULE_ENTRIES,
    "[group modules]           {%}!->module $1",
};

/* Sums have one time, so there is nothing to see in columns of times. */
static const struct {
    const char *name;
    bool of_times;
} columns[] = {
    { "NameColumn", false },     { "ExcPercentColumn", false }, { "ExcColumn", false },
    { "ExcCountColumn", false }, { "IncPercentColumn", false }, { "IncColumn", false },
    { "IncCountColumn", false }, { "FoldColumn", false },       { "FoldCountColumn", false },
    { "WhenColumn", true },      { "FirstColumn", true },       { "LastColumn", true },
};

static void write_text(etlheap_xml *xml, const char *name, const char *text);
static void write_filter(etlheap_xml *xml);
static void add_notes(etlheap_text *text, const perfview_notes *notes);

void perfview_write_state(etlheap_xml *xml, const perfview_notes *notes)
{
    etlheap_text text = { 0 };
    add_notes(&text, notes);
    xml->failed |= text.failed;
    etlheap_xml_element(xml, "StackWindowGuiState");
    write_filter(xml);
    write_text(xml, "Notes", etlheap_text_of(&text));
    etlheap_xml_element(xml, "Columns");
    for (size_t i = 0; i < ETL_COUNT_OF(columns); i++) {
        if (notes->rows || !columns[i].of_times)
            write_text(xml, "string", columns[i].name);
    }
    etlheap_xml_close(xml);
    write_text(xml, "NotesPaneHidden", "False");
    write_text(xml, "ScalingPolicy", "ScaleToData");
    write_text(xml, "TabSelected", "CallTreeTab");
    etlheap_xml_close(xml);
    etlheap_text_free(&text);
}

static void write_text(etlheap_xml *xml, const char *name, const char *text)
{
    etlheap_xml_element(xml, name);
    etlheap_xml_text(xml, text);
    etlheap_xml_close(xml);
}

static void write_filter(etlheap_xml *xml)
{
    etlheap_xml_element(xml, "FilterGuiState");
    etlheap_xml_element(xml, "GroupRegEx");
    write_text(xml, "Value", MODULE_ENTRIES);
    etlheap_xml_element(xml, "History");
    for (size_t i = 0; i < ETL_COUNT_OF(groupings); i++)
        write_text(xml, "string", groupings[i]);
    etlheap_xml_close(xml);
    etlheap_xml_close(xml);
    etlheap_xml_element(xml, "FoldPercent");
    write_text(xml, "Value", "0");
    etlheap_xml_close(xml);
    etlheap_xml_close(xml);
}

static void add_notes(etlheap_text *text, const perfview_notes *notes)
{
    const etlheap_trace_info *const trace = notes->trace;
    char from[ETLHEAP_UNITS_SIZE], to[ETLHEAP_UNITS_SIZE], start[ETLHEAP_UNITS_SIZE];
    etlheap_units_seconds(notes->from_ns, from);
    etlheap_units_seconds(notes->to_ns, to);
    etlheap_units_start(trace, start);
    etlheap_text_add_string(text, "Exported by etlheap: ");
    etlheap_text_add_string(text, etlheap_metric_summary(notes->metric));
    etlheap_text_add_format(text, ".\nWindow: %s s to %s s of a recording", from, to);
    if (trace->computer && trace->computer[0] != '\0') {
        etlheap_text_add_string(text, " on ");
        etlheap_text_add_string(text, trace->computer);
    }
    if (trace->start_time_filetime > 0)
        etlheap_text_add_format(text, " that began at %s", start);
    etlheap_text_add_string(text, ".\n");
    etlheap_text_add_format(text, "The metric is bytes. %" PRIu64 " samples: %s.\n",
                            notes->sample_count,
                            notes->rows ? "each allocation at its time, in parts if it is large"
                                        : "the sum of each stack, in parts if it is large");
    etlheap_text_add_string(
        text,
        "Below ROOT are the kinds of memory. They overlap, so do not add them together.\nFrames "
        "are grouped by module. To see functions, choose [no grouping] in GroupPats.\n");
}
