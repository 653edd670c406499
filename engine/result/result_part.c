/*
 * result_part.c - what a store of a part of a recording has: saves and loads it, gives queries its
 * window and kinds, and refuses what is outside.
 *
 * In (save): the part of a result. Out: the tables part, part_word and part_process of a store. In
 * (load): the same tables of a file that may be damaged. Invariant: a store without them is of a
 * whole recording; a result with a part never answers for memory that its store left out.
 */
#include "result_part.h"

#include "engine/log/ehs_rows.h"
#include "ehs_facts_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define LIST_SIZE 120 /* of kinds or words in a message */

/* The one row of table part. */
typedef struct part_row {
    i64 from_ns, to_ns;
    u32 numbers; /* a bit each; 0: all that were recorded */
} part_row;

static const ehs_field part_fields[] = {
    EHS_FIELD(PART_FROM, part_row, from_ns, U64),
    EHS_FIELD(PART_TO, part_row, to_ns, U64),
    EHS_FIELD(PART_NUMBERS, part_row, numbers, U32),
};

static const ehs_field word_fields[] = { { EHS_PART_WORD, 0, EHS_MEMBER_TEXT } };
static const ehs_field process_fields[] = { { EHS_PART_PROCESS, 0, EHS_MEMBER_U32 } };
static const ehs_table part_table = EHS_TABLE(part_fields, part_row);
static const ehs_table word_table = EHS_TABLE(word_fields, const char *);
static const ehs_table process_table = EHS_TABLE(process_fields, u32);

const etlheap_part *etlheap_result_part(const etlheap_result *result)
{
    return result->part.is_part ? &result->part.as_public : NULL;
}

void result_part_complete(result_part *part)
{
    part->by_process = part->words.count > 0;
    part->as_public.size = sizeof part->as_public;
    part->as_public.processes = part->words.at;
    part->as_public.process_count = (u32)part->words.count;
}

bool result_part_has(const result_part *part, u32 process)
{
    size_t at;
    ETL_BISECT(at, 0, part->processes.count, part->processes.at[at] < process);
    return !part->by_process || (at < part->processes.count && part->processes.at[at] == process);
}

/* --- the file ---------------------------------------------------------------------- */

static u32 numbers_of(u32 kinds)
{
    u32 numbers = 0;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        numbers |= (kinds >> kind & 1) != 0 ? 1u << ehs_number_of_kind(kind) : 0;
    return numbers;
}

static u32 kinds_of(u32 numbers)
{
    u32 kinds = 0;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        kinds |= (numbers >> ehs_number_of_kind(kind) & 1) != 0 ? 1u << kind : 0;
    return kinds;
}

bool result_part_save(ehs_saver *saver, const result_part *part)
{
    const part_row row = { part->as_public.from_ns, part->as_public.to_ns,
                           numbers_of(part->as_public.kinds) };
    return !part->is_part ||
           (ehs_table_save(saver, &part_table, &row, 1) &&
            ehs_table_save(saver, &word_table, part->words.at, part->words.count) &&
            ehs_table_save(saver, &process_table, part->processes.at, part->processes.count));
}

static etl_status damaged(const ehs_loader *loader, const char *what)
{
    return etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0,
                         "the table of the store's part is damaged: %s", what);
}

/* A later version may know kinds that this one does not; a part of nothing else has none. */
static etl_status load_row(ehs_loader *loader, result_part *part)
{
    part_row *rows = NULL;
    size_t count = 0;
    etl_status status = ehs_table_load(loader, &part_table, &rows, &count);
    if (status == ETL_OK && count > 1)
        status = damaged(loader, "it has several rows");
    if (status == ETL_OK && count == 1) {
        part->is_part = true;
        part->as_public.from_ns = rows->from_ns;
        part->as_public.to_ns = rows->to_ns;
        part->as_public.kinds = kinds_of(rows->numbers);
        if (rows->from_ns > rows->to_ns)
            status = damaged(loader, "its window ends before it begins");
        else if (rows->numbers != 0 && part->as_public.kinds == 0)
            status = etl_fail_with(loader->err, ETL_ERR_UNSUPPORTED, 0,
                                   "the store has only kinds of memory that this version does not "
                                   "know: use a newer version");
    }
    free(rows);
    return status;
}

etl_status result_part_load(ehs_loader *loader, u32 process_count, result_part *part)
{
    etl_status status = load_row(loader, part);
    if (status == ETL_OK)
        status = ehs_vector_load(loader, &word_table, &part->words);
    if (status == ETL_OK)
        status = ehs_vector_load(loader, &process_table, &part->processes);
    if (status != ETL_OK)
        return status;
    if (!part->is_part && part->words.count + part->processes.count > 0)
        return damaged(loader, "it has processes, but no row");
    for (size_t i = 0; i < part->processes.count; i++) {
        const u32 process = part->processes.at[i];
        if (process == 0 || process > process_count ||
            (i > 0 && process <= part->processes.at[i - 1]))
            return damaged(loader, "it names a process that does not exist, or one twice");
    }
    if (part->words.count == 0 && part->processes.count > 0)
        return damaged(loader, "it has processes, but no words that name them");
    result_part_complete(part);
    return ETL_OK;
}

/* --- questions ----------------------------------------------------------------------- */

