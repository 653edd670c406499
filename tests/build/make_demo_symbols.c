/*
 * make_demo_symbols.c - writes the PDBs of the programs in the named traces, so that the examples
 * of README and docs/ show function names.
 *
 *     make_demo_symbols FOLDER
 *
 * In: the scenarios' images, whose paths and sizes give each PDB its identity, and the table of
 * functions below. Out: a small PDB for each program (functions and lines) and for each DLL of
 * Windows (only public symbols, as Microsoft publishes them).
 *
 * Invariant: the traces name exactly these files, because an image and its PDB share one identity
 * (workload_image_pdb), and offsets in the table are those of the frames in scenario_programs.c.
 */
#include "scenario_inside.h"
#include "tests/support/pdb_build.h"

#include <stdio.h>

/* All code lies in one section at the image's start, so offsets need no translation. */
#define SECTION_RVA      0u
#define LINE_EVERY_BYTES 16u /* one more line of source every so many bytes of code */

/* A function with a size has lines; one without is a public symbol. Ascending by offset. */
typedef struct function {
    u32 offset, size;
    const char *name;
    const char *file;
    u32 line;
} function;

typedef struct program {
    const char *image;
    const char *folder;
    const function *functions;
    u32 count;
} program;

static const function battery_functions[] = {
    { 0x29c0, 0xd0, "History::append", "history.cpp", 36 },
    { 0x2a90, 0x60, "History::trim", "history.cpp", 58 },
    { 0x2b40, 0x70, "Monitor::on_timer", "monitor.cpp", 84 },
    { 0x2c00, 0x60, "Compactor::run", "compactor.cpp", 19 },
    { 0x3000, 0x190, "Ui::paint", "ui.cpp", 20 },
    { 0x3190, 0x60, "Monitor::run", "monitor.cpp", 28 },
    { 0x31f0, 0x210, "Ui::layout", "ui.cpp", 71 },
    { 0x3400, 0x200, "Text::measure", "text.cpp", 33 },
    { 0x3600, 0x200, "Json::parse", "json.cpp", 102 },
    { 0x3800, 0x300, "Settings::load", "settings.cpp", 15 },
    { 0x3b00, 0x300, "Http::send", "http.cpp", 140 },
    { 0x5cd0, 0x80, "IconCache::load", "icons.cpp", 54 },
    { 0x5d50, 0x60, "IconCache::clear", "icons.cpp", 71 },
    { 0x8c00, 0x40, "operator new", "new_scalar.cpp", 34 },
};

static const function memory_functions[] = {
    { 0x1140, 0x90, "ManipulateTemporaryBuffer", "memory.cpp", 12 },
    { 0x1290, 0x90, "Operation1", "memory.cpp", 30 },
    { 0x1420, 0xa0, "main", "memory.cpp", 58 },
    { 0x4000, 0x900, "Buffer::reserve", "buffer.cpp", 21 },
};

static const function heap_functions[] = {
    { 0x1f00, 0x80, "InnerLoopOperation", "heap.cpp", 9 },
    { 0x2080, 0x60, "OuterLoopOperation", "heap.cpp", 24 },
    { 0x23d0, 0x60, "main", "heap.cpp", 40 },
    { 0x99e0, 0x40, "operator new", "new_scalar.cpp", 34 },
};

static const function ntdll_functions[] = {
    { 0x2b300, 0, "RtlAllocateHeap", NULL, 0 },
    { 0x2c000, 0, "RtlpAllocateHeap", NULL, 0 },
    { 0x2e000, 0, "RtlFreeHeap", NULL, 0 },
    { 0x2f000, 0, "RtlpFreeHeap", NULL, 0 },
    { 0x52690, 0, "RtlUserThreadStart", NULL, 0 },
    { 0x9d3e0, 0, "NtAllocateVirtualMemory", NULL, 0 },
};

static const function kernel32_functions[] = {
    { 0x17600, 0, "BaseThreadInitThunk", NULL, 0 },
    { 0x1b2b0, 0, "VirtualAlloc", NULL, 0 },
};

static const function ucrtbase_functions[] = {
    { 0xfe00, 0, "malloc", NULL, 0 },
    { 0xff00, 0, "free", NULL, 0 },
};

static const function ntoskrnl_functions[] = {
    { 0x40a600, 0, "KiSystemServiceCopyEnd", NULL, 0 },
    { 0x6f1bf0, 0, "NtAllocateVirtualMemory", NULL, 0 },
    { 0x6f2000, 0, "MiAllocateVirtualMemory", NULL, 0 },
};

