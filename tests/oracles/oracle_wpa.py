#!/usr/bin/env python3
"""Compares what `export` writes as wpa-xml, perfview and wpaprofile with `report` and
`allocations`, with the documents' schema and with real profiles.

wpa-xml must fit wpa_xml.xsd (xmllint), and every row and stack of it must be one of the
report or of the list of allocations. PerfView's file is opened with zipfile; its samples,
read into 32-bit floating point numbers as PerfView does, must add up to the report's
bytes for every stack and metric. Every element, attribute, GUID and bar of a profile is
held against those that WPA saved itself; they lie beside the real traces. Names that
escaping is for are those of oracle_export.py.
"""

import glob
import io
import os
import re
import struct
import subprocess
import xml.etree.ElementTree as ElementTree
import zipfile

from oracle_export import METRICS, MADE, NO_STACK, export, hostile_trace, made_traces, report_stacks
from oracle_support import ETLHEAP, TRACES, WORK, Results, run, run_json

PROFILES = os.path.normpath(os.path.join(TRACES, "..", "wpaprofiles"))
SCHEMA = "formats/wpa_xml.xsd"
WPA = "{urn:etlheap:wpa-xml:1}"
PROFILE = "{http://tempuri.org/SerializableElement.xsd}"
KINDS = ("heap", "virtualalloc")
METRIC_MAX = 2**31 - 1
NO_CHARACTER = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")


def clean(text):
    """What XML has no character for is replaced."""
    return NO_CHARACTER.sub("\ufffd", text)


def named(folder, text):
    path = os.path.join(WORK, folder)
    with open(path, "wb") as file:
        file.write(text)
    return path


# --- wpa-xml ------------------------------------------------------------------------------------


class Tables:
    """A wpa-xml document, read without our code."""

    def __init__(self, text):
        root = ElementTree.fromstring(text)
        self.window = {key: int(value) for key, value in root.find(WPA + "Window").attrib.items()}
        stacks = root.find(WPA + "Stacks")
        frames = {frame.get("Id"): self.frame(frame) for frame in stacks.findall(WPA + "Frame")}
        self.stacks = {}
        for node in stacks.findall(WPA + "Node"):
            callers = self.stacks[node.get("Parent")] if "Parent" in node.attrib else ()
            self.stacks[node.get("Id")] = (frames[node.get("Frame")], *callers)
        self.rows = {table.get("Kind"): table.find(WPA + "Rows").findall(WPA + "Row")
                     for table in root.findall(WPA + "Table")}
        self.columns = {table.get("Kind"): [column.attrib for column in table.find(WPA + "Columns")]
                        for table in root.findall(WPA + "Table")}
        self.guids = {table.get("Kind"): table.get("Guid") for table in root.findall(WPA + "Table")}
        self.totals = {table.get("Kind"): table.find(WPA + "Total").attrib for table in root.findall(WPA + "Table")}

    @staticmethod
    def frame(frame):
        keys = ("Module", "Offset", "Address", "Symbol", "Displacement", "File", "Line", "Inlined")
        return tuple(frame.get(key) for key in keys)


def json_frame(frame):
    """A frame of our JSON as one of a document."""
    values = (frame["module"], frame["offset"], frame["address"], frame["symbol"], frame.get("displacement"),
              frame["file"], frame["line"], "true" if frame.get("inline") else None)
    return tuple(None if value is None else clean(str(value)) for value in values)


