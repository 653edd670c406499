/*
 * export_pprof.c - writes a profile for pprof: gzip around a protocol buffers message.
 *
 * In: rows of sums by process, type and stack. Out: the profile.
 *
 * A sample is a stack with one value for each sample type. Each kind has its own four types, named
 * as in heap profiles: inuse_space, inuse_objects, alloc_space and alloc_objects, and
 * virtualalloc_inuse_space and so on for the others, because kinds must not be added up. Process
 * and WPA's type are labels: pprof adds up what it is asked for. pprof_code.c writes what samples
 * refer to. Invariant: pprof compares and merges only profiles with equal sample types. So every
 * kind asked for is there, whether the trace has it or not.
 * Source: google/pprof, proto/profile.proto; Merge of its package profile.
 */
#include "export_samples.h"
#include "export_writers.h"
#include "pprof_code.h"

#include <stdlib.h>

#define VALUES_PER_KIND 4
#define PROGRAMS_FIRST  16u
#define UNIX_EPOCH      INT64_C(116444736000000000) /* as a FILETIME */
#define FILETIME_NS     100

enum { TYPE_NAME = 1, TYPE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };

static const etlheap_key keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_TYPE,
                                    ETLHEAP_KEY_STACK };

/* The four values of a row, for its kind. */
typedef enum pprof_value { INUSE_SPACE, INUSE_OBJECTS, ALLOC_SPACE, ALLOC_OBJECTS } pprof_value;

typedef struct pprof_writer {
    pprof_code code;
    u32 kinds;                         /* those asked for, a bit for each */
    u32 values_of[ETLHEAP_KIND_COUNT]; /* where a kind's values begin */
    u32 value_count;
    u32 shown_kind; /* what viewers show first */
    pprof_value shown;
    etlheap_text message, list, label; /* in the making */
    bool failed;                       /* no memory */
} pprof_writer;

/* Processes of one program. */
typedef struct pprof_program {
    const char *process; /* the first one */
    u32 pid;
    u64 bytes;
} pprof_program;

typedef struct pprof_programs {
    export_numbers names;
    pprof_program *at; /* by number */
    u32 capacity;
} pprof_programs;

static void write_head(pprof_writer *w, const etlheap_export_request *request);
static void choose_shown(pprof_writer *w, const etlheap_export_request *request);
static void write_sample_types(pprof_writer *w);
static void write_main_binary(pprof_writer *w);
static bool add_program(pprof_programs *programs, const etlheap_row *row, u64 bytes);
static void write_time(pprof_writer *w);
static void write_sample(pprof_writer *w, const etlheap_row *row);
static bool values_of_row(const etlheap_row *row, i64 values[VALUES_PER_KIND]);
static void add_labels(pprof_writer *w, const etlheap_row *row);
static void add_label(pprof_writer *w, const char *key, const char *text, u64 number);
static void write_strings(pprof_writer *w);

etl_status etlheap_export_pprof(const etlheap_export_request *request, etlheap_sink *sink,
                                etl_error *err)
{
    pprof_writer w = { .code.result = request->result };
    etlheap_table *table;
    const etl_status status = export_table_open(request, keys, ETL_COUNT_OF(keys), &table, err);
    if (status != ETL_OK)
        return status;
    w.code.table = table;
    w.code.gzip = etlheap_gzip_open(sink);
    bool ok = w.code.gzip != NULL;
    if (ok)
        write_head(&w, request);
    for (u32 i = 0; i < table->row_count && ok && etlheap_sink_ok(sink); i++) {
        write_sample(&w, &table->rows[i]);
        ok = pprof_code_ok(&w.code);
    }
    if (ok)
        write_strings(&w);
    ok = ok && pprof_code_ok(&w.code) && !w.failed && !w.message.failed && !w.list.failed &&
         !w.label.failed;
    (void)etlheap_gzip_close(w.code.gzip);
    pprof_code_free(&w.code);
    etlheap_text_free(&w.message);
    etlheap_text_free(&w.list);
    etlheap_text_free(&w.label);
    etlheap_table_free(table);
    return ok ? ETL_OK : etl_no_memory(err);
}

/* String 0 is the empty one, whatever else there is. */
static void write_head(pprof_writer *w, const etlheap_export_request *request)
{
    (void)pprof_string(&w->code, "");
    choose_shown(w, request);
    write_sample_types(w);
    write_main_binary(w);
    write_time(w);
}