#define FUNCTIONS(table) (table), ETL_COUNT_OF(table)

static const program programs[] = {
    { "batterymeter.exe", "C:\\src\\BatteryMeter\\", FUNCTIONS(battery_functions) },
    { "memorytestapp.exe", "C:\\src\\MemoryTestApp\\", FUNCTIONS(memory_functions) },
    { "heaptestapp.exe", "C:\\src\\HeapTestApp\\", FUNCTIONS(heap_functions) },
    { "ntdll.dll", "", FUNCTIONS(ntdll_functions) },
    { "kernel32.dll", "", FUNCTIONS(kernel32_functions) },
    { "ucrtbase.dll", "", FUNCTIONS(ucrtbase_functions) },
    { "ntoskrnl.exe", "", FUNCTIONS(ntoskrnl_functions) },
};

static const program *find_program(const char *image)
{
    for (size_t i = 0; i < ETL_COUNT_OF(programs); i++) {
        if (strcmp(programs[i].image, image) == 0)
            return &programs[i];
    }
    return NULL;
}

static void add_lines(pdb_build *b, const function *f, u32 file)
{
    u32 pairs[2 * 256];
    u32 count = 0;
    for (u32 at = 0; at < f->size && count < 256; at += LINE_EVERY_BYTES, count++) {
        pairs[count * 2] = at;
        pairs[count * 2 + 1] = f->line + count;
    }
    const u32 begin = pdb_build_lines_begin(b, f->offset, f->size);
    pdb_build_lines_block(b, file, pairs, count);
    pdb_build_lines_end(b, begin);
}

static void add_function(pdb_build *b, const program *p, const function *f)
{
    if (f->size == 0) {
        pdb_build_public(b, 1, f->offset, f->name);
        return;
    }
    char path[128];
    snprintf(path, sizeof path, "%s%s", p->folder, f->file);
    (void)pdb_build_module(b);
    pdb_build_contribution(b, 1, f->offset, f->size);
    pdb_build_function(b, 1, f->offset, f->size, f->name);
    add_lines(b, f, pdb_build_file(b, path));
}

static bool write_file(const char *folder, const char *name, const hand_bytes *bytes)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "wb");
    const bool is_written = file != NULL && fwrite(bytes->at, 1, bytes->size, file) == bytes->size;
    const bool is_closed = file != NULL && fclose(file) == 0;
    if (!is_written || !is_closed)
        fprintf(stderr, "make_demo_symbols: cannot write %s\n", path);
    return is_written && is_closed;
}

static bool write_pdb(const char *folder, const workload_image *image, const program *p)
{
    char name[64];
    pdb_build b;
    hand_bytes bytes = { 0 };
    pdb_build_open(&b);
    b.age = WORKLOAD_PDB_AGE;
    workload_image_pdb(image, name, b.guid);
    pdb_build_section(&b, SECTION_RVA, (u32)image->size);
    for (u32 i = 0; i < p->count; i++)
        add_function(&b, p, &p->functions[i]);
    pdb_build_finish(&b, &bytes);
    const bool good = write_file(folder, name, &bytes);
    hand_free(&bytes);
    pdb_build_close(&b);
    return good;
}

/* The PDBs of all images of a scenario that the table knows; the same image again writes the
 * same bytes again. */
static bool write_scenario(const char *folder, const char *name)
{
    etl_build *const b = etl_build_new(NULL);
    const scenario_run run = { .seed = 1, .cpus = 4 };
    workload *const w = scenario_find(name)->make(&run, b);
    bool good = true;
    for (u32 i = 0; i < w->image_count && good; i++) {
        char image[64];
        workload_image_name(&w->images[i], image);
        const program *const p = find_program(image);
        good = p == NULL || write_pdb(folder, &w->images[i], p);
    }
    workload_free(w);
    etl_build_free(b);
    return good;
}

int main(int argc, char **argv)
{
    static const char *const names[] = { "demo", "virtualalloc-exercise", "heap-exercise" };
    if (argc != 2) {
        fprintf(stderr, "usage: make_demo_symbols FOLDER\n");
        return 2;
    }
    for (size_t i = 0; i < ETL_COUNT_OF(names); i++) {
        if (!write_scenario(argv[1], names[i]))
            return 3;
    }
    return 0;
}
