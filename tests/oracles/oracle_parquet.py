#!/usr/bin/env python3
"""Reads what `export --format parquet` writes with DuckDB and with hyparquet.

Every row and cell of a summary must be that of `report`'s JSON, every one of a list of
lifetimes that of `allocations`', in both readers; the hash of a stack is reckoned here
anew. DuckDB's sums must be the report's, in columns of the types that were meant. A
made table has what real ones may not: many row groups and pages, every type with
NULLs, columns that are too varied for a dictionary, bytes that are no text. The same
request gives the same bytes, and a failure leaves no file.
"""

import fcntl
import glob
import json
import os
import resource
import shutil
import signal
import subprocess
from datetime import datetime, timezone
from functools import lru_cache

import oracle_custom
import oracle_export
import oracle_threads
from oracle_support import ETLHEAP, TRACES, WORK, Results, run, run_json, skip_all
from second_writer.container import Style

BUILD = os.environ.get("BUILD", "build")
OUT = os.environ.get("OUT", "build/check")
MAKE_TRACE = os.environ.get("MAKE_TRACE", os.path.join(OUT, "make_trace"))
MAKE_PARQUET = os.path.join(os.path.dirname(os.path.abspath(MAKE_TRACE)), "make_parquet")
HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = ["@duckdb/node-api@1.5.6-r.1", "hyparquet@1.31.5", "hyparquet-compressors@1.1.2"]
INSTALL_SECONDS = 60

RUN = {"trace": "VARCHAR", "computer": "VARCHAR", "session": "VARCHAR",
       "start_time": "TIMESTAMP WITH TIME ZONE", "duration_ns": "BIGINT"}
STACK = {"stack": "VARCHAR[]", "stack_hash": "BIGINT", "site": "VARCHAR", "module": "VARCHAR", "function": "VARCHAR",
         "file": "VARCHAR", "line": "BIGINT"}
MEASURES = ["count", "size", "impacting_size", "outstanding_count", "outstanding_size", "realloc_count",
            "peak_count", "peak_size"]
SUMMARIES = {"kind": "VARCHAR", "process": "VARCHAR", "pid": "BIGINT", "heap": "UBIGINT", "heap_name": "VARCHAR",
             "type": "VARCHAR", "impacting_type": "VARCHAR", **STACK, **dict.fromkeys(MEASURES, "BIGINT"), **RUN}
LIFETIMES = {"kind": "VARCHAR", "process": "VARCHAR", "pid": "BIGINT", "heap": "UBIGINT", "heap_name": "VARCHAR",
             "type": "VARCHAR", "impacting_type": "VARCHAR", "free_type": "VARCHAR", "is_realloc": "BOOLEAN", "address": "UBIGINT",
             "size": "BIGINT", "alloc_time_ns": "BIGINT", "free_time_ns": "BIGINT", "lifetime_ns": "BIGINT",
             "thread": "BIGINT", "thread_name": "VARCHAR", "free_thread": "BIGINT", "free_stack": "VARCHAR[]", **STACK, **RUN}

WINDOWS = [
    [],
    ["--from", "2ms", "--to", "40ms"],
    ["--at-exit=freed", "--from", "10ms", "--size", "..4K"],
]
MADE = [
    ("demo", []),
    ("workload", ["--seed", "11", "--compress", "--keys"]),
    ("workload", ["--seed", "12", "--wow64", "--hz", "3117777"]),
]


# --- the readers ---------------------------------------------------------------------------


