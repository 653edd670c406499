/*
 * raw_stream.c - reads what `heaptrack --raw` recorded, event by event. raw_stream.h has the
 * format.
 *
 * In: lines of text. Out: allocations, frees, times, and modules that came or went; the frames of a
 * stack on request.
 *
 * A list of modules names all that are loaded, and is written again after dlopen and dlclose. Only
 * the line behind the list ends it. Invariant: that line waits (`line_waits`) until the events of
 * the modules that came and went are handed out, so that no stack is resolved with the modules of
 * another time.
 */
#include "raw_stream.h"

#include "bench.h"

#include <stdlib.h>
#include <sys/types.h>

#define FILE_VERSION 3
#define MODULES_MAX  4096u
#define FIRST_FRAMES 65536u

typedef struct raw_frame {
    u64 address;
    u32 parent;
} raw_frame;

struct raw_stream {
    FILE *file;
    char *line;
    size_t line_room;
    u64 line_number;
    bool line_waits; /* it was read, and is not handled yet */
    char *program;
    raw_frame *frames; /* [0] is not used */
    u32 frame_count, frame_room;
    raw_module *modules;
    u32 module_count;
    bool is_listing;
    u32 changed_at; /* the next module to look at once a list has ended */
    char error[160];
};

static bool read_line(raw_stream *s);
static bool handle_line(raw_stream *s, raw_event *event, bool *is_event);
static bool read_version(raw_stream *s, const char *at);
static bool read_program(raw_stream *s, const char *at);
static bool read_module(raw_stream *s, const char *at);
static void begin_list(raw_stream *s);
static bool list_module(raw_stream *s, const char *path, size_t length, u64 base, u64 size);
static bool next_change(raw_stream *s, raw_event *event);
static bool read_frame(raw_stream *s, const char *at);
static bool read_numbers(const char **at, u64 *numbers, u32 count);
static bool read_text(const char **at, const char **text, size_t *length);
static char *copy_text(const char *text, size_t length);
static bool fail(raw_stream *s, const char *what);

raw_stream *raw_stream_open(FILE *file)
{
    raw_stream *const s = bench_allocate(1, sizeof *s);
    s->file = file;
    s->frame_room = FIRST_FRAMES;
    s->frames = bench_allocate(s->frame_room, sizeof *s->frames);
    s->modules = bench_allocate(MODULES_MAX, sizeof *s->modules);
    s->program = copy_text("", 0);
    return s;
}

void raw_stream_close(raw_stream *s)
{
    for (u32 i = 0; i < s->module_count; i++)
        free(s->modules[i].path);
    free(s->modules);
    free(s->frames);
    free(s->program);
    free(s->line);
    free(s);
}

const char *raw_stream_error(const raw_stream *s)
{
    return s->error[0] != '\0' ? s->error : NULL;
}

const char *raw_stream_program(const raw_stream *s)
{
    return s->program;
}

const raw_module *raw_stream_module(const raw_stream *s, u32 module)
{
    return &s->modules[module];
}

u32 raw_stream_stack(const raw_stream *s, u32 frame, u64 frames[RAW_STREAM_FRAMES_MAX])
{
    u32 count = 0;
    for (; frame != 0 && count < RAW_STREAM_FRAMES_MAX; frame = s->frames[frame].parent)
        frames[count++] = s->frames[frame].address;
    return count;
}

bool raw_stream_next(raw_stream *s, raw_event *event)
{
    for (;;) {
        if (!s->line_waits && !read_line(s))
            return false;
        if (s->is_listing && s->line[0] != 'm' && next_change(s, event))
            return true;
        s->line_waits = false;
        bool is_event = false;
        if (!handle_line(s, event, &is_event))
            return false;
        if (is_event)
            return true;
    }
}

static bool read_line(raw_stream *s)
{
    const ssize_t length = getline(&s->line, &s->line_room, s->file);
    s->line_waits = length > 0;
    s->line_number++;
    if (length <= 0)
        return s->line_number == 1 ? fail(s, "the file is empty") : false;
    if (s->line_number == 1 && s->line[0] != 'v')
        return fail(s, "not a recording of heaptrack: it does not begin with a version");
    return true;
}

static bool handle_line(raw_stream *s, raw_event *event, bool *is_event)
{
    const char *at = s->line + 1;
    u64 numbers[3] = { 0 };
    *is_event = strchr("+-c", s->line[0]) != NULL;
    switch (s->line[0]) {
    case 'v':
        return read_version(s, at);
    case 'x':
        return read_program(s, at);
    case 'm':
        return read_module(s, at);
    case 't':
        return read_frame(s, at);
    case '+':
        if (!read_numbers(&at, numbers, 3) || numbers[1] > s->frame_count)
            return fail(s, "an allocation without size, known frame and address");
        *event = (raw_event){ .kind = RAW_EVENT_ALLOC,
                              .size = numbers[0],
                              .frame = (u32)numbers[1],
                              .address = numbers[2] };
        return true;
    case '-':
        *event = (raw_event){ .kind = RAW_EVENT_FREE };
        return read_numbers(&at, &event->address, 1) || fail(s, "a free without address");
    case 'c':
        *event = (raw_event){ .kind = RAW_EVENT_TIME };
        return read_numbers(&at, &event->ms, 1) || fail(s, "a time without number");
    case 'a':
    case 'i':
        return fail(s, "an interpreted recording: addresses are gone; record with --raw");
    default:
        return true; /* command, resident memory, page size, suppressions */
    }
}

