"""Build servers in a folder: they run a recipe of docs/ci.md as GitHub, Azure and Jenkins would.

    recipe ──▶ jobs ──▶ steps ──condition──▶ shell scripts, run   ──▶ Outcome: the job's result,
                                        └──▶ actions, simulated ──▶   what was uploaded and saved

Shell scripts run for real, with the flags that the server gives its shell. Actions and tasks are
files copied between folders. The servers' rules come from their documentation: which steps run
after a failure, which baseline a restore finds, and which run counts as a successful one. A step,
key, condition or variable that is not modelled here raises Unknown, so a recipe cannot pass by
being skipped.
"""

import glob
import os
import re
import shlex
import shutil
import subprocess


class Unknown(Exception):
    """The recipe uses something that the simulation has no rule for."""


def known(what, keys, allowed):
    extra = set(map(str, keys)) - set(allowed.split())
    if extra:
        raise Unknown(f"{what}: {' '.join(sorted(extra))}")


# --- conditions ----------------------------------------------------------------------------

TOKEN = re.compile(r"\s*(?:('(?:[^']|'')*')|([A-Za-z_][\w-]*(?:\.[\w-]+)*)|(&&|\|\||==|!=|[!()\[\],]))")


class Condition:
    """An expression of GitHub or Azure; functions and variables are those of the server."""

    def __init__(self, text, functions, variables):
        self.functions, self.variables = functions, variables
        self.called = set()
        self.tokens, at = [], 0
        text = text.strip()
        while at < len(text):
            match = TOKEN.match(text, at)
            if not match:
                raise Unknown(f"condition: {text}")
            self.tokens.append(match[0].strip())
            at = match.end()
        self.value = self.either()
        if self.tokens:
            raise Unknown(f"condition: {text}")

    def take(self, *wanted):
        if self.tokens and (not wanted or self.tokens[0] in wanted):
            return self.tokens.pop(0)
        return None

    def need(self, token):
        if not self.take(token):
            raise Unknown(f"condition: {token} is missing")

    def either(self):
        value = self.both()
        while self.take("||"):
            value = self.both() or value
        return value

    def both(self):
        value = self.compared()
        while self.take("&&"):
            right = self.compared()
            value = value and right
        return value

    def compared(self):
        left = self.single()
        operator = self.take("==", "!=")
        if not operator:
            return left
        return (left == self.single()) == (operator == "==")

    def single(self):
        if self.take("!"):
            return not self.single()
        if self.take("("):
            value = self.either()
            self.need(")")
            return value
        word = self.take() or ""
        if word.startswith("'"):
            return word[1:-1].replace("''", "'")
        if self.take("("):
            return self.call(word)
        if self.take("["):
            word = f"{word}.{self.single()}"
            self.need("]")
        if word not in self.variables:
            raise Unknown(f"condition: {word}")
        return self.variables[word]

    def call(self, name):
        arguments = []
        while not self.take(")"):
            arguments.append(self.either())
            if not self.take(","):
                self.need(")")
                break
        if name not in self.functions:
            raise Unknown(f"condition: {name}()")
        self.called.add(name)
        return self.functions[name](*arguments)


# --- what all servers have -----------------------------------------------------------------


