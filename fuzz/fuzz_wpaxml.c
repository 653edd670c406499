/* fuzz_wpaxml.c - any bytes as a wpa-xml document. */
#include "fuzz.h"

#include "tests/support/wpa_xml_read.h"

/* What is read adds up by type, and to no more than its rows can say. */
static void check(const wpa_document *document)
{
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const wpa_table *const table = &document->tables[kind];
        u64 rows = 0;
        for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++)
            rows += table->of_type[type].rows;
        if (rows != table->all.rows || table->all.count < 0 || table->all.size_bytes < 0 ||
            (rows > 0 && !table->is_present))
            __builtin_trap();
    }
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    wpa_document document;
    etl_error err = { .status = ETL_OK };
    const etl_status status = wpa_xml_parse((etl_bytes){ data, size }, "x.xml", &document, &err);
    if (status != ETL_OK && (err.status != status || err.message[0] == '\0'))
        __builtin_trap();
    if (status == ETL_OK)
        check(&document);
    return 0;
}
