/* fuzz_pe.c - any bytes as a program file: headers, debug directory and exports. */
#include "fuzz.h"
#include "parser/symbols.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    etl_pe_image *image = NULL;
    etl_pe_exports *exports = NULL;
    etl_error err;
    if (etl_pe_open_memory((etl_bytes){ data, size }, &image, &err) != ETL_OK)
        return 0;
    if (etl_pe_exports_open(image, &exports, &err) == ETL_OK) {
        char name[256];
        etl_pe_export entry;
        for (u32 i = 0; i < etl_pe_exports_count(exports) && i < 10000; i++) {
            entry = etl_pe_exports_at(exports, i);
            (void)etl_pe_export_display_name(&entry, name, sizeof name);
        }
        for (u32 rva = 0; rva < 0x10000; rva += 97)
            (void)etl_pe_exports_find(exports, rva, &entry);
    }
    etl_pe_exports_close(exports);
    etl_pe_close(image);
    return 0;
}
