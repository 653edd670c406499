/*
 * scenario_section.h - sections of the page file, and a trace of them with known numbers.
 *
 * "section-leak": broker.exe creates SECTION_LEAK_COUNT sections of SECTION_LEAK_BYTES and never
 * deletes them. It ends, but they stay: others may have them open. client.exe creates
 * SECTION_TEMP_COUNT sections at two places, which System deletes. The rundown lists one section of
 * 1 MiB from before the trace, and one of broker.exe again. One creation has a range of more pages
 * than there can be, and one deletion is of a section that nothing else tells of.
 */
#ifndef TESTS_SCENARIO_SECTION_H
#define TESTS_SCENARIO_SECTION_H

#include "scenario.h"

#define SECTION_LEAK_COUNT 12u
#define SECTION_LEAK_BYTES 65536u
#define SECTION_TEMP_COUNT 20u
#define SECTION_TEMP_BYTES 8192u
#define SECTION_OLD_BYTES  1048576u

void scenario_section_leak(const scenario_run *run, etl_build *b);

#endif
