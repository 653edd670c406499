/*
 * workload.c - the tables of a workload: processes, images, stacks and operations.
 *
 * In: calls that add to them. Out: the same, sorted by time; names of images and frames.
 *
 * Operations are added in any order and sorted at the end. Invariant: the sort is stable, because
 * operations at one tick keep the order in which they were added; the trace and the model both rely
 * on it.
 */
#include "workload_inside.h"

#include <stdio.h>
#include <stdlib.h>

#define SYSTEM_IMAGE_COUNT 3u

/* The addresses of the images that every process has, natively and under WOW64. */
typedef struct usual_image {
    const char *path;
    u64 base;
    u64 size;
} usual_image;

static const usual_image native_images[SYSTEM_IMAGE_COUNT + 1] = {
    { "\\Device\\HarddiskVolume3\\Windows\\System32\\ntdll.dll", 0x7ffb1c8b0000, 0x1f5000 },
    { "\\Device\\HarddiskVolume3\\Windows\\System32\\kernel32.dll", 0x7ffb1b550000, 0xbd000 },
    { "\\Device\\HarddiskVolume3\\Windows\\System32\\ucrtbase.dll", 0x7ffb1a4d0000, 0x100000 },
    { "\\Device\\HarddiskVolume3\\Programs\\", 0x7ff6d2a40000, 0x7c000 },
};

static const usual_image wow64_images[SYSTEM_IMAGE_COUNT + 1] = {
    { "\\Device\\HarddiskVolume3\\Windows\\SysWOW64\\ntdll.dll", 0x77a30000, 0x1a3000 },
    { "\\Device\\HarddiskVolume3\\Windows\\SysWOW64\\kernel32.dll", 0x75f10000, 0xf0000 },
    { "\\Device\\HarddiskVolume3\\Windows\\SysWOW64\\ucrtbase.dll", 0x76c00000, 0x120000 },
    { "\\Device\\HarddiskVolume3\\Programs\\", 0x400000, 0x7c000 },
};

static const usual_image kernel_image = { "\\SystemRoot\\system32\\ntoskrnl.exe",
                                          0xfffff80344a00000, 0x1046000 };
#define KERNEL_BASE_NARROW 0x82600000u

static void *grow(void *array, u32 count, u32 *capacity, size_t element);
static void add_kernel_image(workload *w);
static bool ends_later(const workload_op *a, const workload_op *b);
static const workload_image *image_at(const workload *w, const workload_stack *stack, u64 address);

workload *workload_new(i64 start_ticks, u64 clock_hz)
{
    workload *const w = calloc(1, sizeof *w);
    if (w == NULL)
        abort();
    w->start_ticks = start_ticks;
    w->clock_hz = clock_hz;
    return w;
}

void workload_free(workload *w)
{
    if (w == NULL)
        return;
    for (u32 i = 0; i < w->stack_count; i++)
        free(w->stacks[i].frames);
    free(w->processes);
    free(w->images);
    free(w->stacks);
    free(w->ops);
    free(w);
}

/* Room for one more element. */
static void *grow(void *array, u32 count, u32 *capacity, size_t element)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity ? *capacity * 2 : 64;
    void *const grown = realloc(array, *capacity * element);
    if (grown == NULL)
        abort();
    return grown;
}

u32 workload_add_process(workload *w, const workload_process *process)
{
    w->processes = grow(w->processes, w->process_count, &w->process_capacity, sizeof *w->processes);
    w->processes[w->process_count] = *process;
    return w->process_count++;
}

u32 workload_add_image(workload *w, const workload_image *image)
{
    w->images = grow(w->images, w->image_count, &w->image_capacity, sizeof *w->images);
    w->images[w->image_count] = *image;
    return w->image_count++;
}

void workload_add_op(workload *w, const workload_op *op)
{
    w->ops = grow(w->ops, w->op_count, &w->op_capacity, sizeof *w->ops);
    w->ops[w->op_count++] = *op;
}

u32 workload_add_stack(workload *w, u32 process, i64 ticks, const u64 *frames, const u32 counts[2])
{
    const size_t size = ((size_t)counts[0] + counts[1]) * sizeof *frames;
    w->stacks = grow(w->stacks, w->stack_count, &w->stack_capacity, sizeof *w->stacks);
    workload_stack *const stack = &w->stacks[w->stack_count];
    *stack = (workload_stack){ .process = process,
                               .ticks = ticks,
                               .kernel_count = counts[0],
                               .user_count = counts[1],
                               .frames = malloc(size + 1) };
    if (stack->frames == NULL)
        abort();
    memcpy(stack->frames, frames, size);
    return w->stack_count++;
}

