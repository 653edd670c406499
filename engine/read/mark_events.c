/*
 * mark_events.c - decides which records are marks, by events that the user described, and names
 * them.
 *
 * In: a record, and the user's list of events (provider, event, optional field and value). Out: a
 * mark_note if one of them matches.
 *
 * Cheap tests come first: a provider's GUID, then its known name; an event's number. Only if a name
 * is asked for is the description of the record looked up, once for each record (candidate).
 * Invariants: the first event of the list that matches names the mark. Names come from the file, so
 * all text goes through buffers of TEXT_SIZE, one byte more than is kept, so that a cut is noticed.
 */
#include "mark_events.h"

#include <inttypes.h>
#include <stdio.h>

#include "parser/system/name_fold.h"

#define TEXT_SIZE (ETLHEAP_MARK_NAME_MAX + 2) /* one more than is kept: so that it shows */

/* Opcodes common to all providers: evntprov.h. */
#define OPCODE_START 1u
#define OPCODE_STOP  2u

/* A record, and its description once it was needed. */
typedef struct candidate {
    const mark_events *events;
    const etl_record *record;
    etl_description description;
    bool is_described; /* it was looked for */
} candidate;

static bool is_number(const char *word)
{
    return word[strspn(word, "0123456789")] == '\0' && word[0] != '\0';
}

static bool is_guid(const char *word)
{
    return strlen(word) == ETL_GUID_TEXT_SIZE - 1 && word[8] == '-' && word[13] == '-';
}

bool mark_events_open(mark_events *out, const etlheap_mark_event *events, u32 count,
                      etl_trace *const *traces, u32 trace_count)
{
    etl_diag_counts ignored = { { 0 } };
    *out = (mark_events){ .at = events, .count = count };
    return count == 0 || descriptions_read(&out->descriptions, traces, trace_count, &ignored);
}

void mark_events_close(mark_events *events)
{
    descriptions_free(&events->descriptions);
}

static const etl_description *describe(candidate *c)
{
    etl_diag_counts ignored = { { 0 } };
    if (!c->is_described &&
        !descriptions_find(&c->events->descriptions, c->record, &c->description, &ignored))
        c->description = (etl_description){ .source = ETL_DESCRIPTION_NONE };
    c->is_described = true;
    return &c->description;
}

static size_t text_of(etl_text text, char *out, size_t size)
{
    const size_t wanted = text.is_utf16 ? etl_utf16_to_utf8(text.bytes, out, size)
                                        : etl_text_to_utf8(text.bytes, out, size);
    return wanted < size ? wanted : strlen(out);
}

static bool is_classic(const etl_record *record)
{
    return record->header >= ETL_HEADER_FULL32 && record->header <= ETL_HEADER_INSTANCE64;
}

static bool is_of_provider(candidate *c, const char *word)
{
    char text[TEXT_SIZE];
    etl_guid_format(c->record->provider, text);
    if (is_guid(word))
        return etl_name_compare(word, text) == 0;
    const char *const known = etl_provider_name(c->record->provider);
    if (known != NULL && etl_name_glob(word, known))
        return true;
    text_of(describe(c)->provider, text, sizeof text);
    return text[0] != '\0' && etl_name_glob(word, text);
}

/* Events that describe themselves give their opcodes no names. */
static const char *known_opcode(const etl_record *record)
{
    return record->opcode == OPCODE_START ? "Start" : record->opcode == OPCODE_STOP ? "Stop" : "";
}

/* "Task/Opcode", or "Task" where the opcode has no name; "" without a description. */
static void name_event(candidate *c, char out[TEXT_SIZE])
{
    const etl_description *const from = describe(c);
    char opcode[TEXT_SIZE];
    const size_t size = text_of(from->event, out, TEXT_SIZE - 2);
    if (text_of(from->opcode, opcode, sizeof opcode) == 0)
        snprintf(opcode, sizeof opcode, "%s", known_opcode(c->record));
    if (size > 0 && opcode[0] != '\0')
        snprintf(out + size, TEXT_SIZE - size, "/%s", opcode);
    const char *const known = etl_record_name(c->record);
    if (size == 0 && known != NULL)
        snprintf(out, TEXT_SIZE, "%s", known);
}

