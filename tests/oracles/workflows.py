#!/usr/bin/env python3
"""Do the workflows of build servers hold: .github/workflows and azure-pipelines.yml?

actionlint reads those of GitHub, and a schema that of Azure. Each goal of make that a step
names must be in the Makefile, each script a program of this tree, each part of the nightly
run one of run_nightly.sh, and what the two servers run must be the same. Last, workflows
with a mistake must be found out, or all of this would prove nothing. The same holds for what
is said of strangers: actions and images are pinned by hash, no job keeps credentials, and
Azure runs no pull requests.
"""

import glob
import itertools
import json
import os
import re
import subprocess

import jsonschema
import yaml

import actionlint
from oracle_support import Results

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
AZURE = "azure-pipelines.yml"
CHECK_MINUTES_MAX = 90
PINNED_IMAGE = re.compile(r"debian:12@sha256:[0-9a-f]{64}")
PROGRAMS = {"apt-get", "git", "make"}  # and scripts of the tree


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def make_text():
    """The Makefile, and what it includes."""
    included = sorted(glob.glob(os.path.join(ROOT, "*", "*.mk")))
    return "".join(text_of(path) for path in ["Makefile", *(os.path.relpath(path, ROOT) for path in included)])


def make_goals():
    return set(re.findall(r"^([a-z][a-z-]*):", make_text(), re.MULTILINE))


def nightly_parts():
    listed = subprocess.run(["bash", "tests/run/run_nightly.sh", "--list"], cwd=ROOT, capture_output=True, check=True, text=True)
    return {line.split()[0] for line in listed.stdout.splitlines()}


# --- what steps run ------------------------------------------------------------------------


def expanded(command, matrix, form):
    """The command with each value of the matrix."""
    used = [name for name in matrix if form(name) in command]
    for values in itertools.product(*(matrix[name] for name in used)):
        line = command
        for name, value in zip(used, values):
            line = line.replace(form(name), str(value))
        yield line


def github_commands(workflow):
    for job in workflow["jobs"].values():
        matrix = job.get("strategy", {}).get("matrix", {})
        for step in job["steps"]:
            for line in step.get("run", "").splitlines():
                yield from expanded(line, matrix, "${{{{ matrix.{} }}}}".format)


def azure_commands(pipeline):
    for stage in pipeline["stages"]:
        for job in stage["jobs"]:
            matrix = {}
            for values in job.get("strategy", {}).get("matrix", {}).values():
                for name, value in values.items():
                    matrix.setdefault(name, []).append(value)
            for step in job["steps"]:
                for line in step.get("script", "").splitlines():
                    yield from expanded(line, matrix, "$({})".format)


def complaints_of(command, goals, parts):
    """What is wrong with a line of shell, and the lines of its own that matter."""
    wrong = []
    for part in re.split(r"&&|;|\|\|", command):
        words = part.split()
        if words and words[0] == ".ci/in_debian":
            wrong += [] if is_program(words[0]) else [f"{words[0]} is no program"]
            words = words[1:]
        if not words:
            wrong.append("nothing is run")
        elif words[0] == "make":
            named = [word for word in words[1:] if "=" not in word]
            wrong += [f"make has no goal {goal}" for goal in named if goal not in goals]
            wrong += [] if named else ["make is given no goal"]
            for name, _, value in (word.partition("=") for word in words[1:] if "=" in word):
                if name == "ONLY":
                    wrong += [f"check-nightly has no part {one}" for one in value.split(",") if one not in parts]
                elif not re.search(rf"\b{name}\b", make_text()):
                    wrong.append(f"the Makefile has no variable {name}")
        elif "/" in words[0]:
            wrong += [] if is_program(words[0]) else [f"{words[0]} is no program"]
        elif words[0] not in PROGRAMS:
            wrong.append(f"{words[0]} is not known here")
    return wrong


def is_program(path):
    return os.access(os.path.join(ROOT, path), os.X_OK) and os.path.isfile(os.path.join(ROOT, path))


