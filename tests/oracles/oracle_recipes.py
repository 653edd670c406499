#!/usr/bin/env python3
"""Do the recipes of docs/ci.md do what they say on their servers?

Each recipe is run as its server would: a series of runs, sound, lossy, leaking, empty, broken and
accepted, in which each finds the baseline that the server saved of those before. recipe_servers.py
simulates the servers, and the shell scripts run with the real program. The baseline must be saved
after status 0 and never else, results must be uploaded also on failure, and the job must fail
exactly if etlheap does. A run without a baseline, which the server may have lost, must fail. The
recipes are also run with options that users add. Last, recipes with a mistake must be found out, or all of this would
prove nothing.
"""

import json
import os
import re
import tempfile

from docs_commands import ETLHEAP, ROOT, make_runs, recipes
from oracle_support import Results
from recipe_jenkins import Jenkins
from recipe_servers import Azure, GitHub, Unknown

# What each server shows after a check that came to a verdict, and the files in it.
SHOWN = {
    "GitHub": {"leaks": {"app.ehs", "leaks.xml", "leaks.json"}, "sarif": {"leaks.sarif"}, "summary": {"summary.md"}},
    "Azure": {"junit": {"leaks.xml"}, "sarif": {"leaks.sarif"}, "summary": {"leaks.md"}},
    "Jenkins": {"junit": {"leaks.xml"}, "sarif": {"leaks.sarif"}},
}
PROGRAM = "BatteryMeter.exe"


class Series:
    """Runs of one recipe on one server, each judged."""

    def __init__(self, results, name, server, traces):
        self.results, self.name, self.server, self.traces = results, name, server, traces

    def check(self, what, good, *details):
        self.results.check(f"{self.name}: {what}", good, *details)

    def run(self, what, trace, wanted, saves=True, fails=None, **options):
        """The outcome of a run that must end with this status; it saves a baseline if that is 0, unless on a branch."""
        before, saves_before = self.server.saved(), self.server.saves
        outcome = self.server.run(self.traces[trace], **options)
        after = self.server.saved()
        self.check(f"{what}: status {wanted}", outcome.status == wanted, outcome.status, outcome.said)
        good = {"success", "issues"} if wanted == 0 else {"failure"}
        self.check(f"{what}: the job {'succeeds' if wanted == 0 else 'fails'}", outcome.result in good, outcome.result)
        self.check(f"{what}: it is compared with what was saved", outcome.baseline == before)
        if wanted == 0 and saves:
            self.check(f"{what}: a baseline is saved", self.server.saves == saves_before + 1 and after is not None)
        else:
            self.check(f"{what}: nothing is saved", self.server.saves == saves_before and after == before)
        if wanted != 3:
            self.check_shown(what, outcome, wanted == 1 if fails is None else fails)
        return outcome

    def check_shown(self, what, outcome, fails):
        for upload, files in self.shown().items():
            found = set(outcome.uploads.get(upload, {}))
            self.check(f"{what}: {upload} is uploaded", files <= found, f"{sorted(found)} of {sorted(files)}")
        files = {name: data for upload in outcome.uploads.values() for name, data in upload.items()}
        failures = files.get("leaks.xml", b"").count(b"<failure")
        self.check(f"{what}: JUnit has {'its' if fails else 'no'} failures", (failures > 0) == fails, failures)

    def shown(self):
        return SHOWN[self.name]

    def results_of(self, outcome):
        data = outcome.uploads.get("sarif", {}).get("leaks.sarif", b"{}")
        return json.loads(data).get("runs", [{}])[0].get("results")


def check_series(series):
    """One server's life: what a run saves is what the next ones are compared with."""
    saved = series.server.saved
    series.run("a first run that lost events", "lossy", 1)
    series.run("a first run that lost events, accepted", "lossy", 4, fails=True, accept=True)
    series.run("a first run of another program", "other", 1)
    outcome = series.run("a sound run, but the baseline is lost", "sound", 1)
    series.check("it says what is missing and what to do", "baseline" in outcome.said and "--accept" in outcome.said, outcome.said)
    series.check("no run saved a baseline so far", saved() is None)
    series.run("the first sound run, accepted", "sound", 0, accept=True)
    first = saved()
    series.run("the same again", "sound", 0)
    series.check("the same again: the baseline is the same", saved() == first)
    outcome = series.run("a run that leaks more", "leaky", 1)
    series.check("a run that leaks more: SARIF has results", series.results_of(outcome))
    outcome = series.run("a run of another program", "other", 1)
    series.check("a run of another program: nothing was measured", "nothing was measured" in outcome.said, outcome.said)
    series.run("a run that lost events", "lossy", 4)
    series.run("a file that is no trace", "broken", 3)
    outcome = series.server.run(series.traces["sound"], record_fails=True)
    series.check("a recording that fails: no check, and nothing is saved",
                 outcome.status is None and outcome.result == "failure" and saved() == first)
    series.run("what leaks more, accepted", "leaky", 0, accept=True)
    series.check("what leaks more, accepted: it is the baseline", saved() != first)
    series.run("as much the next time", "leaky", 0)
    series.run("less the next time", "sound", 0)
    if series.name == "GitHub":  # others have a new build for each attempt
        series.run("a second attempt of that run", "sound", 0, attempt=2)
    series.run("as much as before that", "leaky", 1)


