/*
 * make_trace.c - the builder as a program: writes a scenario's trace to a file.
 *
 *     make_trace SCENARIO [-o] FILE.etl [options]
 *
 * In: a scenario (scenario.c) and options: session, compression, breaks, a seed. Out: the trace,
 * and on request its truth as JSON, with which oracles compare. Invariant: equal arguments give
 * equal bytes.
 */
#include "scenario.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct arguments {
    const scenario *scenario;
    const char *out;
    const char *truth;
    const char *split; /* a second file, for the heap events */
    etl_build_options build;
    scenario_run run;
    const char *breaks[16]; /* FIELD:INDEX:VALUE */
    u32 break_count;
} arguments;

/* How an option's value is stored. */
typedef enum option_type { OPTION_FLAG, OPTION_U32, OPTION_U64, OPTION_TEXT } option_type;

typedef struct option {
    const char *name;
    option_type type;
    size_t offset;
    const char *help;
} option;

#define AT(member) offsetof(arguments, member)

static const option option_table[] = {
    { "-o", OPTION_TEXT, AT(out), "FILE  the trace" },
    { "--truth", OPTION_TEXT, AT(truth), "FILE  what a reader should find, as JSON" },
    { "--split", OPTION_TEXT, AT(split), "FILE  heap events go to this file of their own" },
    { "--seed", OPTION_U64, AT(run.seed), "N  of everything random [1]" },
    { "--events", OPTION_U64, AT(run.operations), "N  operations of a random workload [4000]" },
    { "--cpus", OPTION_U32, AT(build.cpus), "N  [4]" },
    { "--buffer-bytes", OPTION_U32, AT(build.buffer_bytes), "N  [65536]" },
    { "--pointer-bytes", OPTION_U32, AT(build.pointer_bytes), "4|8  of the system [8]" },
    { "--clock", OPTION_U32, AT(build.clock), "1|2|3  QPC, system time, CPU cycles [1]" },
    { "--hz", OPTION_U64, AT(build.clock_hz), "N  ticks per second [10000000]" },
    { "--compress", OPTION_FLAG, AT(build.compress), " XPRESS buffers" },
    { "--keys", OPTION_FLAG, AT(build.keyed_stacks), " stacks as keys" },
    { "--key-slots", OPTION_U32, AT(build.stack_key_slots), "N  size of the key cache [256]" },
    { "--one-stream", OPTION_FLAG, AT(build.one_stream), " no per-processor buffers" },
    { "--tidless", OPTION_FLAG, AT(build.virtual_alloc_without_tid),
      " VirtualAlloc records without thread ids" },
    { "--header-records", OPTION_FLAG, AT(build.header_records),
      " more records in the header buffer" },
    { "--unclosed", OPTION_FLAG, AT(build.unclosed), " a session that was not stopped" },
    { "--ring", OPTION_U32, AT(build.ring_buffers), "N  circular file of N buffers" },
    { "--flush-ticks", OPTION_U64, AT(build.flush_interval_ticks), "N  force buffers out" },
    { "--wow64", OPTION_FLAG, AT(run.wow64), " the program is a 32-bit process" },
    { "--end-rundown", OPTION_FLAG, AT(run.end_rundown_only), " no rundown at the start" },
    { "--free-stacks", OPTION_FLAG, AT(run.free_stacks), " of a random workload: stacks of frees" },
    { "--break", OPTION_TEXT, 0, "FIELD:INDEX:VALUE  e.g. RECORD_SIZE:7:0" },
};

static bool parse(int argc, char **argv, arguments *a);
static bool parse_option(const char *name, const char *value, arguments *a, bool *took_value);
static bool parse_number(const char *text, u64 *number);
static bool add_break(etl_build *b, const char *text);
static int run(arguments *a);
static int write_all(arguments *a, etl_build *b, etl_build *heap);
static void usage(FILE *to);

int main(int argc, char **argv)
{
    arguments a = { 0 };
    if (argc >= 2 && strcmp(argv[1], "--help") == 0) {
        usage(stdout);
        return 0;
    }
    if (!parse(argc, argv, &a)) {
        usage(stderr);
        return 2;
    }
    return run(&a);
}

static bool parse(int argc, char **argv, arguments *a)
{
    if (argc < 2)
        return false;
    a->scenario = scenario_find(argv[1]);
    if (a->scenario == NULL) {
        fprintf(stderr, "make_trace: no scenario %s\n", argv[1]);
        return false;
    }
    for (int i = 2; i < argc; i++) {
        if (argv[i][0] != '-') {
            a->out = argv[i];
            continue;
        }
        bool took_value = false;
        if (!parse_option(argv[i], i + 1 < argc ? argv[i + 1] : NULL, a, &took_value)) {
            fprintf(stderr, "make_trace: bad option %s\n", argv[i]);
            return false;
        }
        i += took_value ? 1 : 0;
    }
    return a->out != NULL;
}