/* Chooses the kind that viewers show first: the first selected kind that the trace has. Kinds that
 * few traces have are left out unless they are selected or the trace has them. */
static void choose_shown(pprof_writer *w, const etlheap_export_request *request)
{
    u32 present = 0, kind = 0;
    for (u32 i = 0; i < ETLHEAP_KIND_COUNT; i++)
        present |= w->code.table->totals[i].present ? 1u << i : 0;
    w->kinds = ETLHEAP_KINDS_DEFAULT & (present | etlheap_kinds_with(ETLHEAP_KIND_COMMON));
    if (request->query->kinds != 0)
        w->kinds = request->query->kinds;
    const u32 choice = (w->kinds & present) != 0 ? w->kinds & present : w->kinds;
    while (kind + 1 < ETLHEAP_KIND_COUNT && (choice >> kind & 1) == 0)
        kind++;
    w->shown_kind = kind;
    w->shown = request->metric == ETLHEAP_METRIC_TOTAL ? ALLOC_SPACE : INUSE_SPACE;
}

static void write_sample_types(pprof_writer *w)
{
    static const char *const names[VALUES_PER_KIND] = { "inuse_space", "inuse_objects",
                                                        "alloc_space", "alloc_objects" };
    static const char *const units[VALUES_PER_KIND] = { "bytes", "count", "bytes", "count" };
    u32 shown = 0;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if ((w->kinds >> kind & 1) == 0)
            continue;
        w->values_of[kind] = w->value_count;
        for (u32 value = 0; value < VALUES_PER_KIND; value++) {
            etlheap_text_clear(&w->label);
            if (kind != ETLHEAP_KIND_HEAP)
                etlheap_text_add_format(&w->label, "%s_", etlheap_kind_name((etlheap_kind)kind));
            etlheap_text_add_string(&w->label, names[value]);
            const u32 name = pprof_string(&w->code, etlheap_text_of(&w->label));
            if (kind == w->shown_kind && value == w->shown)
                shown = name;
            etlheap_protobuf_number(&w->message, TYPE_NAME, name);
            const char *const unit = etlheap_kinds_are_counted(1u << kind) ? "count" : units[value];
            etlheap_protobuf_number(&w->message, TYPE_UNIT, pprof_string(&w->code, unit));
            pprof_put(&w->code, PROFILE_SAMPLE_TYPE, &w->message);
        }
        w->value_count += VALUES_PER_KIND;
    }
    etlheap_text_clear(&w->label);
    etlheap_protobuf_number(&w->list, PROFILE_DEFAULT_TYPE, shown);
    etlheap_protobuf_number(&w->list, PROFILE_COMMENT,
                            pprof_string(&w->code, "etlheap " ETLHEAP_VERSION));
}

/* Writes the main binary, by definition the first mapping; viewers show it as the profile's
 * file. It is the program with the most bytes of the shown kind among those whose module the
 * trace names. */
static void write_main_binary(pprof_writer *w)
{
    const etlheap_table *const table = w->code.table;
    pprof_programs programs = { 0 };
    u32 main = ETLHEAP_NO_INDEX;
    u64 most = 0;
    for (u32 i = 0; i < table->row_count && !w->failed; i++) {
        i64 values[VALUES_PER_KIND];
        if (table->rows[i].kind == w->shown_kind && values_of_row(&table->rows[i], values))
            w->failed = !add_program(&programs, &table->rows[i], (u64)values[w->shown]);
    }
    for (u32 i = 0; i < programs.names.count && !w->failed; i++) {
        const pprof_program *const program = &programs.at[i];
        const u32 module = pprof_program_module(&w->code, program->process, program->pid);
        if (module != ETLHEAP_NO_INDEX && (main == ETLHEAP_NO_INDEX || program->bytes > most)) {
            main = module;
            most = program->bytes;
        }
    }
    if (main != ETLHEAP_NO_INDEX)
        pprof_add_mapping(&w->code, main);
    export_numbers_free(&programs.names);
    free(programs.at);
}

static bool add_program(pprof_programs *programs, const etlheap_row *row, u64 bytes)
{
    const etl_bytes name = { (const u8 *)row->process, strlen(row->process) };
    u32 number;
    if (export_number_of(&programs->names, name, &number)) {
        if (number >= programs->capacity) {
            const u32 capacity = programs->capacity * 2 + PROGRAMS_FIRST;
            pprof_program *const more = realloc(programs->at, (size_t)capacity * sizeof *more);
            if (!more)
                return false;
            programs->at = more;
            programs->capacity = capacity;
        }
        programs->at[number] = (pprof_program){ .process = row->process, .pid = row->pid };
    }
    if (programs->names.failed)
        return false;
    programs->at[number].bytes = etl_sat_add_u64(programs->at[number].bytes, bytes);
    return true;
}

