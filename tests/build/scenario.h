/*
 * scenario.h - named traces with known numbers: the demo, the leak of a battery
 * meter, the exercises of the WPA documentation, and a file with every event.
 *
 *     etl_build *b = etl_build_new(NULL);
 *     scenario_run run = { .seed = 1 };
 *     if (!scenario_write(scenario_find("battery-meter"), &run, b)) ...
 *     etl_build_finish_to(b, path);
 *     scenario_run_free(&run);
 *
 * What each scenario allocates stands beside its constants below; tests compare
 * the program's answers with them. A scenario that is a workload has its full
 * truth too (run.truth). All times are from time zero, sizes in bytes.
 */
#ifndef TESTS_SCENARIO_H
#define TESTS_SCENARIO_H

#include "etl_build.h"
#include "workload.h"

typedef struct scenario_run {
    u64 seed;              /* in: [1] */
    u64 operations;        /* in: of "workload" [4000]; processes of "processes" [1000] */
    u32 cpus;              /* in: [4], at most the builder's */
    bool wow64;            /* in: the main program is a 32-bit process */
    bool tidless;          /* in: see workload_options */
    bool end_rundown_only; /* in */
    bool free_stacks;      /* in */
    etl_build *heap;       /* in: heap events go to this builder [the same] */
    workload *work;        /* out: NULL when the scenario is none */
    workload_truth truth;  /* out */
} scenario_run;

typedef struct scenario {
    const char *name;
    const char *summary; /* one line for the tool's help */
    /* The operations of a scenario that is a workload, else NULL. */
    workload *(*make)(const scenario_run *run, const etl_build *b);
    /* The events of one that is not, else NULL. */
    void (*write)(const scenario_run *run, etl_build *b);
} scenario;

/* The table ends with a row whose name is NULL. */
extern const scenario scenarios[];
const scenario *scenario_find(const char *name); /* NULL: no such scenario */

/* Writes into a fresh builder, which is left unfinished. */
bool scenario_write(const scenario *s, scenario_run *run, etl_build *b);
void scenario_run_free(scenario_run *run);

/*
 * "battery-meter": BatteryMeter.exe, 60 s. From 0.1 s on its background thread
 * leaks two blocks of 4 KiB every 250 ms, one from each of two stacks; other
 * threads allocate and free transient blocks that live less than a second.
 */
#define BATTERY_METER_PID             6480u
#define BATTERY_METER_LEAK_TID        7012u
#define BATTERY_METER_HEAP            0x1c0a5f70000u
#define BATTERY_METER_HEAP_WOW64      0x00c80000u
#define BATTERY_METER_TICKS           240u
#define BATTERY_METER_LEAK_COUNT      480u
#define BATTERY_METER_LEAK_BYTES      (480u * 4096u)
#define BATTERY_METER_TRANSIENT_COUNT 3000u
/* In BatteryMeter.exe: the frames the two leaking stacks differ in. */
#define BATTERY_METER_LEAK_OFFSET_A 0x2a1fu
#define BATTERY_METER_LEAK_OFFSET_B 0x2a58u

/*
 * "virtualalloc-exercise": MemoryTestApp.exe, 10 s. Commits 126 MiB in all:
 * 10 MiB at 0.5 s and 10 MiB from Main at 5 s, both kept until 9.5 s; ten spikes
 * of 10 MiB at 0.7 s, 1.5 s, ... 7.9 s, from Main -> Operation1 ->
 * ManipulateTemporaryBuffer, that live 100 ms; and 96 times 64 KiB small change.
 * All is freed by the end.
 */
#define VIRTUALALLOC_EXERCISE_PID               4128u
#define VIRTUALALLOC_EXERCISE_TOTAL_BYTES       (126u << 20)
#define VIRTUALALLOC_EXERCISE_COUNT             108u
#define VIRTUALALLOC_EXERCISE_SPIKE_COUNT       10u
#define VIRTUALALLOC_EXERCISE_SPIKE_BYTES       (10u << 20)
#define VIRTUALALLOC_EXERCISE_SPIKE_MS          100u
#define VIRTUALALLOC_EXERCISE_STEADY_BYTES      (10u << 20)
#define VIRTUALALLOC_EXERCISE_SMALL_COUNT       96u
#define VIRTUALALLOC_EXERCISE_SMALL_BYTES       (6u << 20)
#define VIRTUALALLOC_EXERCISE_MAIN_OFFSET       0x1462u /* in MemoryTestApp.exe */
#define VIRTUALALLOC_EXERCISE_OPERATION1_OFFSET 0x12d7u
#define VIRTUALALLOC_EXERCISE_BUFFER_OFFSET     0x118bu

/*
 * "heap-exercise": HeapTestApp.exe, 12 s. InnerLoopOperation calls operator new
 * 1,200 times, every 10 ms, and never deletes: 80 to 136 bytes each, 108 on
 * average, 129,600 bytes in all. Transient blocks beside it.
 */
#define HEAP_EXERCISE_PID               5932u
#define HEAP_EXERCISE_LEAK_COUNT        1200u
#define HEAP_EXERCISE_LEAK_BYTES        129600u
#define HEAP_EXERCISE_TRANSIENT_COUNT   4000u
#define HEAP_EXERCISE_INNER_LOOP_OFFSET 0x1f3cu /* in HeapTestApp.exe */

/*
 * "test-runner": UnitTests.exe, 6 s. Writes a mark before each of five tests and one behind the
 * last. "Parser.reads_nested_lists" leaves 3 blocks of 200 bytes behind, and
 * "Cache.survives_a_reload" 24 of 4 KiB. 256 KiB from before the first mark are freed at the end.
 */
#define TEST_RUNNER_PID         7316u
#define TEST_RUNNER_SMALL_COUNT 3u
#define TEST_RUNNER_LEAK_COUNT  24u
#define TEST_RUNNER_LEAK_BYTES  (24u * 4096u)

/*
 * "processes": PROCESSES_COUNT processes, or as many as are asked for, each 8 microseconds. Each
 * allocates two blocks and frees one; a block of every thousandth process is larger.
 */
#define PROCESSES_COUNT      1000u
#define PROCESSES_BYTES      100u
#define PROCESSES_MORE_BYTES 2000u

/*
 * "demo": the trace of the README, 20 s. The battery meter's leak (80 ticks, 160
 * blocks) with 2,000 transient blocks, in a heap that expands four times at the start,
 * by what they need; a second heap made, grown twice and destroyed; MemoryTestApp.exe
 * commits 10 MiB that it keeps and four spikes of 10 MiB.
 */
#define DEMO_LEAK_COUNT         160u
#define DEMO_LEAK_BYTES         (160u * 4096u)
#define DEMO_TRANSIENT_COUNT    2000u
#define DEMO_VIRTUALALLOC_BYTES (50u << 20)
#define DEMO_OUTSTANDING_BYTES  (10u << 20) /* of VirtualAlloc */

/*
 * "battery-meter-fixed": the demo's BatteryMeter.exe after the leak was fixed, 20 s. Another thread
 * frees the blocks that the demo leaks, but for the latest 16. All frees have call stacks: those of
 * transient blocks, of 960,000 bytes of icons in a heap of 1 MiB, in which two blocks of 304 bytes
 * stay, and of 32 blocks from before the trace.
 */
#define BATTERY_METER_FIXED_KEPT          16u
#define BATTERY_METER_FIXED_ICON_COUNT    240u
#define BATTERY_METER_FIXED_PIN_COUNT     2u
#define BATTERY_METER_FIXED_PIN_BYTES     (2u * 304u)
#define BATTERY_METER_FIXED_UNKNOWN_COUNT 32u

#endif
