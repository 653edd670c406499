/*
 * described.h - reads the fields of events that describe themselves, or that the trace describes.
 *
 * Included by parser.h. events.h has the kinds of events that etlheap knows. For any other event a
 * trace may carry the names and types of its fields: a TraceLogging event has them in its own
 * extended items, and for events with a manifest a merge adds one MetaData/EventInfo record per
 * event and one MetaData/EventMapInfo record per list of named numbers.
 *
 *     etl_description_of_record     record               -> description (TraceLogging)
 *     etl_description_of_info       EventInfo payload    -> id, description
 *     etl_value_map_of_info         EventMapInfo payload -> map
 *     etl_walk_begin, etl_walk_next description, record  -> fields, one step at a time
 *     etl_described_value           description, record  -> one field, by its name
 *
 * Nothing here allocates memory or keeps records. To describe events by EventInfo records elsewhere
 * in the trace, the caller keeps those records (etlheap_stream_describe does). All bytes, names and
 * counts come from the file, so a description may contradict itself or the payload. Then the walk
 * counts why, and shows the remaining bytes as one field. Any thread. The on-disk layouts with
 * their sources are in etl/layout_descriptions.h.
 */
#ifndef ETL_DESCRIBED_H
#define ETL_DESCRIBED_H

#include "parser.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A name in a description: a view without a NUL, borrowed from the record; empty: none. */
typedef struct etl_text {
    etl_bytes bytes;
    bool is_utf16; /* else UTF-8, or 8-bit text of unknown code page */
} etl_text;

/* --- maps: numbers with names ------------------------------------------------------ */

/* A list of named numbers. Borrows from the payload. */
typedef struct etl_value_map {
    const uint8_t *provider; /* 16 bytes */
    etl_text name;
    bool is_bits;   /* bits have names; else values */
    uint32_t count; /* entries */
    etl_bytes info; /* the EVENT_MAP_INFO, whose offsets are relative to it */
} etl_value_map;

/* Reads the payload of a MetaData/EventMapInfo record. *out borrows from it. False if it is not a
 * valid map of numbers. */
bool etl_value_map_of_info(etl_bytes payload, etl_value_map *out);

/* Compares two maps by provider, then by name, in byte order: a total order for sorting and
 * searching. */
int etl_value_map_compare(const etl_value_map *a, const etl_value_map *b);

/* The next name of a number. A map of values has at most one, a map of bits one for each set bit.
 * *position starts at 0 and is advanced. False: no more names. */
bool etl_value_map_name(const etl_value_map *map, uint64_t number, uint32_t *position,
                        etl_text *out);

/* Maps sorted by etl_value_map_compare. The array is borrowed. */
typedef struct etl_value_maps {
    const etl_value_map *at;
    size_t count;
} etl_value_maps;

/* --- descriptions -------------------------------------------------------------------- */

typedef enum etl_description_source {
    ETL_DESCRIPTION_NONE,
    ETL_DESCRIPTION_TRACELOGGING, /* in the event itself */
    ETL_DESCRIPTION_MANIFEST,     /* from an EventInfo, for an event with a manifest */
    ETL_DESCRIPTION_CLASS         /* from an EventInfo, for a classic event (MOF) */
} etl_description_source;

/* The description of an event. Borrows from the record or payload it was read from. */
typedef struct etl_description {
    uint8_t source;              /* etl_description_source */
    uint32_t property_count;     /* only of an EventInfo; 0 for TraceLogging */
    uint32_t top_property_count; /* properties that are not members of structures */
    etl_text provider;           /* this and the two below may be empty */
    etl_text event;              /* name of the event or of its task */
    etl_text opcode;             /* "Start"; empty for the opcode Info */
    etl_bytes fields;            /* TraceLogging: metadata of the fields; else the EventInfo */
    etl_value_maps maps;         /* empty at first; set it if you keep maps */
} etl_description;

/* Identifies the events that an EventInfo describes. Set all bytes to 0 before setting members,
 * because ids are compared as bytes. */
typedef struct etl_event_id {
    etl_guid provider; /* class GUID of a classic event */
    uint16_t id;       /* of an event with a manifest, else 0 */
    uint8_t opcode;    /* of a classic event, else 0 */
    uint8_t version;
    bool is_class;
} etl_event_id;

/* The subject of a MetaData record: an event, a map, or unknown. NONE for all other records. */
typedef enum etl_info_kind { ETL_INFO_NONE, ETL_INFO_EVENT, ETL_INFO_MAP } etl_info_kind;
etl_info_kind etl_record_info_kind(const etl_record *record);

/* The id under which an EventInfo describes this record. False for records with a hook id and for
 * messages, which have none. */
bool etl_event_id_of_record(const etl_record *record, etl_event_id *out);

/* Reads the description in the record's own items (TraceLogging). False, with ETL_DESCRIPTION_NONE,
 * if there is none, or if it is invalid (counted as description_invalid). *out borrows from the
 * record. */
