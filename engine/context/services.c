/*
 * services.c - adds the Windows services to the processes that run them.
 *
 * In: the rundown's records of services, with process ids. Out: in each process a text with the
 * names of its services, in order.
 */
#include "services.h"

#include <stdlib.h>

#define SERVICES_BYTES_MAX 4096u /* of one process; more are left out */

typedef struct service_of {
    u32 process; /* final id */
    const char *name;
} service_of;

static int by_process_and_name(const void *a, const void *b)
{
    const service_of *const x = a, *const y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* The services of one process, `count` of them, as one text. */
static bool join(const service_of *rows, size_t count, etlheap_strings *strings, const char **out)
{
    char text[SERVICES_BYTES_MAX];
    size_t size = 0;
    u32 id;
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(rows[i].name);
        if ((i > 0 && strcmp(rows[i].name, rows[i - 1].name) == 0) ||
            length > sizeof text - size - 2)
            continue;
        if (size > 0)
            text[size++] = ',';
        memcpy(text + size, rows[i].name, length);
        size += length;
    }
    if (!etlheap_strings_add(strings, text, size, &id))
        return false;
    *out = etlheap_strings_get(strings, id);
    return true;
}

bool services_describe(trace_context *context, const u32 *process_ids,
                       etlheap_process_info *processes)
{
    service_of *const rows = calloc(context->services.count + 1, sizeof *rows);
    size_t count = 0;
    bool ok = rows != NULL;
    for (size_t i = 0; ok && i < context->services.count; i++) {
        const service_row *const service = &context->services.at[i];
        const u32 process = context_process_at(context, service->pid, service->ticks);
        if (process != 0)
            rows[count++] = (service_of){ process_ids[process],
                                          etlheap_strings_get(&context->strings, service->name) };
    }
    if (count > 0)
        qsort(rows, count, sizeof *rows, by_process_and_name);
    for (size_t first = 0; ok && first < count;) {
        size_t end = first + 1;
        while (end < count && rows[end].process == rows[first].process)
            end++;
        ok = join(&rows[first], end - first, &context->strings,
                  &processes[rows[first].process - 1].services);
        first = end;
    }
    free(rows);
    return ok;
}
