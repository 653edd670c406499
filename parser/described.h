/*
 * described.h - events that describe themselves, and events that the trace describes.
 *
 * Included by parser.h. Beside the kinds of events.h, which we know, a trace may carry the
 * names and types of any event: a TraceLogging event has them in its own extended items, and
 * for events with a manifest a merge adds one MetaData/EventInfo record per event, and one
 * MetaData/EventMapInfo record per list of named numbers.
 *
 *     etl_description_of_record   record             -> description   (TraceLogging)
 *     etl_description_of_info     EventInfo payload  -> id, description
 *     etl_value_map_of_info             EventMapInfo payload -> map
 *     etl_walk_begin, _next       description, payload -> fields, one step at a time
 *     etl_described_value         the same, for one field by its name
 *
 * Nothing here allocates or keeps anything: whoever wants to describe events by records
 * that stand elsewhere in the trace keeps those (the engine's stream does). All bytes,
 * names and counts come from the file; a description may contradict itself, or the payload
 * it stands beside. Then the walk stops, counts why, and shows the rest as bytes.
 * The on-disk layouts with their sources are in etl/layout_descriptions.h.
 */
#ifndef ETL_DESCRIBED_H
#define ETL_DESCRIBED_H

#include "parser.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A name in a description. Borrowed, without NUL; empty: there is none. */
typedef struct etl_text {
    etl_bytes bytes;
    bool is_utf16; /* else UTF-8, or 8-bit text of unknown code page */
} etl_text;

/* --- maps: numbers with names ------------------------------------------------------ */

typedef struct etl_value_map {
    const u8 *provider; /* 16 bytes */
    etl_text name;
    bool is_bits;   /* each bit has a name; else each value */
    u32 count;      /* entries */
    etl_bytes info; /* EVENT_MAP_INFO, to which the offsets in it relate */
} etl_value_map;

/* Reads the payload of a MetaData/EventMapInfo record, from which *out borrows. False: it
 * is not a valid map of numbers. */
bool etl_value_map_of_info(etl_bytes payload, etl_value_map *out);

/* Total order by provider and name, for sorting and searching. */
int etl_value_map_compare(const etl_value_map *a, const etl_value_map *b);

/*
 * The next name of a number: of a map of values there is one at most, of a map of bits one
 * for each bit that is set. Start from *position 0. False: no more.
 */
bool etl_value_map_name(const etl_value_map *map, u64 number, u32 *position, etl_text *out);

/* Maps in the order of etl_value_map_compare. */
typedef struct etl_value_maps {
    const etl_value_map *at;
    size_t count;
} etl_value_maps;

/* --- descriptions -------------------------------------------------------------------- */

typedef enum etl_description_source {
    ETL_DESCRIPTION_NONE,
    ETL_DESCRIPTION_TRACELOGGING, /* in the event itself */
    ETL_DESCRIPTION_MANIFEST,     /* EventInfo of an event with a manifest */
    ETL_DESCRIPTION_CLASS         /* EventInfo of a classic event (MOF) */
} etl_description_source;

typedef struct etl_description {
    u8 source;              /* etl_description_source */
    u32 property_count;     /* of an EventInfo; 0 for TraceLogging */
    u32 top_property_count; /* those that are not members of structures */
    etl_text provider;      /* may be empty, as the two below */
    etl_text event;         /* name of the event or of its task */
    etl_text opcode;        /* "Start"; empty for the opcode Info */
    etl_bytes fields;       /* TraceLogging: the fields' metadata; else the whole EventInfo */
    etl_value_maps maps;    /* set by whoever keeps maps; empty at first */
} etl_description;

/* Which events an EventInfo describes. Zero it before setting members: it is compared as
 * bytes. */
typedef struct etl_event_id {
    etl_guid provider; /* class GUID of a classic event */
    u16 id;            /* of an event with a manifest, else 0 */
    u8 opcode;         /* of a classic event, else 0 */
    u8 version;
    bool is_class;
} etl_event_id;

/* What a MetaData record describes. */
typedef enum etl_info_kind { ETL_INFO_NONE, ETL_INFO_EVENT, ETL_INFO_MAP } etl_info_kind;
etl_info_kind etl_record_info_kind(const etl_record *record);

/* The id that an EventInfo for the record would have. False for hooks and messages. */
bool etl_event_id_of_record(const etl_record *record, etl_event_id *out);

/* The description in the record's own items. False, with ETL_DESCRIPTION_NONE, when there
 * is none, or none that can be read (then description_invalid is counted). */
