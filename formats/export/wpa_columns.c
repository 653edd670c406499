/*
 * wpa_columns.c - see wpa_columns.h.
 *
 * Source of every GUID and title: profiles saved by WPA. Heap columns are those of
 * google/UIforETW HeapAnalysis.wpaProfile, the columns of commits those of
 * microsoft/MSO-Scripts VirtualAlloc.wpaProfile and Siemens-Healthineers/ETWAnalyzer
 * MemoryVirtualAlloc.wpaProfile, views those of MSO-Scripts.
 */
#include "wpa_columns.h"

#define COUNT_OF_HEAP   "62f5e535-a192-475d-8d4d-a725b8a160bd"
#define SIZE_OF_HEAP    "29a4dfc2-cd62-4de8-85c3-f580af6a47dd"
#define COUNT_OF_COMMIT "3e80b2ba-b36a-4ff1-9c2c-d2542002a6d6"
#define SIZE_OF_COMMIT  "355d0688-9ebd-41af-b2c4-0dc0f4294eaa"

static const wpa_field_info fields[WPA_FIELD_COUNT] = {
#define IN_ALL       true, true
#define IN_LIFETIMES true, false
#define IN_SUMS      false, true
#define FIELD_ROW(name, attribute, unit, where, aggregation)                                       \
    { attribute, unit, aggregation, IN_##where },
    WPA_FIELDS(FIELD_ROW)
};

static const wpa_table tables[WPA_TABLE_COUNT] = {
    {
        .kind = ETLHEAP_KIND_HEAP,
        .guid = "1a64d983-f796-45f8-aa64-ac50b95d0e45",
        .title = "Heap Allocations",
        .view_guid = "91711b35-0be2-4af4-81d5-f510a4d5a34e",
        .view_title = "Heap Allocations",
        .colour = "#FF0000FF",
        .height = "252",
        .columns = {
            [WPA_PROCESS_NAME] = { "8693852d-a7e2-4c48-bad6-bd076d2d587a", "Process Name" },
            [WPA_PROCESS] = { "06155709-500b-4182-8944-29665014b5c2", "Process" },
            [WPA_TYPE] = { "fe123e27-eca6-461a-9a1b-b98056a84feb", "Type" },
            [WPA_IMPACTING_TYPE] = { "0e8ea5da-f511-49fb-9f64-bde5bb6d3f95", "ImpactingType" },
            [WPA_HANDLE] = { "27654de6-995a-4162-a6a6-6dfacb4fa316", "Handle" },
            [WPA_STACK] = { "759dc840-5079-49db-bae0-3c54e553b7fd", "Stack" },
            [WPA_THREAD] = { "454a2bd1-379a-4c5b-8437-1fe4bdccfa8f", "Thread" },
            [WPA_ADDRESS] = { "24937cb7-4655-43d0-8bdc-901cb2ac65d5", "Address" },
            [WPA_PAGE_ADDRESS] = { "5ba0767a-7403-45b4-a991-6d74fd8b7338", "Page Address" },
            [WPA_ALLOC_TIME] = { "514a6402-4276-405d-9a46-f8a583089c38", "AllocTime" },
            [WPA_FREE_TIME] = { "859cecc2-100a-4b55-8756-5b83df7e5a93", "FreeTime" },
            [WPA_LIFETIME] = { "219f972c-9c3e-413b-a921-228a9881d4b5", "LifeTime" },
            [WPA_IS_REALLOC] = { "aecdc967-1546-420b-a035-1d7184115e33", "Is Realloc" },
            [WPA_FREE_TYPE] = { "7710276b-86b8-42c8-8674-4e51cfc673f0", "FreeType" },
            [WPA_COUNT] = { COUNT_OF_HEAP, "Count" },
            [WPA_IMPACTING_SIZE] = { "642a8591-f858-4345-b7fa-99e8e4567cca", "Impacting Size" },
            [WPA_SIZE] = { SIZE_OF_HEAP, "Size" },
            [WPA_COUNT_PEAK] = { COUNT_OF_HEAP, "Count" },
            [WPA_SIZE_PEAK] = { SIZE_OF_HEAP, "Size" },
        },
    },
    {
        .kind = ETLHEAP_KIND_VIRTUALALLOC,
        .guid = "e6a4a964-3a87-46ef-9762-f9d9b9208051",
        .title = "VirtualAlloc Commit LifeTimes",
        .view_guid = "1759c3d6-467e-4a14-99a6-4331add79c55",
        .view_title = "Virtual Allocations",
        .colour = "#FFBEBEBE",
        .height = "212",
        .columns = {
            [WPA_PROCESS_NAME] = { "744222db-e5a0-4e6d-b34e-9a9796f3ce38", "Process Name" },
            [WPA_PROCESS] = { "cfe19628-6612-4e45-ad6e-84b7423c8132", "Process" },
            [WPA_TYPE] = { "f3e2404e-9274-48de-ba7a-81b10ac0d8e3", "Type" },
            [WPA_IMPACTING_TYPE] = { "8e0f7d59-37d1-4191-9c30-625cbacbc04f", "Impacting Type" },
            [WPA_STACK] = { "9298a5c9-42e9-42d0-b069-f211906a4078", "Commit Stack" },
            [WPA_THREAD] = { "02a075ed-f8f0-4ff4-b474-f44059bf7a29", "Committing ThreadId" },
            [WPA_ADDRESS] = { "801c4ec2-9d52-42fb-b3bb-a06e4d5a70a5", "Address" },
            [WPA_ALLOC_TIME] = { "e35ae2d1-6370-4e17-a79d-eada8afa60f6", "Commit Time" },
            [WPA_FREE_TIME] = { "093b4056-cb58-4209-90b9-29cdbb8ca214", "Decommit Time" },
            [WPA_LIFETIME] = { "cbc35ff9-0d12-4db3-9a75-578e2d746e4b", "Commit LifeTime" },
            [WPA_COUNT] = { COUNT_OF_COMMIT, "Count" },
            [WPA_IMPACTING_SIZE] = { "191711d7-f84c-4936-93b7-e2793639cdd1", "Impacting Size" },
            [WPA_SIZE] = { SIZE_OF_COMMIT, "Size" },
            [WPA_COUNT_PEAK] = { COUNT_OF_COMMIT, "Count" },
            [WPA_SIZE_PEAK] = { SIZE_OF_COMMIT, "Size" },
        },
    },
};

const wpa_field_info *wpa_field_of(wpa_field field)
{
    assert((u32)field < WPA_FIELD_COUNT);
    return &fields[field];
}

const wpa_table *wpa_table_at(u32 index)
{
    assert(index < WPA_TABLE_COUNT);
    return &tables[index];
}

const wpa_table *wpa_table_of(etlheap_kind kind)
{
    for (u32 i = 0; i < WPA_TABLE_COUNT; i++) {
        if (tables[i].kind == kind)
            return &tables[i];
    }
    return NULL;
}

etl_status wpa_kinds_of(const etlheap_query *query, u32 *kinds, etl_error *err)
{
    u32 known = 0;
    for (u32 i = 0; i < WPA_TABLE_COUNT; i++)
        known |= 1u << tables[i].kind;
    *kinds = query->kinds == 0 ? known : query->kinds & known;
    if (*kinds == 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "this format has tables for the kinds heap and virtualalloc only");
    return ETL_OK;
}