def wanted_rows(document, kind, sums):
    """Rows of our JSON as rows of a document."""
    frames = [json_frame(frame) for frame in document["frames"]]
    rows = []
    for row in document["rows"]:
        if row["kind"] != kind:
            continue
        size = row["size"]
        cell = {
            "ProcessName": clean(row["process"]),
            "Process": clean(f"{row['process']} ({row['pid']})"),
            "Type": row["type"],
            "ImpactingType": row["impacting_type"],
            "Handle": row["heap"],
            "Stack": None if row["stack"] is None else tuple(frames[i] for i in document["stacks"][row["stack"]]),
            "Size": str(size),
        }
        if sums:
            cell |= {"Count": str(row["count"]), "ImpactingSize": str(row["impacting_size"]),
                     "CountPeak": str(row["peak_count"]), "SizePeak": str(row["peak_size"])}
        else:
            cell |= {"Count": "1", "ImpactingSize": str({"AIFO": size, "AOFI": -size}.get(row["type"], 0)),
                     "Address": row["address"], "AllocTime": row["alloc_time_ns"], "FreeTime": row["free_time_ns"],
                     "LifeTime": row["lifetime_ns"], "Thread": row["thread"]}
            if kind == "heap":
                cell |= {"IsRealloc": str(row["is_realloc"]).lower(), "FreeType": row["free_type"],
                         "PageAddress": f"{int(row['address'], 16) & ~4095:#x}"}
        rows.append({key: value if isinstance(value, tuple) else str(value)
                     for key, value in cell.items() if value is not None})
    return rows


def complaint(text):
    """What xmllint says of a document, "" when the schema allows it."""
    path = named("tables.xml", text)
    done = subprocess.run(["xmllint", "--noout", "--huge", "--schema", SCHEMA, path], capture_output=True, check=False)
    return "" if done.returncode == 0 else done.stderr.decode("utf-8", "replace")


def check_schema(results, trace):
    """A schema that allows everything would prove nothing."""
    text = export(trace, "wpa-xml", "--rows")
    for label, what, by in (
            ("a stack that is not there", rb' Stack="\d+"', b' Stack="999999"'),
            ("a parent that is not there", rb' Parent="\d+"', b' Parent="999999"'),
            ("a frame that is not there", rb' Frame="\d+"', b' Frame="999999"'),
            ("a node twice", rb'<Node Id="1"', b'<Node Id="0"'),
            ("a row without a size", rb' Size="\d+"/>', b"/>"),
            ("another type", rb' Type="AIFI"', b' Type="XIFI"'),
            ("an address that is no number", rb' Address="0x', b' Address="'),
            ("a GUID in braces", rb' Guid="([^"]*)"', rb' Guid="{\1}"'),
            ("another version", rb' Version="1"', b' Version="2"'),
            ("an attribute of no column", rb"<Row ", b'<Row Colour="red" ')):
        said = complaint(re.sub(what, by, text, count=1))
        results.check(f"the schema refuses {label}", "Schemas validity error" in said, said[:300])


def check_tables(results, asked, label, sums):
    arguments = [] if sums else ["--rows"]
    text = export(asked[0], "wpa-xml", *arguments, *asked[1:])
    said = complaint(text)
    results.check(f"{label}: the schema allows it", not said, said[:500])
    tables = Tables(text)
    document = run_json("report" if sums else "allocations", *asked)
    results.equal(f"{label}: the window", tables.window,
                  {"From": document["window"]["from_ns"], "To": document["window"]["to_ns"]})
    for kind in KINDS:
        got = []
        for row in tables.rows[kind]:
            row = dict(row.attrib)
            if "Stack" in row:
                row["Stack"] = tables.stacks[row["Stack"]]
            got.append(row)
        wanted = wanted_rows(document, kind, sums)
        if sums:
            got, wanted = (sorted(rows, key=repr) for rows in ([sorted(row.items(), key=repr) for row in got],
                                                               [sorted(row.items(), key=repr) for row in wanted]))
        differ = [f"got    {a}\n#   wanted {b}" for a, b in zip(got, wanted) if a != b]
        results.check(f"{label}: {kind}: {len(wanted)} rows", len(got) == len(wanted) and not differ,
                      len(got), *differ[:2])
        total = {key: str(sum(int(row.get(key)) for row in tables.rows[kind]))
                 for key in ("Count", "ImpactingSize", "Size")}
        results.equal(f"{label}: {kind}: the total", tables.totals[kind], {"Rows": str(len(wanted)), **total})
    return tables


