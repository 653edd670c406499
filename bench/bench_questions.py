"""What each question costs, in multiples of the default report on the same input.

A user asks a second and a third question of the same trace; none should be an order of
magnitude slower or larger than the first. questions_baseline.json keeps the figures of the
revision that later ones are held against, and questions_baseline.md shows them.
"""

import json
import os
import statistics

from bench_inputs import BenchError
from bench_measure import Row, measured

MIB = 1 << 20
MEMORY_LIMIT_MIB = 512

# Arguments around the input; what a question may take on H, in times of the default report of
# the revision that it is held against; what it may take from H.ehs, in seconds. The first
# question is the one that the others are held against; one that reads several traces is held
# against as many of it.
QUESTIONS = {
    "report": (["report", "{}"], None, None),
    "report --sort peak_size": (["report", "{}", "--sort", "peak_size"], 1.3, 0.3),
    "report --format json": (["report", "{}", "--format", "json"], 1.4, 0.5),
    "windows --every 1s": (["windows", "{}", "--every", "1s"], 1.3, 0.4),
    "report --growth": (["report", "{}", "--growth"], 1.6, 0.5),
    "report --suspects": (["report", "{}", "--suspects"], 2.0, 0.5),
    "report --churn": (["report", "{}", "--churn"], 2.0, None),
    "report --pairs": (["report", "{}", "--pairs"], 2.0, None),
    "report --group-by process,impacting_stack": (["report", "{}", "--group-by", "process,impacting_stack"], 2.0, None),
    "report --unmatched": (["report", "{}", "--unmatched"], 2.0, None),
    "report --map": (["report", "{}", "--map"], 2.0, None),
    "report --impacting transient": (["report", "{}", "--impacting", "transient"], 2.0, 1.0),
    "report --at peak": (["report", "{}", "--at", "peak"], 1.8, 0.6),
    "report --histogram size": (["report", "{}", "--histogram", "size"], 1.5, 0.4),
    "allocations --top 10 --sort size": (["allocations", "{}", "--top", "10", "--sort", "size"], 1.6, 0.4),
    "windows --find-growth": (["windows", "{}", "--find-growth"], 2.0, 0.8),
    "windows --find-spikes": (["windows", "{}", "--find-spikes"], 2.0, None),
    "report --spikes": (["report", "{}", "--spikes"], 2.0, None),
    "report --columns +lifetime_median_ns,+freed_size": (
        ["report", "{}", "--columns", "+lifetime_median_ns,+freed_size"], 2.0, None),
    "report --tree --format json": (["report", "{}", "--tree", "--format", "json"], 2.0, None),
    "report --focus": (["report", "{}", "--focus", "{module}!"], 2.0, None),
    "report --exclude-frame": (["report", "{}", "--exclude-frame", "{module}!"], 2.0, None),
    "report --fold-module": (["report", "{}", "--fold-module", "{module}"], 2.0, None),
    "report --group-by function": (["report", "{}", "--group-by", "function"], 2.0, None),
    "report --group-by source_line": (["report", "{}", "--group-by", "source_line"], 2.0, None),
    "export --format html": (["export", "{}", "--format", "html"], 2.5, 1.5),
    "store": (["store", "{}", "-o", "{out}"], 1.8, None),
    "diff": (["diff", "{}", "{}"], 2.0, None),
    "diff --lifetimes": (["diff", "{}", "{}", "--lifetimes"], 2.0, None),
    "trend": (["trend", "{}", "{}", "{}"], 2.0, None),
}
DEFAULT = "report"

# A module with many frames, by the name of the input.
MODULES = {"clang": "libLLVM-14.so.1"}
OTHER_MODULE = "json.dll"
NOT_OF_STORES = ("store",)
WITH_TARGETS = ("H", "H.ehs", "HF")