void result_part_default(const etlheap_result *result, etlheap_query *query)
{
    const etlheap_part *const part = etlheap_result_part(result);
    if (part == NULL)
        return;
    query->from_ns = query->from_ns == INT64_MIN ? part->from_ns : query->from_ns;
    query->to_ns = query->to_ns == INT64_MAX ? part->to_ns : query->to_ns;
    query->kinds = query->kinds == 0 ? part->kinds : query->kinds;
}

/* Adds a word to a list that is cut off where it does not fit. */
static void list_add(char list[LIST_SIZE], const char *word)
{
    const size_t used = strlen(list);
    snprintf(list + used, LIST_SIZE - used, "%s%s", used > 0 ? ", " : "", word);
}

static void list_kinds(u32 kinds, char out[LIST_SIZE])
{
    out[0] = '\0';
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if ((kinds >> kind & 1) != 0)
            list_add(out, etlheap_kind_name((etlheap_kind)kind));
    }
}

/* A moment in seconds, exact and without trailing zeros. */
static void spell_moment(i64 ns, char out[32])
{
    const u64 size = ns < 0 ? 0 - (u64)ns : (u64)ns;
    const int used = snprintf(out, 32, "%s%" PRIu64 ".%09" PRIu64, ns < 0 ? "-" : "",
                              size / 1000000000u, size % 1000000000u);
    int kept = used;
    while (kept > 0 && out[kept - 1] == '0')
        kept--;
    kept -= kept > 0 && out[kept - 1] == '.';
    snprintf(out + kept, 32 - (size_t)kept, " s");
}

static void spell_window(const etlheap_part *part, char out[80])
{
    char from[32] = "its begin", to[32] = "its end";
    if (part->from_ns != INT64_MIN)
        spell_moment(part->from_ns, from);
    if (part->to_ns != INT64_MAX)
        spell_moment(part->to_ns, to);
    snprintf(out, 80, "%s to %s", from, to);
}

static etl_status refuse_window(const etlheap_part *part, const etlheap_query *query,
                                etl_error *err)
{
    char window[80];
    const bool from_is_in = query->from_ns == INT64_MIN
                                ? part->from_ns == INT64_MIN
                                : query->from_ns >= part->from_ns && query->from_ns <= part->to_ns;
    const bool to_is_in = query->to_ns == INT64_MAX
                              ? part->to_ns == INT64_MAX
                              : query->to_ns >= part->from_ns && query->to_ns <= part->to_ns;
    if (from_is_in && to_is_in)
        return ETL_OK;
    spell_window(part, window);
    return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0,
                         "the window is not in the store, which has a part of its recording, from "
                         "%s: store the trace again for other times",
                         window);
}

static etl_status refuse_kinds(const etlheap_part *part, const etlheap_query *query, etl_error *err)
{
    char missing[LIST_SIZE], kept[LIST_SIZE];
    if (part->kinds == 0 || (query->kinds & ~part->kinds) == 0)
        return ETL_OK;
    list_kinds(query->kinds & ~part->kinds, missing);
    list_kinds(part->kinds, kept);
    return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0,
                         "memory of the kind %s is not in the store, which has only %s: store the "
                         "trace again",
                         missing, kept);
}

/* Marks the words of a list, or the list itself, that name none of the part's processes. */
static etl_status find_missing(const etlheap_result *result, const etlheap_query *query,
                               const char **missing, etl_error *err)
{
    const size_t count = result->processes.count;
    etlheap_word_use *const uses = calloc((size_t)query->process_count + 1, sizeof *uses);
    bool *const named = calloc(count + 1, sizeof *named);
    bool ok = uses != NULL && named != NULL &&
              etlheap_word_uses(result, query->processes, query->process_count, uses);
    *missing = NULL;
    for (u32 i = 0; ok && *missing == NULL && i < query->process_count; i++) {
        bool is_in = uses[i] == ETLHEAP_WORD_OTHER;
        memset(named, 0, count * sizeof *named);
        ok = etlheap_words_select(result, &query->processes[i], 1, named);
        for (size_t k = 0; ok && !is_in && k < result->part.processes.count; k++)
            is_in = named[result->part.processes.at[k] - 1];
        *missing = ok && !is_in ? query->processes[i] : NULL;
    }
    free(uses);
    free(named);
    return ok ? ETL_OK : etl_no_memory(err);
}

static etl_status refuse_processes(const etlheap_result *result, const etlheap_query *query,
                                   etl_error *err)
{
    char kept[LIST_SIZE] = "";
    const char *missing;
    const result_part *const part = &result->part;
    if (!part->by_process || query->process_count == 0)
        return ETL_OK;
    const etl_status status = find_missing(result, query, &missing, err);
    if (status != ETL_OK || missing == NULL)
        return status;
    for (size_t i = 0; i < part->words.count; i++)
        list_add(kept, part->words.at[i]);
    return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0,
                         "the process '%.60s' is not in the store, which has only %s of its "
                         "recording: store the trace again",
                         missing, kept);
}

etl_status result_part_refuse(const etlheap_result *result, const etlheap_query *query,
                              etl_error *err)
{
    const etlheap_part *const part = etlheap_result_part(result);
    if (part == NULL)
        return ETL_OK;
    etl_status status = refuse_kinds(part, query, err);
    if (status == ETL_OK)
        status = refuse_window(part, query, err);
    return status == ETL_OK ? refuse_processes(result, query, err) : status;
}