# --- perfview -----------------------------------------------------------------------------------


def perfview_frame(text):
    """Frames of the report as PerfView's file has them: with a "!" in each."""
    if text == NO_STACK:
        return text
    if re.fullmatch("0x[0-9a-f]+", text):
        return "?!" + text
    return text if "!" in text else re.sub(r"\+(0x[0-9a-f]+)$", r"!+\1", text)


PERFVIEW_TABS = {"ByNameTab", "CallerCalleeTab", "CallTreeTab", "CallersTab", "CalleesTab", "FlameGraphTab", "NotesTab"}
PERFVIEW_BOXES = ["Start", "End", "Scenarios", "GroupRegEx", "FoldPercent", "FoldRegEx", "IncludeRegEx", "ExcludeRegEx",
                  "TypePriority"]
PERFVIEW_STATE = ["FilterGuiState", "Notes", "Log", "Columns", "NotesPaneHidden", "ScalingPolicy", "TabSelected",
                  "FocusName"]


def check_state(state):
    """The elements that PerfView's StackWindowGuiState reads, in its order, with values that it knows."""
    tags = [child.tag for child in state]
    assert tags == [tag for tag in PERFVIEW_STATE if tag in tags], tags
    boxes = {box.tag: box for box in state.find("FilterGuiState")}
    assert list(boxes) == [tag for tag in PERFVIEW_BOXES if tag in boxes], list(boxes)
    for box in boxes.values():
        assert [child.tag for child in box] in (["Value"], ["Value", "History"]), box.tag
        history = [choice.text for choice in box.iterfind("History/string")]
        assert not history or box.findtext("Value") in history, box.tag
    float(boxes["FoldPercent"].findtext("Value"))
    # "NAME>MODULE" with -> or =>, {} for what $1 stands for: PerfView's grouping patterns.
    assert re.fullmatch(r"\[[^]]*\]\s*\{%\}!(->|=>)module \$1", boxes["GroupRegEx"].findtext("Value"))
    assert state.findtext("TabSelected") in PERFVIEW_TABS and state.findtext("NotesPaneHidden") == "False"
    assert state.findtext("ScalingPolicy") == "ScaleToData" and len(state.findtext("Notes").splitlines()) == 5
    columns = [column.text for column in state.iterfind("Columns/string")]
    assert columns[0] == "NameColumn" and len(set(columns)) == len(columns) and all(c.endswith("Column") for c in columns)


