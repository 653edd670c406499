"""Jenkins in a folder: reads the part of a declarative pipeline that docs/ci.md uses, and runs it.

Steps of a stage end with the first that fails, and the stages after it do not run. The conditions
of `post` go by the result of the build, which the step `junit` may make unstable. See
recipe_servers.py, which has the other servers and what all of them share.
"""

import glob
import os
import re
import shutil

from recipe_servers import Server, Unknown, known, read

TOKEN = re.compile(r"[ \t]*(?:('''.*?'''|'[^'\n]*')|([A-Za-z_][\w.]*)|([{}()\[\],:\n]))", re.DOTALL)


class Pipeline:
    """Statements are (name, arguments, block); arguments a map in which those without a name are 0, 1, ..."""

    def __init__(self, text):
        self.tokens, at = [], 0
        text = text.strip() + "\n"
        while at < len(text):
            match = TOKEN.match(text, at)
            if not match:
                raise Unknown(f"Jenkinsfile: {text[at:at + 40]!r}")
            self.tokens.append(match[0].strip(" \t"))
            at = match.end()
        self.statements = self.block()
        if self.tokens:
            raise Unknown(f"Jenkinsfile: {self.tokens[0]} is one too many")

    def peek(self):
        return self.tokens[0] if self.tokens else ""

    def skip_lines(self):
        while self.peek() == "\n":
            self.tokens.pop(0)

    def block(self):
        found = []
        self.skip_lines()
        while self.tokens and self.peek() != "}":
            found.append(self.statement())
            self.skip_lines()
        return found

    def need(self, token):
        if self.peek() != token:
            raise Unknown(f"Jenkinsfile: {token!r} is missing before {self.peek()!r}")
        self.tokens.pop(0)

    def statement(self):
        name = self.tokens.pop(0)
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise Unknown(f"Jenkinsfile: {name!r} is no step")
        if self.peek() == "(":
            arguments = self.in_brackets()
        else:
            arguments = self.arguments(("\n", "{", "}"))
        block = None
        if self.peek() == "{":
            self.need("{")
            block = self.block()
            self.need("}")
        return name, arguments, block

    def in_brackets(self):
        self.need("(")
        arguments = self.arguments((")",))
        self.need(")")
        return arguments

    def arguments(self, ends):
        found = {}
        while self.tokens and self.peek() not in ends:
            value = self.value()
            if self.peek() == ":":
                self.need(":")
                found[value] = self.value()
            else:
                found[len(found)] = value
            if self.peek() == ",":
                self.need(",")
        return found

    def value(self):
        token = self.tokens.pop(0)
        if token == "[":
            items = self.arguments(("]",))
            self.need("]")
            return list(items.values())
        if token.startswith("'"):
            return unescaped(token[3:-3] if token.startswith("'''") else token[1:-1])
        if not re.match(r"[A-Za-z_]", token):
            raise Unknown(f"Jenkinsfile: {token!r}")
        if self.peek() == "(":
            return token, self.in_brackets()
        return {"true": True, "false": False}.get(token, token)


def unescaped(text):
    """Groovy joins lines at a backslash; other escapes are not what a recipe means."""
    text = text.replace("\\\n", "")
    if "\\" in text:
        raise Unknown(f"Jenkinsfile: a backslash in {text.strip()!r} is an escape of Groovy")
    return text


