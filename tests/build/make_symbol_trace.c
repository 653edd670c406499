/*
 * make_symbol_trace.c - writes a trace whose stacks lie in given programs.
 *
 *     make_symbol_trace FILE.etl < LINES
 *
 *     module PATH BASE SIZE STAMP          a program file loaded at BASE
 *     pdb GUID AGE NAME                    identity of its PDB, of the next module
 *     alloc BYTES ADDRESS...               a heap block, never freed
 *     freed BYTES ADDRESS...               a heap block that lives for a moment
 *     commit BYTES ADDRESS...              a range committed by VirtualAlloc
 *
 * Numbers are hexadecimal, addresses those of the stack, innermost first. One
 * process has it all.
 */
#include <stdio.h>
#include <stdlib.h>

#include "etl_build.h"

#define PID        4321u
#define TID        7012u
#define HEAP       UINT64_C(0x1f0000)
#define FRAMES_MAX 190u
#define LINE_SIZE  8192u
#define STEP_TICKS 1000

typedef struct script {
    etl_build *build;
    i64 ticks;
    u64 next_address;
    etl_build_pdb_spec pdb;
    bool has_pdb;
    char pdb_name[256];
} script;

static etl_build_at now(const script *s)
{
    return (etl_build_at){ .ticks = s->ticks, .cpu = 0, .pid = PID, .tid = TID };
}

static bool add_pdb(script *s, const char *rest)
{
    char guid[64];
    unsigned age;
    if (sscanf(rest, "%63s %x %255s", guid, &age, s->pdb_name) != 3)
        return false;
    etl_build_guid(guid, s->pdb.guid);
    s->pdb.age = age;
    s->pdb.name = s->pdb_name;
    s->has_pdb = true;
    return true;
}

static bool add_module(script *s, const char *rest)
{
    char path[512];
    unsigned long long base, size;
    unsigned stamp;
    if (sscanf(rest, "%511s %llx %llx %x", path, &base, &size, &stamp) != 4)
        return false;
    const etl_build_image_spec image = {
        .pid = PID, .base = base, .size = size, .time_date_stamp = stamp, .path = path
    };
    if (s->has_pdb)
        etl_build_image_id(s->build, now(s), &image, &s->pdb);
    etl_build_image(s->build, now(s), ETL_BUILD_START, &image);
    s->has_pdb = false;
    return true;
}

/* What the words of a line have in common: a size and a stack. */
static bool add_memory(script *s, const char *word, const char *rest)
{
    u64 frames[FRAMES_MAX];
    char *end;
    const u64 size = strtoull(rest, &end, 16);
    etl_build_stack stack = { .user = frames };
    while (stack.user_count < FRAMES_MAX) {
        const char *const at = end;
        const u64 address = strtoull(at, &end, 16);
        if (end == at)
            break;
        frames[stack.user_count++] = address;
    }
    s->next_address += 0x100000;
    if (strcmp(word, "commit") == 0)
        etl_build_virtual_alloc(s->build, now(s), s->next_address, size, ETL_BUILD_COMMIT);
    else
        etl_build_heap_alloc(s->build, now(s), HEAP, s->next_address, size);
    etl_build_stack_walk(s->build, now(s), &stack);
    if (strcmp(word, "freed") == 0) {
        s->ticks += STEP_TICKS / 2;
        etl_build_heap_free(s->build, now(s), HEAP, s->next_address);
    }
    return size > 0;
}

static bool add_line(script *s, char *line)
{
    char word[16];
    int used = 0;
    if (sscanf(line, "%15s %n", word, &used) != 1)
        return false;
    s->ticks += STEP_TICKS;
    if (strcmp(word, "pdb") == 0)
        return add_pdb(s, line + used);
    if (strcmp(word, "module") == 0)
        return add_module(s, line + used);
    if (strcmp(word, "alloc") == 0 || strcmp(word, "freed") == 0 || strcmp(word, "commit") == 0)
        return add_memory(s, word, line + used);
    return false;
}

int main(int argc, char **argv)
{
    char line[LINE_SIZE];
    script s = { .ticks = 1000000, .next_address = 0x20000000 };
    if (argc != 2) {
        fprintf(stderr, "usage: make_symbol_trace FILE.etl < LINES\n");
        return 2;
    }
    s.build = etl_build_new(NULL);
    const etl_build_process_spec process = { .pid = PID, .parent_pid = 4, .name = "app.exe" };
    etl_build_process(s.build, now(&s), ETL_BUILD_START, &process);
    bool ok = true;
    while (ok && fgets(line, sizeof line, stdin)) {
        ok = add_line(&s, line);
        if (!ok)
            fprintf(stderr, "make_symbol_trace: what is this: %s", line);
    }
    ok = ok && etl_build_finish_to(s.build, argv[1]);
    if (etl_build_error(s.build))
        fprintf(stderr, "make_symbol_trace: %s\n", etl_build_error(s.build));
    etl_build_free(s.build);
    return ok ? 0 : 1;
}