def check_commands(results, path, commands, goals, parts):
    results.check(f"{path}: it runs something", commands)
    for command in commands:
        results.equal(f"{path}: {command}", complaints_of(command, goals, parts), [])


def goals_of(commands):
    """What a server runs of this tree: goals of make, or .ci/run."""
    found = set()
    for command in commands:
        words = command.removeprefix(".ci/in_debian ").split()
        if words[0] == "make":
            found |= {(goal, *(word for word in words if "=" in word)) for goal in words[1:] if "=" not in goal}
        elif words[0] == ".ci/run":
            found.add((".ci/run",))
    return found


# --- forms ---------------------------------------------------------------------------------


def azure_errors(pipeline):
    schema = json.loads(text_of("tests/oracles/azure_pipelines.schema.json"))
    errors = jsonschema.Draft202012Validator(schema).iter_errors(pipeline)
    wrong = [f"{'/'.join(map(str, error.path))}: {error.message[:200]}" for error in errors]
    known = set()
    for stage in pipeline.get("stages", []):
        wanted = stage.get("dependsOn", [])
        wrong += [f"stage {name} does not come before" for name in ([wanted] if isinstance(wanted, str) else wanted) if name not in known]
        known.add(stage.get("stage"))
    return wrong


def check_github(results, workflows):
    for path, text in workflows:
        for name, job in yaml.safe_load(text)["jobs"].items():
            results.check(f"{path}: job {name} ends by itself", 0 < job.get("timeout-minutes", 0) <= 360)
    reason = actionlint.why_not()
    if reason:
        print(f"skipped: {reason}")
        return
    for (path, _), found in zip(workflows, actionlint.lint(workflows)):
        results.check(f"{path}: actionlint has nothing to say", not found, *found)
    path, text = next((path, text) for path, text in workflows if path.endswith("/check.yml"))
    for name, good, bad in (("a mistyped key", "runs-on:", "run-on:"), ("an expression that is none", "failure()", "failed()"),
                            ("a context that is none", "github.ref", "gitub.ref")):
        results.check(f"actionlint finds {name}", good in text and actionlint.lint([(path, text.replace(good, bad))])[0])


# --- what others could change, and who could take what --------------------------------------


def image_of(job):
    container = job.get("container")
    return container.get("image") if isinstance(container, dict) else container


