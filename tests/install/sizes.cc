// sizes.cc - what each process holds on heaps, in C++, with the installed headers alone.
#include <etlheap/etlheap.h>
#include <iostream>
#include <memory>

int main(int, char *argv[])
{
    etl_error err{};
    etl_trace *trace = nullptr;
    etlheap_result *result = nullptr;
    etlheap_table *table = nullptr;
    etlheap_query query = etlheap_query_default();
    query.kinds = 1u << ETLHEAP_KIND_HEAP;
    query.group_by[0] = ETLHEAP_KEY_PROCESS;
    query.group_by_count = 1;
    if (etlheap_abi_version() != ETLHEAP_ABI_VERSION || etl_open(argv[1], nullptr, &trace, &err) != ETL_OK ||
        etlheap_analyze(&trace, &argv[1], 1, nullptr, &result, &err) != ETL_OK ||
        etlheap_aggregate(result, &query, &table, &err) != ETL_OK) {
        std::cerr << etl_error_message(&err) << "\n";
        return 1;
    }
    const std::unique_ptr<etl_trace, void (*)(etl_trace *)> closes(trace, etl_close);
    const std::unique_ptr<etlheap_result, void (*)(etlheap_result *)> frees(result, etlheap_result_free);
    const std::unique_ptr<etlheap_table, void (*)(etlheap_table *)> drops(table, etlheap_table_free);
    for (uint32_t i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = etlheap_table_row(table, i);
        std::cout << row->process << " " << row->measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE] << "\n";
    }
}
