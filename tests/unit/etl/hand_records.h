/*
 * hand_records.h - records put together by hand, with field values that cannot be
 * taken for each other. What a reader skips is filled with 0xee.
 */
#ifndef TESTS_HAND_RECORDS_H
#define TESTS_HAND_RECORDS_H

#include "tests/support/hand_bytes.h"
#include "parser/etl/layout.h"

#define HAND_TICKS 0x0102030405060708
#define HAND_TID   0x11223344u
#define HAND_PID   0x55667788u

extern const u8 hand_guid[ETL_GUID_BYTES];

/* The first 8 bytes of a record. */
void hand_prefix(hand_bytes *records, unsigned word0, unsigned type, unsigned marker,
                 unsigned word4, unsigned word6);

/* Puts the size of the record that begins at `start` into its size field, then
 * what pads it to the next one. */
void hand_end_record(hand_bytes *records, size_t start, size_t size_at);

/* SYSTEM, COMPACT or PERFINFO with hook 0x1021; payloads are text. */
void hand_hook(hand_bytes *records, unsigned type, unsigned version_word, u64 ticks,
               const char *payload);

/* FULL or INSTANCE: level 7, opcode 0x21, version 0x0903, hand_guid. */
void hand_full(hand_bytes *records, unsigned type, size_t header_bytes, const char *payload);

/* Id 0xabcd, version 3, level 4, opcode 36, hand_guid; hand_end_record() is left
 * to the caller of the header alone. */
void hand_event_header(hand_bytes *records, unsigned type, unsigned flags);
void hand_event(hand_bytes *records, unsigned type, const char *payload);

/* An extended item; the sizes are put as they are given. */
void hand_item(hand_bytes *records, unsigned size, unsigned type, unsigned linkage,
               unsigned data_size, const char *data);

/* A WPP message with number 0x0102. */
void hand_message(hand_bytes *records, unsigned flags, const void *parts, size_t parts_size);

/* A buffer of these records in memory that ends with them, on cpu 5 with 77 as the
 * time before; *diag is cleared. The caller unguards the memory. */
etl_buffer hand_open_records(const hand_bytes *records, hand_guarded *memory,
                             etl_diag_counts *diag);

#endif