def checkouts_of(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")]


def github_dangers(text):
    """What makes a workflow depend on what others may change, or lets a pull request take what it should not have."""
    workflow = yaml.safe_load(text)
    wrong = [f"{line.strip()}: pin it, as actions/NAME@40 digits # v1.2.3" for line in text.splitlines()
             if re.match(r"\s*(- )?uses:", line) and not re.search(r"uses: actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line)]
    wrong += [f"job {name} is in no image that is pinned" for name, job in workflow["jobs"].items() if not PINNED_IMAGE.fullmatch(image_of(job) or "")]
    wrong += ["a checkout keeps its credentials" for step in checkouts_of(workflow) if step.get("with", {}).get("persist-credentials") is not False]
    # YAML reads the key "on" as true.
    if "pull_request_target" in workflow.get(True, {}):
        wrong.append("pull_request_target runs the code of others with our token")
    if any(rights != {"contents": "read"} for rights in [workflow.get("permissions"), *(job["permissions"] for job in workflow["jobs"].values() if "permissions" in job)]):
        wrong.append("its token may do more than read")
    return wrong


def azure_dangers(pipeline):
    wrong = [] if pipeline.get("pr") == "none" else ["it runs for every pull request, of others, too"]
    steps = [step for stage in pipeline["stages"] for job in stage["jobs"] for step in job["steps"]]
    return wrong + ["a checkout keeps its credentials" for step in steps if step.get("persistCredentials")]


def check_dangers(results, workflows, pipeline):
    for path, text in workflows:
        results.equal(f"{path}: nobody else can change what it runs, or take what it has", github_dangers(text), [])
    results.equal(f"{AZURE}: the same", azure_dangers(pipeline), [])
    everywhere = [text for _, text in workflows] + [text_of(".ci/in_debian")]
    images = [re.findall(r"\bdebian:\S+", text) for text in everywhere]
    results.check("all are in the same image", all(images) and len({image for found in images for image in found}) == 1, images)
    hashes = {}
    for action, digits in re.findall(r"uses: (\S+)@(\S+ # \S+)", "".join(everywhere)):
        hashes.setdefault(action, set()).add(digits)
    results.check("each action has one version", hashes and all(len(found) == 1 for found in hashes.values()), hashes)
    text = dict(workflows)[".github/workflows/check.yml"]
    for name, good, bad in (("a tag", r"@[0-9a-f]{40} # v\d\S+", "@v4"), ("an action of others", "uses: actions/", "uses: others/"),
                            ("a hash without its version", r" # v4\S+", ""), ("an image of a name", r"@sha256:[0-9a-f]{64}", ""),
                            ("kept credentials", "persist-credentials: false", "persist-credentials: true"),
                            ("a checkout that says nothing", r"with:\n\s+persist-credentials: false", ""),
                            ("code of others with our token", "pull_request:", "pull_request_target:"), ("a token that writes", "contents: read", "contents: write")):
        planted = re.sub(good, bad, text, count=1)
        results.check(f"{name} is found out", planted != text and github_dangers(planted))
    results.check("a pipeline for every pull request is found out", azure_dangers({**pipeline, "pr": ["*"]}))


def check_azure(results, pipeline, text):
    results.equal(f"{AZURE}: the schema allows it", azure_errors(pipeline), [])
    for name, good, bad in (("a mistyped key", "displayName:", "displayNam:"), ("a stage that is not there", "dependsOn: check", "dependsOn: chck"),
                            ("a step of two kinds", "- script: .ci/in_debian .ci/run", "- script: .ci/run\n            publish: x"),
                            ("a time that is none", "cron: '17 2 * * *'", "cron: '17 2 * *'")):
        results.check(f"the schema finds {name}", good in text and azure_errors(yaml.safe_load(text.replace(good, bad, 1))))


def main():
    os.chdir(ROOT)
    results = Results()
    goals, parts = make_goals(), nightly_parts()
    workflows = [(path, text_of(path)) for path in sorted(glob.glob(".github/workflows/*.yml"))]
    results.equal("workflows of GitHub", [os.path.basename(path) for path, _ in workflows],
                  ["check.yml", "nightly.yml", "sanitizers.yml", "windows.yml"])
    ours = []
    for path, text in workflows:
        commands = list(github_commands(yaml.safe_load(text)))
        check_commands(results, path, commands, goals, parts)
        ours += commands
    check_github(results, workflows)
    text = text_of(AZURE)
    pipeline = yaml.safe_load(text)
    commands = list(azure_commands(pipeline))
    check_commands(results, AZURE, commands, goals, parts)
    check_azure(results, pipeline, text)
    check_dangers(results, workflows, pipeline)
    results.equal("both servers run the same", goals_of(commands), goals_of(ours))
    run = {part for _, *variables in goals_of(ours) for variable in variables for part in variable.removeprefix("ONLY=").split(",")}
    results.equal("their nightly runs have all parts", run, parts)
    for server, minutes in (("GitHub", yaml.safe_load(text_of(".github/workflows/check.yml"))["jobs"]["check"]["timeout-minutes"]),
                            ("Azure", pipeline["stages"][0]["jobs"][0]["timeoutInMinutes"])):
        results.check(f"{server} stops .ci/run before {CHECK_MINUTES_MAX} minutes", minutes < CHECK_MINUTES_MAX)
    for command, wanted in (("make chek", "make has no goal chek"), ("make check-nightly ONLY=asan,banana", "check-nightly has no part banana"),
                            ("make deb OTHERS=1", "the Makefile has no variable OTHERS"), (".ci/ran", ".ci/ran is no program"),
                            (".ci/in_debian make chek", "make has no goal chek"), ("curl x", "curl is not known here"), ("make", "make is given no goal")):
        results.equal(f"'{command}' is found out", complaints_of(command, goals, parts), [wanted])
    results.finish()


if __name__ == "__main__":
    main()