def check_branches(series, branch):
    """Other branches are compared with the baseline of main, and save none."""
    series.run("a branch before main ran", "sound", 1, branch=branch)
    series.run("a branch before main ran, accepted", "sound", 0, saves=False, accept=True, branch=branch)
    series.check("a branch before main ran: it saved nothing for main", series.server.saved() is None)
    series.run("main", "sound", 0, accept=True)
    series.run("a branch that leaks no more", "sound", 0, saves=False, branch=branch)
    series.run("a branch that leaks more", "leaky", 1, branch=branch)
    series.run("a branch that leaks more, accepted", "leaky", 0, saves=False, accept=True, branch=branch)
    series.run("main is not touched by it", "sound", 0)


def check_budget(series):
    """A limit of its own needs no baseline; what is over it never becomes one."""
    series.run("a first run over its budget", "leaky", 1)
    series.check("a first run over its budget: no baseline", series.server.saved() is None)
    series.run("a run within its budget", "sound", 0, accept=True)
    series.run("over the budget and grown", "leaky", 1)


def check_options(made, results, name):
    """What users put in the place of --require-baseline, or add to it."""
    series = made.series(results, name, replaced(" --require-baseline", ""))
    series.run("no baseline is required: the first run creates it", "sound", 0)
    series.run("and the next is compared with it", "leaky", 1)
    series = made.series(results, name, replaced(" --require-baseline", " --lenient"))
    series.run("lenient: the first run", "sound", 0)
    first = series.server.saved()
    series.run("lenient: a run that lost events", "lossy", 0)
    series.check("lenient: the lossy run is no baseline", series.server.saved() == first)
    series.run("lenient: a run that leaks more", "leaky", 1)
    series = made.series(results, name, replaced("--require-baseline", "--require-baseline --require-process Updater.exe"))
    outcome = series.run("a process that vanished", "sound", 1, accept=True)
    series.check("a process that vanished: it is named", "Updater.exe" in outcome.said and series.server.saved() is None, outcome.said)
    series = made.series(results, name, replaced("--require-baseline", f"--require-baseline --require-process {PROGRAM}"))
    series.run("a process that ran", "sound", 0, accept=True)


def check_limits(made, results, name):
    """Limits of peaks and allocations beside the recipe's own: far above what is measured, and far below."""
    for option in ("--max-peak", "--max-allocations", "--max-temporary", "--max-alloc-rate"):
        series = made.series(results, name, replaced(" --require-baseline", f" {option} heap/process:1000000000"))
        series.run(f"{option}, kept", "sound", 0)
        series = made.series(results, name, replaced(" --require-baseline", f" {option} heap/process:1"))
        outcome = series.run(f"{option}, exceeded", "sound", 1)
        series.check(f"{option}, exceeded: no baseline, and SARIF has it",
                     series.server.saved() is None and (name == "Jenkins" or series.results_of(outcome)))
    above = replaced("--require-baseline", "--require-baseline --max-peak total:5% --max-allocations total:5%")
    series = made.series(results, name, lambda text: re.sub(r" --suppressions \S+", "", above(text)))
    series.run("as ci.md limits both above a baseline: the first run, accepted", "sound", 0, accept=True)
    series.run("as ci.md limits both above a baseline: the same again", "sound", 0)


class Recipes:
    """The page with the recipes, and servers that run them."""

    def __init__(self, text, folder, traces):
        self.text, self.folder, self.traces, self.count = text, folder, traces, 0

    def series(self, results, name, change=lambda text: text):
        """A new server with the recipe of the page, changed."""
        self.count += 1
        (_, github), azure, jenkins = recipes(change(self.text))
        kind, recipe = {"GitHub": (GitHub, github), "Azure": (Azure, azure), "Jenkins": (Jenkins, jenkins)}[name]
        server = kind(recipe, os.path.join(self.folder, f"server {self.count}"), ETLHEAP, PROGRAM)
        return Series(results, name, server, self.traces)