class Outcome:
    """What became of a run."""

    def __init__(self):
        self.result = "success"
        self.ran = []  # titles of steps
        self.uploads = {}  # what the server shows: name → paths
        self.status = None  # of the step that runs check
        self.said = ""
        self.baseline = None  # what the check found

    def fail(self):
        self.result = "failure"


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Server:
    """The folders of one server; a run has a folder for each of its jobs."""

    shell = ["bash", "-e"]

    def __init__(self, recipe, folder, etlheap, program):
        self.recipe, self.folder, self.etlheap, self.program = recipe, folder, etlheap, program
        self.number = 0
        self.saves = 0  # of baselines
        os.makedirs(folder)

    def begin(self, trace, accept, branch):
        self.number += 1
        self.trace, self.accept, self.branch = trace, accept, branch
        self.run_folder = os.path.join(self.folder, str(self.number))
        self.outcome = Outcome()

    def begin_job(self, name, installed=False):
        """A new agent: only a step that installs etlheap has it on its PATH, unless it was there before."""
        self.job = os.path.join(self.run_folder, name)
        self.work = self.job
        self.bin = os.path.join(self.run_folder, name + "-bin")
        os.makedirs(self.job)
        os.makedirs(self.bin)
        if installed:
            os.symlink(self.etlheap, os.path.join(self.bin, "etlheap"))
        sudo = os.path.join(self.bin, "sudo")
        with open(sudo, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\ntest "$1 $2 $3" = "apt-get install -y" && test -f "$4" && test $# -eq 4 &&\n'
                       f'ln -s "{self.etlheap}" "{self.bin}/etlheap"\n')
        os.chmod(sudo, 0o755)

    def check_out(self, folder):
        os.makedirs(os.path.join(folder, "tools"), exist_ok=True)
        for name in ("tools/etlheap_1_amd64.deb", "known.supp"):
            open(os.path.join(folder, name), "w", encoding="utf-8").close()

    def record(self, script):
        """What the Windows agent does: each of its commands is known, or refused."""
        for line in script.replace("\\", "/").splitlines():
            words = shlex.split(line)
            if line.startswith("cmake"):
                self.make(os.path.join(self.work, "out/RelWithDebInfo/app.pdb"))
            elif words[:2] == ["wpr", "-stop"]:
                target = os.path.join(self.work, words[2])
                self.make(target)
                shutil.copy(self.trace, target)
            elif words[:1] == ["Copy-Item"]:
                for found in glob.glob(os.path.join(self.work, words[1])):
                    shutil.copy(found, words[2])
            elif words and words[0] not in ("wpr", "try", "finally", "}"):
                raise Unknown(f"Windows: {line}")

    @staticmethod
    def make(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "w", encoding="utf-8").close()

    def run_script(self, script, base, environment, shell=None):
        """The exit status; that of a script with a check is the outcome's."""
        checks = re.search(r'etlheap check|"\$ETLHEAP" check', script) is not None
        if checks:
            self.outcome.baseline = read(base) if os.path.isfile(base) else None
        script = script.replace("app.exe", self.program)
        path = os.path.join(self.run_folder, "script.sh")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        done = subprocess.run([*(shell or self.shell), path], cwd=self.work, capture_output=True, timeout=120, check=False,
                              env={**os.environ, **environment, "PATH": self.bin + ":" + os.environ["PATH"]})
        said = done.stderr.decode("utf-8", "replace")
        if checks:
            self.outcome.status, self.outcome.said = done.returncode, said
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def find(self, patterns):
        """Files of the workspace."""
        return sorted(path for pattern in patterns for path in glob.glob(os.path.join(self.work, pattern)))

    def copy(self, paths, root, target):
        for path in paths:
            to = os.path.join(target, os.path.relpath(path, root))
            os.makedirs(os.path.dirname(to), exist_ok=True)
            if os.path.isdir(path):
                shutil.copytree(path, to, dirs_exist_ok=True)
            else:
                shutil.copy(path, to)

    def show(self, name, paths):
        """The server shows these; they are kept from later steps."""
        self.outcome.uploads[name] = {os.path.basename(path): read(path) for path in paths if os.path.isfile(path)}


# --- GitHub --------------------------------------------------------------------------------


