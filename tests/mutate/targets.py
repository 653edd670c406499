"""Which files are mutated, and the tests that must notice.

A row: file, its group in the table of scores, the tests that kill its mutants, fast and
likely ones first (afterwards each run orders them by how often they kill). A test is a
program of cmocka (tests/unit/ROOM/NAME.c), or an oracle of the command line with its extension.
"""
from collections import namedtuple

Target = namedtuple("Target", "file group tests")

# Whole traces through the engine against a naive model of it.
WHOLE = "test_engine test_two_threads test_workload"
BLOCKS = "test_blocks_events test_blocks_doubt test_blocks test_pair test_engine_times test_blocks_random " + WHOLE
RANGES = "test_ranges_rundown test_ranges_replaced test_ranges test_ranges_random test_lifetimes_ranges " + WHOLE
JOIN = "test_join_order test_join test_join_foreign test_scan_stacks test_keyed test_join_slices " + WHOLE
LIFETIMES = "test_lifetimes_names test_lifetimes_order test_lifetimes_processes test_lifetimes_ranges " \
    "test_lifetimes_heap test_lifetimes_stacks test_lifetimes_walk test_allocations test_lifetimes_damage " + WHOLE
REPLAY = "test_replay_walk test_replay test_windows_sources"
WINDOWS = "test_windows_growth test_windows test_window_rows test_growth test_summary test_windows_sources"
GATE = "test_gate_subjects test_gate_absence test_gate test_gate_outcomes test_check_documents"
RECORDINGS = "test_recordings test_tied_places test_diagnostics test_growth oracle_recordings.py"
PEAKS = "test_tally test_peak_moment test_peaks test_two_threads test_engine test_workload"