def replaced(old, new):
    def change(text):
        assert old in text, f"the recipe has no {old}"
        return text.replace(old, new)
    return change


# Server, what is wrong, and the change that makes it so.
MISTAKES = (
    ("GitHub", "uploads only after success", replaced("if: ${{ !cancelled() }}", "if: ${{ success() }}")),
    ("GitHub", "SARIF only after success", replaced("!cancelled() && hashFiles", "success() && hashFiles")),
    ("GitHub", "a baseline is always saved", replaced("if: github.ref ==", "if: always() && github.ref ==")),
    ("GitHub", "a baseline is saved after failures", replaced("if: github.ref ==", "if: failure() && github.ref ==")),
    ("GitHub", "a lost baseline is forgiven", replaced(" --require-baseline", "")),
    ("GitHub", "lost events are forgiven", replaced("--require-baseline", "--require-baseline --lenient")),
    ("GitHub", "the status is hidden", replaced("--markdown \"$GITHUB_STEP_SUMMARY\"", "--markdown \"$GITHUB_STEP_SUMMARY\" || true")),
    ("GitHub", "a check that may fail", replaced("- name: Check", "- name: Check\n        continue-on-error: true")),
    ("GitHub", "no baseline is restored", replaced("restore-keys: leaks-", "restore-keys: leeks-")),
    ("GitHub", "one key for ever", replaced("-${{ github.run_id }}-${{ github.run_attempt }}", "")),
    ("GitHub", "one key for all attempts", replaced("-${{ github.run_attempt }}", "")),
    ("GitHub", "a condition nobody knows", replaced("!cancelled()", "!canceled()")),
    ("Azure", "a lost baseline is forgiven", replaced(" --require-baseline", "")),
    ("Azure", "tests only after success", replaced("condition: succeededOrFailed()", "condition: succeeded()")),
    ("Azure", "a baseline is always saved", replaced("and(succeeded(), ", "and(always(), ")),
    ("Azure", "the first download must not fail", replaced("continueOnError: true", "continueOnError: false")),
    ("Azure", "partially succeeded runs are not looked at",
     replaced("allowPartiallySucceededBuilds: true", "allowPartiallySucceededBuilds: false")),
    ("Azure", "a command after the check hides its status", replaced("--markdown leaks.md", "--markdown leaks.md; echo done")),
    ("Jenkins", "a lost baseline is forgiven", replaced(" --require-baseline", "")),
    ("Jenkins", "results only after success", replaced("always {", "success {")),
    ("Jenkins", "a baseline is always saved",
     replaced("always {", "always {\narchiveArtifacts artifacts: 'base.ehs', allowEmptyArchive: true")),
    ("Jenkins", "a successful build archives no baseline", replaced("archiveArtifacts 'base.ehs'", "")),
    ("Jenkins", "a check that may fail", replaced("--sarif leaks.sarif", "--sarif leaks.sarif || true")),
    ("Jenkins", "no baseline is copied", replaced("filter: 'base.ehs'", "filter: 'base.etl'")),
    ("Jenkins", "a first build fails", replaced(", optional: true", "")),
    ("Jenkins", "a backslash in Groovy", replaced("C:/jenkins", "C:\\jenkins")),
)


class Objection(Exception):
    """A check that failed."""


class FirstFailure(Results):
    """Ends with the first check that fails, and prints none."""

    def check(self, name, good, *details):
        if not good:
            raise Objection(name)


def found_out(made, name, change):
    """Does the series object to a recipe that was changed?"""
    try:
        check_series(made.series(FirstFailure(), name, change))
    except (Objection, Unknown):
        return True
    return False


def main():
    results = Results()
    with open(os.path.join(ROOT, "docs", "ci.md"), encoding="utf-8") as file:
        text = file.read()
    with tempfile.TemporaryDirectory() as folder:
        made = Recipes(text, folder, make_runs(folder))
        for name in SHOWN:
            try:
                check_series(made.series(results, name))
                check_options(made, results, name)
                check_limits(made, results, name)
                if name != "Jenkins":  # it has no branches, and no budget
                    check_branches(made.series(results, name), "refs/pull/1/merge")
                    check_budget(made.series(results, name, replaced("heap/total:50M", "heap/total:1M")))
            except Unknown as reason:
                results.check(f"{name}: the recipe can be simulated", False, reason)
        for name, what, change in MISTAKES:
            results.check(f"{name}: a mistake is found: {what}", found_out(made, name, change))
    results.finish()


if __name__ == "__main__":
    main()