def modules_folder():
    """Where both readers are, from npm once; the end of the run without."""
    folder = os.path.join(BUILD, "test-modules", "parquet")
    if not shutil.which("node"):
        skip_all("DuckDB and hyparquet run in node, which is not installed: apt-get install nodejs npm")
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    # Two oracles use them, side by side: the second waits until they are all there.
    with open(f"{folder}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(os.path.join(folder, "node_modules", "hyparquet-compressors")):
            install(folder)
    return folder


def install(folder):
    """Into the folder, or the end of the run."""
    os.makedirs(folder, exist_ok=True)
    command = ["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", folder, *PACKAGES]
    try:
        subprocess.run(command, capture_output=True, check=True, timeout=INSTALL_SECONDS)
    except (OSError, subprocess.SubprocessError):
        shutil.rmtree(folder, ignore_errors=True)
        skip_all(f"DuckDB and hyparquet cannot be had: npm install {' '.join(PACKAGES)} failed")


def value_of(cell):
    if isinstance(cell, str) and cell[0] == "l":
        return tuple(json.loads(cell[1:]))
    if isinstance(cell, str):
        return int(cell[1:]) if cell[0] == "i" else cell[1:]
    return cell


class Asked:
    """One answer: rows as tuples, or what the reader complained about."""

    def __init__(self, answer):
        self.error = answer.get("error")
        self.names = answer.get("names", [])
        self.types = answer.get("types", [])
        self.groups = answer.get("groups", [])
        self.facts = answer.get("facts", {})
        self.rows = [tuple(map(value_of, row)) for row in answer.get("rows", [])]


class Readers:
    """Asks all questions at once: a start of the readers takes half a second."""

    def __init__(self, folder):
        self.folder = folder
        self.questions = []
        self.checks = []

    def ask(self, questions, check):
        """check is called with the answers to these questions."""
        self.checks.append((len(self.questions), len(questions), check))
        self.questions += questions

    def finish(self):
        done = subprocess.run(
            ["node", os.path.join(HERE, "oracle_parquet.mjs"), self.folder],
            input=json.dumps(self.questions).encode(), capture_output=True, timeout=300, check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode("utf-8", "replace"))
        answers = [Asked(answer) for answer in json.loads(done.stdout)]
        for start, count, check in self.checks:
            check(*answers[start : start + count])


def whole(path, columns):
    """A question for all of a file; moments are in microseconds, as hyparquet has them."""
    shown = [f"epoch_us({name}) AS {name}" if "TIMESTAMP" in kind else name for name, kind in columns.items()]
    return {"sql": f"SELECT {', '.join(shown)} FROM read_parquet('{path}', file_row_number = true) ORDER BY file_row_number"}


def compare_rows(results, name, got, wanted):
    if got.error:
        results.check(name, False, got.error)
        return
    wrong = [f"row {i}: got {a}, wanted {b}" for i, (a, b) in enumerate(zip(got.rows, wanted)) if a != b]
    if len(got.rows) != len(wanted):
        wrong.append(f"{len(got.rows)} rows, wanted {len(wanted)}")
    results.check(f"{name}: {len(wanted)} rows", not wrong, *wrong[:3])


# --- what must be there ------------------------------------------------------------------------


def frame_text(frame):
    if frame["module"] is None:
        return frame["address"] or "outside of modules"
    if frame["symbol"] is None:
        return f"{frame['module']}+{frame['offset']}"
    return f"{frame['module']}!{frame['symbol']}" + (f"+{frame['displacement']}" if frame.get("nearest") else "")


def stack_hash(frames):
    """FNV-1a over module!function; or module+offset; of each frame, modules without case."""
    text = ""
    for frame in frames:
        if frame["module"] is not None:
            # One character becomes one: simple folding, but for 28 letters not used here.
            text += "".join(c.casefold() if len(c.casefold()) == 1 else c for c in frame["module"])
            text += f"!{frame['symbol']}" if frame["symbol"] is not None else f"+{frame['offset'][2:]}"
        text += ";"
    return fnv1a(text)


@lru_cache(maxsize=None)
def fnv1a(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value - 2**64 if value >= 2**63 else value


def stack_cells(document, index):
    if index is None:
        return (None,) * len(STACK)
    frames = [document["frames"][i] for i in document["stacks"][index]]
    texts = tuple(frame_text(frame) for frame in frames)
    first = frames[0]
    return texts, stack_hash(frames), texts[0], first["module"], first["symbol"], first["file"], first["line"]


def run_cells(document):
    trace = document["trace"]
    seconds, fraction = trace["start_time"].rstrip("Z").split(".")
    start = datetime.fromisoformat(seconds).replace(tzinfo=timezone.utc)
    micros = int(start.timestamp()) * 1000000 + int(fraction) // 1000
    return "; ".join(trace["files"]), trace["computer"] or None, trace["session"] or None, micros, trace["duration_ns"]


def plain_row(row):
    """JSON calls a custom heap by its name; there is a column for numbers and one for names."""
    named = row["kind"] == "custom"
    return {"thread_name": None, **row, "heap": None if named else row["heap"], "heap_name": row["heap"] if named else None}


def wanted_rows(document, columns):
    lacking = {key for row in document["rows"] for key in row} - set(columns)
    assert not lacking, f"keys of JSON that the table lacks: {lacking}"
    of_run = run_cells(document)
    stacks = {}
    rows = []
    for row in map(plain_row, document["rows"]):
        stack = row["stack"]
        if stack not in stacks:
            stacks[stack] = stack_cells(document, stack)
        known = dict(zip([*STACK, *RUN], stacks[stack] + of_run))
        cells = []
        if "free_stack" in columns:
            known["free_stack"] = stack_cells(document, row["free_stack"])[0]
        for name in columns:
            cell = known[name] if name in known else row[name]
            cells.append(int(cell, 16) if name in ("heap", "address") and cell is not None else cell)
        rows.append(tuple(cells))
    return rows


# --- exports of traces ---------------------------------------------------------------------------


def export(path, trace, *arguments):
    run("export", trace, "--format", "parquet", "-o", path, *arguments)
    return path


def compare_export(results, readers, label, trace, arguments, with_sums=True):
    """Summary and lifetimes, cell by cell in both readers, and sums in DuckDB."""
    parts = [("report", [], SUMMARIES), ("allocations", ["--rows"], LIFETIMES)]
    for command, rows, columns in parts:
        path = export(os.path.join(WORK, f"{len(readers.questions)}.parquet"), trace, *rows, *arguments)
        document = run_json(command, trace, *arguments)
        wanted = wanted_rows(document, columns)
        name = f"{label} {' '.join(arguments)}: {command}"
        facts = wanted_facts(document, command)

        def check(described, duckdb, hyparquet, name=name, wanted=wanted, columns=columns, facts=facts):
            types = {row[0]: row[1] for row in described.rows}
            results.equal(f"{name}: DuckDB's columns", list(types.items()), list(columns.items()))
            compare_rows(results, f"{name}: DuckDB", duckdb, wanted)
            compare_rows(results, f"{name}: hyparquet", hyparquet, wanted)
            results.equal(f"{name}: its facts", fact_values(hyparquet.facts), facts)

        readers.ask([{"sql": f"DESCRIBE FROM '{path}'"}, whole(path, columns), {"file": path}], check)
        if with_sums:
            compare_sums(results, readers, name, path, trace, arguments, "size, count" if command == "report" else "size, 1")


def fact_values(facts):
    names = ["schema", "session", "clock_hz", "start_time", "from_ns", "to_ns"]
    losses = {key: value for key, value in facts.items() if key.startswith("etlheap.diagnostics.")}
    return [facts.get(f"etlheap.{name}") for name in names], losses


def wanted_facts(document, command):
    trace, window = document["trace"], document["window"]
    schema = "etlheap-parquet-summaries-1" if command == "report" else "etlheap-parquet-lifetimes-1"
    losses = {f"etlheap.diagnostics.{row['name']}": str(row["count"]) for row in document["diagnostics"]}
    return [schema, trace["session"], str(trace["clock_hz"]), trace["start_time"], str(window["from_ns"]),
            str(window["to_ns"])], losses


def compare_sums(results, readers, name, path, trace, arguments, measured):
    size, count = measured.split(", ")
    for keys in ("kind,type", "kind,process,pid", "kind,stack"):
        report = run_json("report", trace, *arguments, "--group-by", keys.replace(",pid", ""))
        wanted = {}
        for row in report["rows"]:
            cells = [stack_cells(report, row[key])[0] if key == "stack" else row[key] for key in keys.split(",")]
            key = tuple(int(cell, 16) if name == "heap" and cell else cell for name, cell in zip(keys.split(","), cells))
            old = wanted.get(key, (0, 0))
            wanted[key] = (old[0] + row["size"], old[1] + row["count"])

        def check(answer, keys=keys, wanted=wanted):
            got = {row[:-2]: row[-2:] for row in answer.rows}
            results.equal_maps(f"{name}: DuckDB's sums by {keys} are the report's: {len(wanted)}", got, wanted)

        readers.ask([{"sql": f"SELECT {keys}, CAST(sum({size}) AS BIGINT), CAST(sum({count}) AS BIGINT) "
                             f"FROM '{path}' GROUP BY {keys}"}], check)


def make_summaries():
    """Two recordings of one program, which have stacks in common."""
    traces = [os.path.join(WORK, f"run{number}.etl") for number in range(2)]
    for scenario, trace in zip(("demo", "battery-meter"), traces):
        subprocess.run([MAKE_TRACE, scenario, trace], check=True, stdout=subprocess.DEVNULL)
    return traces


def compare_summary(results, readers, traces):
    """A merged summary has no heaps and ids, and does not know every peak: NULL."""
    summaries = []
    for number, trace in enumerate(traces):
        summaries.append(os.path.join(WORK, f"part{number}.ehs"))
        run("store", trace, "--summary", "-o", summaries[-1])
    merged = os.path.join(WORK, "merged.ehs")
    run("merge", *summaries, "-o", merged)
    path = export(os.path.join(WORK, "merged.parquet"), merged, "--no-symbols", "--no-cull")
    document = run_json("report", merged, "--no-symbols", "--no-cull", "--group-by", "kind,process,type,stack")
    document["rows"] = [{"pid": None, "heap": None, **row} for row in document["rows"]]
    wanted = wanted_rows(document, SUMMARIES)
    peaks = [row["peak_size"] for row in document["rows"]]
    results.check("a merged summary knows some peaks and others not", None in peaks and set(peaks) != {None})

    def check(duckdb, hyparquet):
        compare_rows(results, "a merged summary: DuckDB", duckdb, wanted)
        compare_rows(results, "a merged summary: hyparquet", hyparquet, wanted)

    readers.ask([whole(path, SUMMARIES), {"file": path}], check)


# --- the made table -----------------------------------------------------------------------------------

MADE_COLUMNS = {"row": "BIGINT", "signed": "BIGINT", "coded": "BIGINT", "distinct": "BIGINT", "constant": "BIGINT",
                "unsigned": "UBIGINT", "truth": "BOOLEAN", "moment": "TIMESTAMP WITH TIME ZONE", "word": "VARCHAR",
                "unique": "VARCHAR", "hostile": "VARCHAR", "never": "VARCHAR"}
HOSTILE = ["", "\ufffd\ufffd", "a\ufffd", "\ufffd\ufffd\ufffd|", "nul\0inside", "\"quoted\", 'too'\\\n\r\t", "\U0001f600 é", "<&;>"]


def made_row(row):
    """What make_parquet.c puts in a row."""
    return (
        row,
        row if row % 2 == 0 else -row * 1000000007,
        None if row % 7 == 3 else -(row // 100 % 1000),
        row * row,
        42,
        None if row % 3 == 0 else 2**64 - 1 - row,
        None if row % 11 == 5 else row % 5 == 0,
        1600000000000000 + row // 1000 * 1000000,
        f"word {row % 10}",
        None if row % 13 == 1 else f"unique {row} of them",
        HOSTILE[row % len(HOSTILE)],
        None,
    )


def compare_made(results, readers, row_count, group_rows, *group_bytes):
    path = os.path.join(WORK, f"made-{row_count}-{group_rows}.parquet")
    subprocess.run([MAKE_PARQUET, path, str(row_count), str(group_rows), *group_bytes], check=True)
    wanted = [made_row(row) for row in range(row_count)]
    name = f"made table, {row_count} rows in groups of {group_rows}"
    quoted = {f'"{key}"': value for key, value in MADE_COLUMNS.items()}

    def check(described, duckdb, hyparquet):
        results.equal(f"{name}: columns", {row[0]: row[1] for row in described.rows}, MADE_COLUMNS)
        compare_rows(results, f"{name}: DuckDB", duckdb, wanted)
        compare_rows(results, f"{name}: hyparquet", hyparquet, wanted)
        if not group_bytes:
            groups = [min(group_rows, row_count - start) for start in range(0, row_count, group_rows)]
            results.equal(f"{name}: row groups", hyparquet.groups, groups)
        else:
            results.check(f"{name}: texts end row groups early", len(hyparquet.groups) > row_count // group_rows + 1,
                          hyparquet.groups)
        results.equal(f"{name}: facts", hyparquet.facts, {"made.rows": str(row_count), "made.hostile": "\ufffd;"})

    readers.ask([{"sql": f"DESCRIBE FROM '{path}'"}, whole(path, quoted), {"file": path}], check)
    return path, wanted


def check_statistics(results, readers, path, wanted, group_rows):
    """Each group's smallest and largest, NULLs, and whether it has a dictionary."""
    coded = {"coded", "constant", "moment", "word", "hostile"}
    groups = [wanted[start : start + group_rows] for start in range(0, len(wanted), group_rows)]

    def check(answer):
        wrong = []
        for group, column, low, high, nulls, encodings, count in answer.rows:
            values = [row[list(MADE_COLUMNS).index(column)] for row in groups[group]]
            present = [value for value in values if value is not None]
            if column == "moment":
                present, low, high = [], None, None
            if isinstance(present[0] if present else None, bool):
                present = [str(value).lower() for value in present]
            ends = (str(min(present)), str(max(present))) if present else (None, None)
            if (low, high) != ends or nulls != values.count(None) or count != len(values):
                wrong.append(f"{column}: {low} to {high}, {nulls} NULL of {count}, wanted {ends}, {values.count(None)}")
            if ("RLE_DICTIONARY" in encodings) != (column in coded):
                wrong.append(f"{column}: encodings {encodings}")
        results.check(f"statistics and encodings of {len(groups)} row groups", not wrong and answer.rows, *wrong[:5])

    readers.ask([{"sql": "SELECT row_group_id, path_in_schema, stats_min_value, stats_max_value, stats_null_count, "
                         f"encodings, num_values FROM parquet_metadata('{path}')"}], check)


def check_filters(results, readers, path, wanted):
    """Rows that a filter selects, where statistics let readers pass over row groups."""
    names = list(MADE_COLUMNS)
    filters = {
        "row BETWEEN 3000 AND 3010": lambda row: 3000 <= row["row"] <= 3010,
        "signed < -5000000000000": lambda row: row["signed"] < -5000000000000,
        "signed = 8": lambda row: row["signed"] == 8,
        "coded = -57": lambda row: row["coded"] == -57,
        "coded IS NULL AND row > 5000": lambda row: row["coded"] is None and row["row"] > 5000,
        "unsigned > 18446744073709551600": lambda row: (row["unsigned"] or 0) > 18446744073709551600,
        "truth": lambda row: row["truth"],
        "epoch_us(moment) >= 1600000005000000": lambda row: row["moment"] >= 1600000005000000,
        "moment >= TIMESTAMPTZ '2020-09-13 12:26:45+00'": lambda row: row["moment"] >= 1600000005000000,
        "word = 'word 3'": lambda row: row["word"] == "word 3",
        "\"unique\" = 'unique 4711 of them'": lambda row: row["unique"] == "unique 4711 of them",
        "hostile = chr(128512) || ' é'": lambda row: row["hostile"] == HOSTILE[6],
        "hostile = ''": lambda row: row["hostile"] == "",
        "never IS NOT NULL": lambda row: row["never"] is not None,
    }
    for condition, selects in filters.items():
        chosen = [row[0] for row in wanted if selects(dict(zip(names, row)))]

        def check(answer, condition=condition, chosen=chosen):
            got = sorted(row[0] for row in answer.rows)
            results.check(f"filter {condition}: {len(chosen)} rows", got == chosen, answer.error, got[:9], chosen[:9])

        readers.ask([{"sql": f"SELECT row FROM '{path}' WHERE {condition}"}], check)


# --- bytes and failures --------------------------------------------------------------------------------------


def check_bytes(results, trace):
    """With any number of threads, and from a store of the same name."""
    for rows in ([], ["--rows"]):
        files = []
        for name in ("first", "seven", "store"):
            folder = os.path.join(WORK, name)
            os.makedirs(folder, exist_ok=True)
            if name == "store":
                run("store", trace, "-o", os.path.join(folder, "same.etl"))
            else:
                shutil.copy(trace, os.path.join(folder, "same.etl"))
            jobs = "7" if name == "seven" else "1"
            subprocess.run([ETLHEAP, "export", "same.etl", "--format", "parquet", *rows, "-j", jobs, "-o", "out.parquet"],
                           check=True, cwd=folder, stderr=subprocess.DEVNULL)
            with open(os.path.join(folder, "out.parquet"), "rb") as file:
                files.append(file.read())
        what = f"export {' '.join(rows)}: {len(files[0])} bytes"
        results.check(f"{what}: -j7 writes the same", files[0] == files[1])
        results.check(f"{what}: the store gives the same", files[0] == files[2])
        piped = subprocess.run([ETLHEAP, "export", "same.etl", "--format", "parquet", *rows, "-o", "-"], check=True,
                               cwd=os.path.join(WORK, "first"), capture_output=True).stdout
        results.check(f"{what}: a pipe gets the same", piped == files[0])


def check_failures(results, trace):
    folder = os.path.join(WORK, "failures")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "half.parquet")

    def limit():
        """Files end there, as a full disk would end them."""
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    command = [ETLHEAP, "export", trace, "--format", "parquet", "--rows"]
    done = subprocess.run([*command, "-o", path], preexec_fn=limit, capture_output=True, check=False)
    results.equal("a file that cannot grow: status and what is left", (done.returncode, os.listdir(folder)), (3, []))
    done = subprocess.run([*command, "-o", "/dev/full"], capture_output=True, check=False)
    results.equal("/dev/full: status", done.returncode, 3)
    with subprocess.Popen([*command, "-o", "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as writer:
        writer.stdout.close()
        said = writer.stderr.read().decode()
        status = writer.wait()
    results.check("a closed pipe ends the export without a crash", status in (0, 3, -signal.SIGPIPE), status, said)
    done = subprocess.run([*command, "-o", path, "--memory", "1K"], capture_output=True, check=False)
    results.equal("too little memory: status and what is left", (done.returncode, os.listdir(folder)), (3, []))


def main():
    results = Results()
    readers = Readers(modules_folder())
    traces = []
    for number, (scenario, options) in enumerate(MADE):
        trace = os.path.join(WORK, f"{scenario}-{number}.etl")
        subprocess.run([MAKE_TRACE, scenario, trace, *options], check=True, stdout=subprocess.DEVNULL)
        traces.append(trace)
    plain = "--no-symbols"
    compare_export(results, readers, "demo", traces[0], [plain])
    threads, custom = os.path.join(WORK, "named-threads.etl"), os.path.join(WORK, "custom-heaps.etl")
    oracle_threads.write_trace(threads)
    oracle_custom.random_trace(custom, 7, 400, Style("session", 16384))
    compare_export(results, readers, "names of threads", threads, [plain])
    compare_export(results, readers, "heaps with names", custom, [plain, "--custom-heap", oracle_custom.ENGINE_EVENTS])
    compare_export(results, readers, "demo", traces[0], [plain, "--from", "2s", "--to", "9s", "--at-exit=freed"])
    compare_export(results, readers, "demo", traces[0], [plain, "--process", "nobody.exe"], False)
    for number, window in enumerate(WINDOWS):
        compare_export(results, readers, f"workload {1 + number % 2}", traces[1 + number % 2], [plain, *window])
    compare_summary(results, readers, make_summaries())
    trace, named = oracle_export.hostile_trace()
    compare_export(results, readers, "hostile names", trace, named)
    built = sorted(glob.glob(os.path.join(TRACES, "..", "traces-built", "*.etl")))
    if not built:
        results.skip("traces of another writer", "there is no folder traces-built beside the real traces; set TRACES")
    for trace in built:
        compare_export(results, readers, os.path.basename(trace), trace, [plain, "--from", "20ms"], False)
    path, wanted = compare_made(results, readers, 8000, 1000)
    check_statistics(results, readers, path, wanted, 1000)
    check_filters(results, readers, path, wanted)
    compare_made(results, readers, 34000, 262144)
    compare_made(results, readers, 500, 400, "4096")
    compare_made(results, readers, 1, 1)
    compare_made(results, readers, 0, 10)
    readers.finish()
    check_bytes(results, traces[1])
    check_failures(results, traces[0])
    results.finish()


if __name__ == "__main__":
    main()
