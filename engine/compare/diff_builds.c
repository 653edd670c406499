/*
 * diff_builds.c - finds the modules of which two or more results have different builds.
 * diff_builds.h defines runs and groups.
 *
 * In: the modules of all results. Out: for each module name, a group number for each run; runs of
 * one group have the same build.
 *
 *     modules ──▶ sorted by (name, run, build), without repeats ──▶ runs of one name ──▶ groups
 *
 * Hundreds of processes have the same build of a system library, so a name has one or two builds in
 * each run, and comparing each with each is cheap. Invariant: two modules are different only if
 * what is known of both says so (may_be_same); missing facts never make a difference.
 */
#include "diff_builds.h"

#include <stdlib.h>

#include "engine/result/spellings.h"
#include "parser/system/name_fold.h"

/* A module, with what tells its builds apart. */
typedef struct named_build {
    u32 name; /* in the pool */
    const char *spelled, *pdb_spelled;
    u32 run;
    bool has_rsds;
    u32 time_date_stamp, age;
    etl_guid guid;
    u64 size_bytes;
} named_build;

typedef ETLHEAP_VECTOR(named_build) build_list;

static bool find_mixed(diff_builds *out, const etlheap_result *const *results, u32 count);
static bool add_modules(build_list *list, etlheap_strings *names, const etlheap_result *result,
                        u32 run, const diff_builds *builds);
static int compare_builds(const void *a, const void *b);
static void drop_repeated(build_list *list);
static size_t end_of_name(const build_list *list, size_t start);
static bool group_runs(diff_builds *out, const named_build *builds, size_t count);
static u32 find_side(const named_build *builds, size_t start, size_t end, const u32 *sides);
static bool may_be_same(const named_build *a, const named_build *b);

bool diff_builds_find(diff_builds *out, etlheap_strings *names,
                      const etlheap_result *const *results, u32 count)
{
    build_list list = { 0 };
    bool ok = true;
    out->run_count = count;
    if (!find_mixed(out, results, count))
        return false;
    for (u32 run = 0; ok && run < count; run++)
        ok = add_modules(&list, names, results[run], run, out);
    if (ok && list.count > 0) {
        qsort(list.at, list.count, sizeof *list.at, compare_builds);
        drop_repeated(&list);
    }
    for (size_t start = 0, end; ok && start < list.count; start = end) {
        end = end_of_name(&list, start);
        ok = group_runs(out, &list.at[start], end - start);
    }
    ETLHEAP_VECTOR_FREE(&list);
    return ok;
}

void diff_builds_free(diff_builds *builds)
{
    ETLHEAP_VECTOR_FREE(&builds->rebuilt);
    ETLHEAP_VECTOR_FREE(&builds->sides);
    ETLHEAP_VECTOR_FREE(&builds->mixed);
}

u32 diff_builds_side(const diff_builds *builds, u32 name, u32 run)
{
    size_t at;
    ETL_BISECT(at, 0, builds->rebuilt.count, builds->rebuilt.at[at] < name);
    const bool is_rebuilt = at < builds->rebuilt.count && builds->rebuilt.at[at] == name;
    return is_rebuilt ? builds->sides.at[at * builds->run_count + run] : 0;
}

static bool is_mixed(const diff_builds *builds, const char *plain)
{
    for (size_t i = 0; i < builds->mixed.count; i++) {
        if (etl_name_same(builds->mixed.at[i], plain))
            return true;
    }
    return false;
}

/* Hardly any recording has names with folders. */
static bool find_mixed(diff_builds *out, const etlheap_result *const *results, u32 count)
{
    ETLHEAP_VECTOR(const char *) plain = { .at = NULL };
    bool ok = true;
    for (u32 run = 0; ok && run < count; run++) {
        for (u32 i = 0; ok && i < etlheap_module_count(results[run]); i++) {
            const char *const name = etlheap_module_of(results[run], i)->name;
            if (strchr(name, '\\') != NULL && !is_mixed(out, module_plain_name(name)))
                ok = ETLHEAP_PUSH(&out->mixed, module_plain_name(name));
        }
    }
    for (u32 run = 0; ok && out->mixed.count > 0 && run < count; run++) {
        for (u32 i = 0; ok && i < etlheap_module_count(results[run]); i++) {
            const char *const name = etlheap_module_of(results[run], i)->name;
            if (strchr(name, '\\') == NULL && is_mixed(out, name))
                ok = ETLHEAP_PUSH(&plain, name);
        }
    }
    /* Keep those that are plain somewhere. */
    size_t kept = 0;
    for (size_t i = 0; i < out->mixed.count; i++) {
        bool is_plain = false;
        for (size_t k = 0; k < plain.count && !is_plain; k++)
            is_plain = etl_name_same(plain.at[k], out->mixed.at[i]);
        if (is_plain)
            out->mixed.at[kept++] = out->mixed.at[i];
    }
    out->mixed.count = kept;
    ETLHEAP_VECTOR_FREE(&plain);
    return ok;
}