static bool is_called(candidate *c, const char *word)
{
    char text[TEXT_SIZE];
    if (is_number(word)) {
        snprintf(text, sizeof text, "%u",
                 is_classic(c->record) ? c->record->opcode : (unsigned)c->record->id);
        return strcmp(text, word + strspn(word, "0") - (word[strspn(word, "0")] == '\0')) == 0;
    }
    name_event(c, text);
    if (etl_name_glob(word, text))
        return text[0] != '\0';
    char *const slash = strrchr(text, '/');
    if (slash != NULL)
        *slash = '\0';
    return slash != NULL && etl_name_glob(word, text);
}

/* A value as the user would write it: text, or a number in decimal. Others are "". */
static void write_value(const etl_value *value, char out[TEXT_SIZE])
{
    u32 position = 0;
    etl_text name;
    out[0] = '\0';
    if (value->map != NULL && etl_value_map_name(value->map, value->number, &position, &name)) {
        text_of(name, out, TEXT_SIZE);
        return;
    }
    switch ((etl_value_type)value->type) {
    case ETL_VALUE_TEXT8:
    case ETL_VALUE_TEXT16:
        text_of((etl_text){ value->bytes, value->type == ETL_VALUE_TEXT16 }, out, TEXT_SIZE);
        break;
    case ETL_VALUE_GUID:
        if (value->bytes.size >= 16)
            etl_guid_format(value->bytes.at, out);
        break;
    case ETL_VALUE_SIGNED:
        snprintf(out, TEXT_SIZE, "%" PRId64, (i64)value->number);
        break;
    case ETL_VALUE_HEX:
        snprintf(out, TEXT_SIZE, "0x%" PRIx64, value->number);
        break;
    case ETL_VALUE_UNSIGNED:
    case ETL_VALUE_BOOL:
        snprintf(out, TEXT_SIZE, "%" PRIu64, value->number);
        break;
    default:
        break;
    }
}

/* Does the event end what another one began? */
static bool is_stop(candidate *c)
{
    return c->record->opcode == OPCODE_STOP;
}

/* The name of the record as a mark; false if the event does not match. A name from a field, and the
 * number of an event without a name, are the same for the start and the end of something, so the
 * end gets "/Stop". */
static bool name_mark(candidate *c, const etlheap_mark_event *event, char out[TEXT_SIZE])
{
    etl_value value;
    if (!is_of_provider(c, event->provider) || !is_called(c, event->event))
        return false;
    if (event->field == NULL) {
        name_event(c, out);
        if (out[0] == '\0')
            snprintf(out, TEXT_SIZE, "%s%s", event->event, is_stop(c) ? "/Stop" : "");
        return true;
    }
    if (!etl_described_value(c->record, describe(c), event->field, &value))
        return false;
    write_value(&value, out);
    if (!etl_name_glob(event->value, out))
        return false;
    const size_t size = strlen(out);
    if (is_stop(c))
        snprintf(out + size, TEXT_SIZE - size, "/Stop");
    return true;
}

bool mark_events_note(const mark_events *events, const etl_record *record, const mark_note *where,
                      mark_notes *notes, etlheap_arena *arena)
{
    char name[TEXT_SIZE];
    mark_note note = *where;
    candidate c = { .events = events, .record = record };
    if (record->provider == NULL || record->has_hook || record->header == ETL_HEADER_MESSAGE ||
        etl_record_is_injected(record) || etl_record_kind(record) == ETL_EVENT_MARK)
        return true;
    for (u32 i = 0; i < events->count; i++) {
        if (!name_mark(&c, &events->at[i], name))
            continue;
        note.is_end = is_stop(&c);
        const etl_text text = { { (const u8 *)name, strlen(name) }, false };
        return mark_note_name(&note, text, arena) && ETLHEAP_PUSH(notes, note);
    }
    return true;
}
