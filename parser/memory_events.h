/*
 * memory_events.h - the payloads of events of the kernel's memory and object managers. Part of
 * events.h.
 *
 * Values are raw, and views borrow from the record, as events.h says.
 */
#include "parser.h" /* before the guard: it includes events.h, which needs this header */

#ifndef ETL_MEMORY_EVENTS_H
#define ETL_MEMORY_EVENTS_H

#ifdef __cplusplus
extern "C" {
#endif

/* VirtualAlloc, VirtualFree and their rundowns; VIRTUAL_ROTATE and MEM_RESET, without a process and
 * with flags of their own. */
typedef struct etl_virtual_memory {
    uint64_t base_address;
    uint64_t region_size_bytes;
    uint64_t commit_size_bytes; /* rundowns only */
    uint32_t process_id;        /* owner of the address space; the caller may be another process */
    uint32_t flags;             /* ETL_MEM_* */
} etl_virtual_memory;

/* The name of a file. */
typedef struct etl_file_name {
    uint64_t file_object; /* a key; later it may be that of another file */
    etl_bytes file_name;  /* UTF-16, NT path */
} etl_file_name;

/* A view of a file or of a section of the page file, mapped or unmapped as a whole. */
typedef struct etl_file_view {
    uint64_t view_base;
    uint64_t view_size_bytes;
    uint64_t file_object; /* as in etl_file_name */
    uint64_t byte_offset; /* where in the file the view begins; version 3, 0 before */
    uint64_t misc_info;   /* its meaning is not published */
    uint32_t process_id;  /* owner of the address space; the caller may be another process */
} etl_file_view;

/* A section of the page file, by the addresses of its prototype PTEs. */
typedef struct etl_section {
    uint64_t range_base;
    uint64_t range_end;           /* not of SECTION_OBJECT_* */
    uint64_t object;              /* only of SECTION_OBJECT_* */
    uint32_t creating_process_id; /* not of SECTION_OBJECT_* */
} etl_section;

/* A handle of a process, or of the kernel (ETL_KERNEL_HANDLE). */
typedef struct etl_handle_event {
    uint64_t object; /* its address */
    uint32_t handle;
    uint32_t process_id; /* of rundowns; else the header has it */
    uint16_t object_type;
    etl_bytes name; /* UTF-16: of the object, most often empty */
} etl_handle_event;

#define ETL_KERNEL_HANDLE 0x80000000u /* a handle in the table of System */

/* A handle made from another one, often for another process. */
typedef struct etl_handle_duplicate {
    uint64_t object;
    uint32_t source_handle;
    uint32_t source_process_id; /* 0 before newer builds */
    uint32_t target_handle;
    uint32_t target_process_id;
    uint16_t object_type;
} etl_handle_duplicate;

/* The name of a type of objects. */
typedef struct etl_object_type {
    uint16_t object_type;
    etl_bytes name; /* UTF-16 */
} etl_object_type;

typedef struct etl_object {
    uint64_t object;
    uint16_t object_type;
} etl_object;

/* State of physical memory, in pages (etl_config_cpu has the page size). */
typedef struct etl_meminfo {
    uint64_t zero_pages;
    uint64_t free_pages;
    uint64_t modified_pages;
    uint64_t modified_no_write_pages;
    uint64_t bad_pages;
    uint64_t standby_pages; /* sum over the eight priorities */
    uint64_t repurposed_pages;
    uint64_t modified_page_file_pages;
    uint64_t paged_pool_commit_pages; /* this and the following: 0 before newer builds */
    uint64_t non_paged_pool_pages;
    uint64_t mdl_pages;
    uint64_t commit_pages;
} etl_meminfo;

/* Rows of processes, or of sessions (MEMINFO_SESSION_WS): count entries of entry_bytes each. Read
 * them with etl_meminfo_ws_entry. */
typedef struct etl_meminfo_ws {
    uint32_t count;
    uint32_t entry_bytes;
    etl_bytes entries;
} etl_meminfo_ws;

typedef struct etl_meminfo_ws_row {
    uint32_t process_id; /* or session */
    uint64_t working_set_pages;
    uint64_t commit_pages;
    uint64_t virtual_size_pages; /* of a session: paged pool */
    uint64_t private_working_set_pages;
} etl_meminfo_ws_row;

#ifdef __cplusplus
}
#endif

#endif
