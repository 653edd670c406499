"""The inputs that are compared: a row each in a const table, made once for both programs.

Tags say which commands an input gets (rows.py):
  core     every row of every command
  wide     the main rows of every command
  stored   each program makes a store and a summary of it, which commands read too
  frees    has stacks of frees
  marks    has marks
  umdh     snapshot logs in place of traces
"""

import glob
import os
import subprocess
import zipfile
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Input:
    name: str
    files: tuple  # paths as commands get them
    tags: frozenset
    bytes: int = 0


@dataclass(frozen=True)
class Made:
    """A trace of make_trace. --split names the second file itself."""

    name: str
    arguments: str
    tags: tuple = ("wide",)
    parts: tuple = field(default=())


MADE = (
    Made("demo", "demo", ("wide", "core", "stored")),
    Made("plain", "workload --seed 1 --events 1500", ("wide", "core", "stored")),
    Made("next", "workload --seed 2 --events 1500", ("wide", "stored")),
    Made("compressed", "workload --seed 3 --compress", ("wide", "stored")),
    Made("keyed", "workload --seed 4 --keys --compress", ("wide", "core", "stored")),
    Made("few-keys", "workload --seed 5 --keys --key-slots 4"),
    Made("wow64", "workload --seed 6 --wow64", ("wide", "stored")),
    Made("narrow", "workload --seed 7 --pointer-bytes 4 --clock 2"),
    Made("cycles", "workload --seed 8 --clock 3 --hz 2400000000"),
    Made("odd-hz", "workload --seed 9 --hz 3117777"),
    Made("ring", "workload --seed 10 --ring 40 --unclosed", ("wide", "stored")),
    Made("tidless", "workload --seed 11 --tidless --one-stream"),
    Made("end-rundown", "workload --seed 12 --end-rundown --header-records"),
    Made("flushed", "workload --seed 13 --flush-ticks 20000 --cpus 8 --buffer-bytes 4096"),
    Made("two-files", "workload --seed 14 --events 1500", ("wide", "core", "stored"), ("kernel", "heap")),
    Made("two-keyed", "workload --seed 15 --keys --compress --wow64", ("wide",), ("kernel", "heap")),
    Made("damaged", "workload --seed 16 --buffer-bytes 4096 --break RECORD_SIZE:70:0 --break RECORD_SIZE:900:3",
         ("wide", "stored")),
    Made("long", "workload --seed 17 --events 30000"),
    Made("freers", "workload --seed 20 --free-stacks", ("wide", "stored", "frees")),
    Made("runner", "test-runner", ("wide", "stored", "marks")),
    Made("battery", "battery-meter"),
    Made("commits", "virtualalloc-exercise"),
    Made("leaks", "heap-exercise"),
    Made("kitchen", "kitchen-sink", ("wide", "stored")),
)

# Seeds of the second writer: as they fall, they are one file or two, lossy or whole, of coarse or fine clocks.
WRITER_SEEDS = range(1, 17)

# Folders beside the real traces, with the files in them: a prefix for names, and tags.
FOLDERS = (
    ("real", ".", "*.etl", ("wide",)),
    ("built", "../traces-built", "*.etl", ("wide",)),
    ("case", "../traces-cases", "*.etl", ("wide",)),
    ("case", "../traces-cases", "*.ehs", ("wide",)),
    ("umdh", "../umdh", "*Dump.txt", ("umdh",)),
)

# A base and what is compared with it, by the names above.
PAIRS = (
    ("demo", "plain"),
    ("plain", "next"),
    ("keyed", "two-files"),
    ("two-files", "two-keyed"),
    ("case-upper_case_base", "case-upper_case_new"),
    ("case-lossy", "case-lossy_next"),
    ("case-day1", "case-day2"),
    ("umdh-batterymeter-debug.FirstDump", "umdh-batterymeter-debug.SecondDump"),
)


def make_all(folder, make_trace, traces, wanted):
    """Makes the inputs that have wanted(name); with paths relative to folder's parent."""
    os.makedirs(folder, exist_ok=True)
    inputs = [make_one(folder, make_trace, made) for made in MADE if wanted(made.name)]
    inputs += [make(folder, make_trace) for name, make in (("cut", damaged_file), ("zipped", zipped_file)) if wanted(name)]
    inputs += written(folder, [seed for seed in WRITER_SEEDS if wanted(f"writer-{seed}")])
    for prefix, place, pattern, tags in FOLDERS:
        for path in sorted(glob.glob(os.path.join(traces, place, pattern))):
            stem = os.path.splitext(os.path.basename(path))[0]
            if wanted(f"{prefix}-{stem}"):
                inputs.append(linked(folder, path, f"{prefix}-{stem}", tags))
    return inputs


def put(folder, name, files, tags):
    paths = tuple(os.path.join(os.path.basename(folder), file) for file in files)
    size = sum(os.path.getsize(os.path.join(folder, file)) for file in files)
    return Input(name, paths, frozenset(tags), size)


def make_one(folder, make_trace, made):
    files = [f"{made.name}-{part}.etl" for part in made.parts] or [f"{made.name}.etl"]
    scenario, *options = made.arguments.split()
    split = ["--split", os.path.join(folder, files[1])] if len(files) > 1 else []
    subprocess.run([make_trace, scenario, os.path.join(folder, files[0]), *options, *split], check=True,
                   stdout=subprocess.DEVNULL)
    return put(folder, made.name, files, made.tags)


def damaged_file(folder, make_trace):
    made = make_one(folder, make_trace, Made("cut-whole", "workload --seed 18 --events 1500"))
    with open(os.path.join(folder, os.path.basename(made.files[0])), "rb") as whole, open(os.path.join(folder, "cut.etl"), "wb") as cut:
        cut.write(whole.read()[:-3000])
    return put(folder, "cut", ["cut.etl"], ("wide",))


def zipped_file(folder, make_trace):
    made = make_one(folder, make_trace, Made("zip-parts", "workload --seed 19 --events 1500", (), ("kernel", "heap")))
    names = [os.path.basename(file) for file in made.files]
    with zipfile.ZipFile(os.path.join(folder, "zipped.etl.zip"), "w", zipfile.ZIP_DEFLATED) as packed:
        for name in names:
            packed.writestr(zipfile.ZipInfo(name), open(os.path.join(folder, name), "rb").read())
    return put(folder, "zipped", ["zipped.etl.zip"], ("wide",))


def written(folder, seeds):
    from second_writer.scenario import Scenario, make_setup

    inputs = []
    for seed in seeds:
        place = os.path.join(folder, f"writer-{seed}")
        os.makedirs(place, exist_ok=True)
        scenario = Scenario(make_setup(seed, []))
        scenario.run()
        files = [os.path.relpath(path, folder) for path in scenario.write(place)]
        inputs.append(put(folder, f"writer-{seed}", files, ("wide", "stored") if seed <= 4 else ("wide",)))
    return inputs


def linked(folder, path, name, tags):
    """The name without its folder, so that outputs do not say where traces are on this machine."""
    place = os.path.join(folder, name + os.path.splitext(path)[1])
    if os.path.lexists(place):
        os.remove(place)
    os.symlink(os.path.abspath(path), place)
    return put(folder, name, [os.path.basename(place)], tags)


def pairs_of(inputs):
    by_name = {given.name: given for given in inputs}
    return [(by_name[base], by_name[new]) for base, new in PAIRS if base in by_name and new in by_name]
