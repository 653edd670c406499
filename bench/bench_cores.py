"""What a machine with more processors would gain, from the measured times of all tasks; and what it would hold."""

import json
import os
import statistics
import subprocess

from bench_inputs import BenchError
from bench_measure import Row, wall_and_memory

# Processors: speed-up aimed at.
CORES = {8: None, 16: 8.0, 64: None}
MEMORY_CORES, MEMORY_TIMES = 16, 1.5
MIB = 1 << 20


def modeled(program, command, cores):
    """What bench_cores.c says of a command whose work `cores` threads would share."""
    done = subprocess.run([program, *command, f"-j{cores}"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, check=False, env={**os.environ, "BENCH_CORES": str(cores)})
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return json.loads(done.stderr.strip().splitlines()[-1])


def cores_rows(bench):
    """One after the other, so that no thread waits for the memory of another one."""
    path = bench.inputs.make("H")
    bench.inputs.warm(path)
    program, command = bench.tool("bench_cores"), ["report", path]
    runs = {cores: [modeled(program, command, cores) for _ in range(bench.runs)] for cores in (1, *CORES)}
    most = runs[max(CORES)]
    rows = [
        Row("report on H, processor time", [run["seconds"] for run in runs[1]], "s"),
        Row("  that only one thread works", [100 * run["alone"] / run["seconds"] for run in most], "%", 3, at_most=True),
        Row("  longest task", [1000 * run["longest"] for run in most], "ms"),
    ]
    alone = statistics.median(run["seconds"] for run in runs[1])
    for cores, target in CORES.items():
        rows.append(Row(f"  speed-up that its tasks allow with {cores} processors",
                        [alone / run["with_cores"] for run in runs[cores]], "x", target))
    return rows + memory_rows(bench)


def memory_rows(bench):
    """With as many threads as such a machine would start, on this one."""
    path = bench.inputs.make("H8")
    os.environ["BENCH_PROCESSORS"] = str(MEMORY_CORES)
    try:
        held = {cores: wall_and_memory(bench.tool("rss_anon"), [bench.tool("bench_cores"), "report", path, f"-j{cores}"])[1]
                for cores in (2, MEMORY_CORES)}
    finally:
        del os.environ["BENCH_PROCESSORS"]
    return [
        Row(f"report on H8, -j{MEMORY_CORES}, peak of RssAnon", [held[MEMORY_CORES] / MIB], "MiB"),
        Row("  in times of -j2", [held[MEMORY_CORES] / held[2]], "x", MEMORY_TIMES, at_most=True),
    ]