class Figures:
    """
    Wall time, processor time and peak anonymous memory of each question on one input. With
    an earlier revision's program, `then`, its default report takes turns with them too, and
    is what multiples are of: a report that becomes faster does not move the goal.
    """

    def __init__(self, name, path, runs, shown=None, then=None):
        self.name, self.path, self.runs, self.then = name, path, runs, then
        self.shown = shown or name
        self.module = MODULES.get(name, OTHER_MODULE)
        self.base = []  # of `then`, or else of the default report
        self.values = {}  # {question: [(seconds, cpu_seconds, bytes)]}
        self.load = 0.0  # of the machine in the middle of it

    def measure(self, etlheap, rss_anon, jobs, out):
        """All questions take turns: one round asks each of them once."""
        asked = [question for question in QUESTIONS
                 if not (self.path.endswith(".ehs") and question in NOT_OF_STORES)]
        self.values = {question: [] for question in asked}
        loads, self.base = [], []
        for _ in range(self.runs):
            if self.then:
                self.base.append(measured(rss_anon, [self.then, "report", self.path, f"-j{jobs}"]))
            for question in asked:
                loads.append(os.getloadavg()[0])
                words = [word.replace("{out}", out).replace("{}", self.path).replace("{module}", self.module)
                         for word in QUESTIONS[question][0]]
                self.values[question].append(measured(rss_anon, [etlheap, *words, f"-j{jobs}"]))
                if os.path.exists(out):
                    os.remove(out)
        self.base = self.base or self.values[DEFAULT]
        self.load = round(statistics.median(loads), 1)

    def multiples(self, question, what):
        """Value over the one it is held against, round by round; memory is not needed twice."""
        reports = 1 if what == 2 else QUESTIONS[question][0].count("{}")
        return [one[what] / base[what] / reports for one, base in zip(self.values[question], self.base)]

    def table(self):
        """{question: what one line of the baseline says of it}."""
        lines = {}
        for question, values in self.values.items():
            middle = [statistics.median(column) for column in zip(*values)]
            lines[question] = {
                "seconds": round(middle[0], 3), "cpu_seconds": round(middle[1], 3),
                "rss_anon_mib": round(middle[2] / MIB, 1),
                "times": [round(statistics.median(self.multiples(question, what)), 2) for what in range(3)],
            }
        return lines

    def rows(self, baseline):
        """Rows of the benchmark's table; the baseline's multiple stands beside today's."""
        rows = []
        old = baseline.get("inputs", {}).get(self.name, {}).get("questions", {})
        for question in self.values:
            seconds = [value[0] for value in self.values[question]]
            if question == DEFAULT:
                rows.append(Row(f"{self.shown}: {question}", seconds, "s"))
                if not self.then:
                    continue
            rows.append(self.row(question, seconds, old.get(question)))
        limit = MEMORY_LIMIT_MIB if self.name == "H8" else None
        worst = max(self.values, key=lambda question: statistics.median(v[2] for v in self.values[question]))
        rows.append(Row(f"{self.shown}: largest peak of RssAnon, {worst}",
                        [value[2] / MIB for value in self.values[worst]], "MiB", limit, at_most=True))
        return rows

    def row(self, question, seconds, old):
        """Of a store in seconds, since its default report is no measure: that reads sums alone."""
        has_targets = self.name in WITH_TARGETS
        _, times, from_store = QUESTIONS[question] if has_targets else (None, None, None)
        if self.path.endswith(".ehs"):
            was = f" (baseline {old['seconds']:.2f} s)" if old else ""
            return Row(f"  {question}{was}", seconds, "s", from_store, at_most=True)
        was = f" (baseline {old['times'][0]:.2f})" if old else ""
        of = "the earlier report" if self.then else "report"
        return Row(f"  {question}, in times of {of}{was}", self.multiples(question, 0), "x", times, at_most=True)


def load_baseline(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write_baseline(path, about, figures):
    """Writes FILE.json, and FILE.md for people."""
    if not figures:
        raise BenchError("no question was measured, so there is nothing to keep")
    document = {**about, "inputs": {
        one.name: {"what": one.shown, "runs": one.runs, "load": one.load, "questions": one.table()} for one in figures}}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
    with open(os.path.splitext(path)[0] + ".md", "w", encoding="utf-8") as file:
        file.write(render(document))


def render(document):
    lines = [
        "# Questions: the baseline", "",
        f"Revision `{document['revision']}`, {document['machine']}, {document['when']},"
        f" `-j{document['jobs']}`, inputs in the page cache.",
        "",
        "Each input's questions took turns; a value is the median of its runs, and \"times\" is the median of the",
        "ratios to the default `report` within the rounds. RssAnon is the peak of anonymous memory. On a machine with more",
        "load than threads, other programs ran too: they lengthen wall times most, processor times less, memory not at all.",
        "`bench/README.md` says how to measure a revision against these figures.",
    ]
    for name, of in document["inputs"].items():
        runs = f"{of['runs']} runs" if of["runs"] > 1 else "1 run"
        lines += ["", f"## {name}", "", f"{of['what']}; {runs}, load {of['load']}.", "",
                  "| question | wall, s | times | processor, s | times | RssAnon, MiB | times |",
                  "|---|---|---|---|---|---|---|"]
        for question, line in of["questions"].items():
            wall, cpu, memory = line["times"]
            lines.append(f"| `{question}` | {line['seconds']:.3f} | {wall:.2f} | {line['cpu_seconds']:.3f} | {cpu:.2f}"
                         f" | {line['rss_anon_mib']:.0f} | {memory:.2f} |")
    return "\n".join(lines) + "\n"
