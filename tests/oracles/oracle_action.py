#!/usr/bin/env python3
"""Does packaging/action do what its page says, in the workflow of that page?

The workflow runs on the simulated GitHub of recipe_servers.py, and through the same series of runs
as the recipes of docs/ci.md: sound, lossy, leaking, empty, broken and accepted. The composite
action is expanded as GitHub does it: its steps see its inputs and their defaults, each script has
a file for outputs, and a failure ends it except where a step asks for it. Inputs that a shell
would run must stay text. At the end, actions with a mistake must be found out.
"""

import os
import re
import tempfile

import yaml

from docs_commands import ETLHEAP, FENCE, ROOT, make_runs
from oracle_recipes import FirstFailure, Objection, PROGRAM, Series, check_branches, check_budget, check_series, replaced
from oracle_support import Results
from recipe_servers import Condition, GitHub, Unknown, known

PINNED = re.compile(r"uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
SHELL = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]  # of `shell: bash`


class GitHubWithAction(GitHub):
    """GitHub, whose repository has the action in .github/actions/etlheap."""

    def __init__(self, recipe, action, folder):
        super().__init__(recipe, folder, ETLHEAP, PROGRAM)
        self.action, self.inputs, self.outputs = action, {}, {}

    def expression(self, text):
        """Within the action, inputs are its own; it has outputs of steps and format()."""
        outer = super().expression("'nothing'")
        functions = {**outer.functions, "format": lambda form, *words: form.format(*words)}
        variables = {**outer.variables, "github.event.repository.default_branch": "main",
                     **{f"inputs.{name}": value for name, value in self.inputs.items()}}
        return Condition(text, functions, variables)

    def run_step(self, step):
        if step.get("uses") == "./.github/actions/etlheap":
            self.outcome.ran.append(step["uses"])
            return self.run_action({name: self.filled(value) for name, value in step.get("with", {}).items()})
        if not self.inputs or "run" not in step:
            return super().run_step(step)
        known("step of an action", step, "id name if shell env run")
        if step.get("shell") != "bash":
            raise Unknown("a script of an action names its shell")
        return self.run_action_script(step)

    def run_action(self, given):
        known("action", self.action, "name description inputs outputs runs")
        known("inputs", given, " ".join(self.action["inputs"]))
        for name, one in self.action["inputs"].items():
            if one.get("required") and name not in given:
                raise Unknown(f"the input {name} is missing")
        defaults = {name: str(one.get("default", "")) for name, one in self.action["inputs"].items()}
        self.inputs = {**defaults, **{name: value.replace("app.exe", PROGRAM) for name, value in given.items()}}
        before, self.failed = self.failed, False
        for step in self.action["runs"]["steps"]:
            if self.wanted(step.get("if", "success()")) and not self.run_step({**step, "if": ""}):
                self.failed = True
        good, self.failed, self.inputs = not self.failed, before, {}
        return good

    def run_action_script(self, step):
        summary, output = (os.path.join(self.run_folder, name) for name in ("summary.md", "output"))
        for path in (summary, output):
            open(path, "w", encoding="utf-8").close()
        environment = {name: self.filled(value) for name, value in step["env"].items()}
        status, _ = self.run_script(step["run"], os.path.join(self.work, self.inputs["baseline"]),
                                    {**environment, "GITHUB_STEP_SUMMARY": summary, "GITHUB_OUTPUT": output}, SHELL)
        with open(output, encoding="utf-8") as file:
            self.outputs = dict(line.rstrip("\n").split("=", 1) for line in file)
        if os.path.getsize(summary):
            self.show("summary", [summary])
        return status == 0


class ActionSeries(Series):
    def shown(self):
        return {**super().shown(), "leaks": {"leaks.ehs", "leaks.xml", "leaks.json"}}


class Pages:
    """The page's workflow and the action, each perhaps changed."""

    def __init__(self, folder, traces):
        self.folder, self.traces, self.count = folder, traces, 0
        with open(os.path.join(ROOT, "packaging/action/action.yml"), encoding="utf-8") as file:
            self.action = file.read()
        with open(os.path.join(ROOT, "packaging/action/README.md"), encoding="utf-8") as file:
            self.page = file.read()

    def series(self, results, change_action=lambda text: text, change_page=lambda text: text):
        self.count += 1
        workflow = next(match[2] for match in FENCE.finditer(change_page(self.page)) if match[1] == "yaml")
        server = GitHubWithAction(yaml.safe_load(workflow), yaml.safe_load(change_action(self.action)),
                                  os.path.join(self.folder, f"action-{self.count}"))
        return ActionSeries(results, "GitHub", server, self.traces)