bool etl_description_of_record(const etl_record *record, etl_description *out,
                               etl_diag_counts *diag);

/* The payload of a MetaData/EventInfo record, from which *out borrows. False: not sound. */
bool etl_description_of_info(etl_bytes payload, etl_event_id *id, etl_description *out);

/* --- fields ----------------------------------------------------------------------------- */

typedef enum etl_value_type {
    ETL_VALUE_UNSIGNED, /* number */
    ETL_VALUE_SIGNED,   /* number, as i64 */
    ETL_VALUE_HEX,      /* number: pointers, flags, codes */
    ETL_VALUE_BOOL,     /* number: 0 or not */
    ETL_VALUE_REAL,     /* real */
    ETL_VALUE_TEXT8,    /* bytes, from here on */
    ETL_VALUE_TEXT16,
    ETL_VALUE_GUID,       /* 16 */
    ETL_VALUE_SID,        /* 8 and 4 for each sub-authority: as long as it says */
    ETL_VALUE_FILETIME,   /* number: 100 ns since 1601 */
    ETL_VALUE_SYSTEMTIME, /* 16: eight u16 */
    ETL_VALUE_IPV4,       /* 4 */
    ETL_VALUE_IPV6,       /* 16 */
    ETL_VALUE_BYTES       /* anything, also of types that we do not know */
} etl_value_type;

typedef struct etl_value {
    u8 type; /* etl_value_type */
    u64 number;
    double real;
    etl_bytes bytes;
    const etl_value_map *map; /* names of the number; NULL: none */
} etl_value;

typedef enum etl_step_kind {
    ETL_STEP_VALUE,  /* `name` is empty in arrays */
    ETL_STEP_ARRAY,  /* elements follow, then CLOSE */
    ETL_STEP_STRUCT, /* members follow, then CLOSE */
    ETL_STEP_CLOSE
} etl_step_kind;

typedef struct etl_step {
    u8 kind; /* etl_step_kind */
    etl_text name;
    etl_value value; /* VALUE */
} etl_step;

/* Containers that may be open at once. */
#define ETL_WALK_DEPTH_MAX 12u

/* Earlier fields that a count or a length may name. */
#define ETL_WALK_REFERENCES_MAX 256u

/* What a payload does not say about itself is shown under this name, at the end. */
#define ETL_FIELD_UNDECODED "undecoded"

/* One property of a description. */
typedef struct etl_property {
    etl_text name;
    etl_text map;
    u32 index;    /* in an EventInfo */
    u32 first;    /* of a structure: where its members are */
    u32 members;  /* of a structure */
    u32 count;    /* by count_by */
    u32 length;   /* by length_by */
    u16 in_type;  /* as TDH counts them */
    u8 shown;     /* how a number or text is shown; private to the parser */
    u8 count_by;  /* private */
    u8 length_by; /* private */
    bool is_struct;
} etl_property;

/* A walk in progress. Its members are the parser's; copying it copies the position. */
typedef struct etl_walk {
    etl_description description;
    const u8 *provider;
    etl_bytes left; /* of the payload */
    etl_diag_counts *diag;
    u32 work; /* properties and values read: bounded, because descriptions may multiply */
    u32 depth;
    u8 pointer_bytes;
    u8 stage;
    struct {
        u32 at;      /* next property: its index, or its offset in the metadata */
        u32 start;   /* where the members of each element of an array are */
        u32 left;    /* members or elements to come */
        u32 members; /* of each element */
        u8 kind;
    } open[ETL_WALK_DEPTH_MAX];
    etl_property element; /* of the open array of values */
    u32 numbers[ETL_WALK_REFERENCES_MAX];
} etl_walk;

/* Begins with the first field of the record. diag may be NULL: nothing is counted. */
void etl_walk_begin(etl_walk *walk, const etl_record *record, const etl_description *description,
                    etl_diag_counts *diag);

/*
 * The next step, whose views borrow from record and description. False at the end. Every
 * container that is opened is closed, whatever is wrong with the bytes; it ends after at
 * most 2^20 steps. Counted once per walk: description_invalid, description_mismatch.
 */
bool etl_walk_next(etl_walk *walk, etl_step *out);

/*
 * The value of one field, by its name without regard to case: "size", or "origin.module"
 * for a member of a structure. Of an array it is the first element. False: there is none.
 */
bool etl_described_value(const etl_record *record, const etl_description *description,
                         const char *name, etl_value *out);

#ifdef __cplusplus
}
#endif

#endif
