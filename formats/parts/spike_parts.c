/* spike_parts.c - see spike_parts.h. */
#include "spike_parts.h"

#include "formats/io/units.h"

static const etlheap_field fields[] = { SPIKE_COLUMNS(ETLHEAP_COLUMN_FIELD) };
static const etlheap_field part_fields[] = { SPIKE_PART_COLUMNS(ETLHEAP_COLUMN_FIELD) };
const etlheap_field_list spike_columns = { fields, NULL, SPIKE_COLUMN_COUNT };
const etlheap_field_list spike_part_columns = { part_fields, NULL, SPIKE_PART_COLUMN_COUNT };

void spike_values(const etlheap_spike *s, etlheap_value out[SPIKE_COLUMN_COUNT])
{
    const etlheap_value values[] = { SPIKE_COLUMNS(ETLHEAP_COLUMN_VALUE) };
    memcpy(out, values, sizeof values);
}

void spike_part_values(const etlheap_spike_part *p, etlheap_value out[SPIKE_PART_COLUMN_COUNT])
{
    const etlheap_value values[] = { SPIKE_PART_COLUMNS(ETLHEAP_COLUMN_VALUE) };
    memcpy(out, values, sizeof values);
}

void spikes_add_heading(const etlheap_spikes *spikes, etlheap_text *text)
{
    char words[ETLHEAP_UNITS_SIZE];
    etlheap_units_duration(spikes->span_ns, words);
    etlheap_text_add_format(
        text, "%s within %s",
        spikes->count == 0 ? "No memory came and went" : "Memory that came and went", words);
}
