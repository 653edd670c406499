"""Builds one mutant at a time and runs tests on it.

Only the mutated file is compiled. Its object stands before the archives on the linker's
line, so it takes the place of the archive's own; all else is of the variant `check`.
"""
import glob
import hashlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

MEMORY_MAX = 3 << 30
FILE_MAX = 1 << 30
TIMEOUT_MIN = 4.0  # seconds; the machine may be busy
TIMEOUT_FACTOR = 8


def limit_child(limits_memory=True):
    if limits_memory:  # sanitizers reserve more than there is
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_MAX, FILE_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_limited(command, seconds, environment, limits_memory=True):
    """(exit status, None when it was stopped; seconds taken). Its children end with it."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True,
                               preexec_fn=lambda: limit_child(limits_memory), env=environment)
    try:
        status = process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        status = None
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    return status, time.monotonic() - begin


class Bench:
    """A folder with the pieces, and how to put them together.

    `objects` is the variant's folder (build/check), `folder` is ours."""

    def __init__(self, folder, objects, compiler, libraries, cflags=()):
        self.folder, self.objects = folder, objects
        self.compiler = compiler.split()
        self.cflags = ["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-I.", "-O1", "-w", "-fPIC",
                       "-Werror=implicit-function-declaration", "-Werror=int-conversion",
                       "-Werror=incompatible-pointer-types", *cflags]
        self.libraries = libraries
        self.sanitizers = [flag for flag in cflags if flag.startswith("-fsanitize")]
        self.seconds = {}  # of a test on the source as it is
        self.environment = dict(os.environ, CCACHE_DISABLE="1", CMOCKA_MESSAGE_OUTPUT="TAP",
                                PYTHONDONTWRITEBYTECODE="1", OUT=objects,
                                ETLHEAP=os.path.abspath(f"{folder}/etlheap"),
                                MAKE_TRACE=os.path.abspath(f"{objects}/make_trace"),
                                TEST_TMP=os.path.abspath(f"{folder}/tmp"))
        os.makedirs(folder, exist_ok=True)

    def compile(self, path, text):
        """The digest of the object; None for a text that is not C."""
        copy, made = f"{self.folder}/{os.path.basename(path)}", f"{self.folder}/mutant.o"
        with open(copy, "w") as file:
            file.write(text)
        command = [*self.compiler, *self.cflags, "-iquote", os.path.dirname(path) or ".", "-c", "-o", made, copy]
        if subprocess.run(command, stderr=subprocess.DEVNULL, env=self.environment).returncode != 0:
            return None
        with open(made, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()

    def _link(self, output, first_objects, archives):
        parts = [f"{self.objects}/{part}" for part in archives if os.path.exists(f"{self.objects}/{part}")]
        command = [*self.compiler, *self.sanitizers, "-pthread", "-Wl,-S", "-o", output, *first_objects, f"{self.folder}/mutant.o",
                   *parts, *self.libraries]
        return subprocess.run(command, stderr=subprocess.PIPE, env=self.environment)

    def _file_of(self, test):
        """A script, or the object of a test: the newest, in case it has moved to another room."""
        pattern = f"tests/*/{test}" if "." in test else f"{self.objects}/tests/unit/*/{test}.o"
        found = glob.glob(pattern)
        if not found:
            raise RuntimeError(f"no test {test}: {pattern}")
        return max(found, key=os.path.getmtime)

    def _prepare(self, test):
        """The command that runs the test on the mutant."""
        if "." in test:
            linked = self._link(f"{self.folder}/etlheap", [f"{self.objects}/cli/main.o"], ["libcli.a", "libetlheap.a"])
            command = [sys.executable if test.endswith(".py") else "bash", self._file_of(test)]
        else:
            linked = self._link(f"{self.folder}/{test}", [self._file_of(test)],
                                ["libtestsupport.a", "libbuilder.a", "libcli.a", "libetlheap.a"])
            command = [f"{self.folder}/{test}"]
        if linked.returncode != 0:
            raise RuntimeError(f"cannot link {test}: {linked.stderr.decode(errors='replace')[-2000:]}")
        return command

    def run(self, test, seconds):
        shutil.rmtree(self.environment["TEST_TMP"], ignore_errors=True)
        os.makedirs(self.environment["TEST_TMP"])
        return run_limited(self._prepare(test), seconds, self.environment, not self.sanitizers)

    def measure(self, tests):
        """How long each test takes on the source as compiled last; tests that fail on it."""
        failing = []
        for test in tests:
            status, taken = self.run(test, 300)
            self.seconds[test] = max(taken, self.seconds.get(test, 0))
            if status != 0:
                failing.append(test)
        return failing

    def first_to_fail(self, tests):
        """(test, "failed" or "stopped"), or (None, None) when all pass."""
        for test in tests:
            status, _ = self.run(test, max(TIMEOUT_MIN, TIMEOUT_FACTOR * self.seconds[test]))
            if status != 0:
                return test, "stopped" if status is None else "failed"
        return None, None

    def digest_of(self, tests):
        """Changes when a test does."""
        digest = hashlib.sha256()
        for test in tests:
            with open(self._file_of(test), "rb") as file:
                digest.update(file.read())
        return digest.hexdigest()[:16]