const char *diff_builds_module_name(const diff_builds *builds, const char *name)
{
    if (name == NULL || builds->mixed.count == 0 || !is_mixed(builds, module_plain_name(name)))
        return name;
    return module_plain_name(name);
}

static bool add_modules(build_list *list, etlheap_strings *names, const etlheap_result *result,
                        u32 run, const diff_builds *builds)
{
    bool ok = ETLHEAP_RESERVE(list, etlheap_module_count(result));
    for (u32 i = 0; ok && i < etlheap_module_count(result); i++) {
        const etlheap_module_info *const module = etlheap_module_of(result, i);
        const char *const name = diff_builds_module_name(builds, module->name);
        named_build build = { .spelled = name,
                              .pdb_spelled = module->pdb_name,
                              .run = run,
                              .has_rsds = module->has_rsds,
                              .time_date_stamp = module->time_date_stamp,
                              .size_bytes = module->size_bytes };
        if (module->has_rsds) {
            build.guid = module->guid;
            build.age = module->age;
        }
        ok = etlheap_strings_add_name(names, name, &build.name) && ETLHEAP_PUSH(list, build);
    }
    return ok;
}

static int compare_u64(u64 x, u64 y)
{
    return (x > y) - (x < y);
}

static int compare_builds(const void *a, const void *b)
{
    const named_build *const x = a, *const y = b;
    int order = compare_u64(x->name, y->name);
    if (order == 0)
        order = compare_u64(x->run, y->run);
    if (order == 0)
        order = (int)x->has_rsds - (int)y->has_rsds;
    if (order == 0)
        order = memcmp(&x->guid, &y->guid, sizeof x->guid);
    if (order == 0)
        order = compare_u64(x->age, y->age);
    if (order == 0)
        order = compare_u64(x->time_date_stamp, y->time_date_stamp);
    return order != 0 ? order : compare_u64(x->size_bytes, y->size_bytes);
}

static void drop_repeated(build_list *list)
{
    size_t kept = 1;
    for (size_t i = 1; i < list->count; i++) {
        if (compare_builds(&list->at[kept - 1], &list->at[i]) != 0)
            list->at[kept++] = list->at[i];
    }
    list->count = kept;
}

static size_t end_of_name(const build_list *list, size_t start)
{
    size_t end = start;
    while (end < list->count && list->at[end].name == list->at[start].name)
        end++;
    return end;
}

/* Groups the runs of one name. The groups are kept only if there are several. */
static bool group_runs(diff_builds *out, const named_build *builds, size_t count)
{
    const size_t kept = out->sides.count;
    u32 groups = 0;
    for (u32 run = 0; run < out->run_count; run++) {
        if (!ETLHEAP_PUSH(&out->sides, 1))
            return false;
    }
    for (size_t start = 0, end; start < count; start = end) {
        u32 *const sides = &out->sides.at[kept];
        for (end = start; end < count && builds[end].run == builds[start].run; end++)
            continue;
        const u32 side = find_side(builds, start, end, sides);
        sides[builds[start].run] = side != 0 ? side : ++groups;
    }
    if (groups > 1)
        return ETLHEAP_PUSH(&out->rebuilt, builds->name);
    out->sides.count = kept;
    return true;
}

/* The group of the first earlier run that may have the same build; 0 if there is none. */
static u32 find_side(const named_build *builds, size_t start, size_t end, const u32 *sides)
{
    for (size_t i = 0; i < start; i++) {
        for (size_t k = start; k < end; k++) {
            if (may_be_same(&builds[i], &builds[k]))
                return sides[builds[i].run];
        }
    }
    return 0;
}

/* RFC 4122, 4.1.1 and 4.1.3. */
static bool is_made_of_a_name(const etl_guid *guid)
{
    const u8 version = guid->bytes[7] >> 4;
    return (guid->bytes[8] & 0xc0) == 0x80 && (version == 3 || version == 5);
}

/* A linker uses a random GUID or a hash of its input. A recorder that finds none makes one from the
 * file's name, and for two spellings of the name it makes two. */
static bool differ_in_spelling(const named_build *a, const named_build *b)
{
    return is_made_of_a_name(&a->guid) && is_made_of_a_name(&b->guid) && a->age == b->age &&
           etl_name_same(a->pdb_spelled, b->pdb_spelled) &&
           (strcmp(a->spelled, b->spelled) != 0 || strcmp(a->pdb_spelled, b->pdb_spelled) != 0);
}

/* Compares by the strongest identity that both have. Without any, only the size can differ. */
static bool may_be_same(const named_build *a, const named_build *b)
{
    if (a->has_rsds && b->has_rsds && !differ_in_spelling(a, b))
        return a->age == b->age && memcmp(&a->guid, &b->guid, sizeof a->guid) == 0;
    const bool same_size =
        a->size_bytes == b->size_bytes || a->size_bytes == 0 || b->size_bytes == 0;
    if (a->time_date_stamp != 0 && b->time_date_stamp != 0)
        return a->time_date_stamp == b->time_date_stamp && same_size;
    return same_size;
}