u32 workload_add_usual_images(workload *w, u32 process, i64 loaded)
{
    const workload_process *const p = &w->processes[process];
    const usual_image *const usual = p->wow64 || w->narrow ? wow64_images : native_images;
    u32 last = WORKLOAD_NONE;
    if (w->image_count == 0)
        add_kernel_image(w);
    for (u32 i = 0; i <= SYSTEM_IMAGE_COUNT; i++) {
        workload_image image = { .process = process,
                                 .base = usual[i].base,
                                 .size = usual[i].size,
                                 .loaded_before = loaded == INT64_MIN,
                                 .load_ticks = loaded,
                                 .unload_ticks = INT64_MAX };
        snprintf(image.path, sizeof image.path, "%s%s", usual[i].path,
                 i == SYSTEM_IMAGE_COUNT ? p->name : "");
        last = workload_add_image(w, &image);
    }
    return last;
}

static void add_kernel_image(workload *w)
{
    workload_image image = { .process = WORKLOAD_KERNEL,
                             .base = w->narrow ? KERNEL_BASE_NARROW : kernel_image.base,
                             .size = kernel_image.size,
                             .loaded_before = true,
                             .load_ticks = INT64_MIN,
                             .unload_ticks = INT64_MAX };
    snprintf(image.path, sizeof image.path, "%s", kernel_image.path);
    workload_add_image(w, &image);
}

u32 workload_find_image(const workload *w, u32 process, const char *name)
{
    char known[64];
    for (u32 i = 0; i < w->image_count; i++) {
        workload_image_name(&w->images[i], known);
        if (w->images[i].process == process && strcmp(known, name) == 0)
            return i;
    }
    return WORKLOAD_NONE;
}

void workload_image_name(const workload_image *image, char out[64])
{
    const char *const slash = strrchr(image->path, '\\');
    const char *const name = slash ? slash + 1 : image->path;
    size_t i = 0;
    for (; name[i] != '\0' && i < 63; i++)
        out[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
    out[i] = '\0';
}

void workload_image_pdb(const workload_image *image, char name[64], u8 guid[16])
{
    workload_image_name(image, name);
    u64 identity = image->size;
    for (const char *c = name; *c != '\0'; c++)
        identity = (identity ^ (u8)*c) * 0x100000001B3u;
    char *const dot = strrchr(name, '.');
    if (dot != NULL)
        memcpy(dot, ".pdb", 4);
    const u64 first = workload_random_next(&identity);
    const u64 second = workload_random_next(&identity);
    memcpy(guid, &first, sizeof first);
    memcpy(guid + sizeof first, &second, sizeof second);
}

/* Merge sort from runs of one: stable, and the order of equals matters. */
void workload_sort(workload *w)
{
    workload_op *other = malloc((w->op_count + 1) * sizeof *other);
    if (other == NULL)
        abort();
    for (size_t run = 1; run < w->op_count; run *= 2) {
        for (size_t from = 0; from < w->op_count; from += 2 * run) {
            size_t a = from;
            const size_t a_end = from + run < w->op_count ? from + run : w->op_count;
            size_t b = a_end;
            const size_t b_end = from + 2 * run < w->op_count ? from + 2 * run : w->op_count;
            for (size_t to = from; to < b_end; to++) {
                const bool take_b = a == a_end || (b < b_end && ends_later(&w->ops[a], &w->ops[b]));
                other[to] = take_b ? w->ops[b++] : w->ops[a++];
            }
        }
        workload_op *const swapped = w->ops;
        w->ops = other;
        other = swapped;
    }
    free(other);
    w->op_capacity = w->op_count + 1 < w->op_capacity ? w->op_count : w->op_capacity;
}

static bool ends_later(const workload_op *a, const workload_op *b)
{
    return a->ticks > b->ticks;
}

u32 workload_process_count(const workload *w)
{
    return w->process_count;
}

const char *workload_process_name(const workload *w, u32 process)
{
    return w->processes[process].name;
}

u32 workload_process_pid(const workload *w, u32 process)
{
    return w->processes[process].pid;
}

bool workload_stack_text(const workload *w, u32 stack, u32 index, char out[64])
{
    const workload_stack *const s = &w->stacks[stack];
    if (index >= s->kernel_count + s->user_count)
        return false;
    const u64 address = s->frames[index];
    const workload_image *const image = image_at(w, s, address);
    if (image == NULL) {
        snprintf(out, 64, "0x%llx", (unsigned long long)address);
        return true;
    }
    char name[64];
    workload_image_name(image, name);
    snprintf(out, 64, "%.40s+0x%llx", name, (unsigned long long)(address - image->base));
    return true;
}

/* The image at the address when the stack was taken; kernel images for all. */
static const workload_image *image_at(const workload *w, const workload_stack *stack, u64 address)
{
    for (u32 i = 0; i < w->image_count; i++) {
        const workload_image *const image = &w->images[i];
        const bool ours = image->process == stack->process || image->process == WORKLOAD_KERNEL;
        const bool there = stack->ticks >= image->load_ticks && stack->ticks < image->unload_ticks;
        if (ours && there && address >= image->base && address - image->base < image->size)
            return image;
    }
    return NULL;
}