TARGETS = (
    Target("engine/pair/blocks.c", "pairing", BLOCKS),
    Target("engine/pair/block_pool.c", "pairing", "test_block_pool " + BLOCKS),
    Target("engine/pair/pair.c", "pairing", "test_pair " + BLOCKS),
    Target("engine/pair/pair_workers.c", "pairing", "test_pair_workers test_pair test_two_threads test_lean"),
    Target("engine/read/realloc_trail.c", "pairing", "test_realloc_trail test_scan " + WHOLE),
    Target("engine/pair/order.c", "pairing", "test_order test_pair test_order_random test_lean " + WHOLE),
    Target("engine/pair/ranges.c", "ranges", RANGES),
    Target("engine/pair/range_map.c", "ranges", "test_range_map " + RANGES),
    Target("engine/read/join.c", "join", JOIN),
    Target("engine/read/keyed.c", "join", "test_keyed " + JOIN),
    Target("engine/read/scan_stacks.c", "join", "test_scan_stacks test_scan test_scan_lean test_lean " + JOIN),
    Target("engine/fold/heap_rows.c", "replay", REPLAY + " test_archive test_replay_edges"),
    Target("engine/fold/log_pass.c", "replay", REPLAY + " test_archive test_replay_edges test_histogram"),
    Target("engine/fold/feed.c", "replay", "test_feed test_ask test_histogram " + REPLAY),
    Target("engine/fold/feed_rows.c", "replay", "test_feed test_ask test_histogram"),
    Target("engine/fold/archive_steps.c", "replay", "test_archive test_windows_sources " + REPLAY),
    Target("engine/fold/replay_event_list.c", "replay", "test_event_list test_event_list_late " + REPLAY),
    Target("engine/fold/replay_walk.c", "replay", REPLAY),
    Target("engine/fold/windows.c", "windows", "test_meminfo " + WINDOWS),
    Target("engine/fold/windows_cells.c", "windows", "test_windows_cells " + WINDOWS),
    Target("engine/fold/windows_cells_read.c", "windows", "test_windows_cells " + WINDOWS),
    Target("engine/fold/windows_growth.c", "windows", WINDOWS),
    Target("engine/log/window_cuts.c", "windows", "test_window_cuts " + WINDOWS),
    Target("engine/fold/windows_memory.c", "windows", "test_meminfo " + WINDOWS),
    Target("engine/query/cuts_plan.c", "windows", "test_window_cuts " + WINDOWS),
    Target("engine/query/windows_plan.c", "windows", WINDOWS),
    Target("engine/fold/windows_runs.c", "windows", "test_windows_runs " + WINDOWS),
    Target("engine/fold/windows_event_list.c", "windows", WINDOWS),
    Target("engine/compare/gate.c", "gate", GATE),
    Target("engine/compare/gate_apart.c", "gate", "test_gate_apart"),
    Target("engine/compare/gate_doubts.c", "gate", GATE),
    Target("engine/compare/gate_fingerprint.c", "gate", "test_gate_fingerprint " + GATE),
    Target("engine/compare/gate_rows.c", "gate", GATE),
    Target("engine/compare/gate_subjects.c", "gate", GATE),
    Target("engine/compare/gate_tables.c", "gate", GATE),
    Target("engine/compare/gate_wrappers.c", "gate", "test_gate_wrappers"),
    Target("parser/etl/xpress.c", "parser", "test_xpress test_buffer_load test_trace test_real_traces"),
    Target("parser/etl/xpress_huffman.c", "parser", "test_xpress_huffman test_buffer_load test_real_traces"),
    Target("parser/etl/record.c", "parser", "test_record test_items test_trace test_buffer_peek test_decode_heap test_real_traces test_engine"),
    Target("parser/etl/buffer_losses.c", "recordings", "test_buffer_losses test_buffer_index " + RECORDINGS),
    Target("engine/core/continued.c", "recordings", "test_continued " + RECORDINGS),
    Target("engine/fold/row_spans.c", "recordings", "test_row_spans test_growth test_summary " + RECORDINGS),
    Target("engine/pair/shared_addresses.c", "recordings", "test_lost_ends " + RECORDINGS),
    Target("engine/context/heap_times.c", "recordings", "test_lost_ends test_context test_context_late " + RECORDINGS),
    Target("engine/pair/tied_blocks.c", "recordings", RECORDINGS),
    Target("engine/pair/tied_ranges.c", "recordings", RECORDINGS),
    Target("engine/pair/ties.c", "recordings", "test_ties " + RECORDINGS),
    Target("engine/result/recorded.c", "recordings", "test_recorded " + RECORDINGS + " test_gate"),
    Target("engine/run/recorded_spans.c", "recordings", "test_recorded_spans " + RECORDINGS),
    Target("engine/fold/rows_walk.c", "peaks", PEAKS + " test_feed test_windows test_growth"),
    Target("engine/fold/peak_moment.c", "peaks", PEAKS),
    Target("engine/log/tally.c", "peaks", PEAKS),
    Target("engine/fold/lifetimes.c", "lifetimes", LIFETIMES),
    Target("engine/fold/lifetimes_archive.c", "lifetimes", LIFETIMES),
    Target("engine/fold/lifetimes_list.c", "lifetimes", LIFETIMES),
    Target("engine/fold/lifetimes_memory.c", "lifetimes", LIFETIMES),
    Target("engine/fold/lifetimes_names.c", "lifetimes", LIFETIMES),
    Target("engine/fold/lifetimes_rows.c", "lifetimes", LIFETIMES),
    Target("engine/run/log_run.c", "lifetimes", LIFETIMES),
    Target("engine/fold/lifetimes_source.c", "lifetimes", LIFETIMES),
    Target("engine/fold/lifetimes_fold.c", "lifetimes", LIFETIMES),
    Target("engine/fold/block_groups.c", "lifetimes", LIFETIMES),
)

# Functions whose mutants change no answer, and why.
NOT_MUTATED = {
    "blocks_prefetch": "only a hint to the cache",
    "fetch_list": "only a hint to the cache",
}
