/*
 * heaptrack_file.c - writes the heap workload as heaptrack's own data file, text version 3, to
 * stdout.
 *
 *     heaptrack_file ALLOCS | zstd > FILE.zst
 *
 *     v VERSION FILE_VERSION          s LENGTH TEXT         strings, from 1
 *     X COMMAND                       i ADDRESS MODULE FUNCTION FILE LINE
 *     I PAGE_SIZE PAGES               t I PARENT            stack as nodes, from 1
 *     c MILLISECONDS                  a SIZE T              kinds of blocks, from 0
 *                                     + A    - A            block allocated, block freed
 *
 * In: events of heap_model.c. Out: lines of hexadecimal numbers.
 *
 * This does, untimed, what heaptrack's recorder does: stacks become nodes of a tree, blocks of
 * equal size and stack are one kind, and a free names the kind. So the file has no addresses and
 * leaves nothing to pair. Programs under heaptrack have one process; the four processes of the
 * workload are written as one, which changes no sum. Invariant: a number is defined by an earlier
 * line than the first one that uses it.
 *
 * Source: data files that heaptrack 1.4 recorded; what a reader makes of them in
 * accumulatedtracedata.cpp.
 */
#include "bench.h"
#include "bench_random.h"
#include "heap_model.h"

#include <stdio.h>
#include <stdlib.h>

#define TICKS_PER_MS            (HEAP_MODEL_HZ / 1000)
#define TIMESTAMP_MS            10
#define NODE_SLOTS              ((u64)1 << 23)
#define OTHER_SLOTS             ((u64)1 << 21)
#define CALL_SITES_PER_FUNCTION 4
#define NUMBERS_MAX             6

/* Numbers keys in the order in which they are met: open addressing, a key of 0 is a free slot. */
typedef struct numbering {
    u64 *keys;
    u32 *numbers;
    u64 mask;
    u32 count;
} numbering;

typedef struct writer {
    const stack_pool *pool;
    numbering addresses;
    numbering functions;
    numbering nodes;
    numbering kinds;
    i64 next_stamp_ticks;
} writer;

static numbering make_numbering(u64 slots);
static bool number_of(numbering *n, u64 key, u32 *number);
static void write_line(char mode, const u64 *numbers, u32 count);
static void write_string(const char *text);
static void write_begin(writer *w);
static u32 module_count(const writer *w);
static void free_numbering(numbering *n);
static void write_event(writer *w, const heap_event *event);
static u32 kind_of(writer *w, const heap_event *event);
static u32 node_of_stack(writer *w, u32 stack);
static u32 address_number(writer *w, u64 address);
static u32 function_of(writer *w, u32 module, u64 offset);

int main(int argc, char **argv)
{
    const u64 allocs = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    if (allocs == 0) {
        fprintf(stderr, "usage: heaptrack_file ALLOCS\n");
        return 2;
    }
    stack_pool *const pool = stack_pool_new(BENCH_STACKS);
    writer w = { .pool = pool };
    write_begin(&w);
    heap_model *const model = heap_model_new(pool, allocs, 0, 0);
    heap_event event;
    while (heap_model_next(model, &event)) {
        if (event.kind != HEAP_EVENT_STACK)
            write_event(&w, &event);
    }
    heap_model_free(model);
    stack_pool_free(pool);
    free_numbering(&w.addresses);
    free_numbering(&w.functions);
    free_numbering(&w.nodes);
    free_numbering(&w.kinds);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}

static numbering make_numbering(u64 slots)
{
    return (numbering){
        .keys = bench_allocate(slots, sizeof(u64)),
        .numbers = bench_allocate(slots, sizeof(u32)),
        .mask = slots - 1,
    };
}

/* Numbers count from 1. True when the key is new. */
static bool number_of(numbering *n, u64 key, u32 *number)
{
    u64 at = bench_mix(key) & n->mask;
    while (n->keys[at] != 0 && n->keys[at] != key)
        at = (at + 1) & n->mask;
    const bool is_new = n->keys[at] == 0;
    if (is_new) {
        if (n->count >= n->mask / 2)
            abort();
        n->keys[at] = key;
        n->numbers[at] = ++n->count;
    }
    *number = n->numbers[at];
    return is_new;
}