def read_perfview(data):
    """[(time, stack from the outermost frame on, metric)] as PerfView reads them."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        (info,) = archive.infolist()
        assert info.date_time == (1980, 1, 1, 0, 0, 0) and info.filename.endswith(".perfView.xml"), info
        root = ElementTree.fromstring(archive.read(info))
    assert [child.tag for child in root] == ["StackSource", "StackWindowGuiState"], [child.tag for child in root]
    check_state(root.find("StackWindowGuiState"))
    source = root.find("StackSource")
    lists = {}
    for name, item in (("Frames", "Frame"), ("Stacks", "Stack"), ("Samples", "Sample")):
        items = source.find(name).findall(item)
        assert int(source.find(name).get("Count")) == len(items), name
        assert [int(i.get("ID")) for i in items] == list(range(len(items))), name
        lists[name] = items
    stacks = []
    for node in lists["Stacks"]:
        caller = int(node.get("CallerID"))
        assert -1 <= caller < len(stacks)
        name = lists["Frames"][int(node.get("FrameID"))].text
        assert name and name.strip(), "a frame without a name stops PerfView"
        stacks.append((*(stacks[caller] if caller >= 0 else ()), name))
    samples = []
    for sample in lists["Samples"]:
        metric = int(sample.get("Metric"))
        read = struct.unpack("f", struct.pack("f", metric))[0]
        assert 0 <= metric <= METRIC_MAX and read == metric, metric
        samples.append((float(sample.get("Time")), stacks[int(sample.get("StackID"))], metric))
    used = {int(sample.get("StackID")) for sample in lists["Samples"]}
    for number in range(len(stacks) - 1, -1, -1):
        if number in used:
            used.add(int(lists["Stacks"][number].get("CallerID")))
    assert used - {-1} == set(range(len(stacks))), "stacks that no sample has"
    assert {int(node.get("FrameID")) for node in lists["Stacks"]} == set(range(len(lists["Frames"]))), \
        "frames that no stack has"
    return samples


def check_perfview(results, asked, metric, label):
    wanted = {}
    for (kind, process, stack), value in report_stacks(asked[0], metric, *asked[1:]).items():
        key = tuple(clean(text) for text in (kind, "Process " + process, *map(perfview_frame, stack)))
        wanted[key] = wanted.get(key, 0) + value
    for rows in ([], ["--rows"]):
        name = " ".join([label, "perfview", *rows])
        try:
            samples = read_perfview(export(asked[0], "perfview", "--metric", metric, *rows, *asked[1:]))
        except (AssertionError, KeyError, ElementTree.ParseError) as error:
            results.check(f"{name}: PerfView can read it", False, repr(error))
            continue
        got = {}
        for _, stack, size in samples:
            got[stack] = got.get(stack, 0) + size
        got = {stack: size for stack, size in got.items() if size > 0}
        results.equal_maps(f"{name}: {len(got)} stacks have the report's bytes", got, wanted)
        times = [time for time, _, _ in samples]
        results.check(f"{name}: samples come by time", not rows or times == sorted(times))


def check_perfview_times(results, trace):
    """Each lifetime is a sample at the time of its allocation."""
    samples = read_perfview(export(trace, "perfview", "--metric", "total", "--rows", "--kind", "heap"))
    rows = [row for row in run_json("allocations", trace, "--kind", "heap")["rows"] if row["type"] in ("AIFO", "AIFI")]
    got = [(f"{time:.3f}", size) for time, _, size in samples]
    wanted = [(f"{row['alloc_time_ns'] // 1000 / 1000:.3f}", row["size"]) for row in rows]
    results.check(f"{os.path.basename(trace)}: {len(wanted)} allocations are samples in time", got == wanted)


# --- wpaprofile ---------------------------------------------------------------------------------


def local(tag):
    return tag.rsplit("}", 1)[-1]


def elements_of(root):
    """(path, element, names of the children) of all elements."""
    found, left = [], [("", root)]
    while left:
        above, element = left.pop()
        path = f"{above}/{local(element.tag)}"
        found.append((path, element))
        left += [(path, child) for child in element]
    return found


class RealProfiles:
    """What occurs in profiles that WPA for Windows 10 and later saved. Of older ones, which
    are of another dialect, columns are taken, whose tables have names but no GUIDs there."""

    def __init__(self, paths):
        self.attributes, self.orders, self.children, self.values = set(), set(), set(), set()
        self.columns, self.graphs, self.guids, self.presets = set(), set(), set(), []
        for path in paths:
            root = ElementTree.parse(path).getroot()
            if root.tag != PROFILE + "WpaProfileContainer":
                old = [element for element in root.iter() if local(element.tag) == "HdvColumnViewModelPreset"]
                self.columns |= {(None, element.get("Name"), element.get("Guid")) for element in old}
                self.guids |= {element.get("Guid") for element in old}
                continue
            for at, element in elements_of(root):
                names = [local(name) for name in element.attrib]
                self.attributes |= {(at, name) for name in names}
                self.orders |= {(local(element.tag), a, b) for i, a in enumerate(names) for b in names[i + 1:]}
                tags = [local(child.tag) for child in element]
                self.children |= {(at, a, b) for i, a in enumerate(tags) for b in tags[i + 1:]} | \
                    {(at, tag) for tag in tags}
                self.values |= {(local(element.tag), local(name), value) for name, value in element.attrib.items()}
                if local(element.tag) == "Preset":
                    self.presets.append(element)
            self.guids |= {value for element in root.iter() for name, value in element.attrib.items()
                           if name.endswith("Guid")}
            for graph in [*root.iter(PROFILE + "Graph"), *root.iter(PROFILE + "GraphSchema")]:
                self.graphs.add(graph.get("Guid"))
                self.columns |= {(graph.get("Guid"), column.get("Name"), column.get("Guid"))
                                 for column in graph.iter(PROFILE + "Column")}

    def has_column(self, graph, name, guid):
        return (graph, name, guid) in self.columns or (None, name, guid) in self.columns

    def in_order(self, element, first, second):
        """No element has all attributes: the order of two may follow from that of others."""
        after = {b for tag, a, b in self.orders if (tag, a) == (element, first)}
        return second in after or any((element, name, second) in self.orders for name in after)


def bars_of(preset):
    """The columns between the bars, which are counted as columns are: left of the gold
    bar, between that and the blue one, and what is drawn."""
    names = [column.get("Name") for column in preset.iter(PROFILE + "Column")]
    gold, left, right, blue = (int(preset.get(name + "ColumnCount", 0))
                               for name in ("Key", "LeftFrozen", "RightFrozen", "Graph"))
    for place in sorted((gold, left, right, blue)):
        names.insert(place, None)
    return names[:gold], names[gold:blue], names[blue + 1:]


def check_profile(results, asked, label, kind, real):
    text = export(asked[0], "wpaprofile", "--kind", kind, *asked[1:])
    root = ElementTree.fromstring(text)
    preset = next(root.iter(PROFILE + "Preset"))
    report = run_json("report", *asked, "--kind", kind, "--group-by", "kind,process", "--sort", "impacting_size")
    top = report["rows"][0]
    title = "ImpactingType" if kind == "heap" else "Impacting Type"
    results.equal(f"{label}: the filter", preset.get("InitialFilterQuery"),
                  f'[Process]:="{top["process"]} ({top["pid"]})" AND [{title}]:="Impacting"')
    keys, shown, drawn = bars_of(preset)
    visible = {column.get("Name") for column in preset.iter(PROFILE + "Column") if column.get("IsVisible") == "true"}
    stack = "Stack" if kind == "heap" else "Commit Stack"
    results.equal(f"{label}: left of the gold bar", [name for name in dict.fromkeys(keys) if name in visible],
                  ["Process", "Type", title, stack])
    results.equal(f"{label}: right of it", [name for name in shown + drawn if name in visible],
                  ["Count", "Impacting Size", "Size"])
    window = report["window"]
    command = f"wpa.exe -i {asked[0]} -profile finding.wpaProfile -range {window['from_ns']} {window['to_ns']}"
    results.check(f"{label}: the command line is in a comment", command.encode() in text.split(b"-->")[0], command)
    if real is None:
        return
    wrong = []
    for path, element in elements_of(root):
        names = [local(name) for name in element.attrib]
        tags = [local(child.tag) for child in element]
        wrong += [f"{path} has no attribute {name}" for name in names if (path, name) not in real.attributes]
        wrong += [f"{path} has {a} after {b}" for i, a in enumerate(names) for b in names[i + 1:]
                  if not real.in_order(local(element.tag), a, b)]
        wrong += [f"{path} holds no {tag}" for tag in tags if (path, tag) not in real.children]
        wrong += [f"{path} has {a} after {b}" for i, a in enumerate(tags) for b in tags[i + 1:]
                  if a != b and (path, a, b) not in real.children]
        wrong += [f"{path} {name} is never {value}" for name, value in element.attrib.items()
                  if local(name) in ("LayoutStyle", "Color", "GraphChartType", "AggregationOverTime", "AggregationMode",
                                     "SortOrder", "TextAlignment", "CellFormat", "Mode", "ColumnMetadata",
                                     "TimeStampType", "Version")
                  and (local(element.tag), local(name), value) not in real.values]
    graph = next(root.iter(PROFILE + "Graph")).get("Guid")
    wrong += [f"graph {graph}"] if graph not in real.graphs else []
    wrong += [f"column {column.attrib}" for column in [*preset.iter(PROFILE + "Column"),
                                                       *preset.iter(PROFILE + "MetadataEntry")]
              if not real.has_column(graph, column.get("Name"), column.get("Guid"))]
    wrong += [f"{element.tag} {name}={guid}" for element in root.iter() for name, guid in element.attrib.items()
              if name.endswith("Guid") and guid not in real.guids]
    results.check(f"{label}: elements, attributes, their order and GUIDs are those of real profiles", not wrong,
                  *wrong[:6])


def check_real_bars(results, real):
    """The rule by which we place bars puts times, durations and sums right of the blue
    bar in every preset that WPA saved, and nothing that is grouped by."""
    wrong = []
    for preset in real.presets:
        columns = {column.get("Name"): column for column in preset.iter(PROFILE + "Column")}
        keys, _, drawn = bars_of(preset)
        names = [name for name in keys + drawn if name is not None]
        if len(names) != len([n for n in names if n in columns]) or not drawn:
            wrong.append((preset.get("Name"), drawn))
        if any(columns[name].get("AggregationMode") for name in keys if name is not None):
            wrong.append((preset.get("Name"), keys))
    results.check(f"the places of bars make sense in {len(real.presets)} real presets", not wrong, *wrong[:4])


def check_columns(results, tables, real):
    wrong = [(kind, column["Title"], column["Guid"]) for kind in KINDS for column in tables.columns[kind]
             if not real.has_column(tables.guids[kind], column["Title"], column["Guid"])]
    results.check("titles and GUIDs of wpa-xml are those of real profiles", not wrong, *wrong)


# --- what all formats promise -------------------------------------------------------------------


def check_bytes(results, trace):
    store = trace + ".ehs"
    run("store", trace, "-o", store)
    for arguments in (["wpa-xml"], ["wpa-xml", "--rows"], ["wpaprofile"], ["perfview"], ["perfview", "--rows"],
                      ["perfview", "--rows", "--metric", "peak"]):
        label = f"{os.path.basename(trace)}: {' '.join(arguments)}"
        first = export(trace, *arguments, "-j1")
        wrong = [jobs for jobs in ("-j2", "-j7") if export(trace, *arguments, jobs) != first]
        results.check(f"{label}: -j changes nothing", not wrong, wrong)
        results.check(f"{label}: the store is exported as its trace",
                      export(store, *arguments).replace(store.encode(), trace.encode()) == first)
    os.remove(store)


def check_failures(results, trace):
    folder = os.path.join(WORK, "wpa-failures")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "out")
    for label, status, *arguments in (
            ("wpa-xml of extents", 2, "wpa-xml", "--kind", "extent"),
            ("a profile of nobody", 3, "wpaprofile", "--process", "nobody.exe"),
            ("a profile of lifetimes", 2, "wpaprofile", "--rows"),
            ("perfview of lifetimes without memory", 3, "perfview", "--rows", "--memory", "200K")):
        done = subprocess.run([ETLHEAP, "export", trace, "-o", path, "--format", *arguments],
                              capture_output=True, check=False)
        results.check(f"{label}: status {status}, one sentence, no file",
                      done.returncode == status and done.stderr.count(b"\n") == 1 and not os.listdir(folder),
                      done.returncode, done.stderr, os.listdir(folder))
    for name in ("wpa-xml", "wpaprofile", "perfview"):
        if os.path.exists("/dev/full"):
            done = subprocess.run([ETLHEAP, "export", trace, "-o", "/dev/full", "--format", name],
                                  capture_output=True, check=False)
            results.check(f"{name}: a full disk is told", done.returncode == 3 and done.stderr.count(b"\n") == 1,
                          done.returncode, done.stderr)
    done = subprocess.run([ETLHEAP, "export", trace, "-o", path, "--format", "wpaprofile"], capture_output=True,
                          check=False)
    results.check("the command line for WPA is noted",
                  re.fullmatch(rb"etlheap: note: open it in WPA at the same window with: wpa\.exe -i \S+ -profile out "
                               rb"-range 0 [0-9]+\n", done.stderr), done.stderr)
    check_command(results, trace)


def said_by_export(source, content=None):
    done = subprocess.run([ETLHEAP, "export", source, "-o", os.path.join(WORK, "p.wpaProfile"), "--format", "wpaprofile"],
                          input=content, capture_output=True, check=False)
    return done.returncode, done.stderr.decode()


def check_command(results, trace):
    """WPA opens traces: the command names them whatever the export read."""
    other = os.path.join(WORK, "second.etl")
    half = os.path.join(WORK, "first.etl")
    store = os.path.join(WORK, "command.ehs")
    subprocess.run([os.environ.get("MAKE_TRACE", "build/check/make_trace"), "demo", half, "--split", other],
                   stdout=subprocess.DEVNULL, check=True)
    with open(trace, "rb") as file:
        content = file.read()
    for sources, wanted in (([trace], f" wpa.exe -i {trace} -profile"),
                            ([half, other], f" xperf -merge {half} {other} merged.etl && wpa.exe -i merged.etl -profile")):
        subprocess.run([ETLHEAP, "store", *sources, "-o", store], capture_output=True, check=True)
        status, said = said_by_export(store)
        results.check(f"of a store of {len(sources)}, the command for WPA names its traces",
                      status == 0 and wanted in said and ".ehs" not in said, status, said)
    subprocess.run([ETLHEAP, "store", "-", "-o", store], input=content, capture_output=True, check=True)
    for name, (status, said) in (("standard input", said_by_export("-", content)),
                                 ("a store of standard input", said_by_export(store))):
        results.check(f"of {name}, it says what to open", status == 0 and
                      " wpa.exe -i TRACE.etl -profile" in said and "TRACE.etl is the trace" in said, status, said)
    log = os.path.join(WORK, "blocks.txt")
    with open(log, "w", encoding="ascii") as file:
        file.write("// UMDH: version 6.1\n*- Start of data for heap @ 1 -\n1 bytes + 1 at 1 by BackTrace1\n"
                   "*- End of data for heap @ 1 -\n")
    status, said = said_by_export(log)
    results.check("a UMDH log has no profile", status != 0 and "a list of blocks does not" in said, status, said)


def main():
    results = Results()
    paths = sorted(glob.glob(os.path.join(PROFILES, "*.wpaProfile")))
    real = RealProfiles(paths) if paths else None
    if real is None:
        results.skip("real profiles", f"there are none in {PROFILES}; set TRACES to the folder beside theirs")
    traces = made_traces(len(MADE))
    hostile, named_by = hostile_trace()
    tables = None
    for asked in ([traces[0]], [traces[1]], [traces[2], "--from", "2ms", "--to", "40ms"], [hostile, *named_by]):
        label = os.path.basename(asked[0])
        for sums in (True, False):
            tables = check_tables(results, asked, f"{label}: wpa-xml, {'sums' if sums else 'rows'}", sums)
        for metric in METRICS:
            check_perfview(results, asked, metric, f"{label}: {metric}:")
    check_schema(results, traces[0])
    check_perfview_times(results, traces[0])
    for kind in KINDS:
        check_profile(results, [traces[0]], f"profile, {kind}", kind, real)
        check_profile(results, [traces[1], "--from", "2ms", "--to", "40ms"], f"profile of a window, {kind}", kind, real)
    if real:
        check_real_bars(results, real)
        check_columns(results, tables, real)
    check_bytes(results, traces[1])
    check_failures(results, traces[0])
    results.finish()


if __name__ == "__main__":
    main()