static bool read_version(raw_stream *s, const char *at)
{
    u64 numbers[2];
    if (!read_numbers(&at, numbers, 2) || numbers[1] != FILE_VERSION)
        return fail(s, "another version of the format than 3");
    return true;
}

static bool read_program(raw_stream *s, const char *at)
{
    const char *text;
    size_t length;
    if (!read_text(&at, &text, &length))
        return fail(s, "a program without path");
    free(s->program);
    s->program = copy_text(text, length);
    return true;
}

/* The program itself is named x; the kernel's page of code is a module as well. */
static bool read_module(raw_stream *s, const char *at)
{
    const char *text;
    size_t length;
    if (!read_text(&at, &text, &length))
        return fail(s, "a module without path");
    if (length == 1 && *text == '-') {
        begin_list(s);
        return true;
    }
    if (length == 1 && *text == 'x') {
        text = s->program;
        length = strlen(text);
    }
    u64 base, segment[2], size = 0, low = UINT64_MAX;
    if (!read_numbers(&at, &base, 1))
        return fail(s, "a module without address");
    while (read_numbers(&at, segment, 2)) {
        low = segment[0] < low ? segment[0] : low;
        size = segment[0] + segment[1] > size ? segment[0] + segment[1] : size;
    }
    if (low > size)
        return true; /* no segments, so no frame can be in it */
    return list_module(s, text, length, base + low, size - low) ||
           fail(s, "more modules than this program keeps");
}

static void begin_list(raw_stream *s)
{
    s->is_listing = true;
    s->changed_at = 0;
    for (u32 i = 0; i < s->module_count; i++)
        s->modules[i].is_listed = false;
}

static bool list_module(raw_stream *s, const char *path, size_t length, u64 base, u64 size)
{
    for (u32 i = 0; i < s->module_count; i++) {
        raw_module *const module = &s->modules[i];
        if (module->base == base && module->size == size && strlen(module->path) == length &&
            memcmp(module->path, path, length) == 0) {
            module->is_listed = true;
            return true;
        }
    }
    if (s->module_count == MODULES_MAX)
        return false;
    s->modules[s->module_count++] = (raw_module){
        .path = copy_text(path, length), .base = base, .size = size, .is_listed = true
    };
    return true;
}

/* Hands out the next module that came or went with the last list. Those that went are first: other
 * modules may lie at their addresses. */
static bool next_change(raw_stream *s, raw_event *event)
{
    for (; s->changed_at < s->module_count * 2; s->changed_at++) {
        const bool is_loads = s->changed_at >= s->module_count;
        const u32 number = is_loads ? s->changed_at - s->module_count : s->changed_at;
        raw_module *const module = &s->modules[number];
        if (module->is_loaded == module->is_listed || module->is_listed != is_loads)
            continue;
        module->is_loaded = module->is_listed;
        *event =
            (raw_event){ .kind = is_loads ? RAW_EVENT_LOAD : RAW_EVENT_UNLOAD, .module = number };
        return true;
    }
    s->is_listing = false;
    return false;
}

static bool read_frame(raw_stream *s, const char *at)
{
    u64 numbers[2];
    if (!read_numbers(&at, numbers, 2) || numbers[1] > s->frame_count)
        return fail(s, "a frame without address and known parent");
    if (++s->frame_count == s->frame_room) {
        raw_frame *const frames = bench_allocate(s->frame_room * (size_t)2, sizeof *frames);
        memcpy(frames, s->frames, s->frame_room * sizeof *frames);
        free(s->frames);
        s->frames = frames;
        s->frame_room *= 2;
    }
    s->frames[s->frame_count] = (raw_frame){ .address = numbers[0], .parent = (u32)numbers[1] };
    return true;
}

/* Reads hexadecimal numbers, each after one space. strtoull() would take most of the time. */
static bool read_numbers(const char **at, u64 *numbers, u32 count)
{
    const char *p = *at;
    for (u32 i = 0; i < count; i++) {
        if (*p++ != ' ')
            return false;
        const char *const begin = p;
        u64 number = 0;
        for (;; p++) {
            const u32 digit = (u32)*p - '0', letter = (u32)*p - 'a';
            if (digit > 9 && letter > 5)
                break;
            number = number << 4 | (digit <= 9 ? digit : letter + 10);
        }
        if (p == begin || p - begin > 16)
            return false;
        numbers[i] = number;
    }
    *at = p;
    return true;
}

static bool read_text(const char **at, const char **text, size_t *length)
{
    u64 size;
    if (!read_numbers(at, &size, 1) || **at != ' ' || size >= strlen(*at))
        return false;
    *text = *at + 1;
    *length = (size_t)size;
    *at += size + 1;
    return true;
}

static char *copy_text(const char *text, size_t length)
{
    char *const copy = bench_allocate(length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

static bool fail(raw_stream *s, const char *what)
{
    snprintf(s->error, sizeof s->error, "line %llu: %s", (unsigned long long)s->line_number, what);
    return false;
}