class GitHub(Server):
    """Caches belong to a branch; a run sees those of its own branch and of main."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.caches = []  # of (branch, path, key, folder), oldest first
        self.run_id = 1000

    def saved(self):
        """The baseline that the next run of main would find."""
        found = [cache for cache in self.caches if cache[0] == "refs/heads/main"]
        return read(os.path.join(found[-1][3], "base.ehs")) if found else None

    def run(self, trace, accept=False, branch="refs/heads/main", record_fails=False, attempt=1):
        self.begin(trace, accept, branch)
        self.attempt = attempt
        self.run_id += attempt == 1
        self.artifacts = {}
        done = set()
        known("GitHub", self.recipe, "name True on jobs")  # YAML 1.1 reads `on` as true
        for name, job in self.recipe["jobs"].items():
            known(f"job {name}", job, "runs-on needs permissions steps")
            if job.get("needs", name) in done | {name}:
                self.begin_job(name)
                if self.run_job(job, record_fails and name == "record"):
                    done.add(name)
        return self.outcome

    def run_job(self, job, fails):
        self.failed = fails
        self.windows = job["runs-on"].startswith("windows")
        for step in job["steps"]:
            known("step", step, "name uses run shell with env if continue-on-error")
            if self.wanted(step.get("if", "success()")) and not self.run_step(step):
                self.failed |= not step.get("continue-on-error", False)
        if self.failed:
            self.outcome.fail()
        return not self.failed

    def expression(self, text):
        functions = {"success": lambda: not self.failed, "failure": lambda: self.failed, "always": lambda: True,
                     "cancelled": lambda: False,
                     "hashFiles": lambda pattern: "hash" if self.find([pattern]) else ""}
        variables = {"github.ref": self.branch, "github.run_id": str(self.run_id), "github.run_attempt": str(self.attempt),
                     "inputs.accept": "true" if self.accept else ""}
        return Condition(text, functions, variables)

    def wanted(self, text):
        """A condition without a status function has an implicit success()."""
        condition = self.expression(re.sub(r"^\$\{\{(.*)\}\}$", r"\1", text.strip()))
        asks = condition.called & {"success", "failure", "always", "cancelled"}
        return bool(condition.value) and (bool(asks) or not self.failed)

    def filled(self, value):
        return re.sub(r"\$\{\{(.*?)\}\}", lambda match: str(self.expression(match[1]).value), str(value))

    def run_step(self, step):
        self.outcome.ran.append(step.get("name") or step.get("uses") or step["run"])
        if "run" in step:
            if self.windows:
                self.record(step["run"])
                return True
            if "shell" in step:
                raise Unknown(f"shell: {step['shell']}")
            summary = os.path.join(self.run_folder, "summary.md")
            open(summary, "w", encoding="utf-8").close()
            environment = {name: self.filled(value) for name, value in step.get("env", {}).items()}
            status, _ = self.run_script(self.filled(step["run"]), os.path.join(self.work, "base.ehs"),
                                        {**environment, "GITHUB_STEP_SUMMARY": summary})
            if os.path.getsize(summary):
                self.show("summary", [summary])
            return status == 0
        action = "use_" + re.sub(r"\W", "_", step["uses"].split("@")[0])
        if not hasattr(self, action):
            raise Unknown(f"uses: {step['uses']}")
        return getattr(self, action)({name: self.filled(value) for name, value in step.get("with", {}).items()})

    def use_actions_checkout(self, inputs):
        known("checkout", inputs, "")
        self.check_out(self.work)
        return True

    def use_actions_upload_artifact(self, inputs):
        """Files that are missing are a warning. Paths are kept from the folder that all patterns share."""
        known("upload-artifact", inputs, "name path")
        patterns = inputs["path"].split()
        root = os.path.join(self.work, os.path.commonpath([os.path.dirname(pattern) for pattern in patterns]))
        found, target = self.find(patterns), os.path.join(self.run_folder, "artifact-" + inputs["name"])
        self.copy(found, root, target)
        if found:
            self.artifacts[inputs["name"]] = target
            self.show(inputs["name"], found)
        return True

    def use_actions_download_artifact(self, inputs):
        known("download-artifact", inputs, "name")
        if inputs["name"] not in self.artifacts:
            return False
        shutil.copytree(self.artifacts[inputs["name"]], self.work, dirs_exist_ok=True)
        return True

    def use_actions_cache_restore(self, inputs):
        known("cache/restore", inputs, "path key restore-keys")
        for branch in (self.branch, "refs/heads/main"):
            seen = [cache for cache in reversed(self.caches) if cache[:2] == (branch, inputs["path"])]
            for key in [inputs["key"], *inputs.get("restore-keys", "").split()]:
                for cache in seen:
                    if cache[2].startswith(key):
                        shutil.copytree(cache[3], self.work, dirs_exist_ok=True)
                        return True
        return True

    def use_actions_cache_save(self, inputs):
        """A key that exists and a path that does not are warnings; caches never change."""
        known("cache/save", inputs, "path key")
        found, same = self.find([inputs["path"]]), (self.branch, inputs["path"], inputs["key"])
        if found and same not in [cache[:3] for cache in self.caches]:
            target = os.path.join(self.folder, f"cache-{len(self.caches)}")
            self.copy(found, self.work, target)
            self.caches.append((*same, target))
            self.saves += 1
        return True

    def use_github_codeql_action_upload_sarif(self, inputs):
        known("upload-sarif", inputs, "sarif_file category")
        found = self.find([inputs["sarif_file"]])
        self.show("sarif", found)
        return bool(found)


# --- Azure ---------------------------------------------------------------------------------


class Azure(Server):
    """Artifacts belong to a run; a later run of any branch asks for those of main's last good run."""

    shell = ["bash", "--noprofile", "--norc"]  # without -e: the last command's status is the step's

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.runs = []  # of (branch, result, artifacts)

    def saved(self):
        found = self.last_good("refs/heads/main", True)
        path = os.path.join((found or {}).get("baseline", self.folder), "base.ehs")
        return read(path) if os.path.exists(path) else None

    def last_good(self, branch, partially):
        good = ("success", "issues") if partially else ("success",)
        return next((run[2] for run in reversed(self.runs) if run[0] == branch and run[1] in good), None)

    def run(self, trace, accept=False, branch="refs/heads/main", record_fails=False):
        self.begin(trace, accept, branch)
        self.artifacts = {}
        self.runs.append((branch, "running", self.artifacts))
        done = set()
        known("Azure", self.recipe, "trigger parameters jobs True")
        for job in self.recipe["jobs"]:
            known("job", job, "job pool dependsOn steps")
            if job.get("dependsOn", job["job"]) in done | {job["job"]}:
                self.begin_job(job["job"])
                if self.run_job(job, record_fails and job["job"] == "record"):
                    done.add(job["job"])
        self.runs[-1] = (branch, self.outcome.result, self.artifacts)
        return self.outcome

    def run_job(self, job, fails):
        self.failed = fails
        self.windows = job["pool"]["vmImage"].startswith("windows")
        self.variables = {"Pipeline.Workspace": self.job, "Build.ArtifactStagingDirectory": os.path.join(self.job, "a"),
                          "System.TeamProjectId": "project", "System.DefinitionId": "7", "Build.SourceBranch": self.branch}
        self.work = os.path.join(self.job, "s")
        os.makedirs(os.path.join(self.job, "a"))
        self.check_out(self.work)
        for step in job["steps"]:
            if self.wanted(step.get("condition", "succeeded()")) and not self.run_step(step):
                if step.get("continueOnError", False):
                    self.outcome.result = "issues" if self.outcome.result == "success" else self.outcome.result
                else:
                    self.failed = True
        if self.failed:
            self.outcome.fail()
        return not self.failed

    def wanted(self, text):
        functions = {"succeeded": lambda: not self.failed, "failed": lambda: self.failed, "always": lambda: True,
                     "succeededOrFailed": lambda: True, "eq": lambda a, b: a.lower() == b.lower(),
                     "and": lambda *all_of: all(all_of), "or": lambda *any_of: any(any_of), "not": lambda value: not value}
        variables = {f"variables.{name}": value for name, value in self.variables.items()}
        return Condition(text, functions, variables).value

    def filled(self, value):
        """Macros and parameters; what has no dot, as $(test ...), is the shell's."""
        def variable(match):
            if match[1] not in self.variables:
                raise Unknown(f"variable: {match[1]}")
            return self.variables[match[1]]
        value = re.sub(r"\$\(([A-Z]\w*(?:\.\w+)+)\)", variable, str(value))
        value = value.replace("${{ parameters.accept }}", str(self.accept))
        if "${{" in value:
            raise Unknown(f"expression: {value}")
        return value

    def run_step(self, step):
        kinds = set(step) & {"script", "bash", "pwsh", "publish", "download", "task"}
        if len(kinds) != 1:
            raise Unknown(f"step: {step}")
        kind = kinds.pop()
        known("step", step, f"{kind} artifact displayName condition continueOnError inputs env")
        self.outcome.ran.append(step.get("displayName") or step[kind])
        value = self.filled(step[kind])
        if kind in ("script", "bash", "pwsh"):
            return self.run_commands(value, step)
        if kind == "publish":
            return self.publish(value, step["artifact"])
        if kind == "download":
            return value == "current" and self.download(self.artifacts, step["artifact"], os.path.join(self.job, step["artifact"]))
        inputs = {name: self.filled(text) for name, text in step["inputs"].items()}
        tasks = {"DownloadPipelineArtifact@2": self.download_run, "PublishTestResults@2": self.publish_tests}
        if value not in tasks:
            raise Unknown(f"task: {value}")
        return tasks[value](inputs)

    def run_commands(self, script, step):
        if self.windows:
            self.record(script)
            return True
        environment = {name: self.filled(text) for name, text in step.get("env", {}).items()}
        status, out = self.run_script(script, os.path.join(self.job, "baseline", "base.ehs"), environment)
        for command, path in re.findall(r"^##vso\[([\w.]+)\](.*)$", out, re.MULTILINE):
            if command != "task.uploadsummary":
                raise Unknown(f"command: {command}")
            if not os.path.isfile(path):
                return False
            self.show("summary", [path])
        return status == 0

    def publish(self, path, name):
        if not os.path.exists(path) or name in self.artifacts:
            return False
        target = os.path.join(self.run_folder, "artifact-" + name)
        root = path if os.path.isdir(path) else os.path.dirname(path)
        paths = glob.glob(os.path.join(path, "*")) if os.path.isdir(path) else [path]
        os.makedirs(target)
        self.copy(paths, root, target)
        self.artifacts[name] = target
        self.saves += name == "baseline"
        self.show({"CodeAnalysisLogs": "sarif"}.get(name, name), paths)
        return True

    @staticmethod
    def download(artifacts, name, target):
        if not artifacts or name not in artifacts:
            return False
        shutil.copytree(artifacts[name], target, dirs_exist_ok=True)
        return True

    def download_run(self, inputs):
        known("download", inputs, "buildType project definition buildVersionToDownload branchName allowPartiallySucceededBuilds "
              "artifactName targetPath")
        if (inputs["buildType"], inputs["buildVersionToDownload"]) != ("specific", "latestFromBranch"):
            raise Unknown(f"download: {inputs}")
        found = self.last_good(inputs["branchName"], inputs.get("allowPartiallySucceededBuilds") == "True")
        return self.download(found, inputs["artifactName"], inputs["targetPath"])

    def publish_tests(self, inputs):
        """No file is a warning; tests that failed do not fail the step."""
        known("tests", inputs, "testResultsFormat testResultsFiles testRunTitle")
        if os.path.exists(inputs["testResultsFiles"]):
            self.show("junit", [inputs["testResultsFiles"]])
        return True