class Jenkins(Server):
    """Builds with their archives; one that is stable or unstable is a successful one."""

    shell = ["sh", "-xe"]

    def __init__(self, recipe, *arguments):
        super().__init__(Pipeline(recipe).statements, *arguments)
        self.builds = []  # of (result, folder)

    def last_successful(self):
        return next((folder for result, folder in reversed(self.builds) if result != "failure"), None)

    def saved(self):
        folder = self.last_successful()
        path = os.path.join(folder or self.folder, "base.ehs")
        return read(path) if os.path.exists(path) else None

    def run(self, trace, accept=False, record_fails=False):
        self.begin(trace, accept, None)
        self.archive = os.path.join(self.run_folder, "archive")
        self.stashes = {}
        (name, _, block), *others = self.recipe
        if name != "pipeline" or others:
            raise Unknown(f"Jenkinsfile: {name}")
        for name, arguments, body in block:
            if name == "parameters":
                self.parameters = [values["name"] for kind, values, _ in body if kind == "booleanParam"]
            elif name == "stages":
                self.run_stages(body, record_fails)
            elif (name, arguments) != ("agent", {0: "none"}):
                raise Unknown(f"pipeline: {name}")
        self.builds.append((self.outcome.result, self.archive))
        return self.outcome

    def run_stages(self, stages, record_fails):
        for kind, arguments, body in stages:
            if kind != "stage":
                raise Unknown(f"stages: {kind}")
            if self.outcome.result != "failure":
                parts = {name: block for name, _, block in body}
                known("stage", parts, "agent steps post")
                label = parts["agent"][0][1][0]
                self.begin_job(arguments[0], installed=label == "linux")
                self.check_out(self.work)
                if record_fails and label == "windows":
                    self.outcome.fail()
                elif not self.run_steps(parts["steps"]):
                    self.outcome.fail()
                self.run_post(parts.get("post") or [])

    def run_steps(self, steps):
        for name, arguments, block in steps:
            self.outcome.ran.append(f"{name} {arguments.get(0, '')}")
            step = getattr(self, "step_" + name, None)
            if step is None or block is not None:
                raise Unknown(f"step: {name}")
            if not step(arguments):
                return False
        return True

    def run_post(self, conditions):
        """In the order of Jenkins, which is not that of the file."""
        known("post", [name for name, _, _ in conditions], "always unstable failure success cleanup")
        for wanted in ("always", "failure", "success", "unstable", "cleanup"):
            for name, _, steps in conditions:
                holds = wanted in ("always", "cleanup") or wanted == self.outcome.result
                if name == wanted and holds and not self.run_steps(steps):
                    self.outcome.fail()

    # --- steps ---

    def step_bat(self, arguments):
        self.record(arguments[0])
        return True

    def step_powershell(self, arguments):
        self.record(arguments[0])
        return True

    def step_sh(self, arguments):
        known("sh", arguments.keys() - {0}, "")
        environment = {name: str(self.accept).lower() for name in self.parameters}
        return self.run_script(arguments[0], os.path.join(self.work, "base.ehs"), environment)[0] == 0

    def step_stash(self, arguments):
        known("stash", arguments, "name includes")
        found = self.find(re.split(r",\s*", arguments["includes"]))
        self.stashes[arguments["name"]] = os.path.join(self.run_folder, "stash-" + arguments["name"])
        self.copy(found, self.work, self.stashes[arguments["name"]])
        return bool(found)

    def step_unstash(self, arguments):
        shutil.copytree(self.stashes[arguments[0]], self.work, dirs_exist_ok=True)
        return True

    def step_copyArtifacts(self, arguments):
        known("copyArtifacts", arguments, "projectName selector filter optional")
        if (arguments["projectName"], arguments["selector"]) != ("env.JOB_NAME", ("lastSuccessful", {})):
            raise Unknown(f"copyArtifacts: {arguments}")
        folder = self.last_successful()
        found = glob.glob(os.path.join(folder, arguments["filter"])) if folder else []
        self.copy(found, folder, self.work)
        return bool(found) or arguments.get("optional", False)

    def step_archiveArtifacts(self, arguments):
        known("archiveArtifacts", arguments.keys() - {0}, "artifacts allowEmptyArchive")
        found = self.find(re.split(r",\s*", arguments.get(0) or arguments["artifacts"]))
        self.copy(found, self.work, self.archive)
        self.saves += "base.ehs" in map(os.path.basename, found)
        return bool(found) or arguments.get("allowEmptyArchive", False)

    def step_junit(self, arguments):
        known("junit", arguments, "testResults allowEmptyResults")
        found = self.find([arguments["testResults"]])
        self.show("junit", found)
        if any(b"<failure" in read(path) for path in found) and self.outcome.result == "success":
            self.outcome.result = "unstable"
        return bool(found) or arguments.get("allowEmptyResults", False)

    def step_recordIssues(self, arguments):
        known("recordIssues", arguments, "tools")
        for tool, values in arguments["tools"]:
            if tool != "sarif":
                raise Unknown(f"recordIssues: {tool}")
            self.show("sarif", self.find([values["pattern"]]))
        return True
