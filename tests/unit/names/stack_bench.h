/* stack_bench.h - stacks over the modules of symbol_world.h, resolved and finished, as text. */
#ifndef TESTS_STACK_BENCH_H
#define TESTS_STACK_BENCH_H

#include "engine/names/frames.h"
#include "tests/support/symbol_world.h"

#define APP(offset) (WORLD_APP + (offset))
#define CRT(offset) (WORLD_CRT + (offset))
#define LIB(offset) (WORLD_LIB + (offset))

#define PATTERNS_MAX 4u

typedef struct bench {
    symbol_world *world;
    frame_table table;
    etlheap_pattern cull[PATTERNS_MAX], require[PATTERNS_MAX], exclude[PATTERNS_MAX];
    etlheap_pattern fold[PATTERNS_MAX];
    char text[2000];
} bench;

/* For cmocka: opens and frees the bench of a test. */
int bench_begin(void **state);
int bench_end(void **state);

/* Add patterns to the query, before the first stack. */
void bench_cull(bench *b, const char *module, const char *symbol);
void bench_cull_unnamed(bench *b, const char *module);
void bench_require(bench *b, const char *module, const char *symbol);
void bench_exclude(bench *b, const char *module, const char *symbol);
void bench_fold(bench *b, const char *module);
void bench_group_by(bench *b, etlheap_key key);

/* Stacks are given before they are finished; ids are 1, 2, ... in this order. */
u32 bench_add_stack(bench *b, const u64 *frames, u32 count);

#define STACK(b, ...)                                                                              \
    bench_add_stack(b, (const u64[]){ __VA_ARGS__ },                                               \
                    (u32)(sizeof((u64[]){ __VA_ARGS__ }) / sizeof(u64)))

void bench_finish(bench *b);

/* "app.exe+1117-1 app.exe+1308": what is left, -N for calls that were culled; "app.exe" for a frame
 * that stands for its module. */
const char *bench_left_of(bench *b, u32 id);

bool bench_wants(const bench *b, u32 id);

/* "grow app.exe+1104 a.cpp:11" of a function, "app.exe+2000" of a mere frame. */
const char *bench_site_of(bench *b, u32 id);

#endif