/* Writes the time of the window, unless the recording is from before 1970 or does not say when it
 * was. */
static void write_time(pprof_writer *w)
{
    const i64 start = etlheap_result_trace(w->code.result)->start_time_filetime;
    const i64 from_ns = w->code.table->from_ns, to_ns = w->code.table->to_ns;
    if (start > UNIX_EPOCH && start - UNIX_EPOCH < INT64_MAX / 2 / FILETIME_NS) {
        const i64 time_ns = etl_sat_add_i64((start - UNIX_EPOCH) * FILETIME_NS, from_ns);
        etlheap_protobuf_number(&w->list, PROFILE_TIME, (u64)time_ns);
    }
    if (to_ns > from_ns)
        etlheap_protobuf_number(&w->list, PROFILE_DURATION, (u64)etl_span_i64(from_ns, to_ns));
    etlheap_gzip_write(w->code.gzip, etlheap_text_of(&w->list), w->list.size);
    etlheap_text_clear(&w->list);
}

/* Writes a sample. The values of other kinds are 0, and must be written. */
static void write_sample(pprof_writer *w, const etlheap_row *row)
{
    i64 values[VALUES_PER_KIND];
    if (!values_of_row(row, values))
        return;
    pprof_add_locations(&w->code, row, &w->list);
    etlheap_protobuf_bytes(&w->message, SAMPLE_LOCATIONS, etlheap_protobuf_of(&w->list));
    etlheap_text_clear(&w->list);
    const u32 first = w->values_of[row->kind];
    for (u32 i = 0; i < w->value_count; i++) {
        const bool is_its = i >= first && i < first + VALUES_PER_KIND;
        etlheap_protobuf_varint(&w->list, is_its ? (u64)values[i - first] : 0);
    }
    etlheap_protobuf_bytes(&w->message, SAMPLE_VALUES, etlheap_protobuf_of(&w->list));
    etlheap_text_clear(&w->list);
    add_labels(w, row);
    pprof_put(&w->code, PROFILE_SAMPLE, &w->message);
}

/* The values of a row; false if it has nothing that a profile counts. */
static bool values_of_row(const etlheap_row *row, i64 values[VALUES_PER_KIND])
{
    const bool is_made = row->type == ETLHEAP_TYPE_AIFO || row->type == ETLHEAP_TYPE_AIFI;
    values[INUSE_SPACE] = row->measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE];
    values[INUSE_OBJECTS] = row->measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT];
    values[ALLOC_SPACE] = is_made ? row->measures[ETLHEAP_MEASURE_SIZE] : 0;
    values[ALLOC_OBJECTS] = is_made ? row->measures[ETLHEAP_MEASURE_COUNT] : 0;
    return values[INUSE_OBJECTS] != 0 || values[ALLOC_OBJECTS] != 0;
}

static void add_labels(pprof_writer *w, const etlheap_row *row)
{
    add_label(w, "process", row->process, 0);
    if (row->pid != ETL_NO_ID)
        add_label(w, "pid", NULL, row->pid);
    add_label(w, "type", etlheap_type_name((etlheap_type)row->type), 0);
}

static void add_label(pprof_writer *w, const char *key, const char *text, u64 number)
{
    etlheap_protobuf_number(&w->label, LABEL_KEY, pprof_string(&w->code, key));
    if (text)
        etlheap_protobuf_number(&w->label, LABEL_TEXT, pprof_string(&w->code, text));
    etlheap_protobuf_number(&w->label, LABEL_NUMBER, number);
    etlheap_protobuf_bytes(&w->message, SAMPLE_LABEL, etlheap_protobuf_of(&w->label));
    etlheap_text_clear(&w->label);
}

static void write_strings(pprof_writer *w)
{
    for (u32 i = 0; i < w->code.strings.count; i++) {
        etlheap_protobuf_bytes(&w->list, PROFILE_STRING, export_number_key(&w->code.strings, i));
        etlheap_gzip_write(w->code.gzip, etlheap_text_of(&w->list), w->list.size);
        etlheap_text_clear(&w->list);
    }
}