static bool parse_option(const char *name, const char *value, arguments *a, bool *took_value)
{
    const option *found = NULL;
    for (size_t i = 0; i < ETL_COUNT_OF(option_table); i++) {
        if (strcmp(option_table[i].name, name) == 0)
            found = &option_table[i];
    }
    if (found == NULL || (found->type != OPTION_FLAG && value == NULL))
        return false;
    char *const at = (char *)a + found->offset;
    u64 number = 0;
    *took_value = found->type != OPTION_FLAG;
    switch (found->type) {
    case OPTION_FLAG:
        memcpy(at, &(bool){ true }, sizeof(bool));
        return true;
    case OPTION_TEXT:
        if (strcmp(name, "--break") != 0)
            memcpy(at, &value, sizeof value);
        else if (a->break_count < ETL_COUNT_OF(a->breaks))
            a->breaks[a->break_count++] = value;
        return true;
    case OPTION_U32:
        if (!parse_number(value, &number) || number > UINT32_MAX)
            return false;
        memcpy(at, &(u32){ (u32)number }, sizeof(u32));
        return true;
    default:
        if (!parse_number(value, &number))
            return false;
        memcpy(at, &number, sizeof number);
        return true;
    }
}

static bool parse_number(const char *text, u64 *number)
{
    char *end = NULL;
    errno = 0;
    *number = strtoull(text, &end, 0);
    return errno == 0 && end != text && *end == '\0';
}

/* FIELD:INDEX:VALUE */
static bool add_break(etl_build *b, const char *text)
{
    char name[40] = "";
    long long index = 0;
    long long value = 0;
    if (sscanf(text, "%39[A-Z_]:%lli:%lli", name, &index, &value) != 3)
        return false;
    for (int field = 0; field < ETL_BREAK_COUNT; field++) {
        if (strcmp(etl_build_field_name((etl_build_field)field), name) == 0) {
            etl_build_break(b, (etl_build_field)field, (u64)index, (u64)value);
            return true;
        }
    }
    return false;
}

static int run(arguments *a)
{
    a->build.path = a->out;
    a->run.cpus = a->build.cpus;
    a->run.tidless = a->build.virtual_alloc_without_tid;
    etl_build *const b = etl_build_new(&a->build);
    etl_build *heap = b;
    if (a->split != NULL) {
        etl_build_options options = a->build;
        options.path = a->split;
        options.session_name = "heap";
        options.stack_key_base = 0xFFFFA80007200010u;
        heap = etl_build_new(&options);
        a->run.heap = heap;
    }
    const int status = write_all(a, b, heap);
    scenario_run_free(&a->run);
    if (heap != b)
        etl_build_free(heap);
    etl_build_free(b);
    return status;
}

static int write_all(arguments *a, etl_build *b, etl_build *heap)
{
    for (u32 i = 0; i < a->break_count; i++) {
        if (!add_break(b, a->breaks[i])) {
            fprintf(stderr, "make_trace: bad --break %s\n", a->breaks[i]);
            return 2;
        }
    }
    scenario_write(a->scenario, &a->run, b);
    if (!etl_build_finish(b) || !etl_build_finish(heap)) {
        const char *const error = etl_build_error(b);
        fprintf(stderr, "make_trace: %s\n", error ? error : etl_build_error(heap));
        return 3;
    }
    if (a->truth == NULL)
        return 0;
    if (a->run.work == NULL) {
        fprintf(stderr, "make_trace: %s has no truth\n", a->scenario->name);
        return 2;
    }
    if (!workload_truth_save(a->run.work, &a->run.truth, b, heap, a->truth)) {
        fprintf(stderr, "make_trace: cannot write %s\n", a->truth);
        return 3;
    }
    return 0;
}

static void usage(FILE *to)
{
    fputs("usage: make_trace SCENARIO [-o] FILE.etl [options]\n\nscenarios:\n", to);
    for (const scenario *s = scenarios; s->name != NULL; s++)
        fprintf(to, "  %-22s %s\n", s->name, s->summary);
    fputs("\noptions:\n", to);
    for (size_t i = 0; i < ETL_COUNT_OF(option_table); i++)
        fprintf(to, "  %s %s\n", option_table[i].name, option_table[i].help);
}