bool etl_description_of_record(const etl_record *record, etl_description *out,
                               etl_diag_counts *diag);

/* Reads the payload of a MetaData/EventInfo record. *out borrows from it. False if it is
 * invalid. */
bool etl_description_of_info(etl_bytes payload, etl_event_id *id, etl_description *out);

/* --- fields ----------------------------------------------------------------------------- */

typedef enum etl_value_type {
    ETL_VALUE_UNSIGNED, /* number */
    ETL_VALUE_SIGNED,   /* number, to be read as int64_t */
    ETL_VALUE_HEX,      /* number: pointers, flags, codes */
    ETL_VALUE_BOOL,     /* number: 0 is false */
    ETL_VALUE_REAL,     /* real */
    ETL_VALUE_TEXT8,    /* this and all below: bytes */
    ETL_VALUE_TEXT16,
    ETL_VALUE_GUID,       /* 16 */
    ETL_VALUE_SID,        /* 8, and 4 for each sub-authority */
    ETL_VALUE_FILETIME,   /* number: 100 ns since 1601 */
    ETL_VALUE_SYSTEMTIME, /* 16: eight uint16_t */
    ETL_VALUE_IPV4,       /* 4 */
    ETL_VALUE_IPV6,       /* 16 */
    ETL_VALUE_BYTES       /* anything else, including unknown types */
} etl_value_type;

/* The value of a field. Borrows from the record. */
typedef struct etl_value {
    uint8_t type; /* etl_value_type */
    uint64_t number;
    double real;
    etl_bytes bytes;
    const etl_value_map *map; /* names of the number; NULL: it has none */
} etl_value;

typedef enum etl_step_kind {
    ETL_STEP_VALUE,  /* `name` is empty in arrays */
    ETL_STEP_ARRAY,  /* elements follow, then CLOSE */
    ETL_STEP_STRUCT, /* members follow, then CLOSE */
    ETL_STEP_CLOSE
} etl_step_kind;

/* One step of a walk. */
typedef struct etl_step {
    uint8_t kind; /* etl_step_kind */
    etl_text name;
    etl_value value; /* VALUE */
} etl_step;

/* The largest number of nested arrays and structures. */
#define ETL_WALK_DEPTH_MAX 12u

/* The number of fields that can be the count or length of a later field. */
#define ETL_WALK_REFERENCES_MAX 256u

/* The name of the last field if bytes of the payload are left that no description covers. */
#define ETL_FIELD_UNDECODED "undecoded"

/* One property of a description; used by the walk. */
typedef struct etl_property {
    etl_text name;
    etl_text map;
    uint32_t index;    /* in an EventInfo */
    uint32_t first;    /* of a structure: position of its members */
    uint32_t members;  /* of a structure */
    uint32_t count;    /* interpreted by count_by */
    uint32_t length;   /* interpreted by length_by */
    uint16_t in_type;  /* TDH_INTYPE_* */
    uint8_t shown;     /* private to the parser */
    uint8_t count_by;  /* private */
    uint8_t length_by; /* private */
    bool is_struct;
} etl_property;

/* A walk in progress. Its members are private; a copy keeps its own position. */
typedef struct etl_walk {
    etl_description description;
    const uint8_t *provider;
    etl_bytes left; /* left of the payload */
    etl_diag_counts *diag;
    uint32_t work; /* properties and values read; bounded, as a description can multiply them */
    uint32_t depth;
    uint8_t pointer_bytes;
    uint8_t stage;
    struct {
        uint32_t at;      /* next property: index, or offset in the metadata */
        uint32_t start;   /* position of the members of an array's elements */
        uint32_t left;    /* members or elements left */
        uint32_t members; /* of each element */
        uint8_t kind;
    } open[ETL_WALK_DEPTH_MAX];
    etl_property element; /* of the open array of values */
    uint32_t numbers[ETL_WALK_REFERENCES_MAX];
} etl_walk;

/* Begins a walk over the fields of the record. Record and description are borrowed until the walk
 * ends. diag may be NULL, then nothing is counted. */
void etl_walk_begin(etl_walk *walk, const etl_record *record, const etl_description *description,
                    etl_diag_counts *diag);

/*
 * The next step of the walk. Its views borrow from record and description. False at the end. Every
 * container that is opened is also closed, even if the bytes are damaged, and the walk ends after
 * at most 2^20 steps. Counts description_invalid and description_mismatch at most once per walk.
 */
bool etl_walk_next(etl_walk *walk, etl_step *out);

/* Finds one field by its name, ignoring case: "size", or "origin.module" for a member of a
 * structure. For an array, returns its first element. False if the field does not exist. */
bool etl_described_value(const etl_record *record, const etl_description *description,
                         const char *name, etl_value *out);

#ifdef __cplusplus
}
#endif

#endif