def check_page(results, made):
    action = yaml.safe_load(made.action)
    rows = set(re.findall(r"^\| `([\w-]+)` \|", made.page, re.M))
    results.equal("the page has each input", rows, set(action["inputs"]))
    wrong = [line.strip() for line in made.action.splitlines() if "uses:" in line and not PINNED.search(line)]
    results.equal("other actions are pinned by hash", wrong, [])
    scripts = [step["run"] for step in action["runs"]["steps"] if "run" in step]
    results.check("no input is a part of a script", scripts and not any("${{" in script for script in scripts))


def check_words(results, made, folder):
    """Inputs that are commands stay words, and blanks do not divide a value."""
    trap = os.path.join(folder, "trap")
    series = made.series(results, change_page=replaced(
        "            --source-root D:\\a\\app\\app=.\n",
        f"            --source-root D:\\a b=.\n            --title $(touch {trap}) `touch {trap}`; touch {trap}\n"))
    outcome = series.server.run(made.traces["sound"])
    results.check("a command in an input is not run", not os.path.exists(trap))
    results.check("it is an option of its own", outcome.status == 2 and "--title" in outcome.said, outcome.status, outcome.said)
    results.equal("the output is the status", series.server.outputs, {"status": "2"})
    series = made.series(results, change_page=replaced("--source-root D:\\a\\app\\app=.", "--source-root D:\\a b=."))
    outcome = series.server.run(made.traces["sound"], accept=True)
    results.equal("a value may have blanks", outcome.status, 0)
    series = made.series(results, change_page=replaced("          name: leaks\n          trace", "          name: leaks\n          upload-sarif: false\n          trace"))
    outcome = series.server.run(made.traces["leaky"])
    results.check("SARIF is uploaded only if wanted", "sarif" not in outcome.uploads and "leaks" in outcome.uploads, outcome.uploads.keys())
    series = made.series(results, change_page=replaced("--max-growth stack:4K+5%\n            --max", "--max"))
    server = series.server
    server.recipe["jobs"]["check"]["steps"][-1]["with"]["baseline"] = ""
    outcome = server.run(made.traces["sound"])
    results.check("without a baseline, none is saved", outcome.status == 0 and server.saves == 0, outcome.status, outcome.said)


MISTAKES = (
    ("uploads only after success", replaced("- if: ${{ !cancelled() }}", "- if: success()")),
    ("SARIF only after success", replaced("!cancelled() && inputs", "success() && inputs")),
    ("a baseline is always saved", replaced("- if: inputs.baseline != '' && github", "- if: always() && inputs.baseline != '' && github")),
    ("branches save baselines", replaced(" && github.ref == format('refs/heads/{0}', github.event.repository.default_branch)", "")),
    ("the status is hidden", replaced("exit $status", "exit 0")),
    ("no baseline is restored", replaced("restore-keys: etlheap@", "restore-keys: other@")),
    ("one key for all attempts", replaced("@${{ github.run_attempt }}", "")),
    ("growth is never accepted", replaced('"$ACCEPT" != true', '"$ACCEPT" != yes')),
    ("losses pass", replaced("words=()", "words=(--lenient)")),
    ("a lost baseline passes", replaced(" --require-baseline", "")),
)


def found_out(made, change):
    try:
        check_series(made.series(FirstFailure(), change))
        check_branches(made.series(FirstFailure(), change), "refs/pull/1/merge")
    except (Objection, Unknown):
        return True
    return False


def main():
    results = Results()
    with tempfile.TemporaryDirectory() as folder:
        made = Pages(folder, make_runs(folder))
        check_page(results, made)
        try:
            check_series(made.series(results))
            check_branches(made.series(results), "refs/pull/1/merge")
            check_budget(made.series(results, change_page=replaced("heap/total:50M", "heap/total:1M")))
            check_words(results, made, folder)
        except Unknown as reason:
            results.check("the action can be simulated", False, reason)
        for what, change in MISTAKES:
            results.check(f"a mistake is found: {what}", found_out(made, change))
    results.finish()


if __name__ == "__main__":
    main()
