/* spike_parts.h - shared by the writers of spikes. */
#ifndef ETLHEAP_SPIKE_PARTS_H
#define ETLHEAP_SPIKE_PARTS_H

#include "columns.h"
#include "formats/io/text_buffer.h"

/* X(field, value) of spike `s`, and of part `p` of a spike. */
#define SPIKE_COLUMNS(X)                                                                           \
    X(FROM_NS, etlheap_value_number(s->from_ns))                                                   \
    X(TO_NS, etlheap_value_number(s->to_ns))                                                       \
    X(AT, etlheap_value_number(s->at_ns))                                                          \
    X(HEIGHT_SIZE, etlheap_value_number(s->height_size))                                           \
    X(PEAK_SIZE, etlheap_value_number(s->peak_size))                                               \
    X(SPIKED_SIZE, etlheap_value_number(s->spiked_size))
#define SPIKE_PART_COLUMNS(X)                                                                      \
    X(SIZE, etlheap_value_number(p->size))                                                         \
    X(CAME_SIZE, etlheap_value_number(p->came_size))                                               \
    X(WENT_SIZE, etlheap_value_number(p->went_size))

enum {
    SPIKE_COLUMN_COUNT = SPIKE_COLUMNS(ETLHEAP_COLUMN_ONE),
    SPIKE_PART_COLUMN_COUNT = SPIKE_PART_COLUMNS(ETLHEAP_COLUMN_ONE)
};

extern const etlheap_field_list spike_columns, spike_part_columns;
void spike_values(const etlheap_spike *s, etlheap_value out[SPIKE_COLUMN_COUNT]);
void spike_part_values(const etlheap_spike_part *p, etlheap_value out[SPIKE_PART_COLUMN_COUNT]);

/* Appends what a list of the spikes has, or that there are none. */
void spikes_add_heading(const etlheap_spikes *spikes, etlheap_text *text);

#endif
