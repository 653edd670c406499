/* modules.c - what each module allocated on heaps.   ./modules app.etl
 * cc modules.c $(pkg-config --cflags --libs etlheap) -o modules */
#include <etlheap/etlheap.h>
#include <inttypes.h>
#include <stdio.h>

int main(int argc, char *argv[])
{
    const char *const name = argc == 2 ? argv[1] : "app.etl";
    etl_error err = { .status = ETL_OK };
    etl_trace *trace = NULL;
    etlheap_result *result = NULL;
    etlheap_answer answer = { .table = NULL };
    /* The module of the innermost frame that is not the allocator's own. */
    const etlheap_pattern allocators[] = { { .module = "ntdll.dll" },
                                           { .module = "ucrtbase.dll" } };
    etlheap_query query = etlheap_query_default();
    query.kinds = 1u << ETLHEAP_KIND_HEAP;
    query.group_by[0] = ETLHEAP_KEY_MODULE;
    query.group_by_count = 1;
    query.sort = ETLHEAP_MEASURE_SIZE;
    query.cull_frames = allocators;
    query.cull_frame_count = 2;
    /* Keep only the data that this question needs. */
    const etlheap_question question = { .size = sizeof question, .query = &query };
    const etlheap_options options = { .size = sizeof options,
                                      .questions = &question,
                                      .question_count = 1 };
    const bool good = etl_open(name, NULL, &trace, &err) == ETL_OK &&
                      etlheap_analyze(&trace, &name, 1, &options, &result, &err) == ETL_OK &&
                      etlheap_ask(result, &question, 1, &answer, &err) == ETL_OK;
    const etlheap_table *const table = answer.table;
    for (uint32_t i = 0; good && i < table->row_count; i++) {
        const etlheap_row *const row = etlheap_table_row(table, i);
        printf("%12" PRId64 " bytes in %8" PRId64 " allocations  %s\n",
               row->measures[ETLHEAP_MEASURE_SIZE], row->measures[ETLHEAP_MEASURE_COUNT],
               row->module ? row->module : "(no stack)");
    }
    if (!good)
        fprintf(stderr, "%s: %s\n", name, err.message);
    etlheap_answers_free(&answer, 1);
    etlheap_result_free(result);
    etl_close(trace);
    return good ? 0 : 1;
}