/* printf would take longer than all the rest. */
static void write_line(char mode, const u64 *numbers, u32 count)
{
    char line[4 + NUMBERS_MAX * 17];
    size_t size = 0;
    line[size++] = mode;
    for (u32 i = 0; i < count; i++) {
        const u32 digits = numbers[i] ? (67 - (u32)__builtin_clzll(numbers[i])) / 4 : 1;
        line[size++] = ' ';
        for (u32 digit = digits; digit-- > 0;)
            line[size++] = "0123456789abcdef"[numbers[i] >> (digit * 4) & 15];
    }
    line[size++] = '\n';
    fwrite(line, 1, size, stdout);
}

static void write_string(const char *text)
{
    printf("s %zx %s\n", strlen(text), text);
}

static void write_begin(writer *w)
{
    printf("v 10400 3\nX bench\nI 1000 800000\n");
    w->addresses = make_numbering(OTHER_SLOTS);
    w->functions = make_numbering(OTHER_SLOTS);
    w->nodes = make_numbering(NODE_SLOTS);
    w->kinds = make_numbering(OTHER_SLOTS);
    /* The first strings, so the string number of module i is i + 1. */
    for (u32 i = 0; i < module_count(w); i++)
        write_string(stack_pool_module(w->pool, i)->path);
}

static u32 module_count(const writer *w)
{
    return w->pool->library_count + STACK_POOL_PROCESSES;
}

static void free_numbering(numbering *n)
{
    free(n->keys);
    free(n->numbers);
}

static void write_event(writer *w, const heap_event *event)
{
    if (event->ticks >= w->next_stamp_ticks) {
        const u64 stamp = (u64)event->ticks / TICKS_PER_MS;
        write_line('c', &stamp, 1);
        w->next_stamp_ticks = event->ticks + TIMESTAMP_MS * TICKS_PER_MS;
    }
    const u64 kind = kind_of(w, event);
    write_line(event->kind == HEAP_EVENT_ALLOC ? '+' : '-', &kind, 1);
}

static u32 kind_of(writer *w, const heap_event *event)
{
    u32 kind;
    if (number_of(&w->kinds, (u64)(event->stack + 1) << 32 | event->size, &kind)) {
        const u64 numbers[] = { event->size, node_of_stack(w, event->stack) };
        write_line('a', numbers, 2);
    }
    return kind - 1;
}

/* The node of a stack, found or made from the outermost frame inwards. */
static u32 node_of_stack(writer *w, u32 stack)
{
    const pool_stack frames = stack_pool_get(w->pool, stack);
    u32 parent = 0;
    for (u32 i = frames.count; i-- > 0;) {
        const u32 address = address_number(w, frames.frames[i]);
        u32 node;
        if (number_of(&w->nodes, (u64)address << 32 | parent, &node)) {
            const u64 numbers[] = { address, parent };
            write_line('t', numbers, 2);
        }
        parent = node;
    }
    return parent;
}

static u32 address_number(writer *w, u64 address)
{
    u32 number;
    if (number_of(&w->addresses, address, &number)) {
        const u32 module = stack_pool_module_of(w->pool, address);
        const u64 offset = address - stack_pool_module(w->pool, module)->base;
        const u32 function = function_of(w, module, offset);
        const u64 numbers[] = { address, module + 1, function, function + 1, 1 + offset % 1000 };
        write_line('i', numbers, 5);
    }
    return number;
}

/* The string number of a function's name; its file's name is the next string. */
static u32 function_of(writer *w, u32 module, u64 offset)
{
    const u64 number = offset / (STACK_POOL_CALL_SITE_BYTES * CALL_SITES_PER_FUNCTION);
    u32 function;
    if (number_of(&w->functions, (u64)(module + 1) << 32 | number, &function)) {
        char text[64];
        snprintf(text, sizeof text, "function_%u_%llu", module, (unsigned long long)number);
        write_string(text);
        snprintf(text, sizeof text, "source_%u_%llu.cpp", module, (unsigned long long)number);
        write_string(text);
    }
    return module_count(w) + (function - 1) * 2 + 1;
}
