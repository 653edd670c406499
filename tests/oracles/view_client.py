"""Starts `etlheap view`, and speaks HTTP with it byte by byte, as no library would."""

import atexit
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.parse

from oracle_support import ETLHEAP, run

# Sanitizers make the program slower, and its memory larger.
SANITIZED = any(name in os.environ.get("OUT", "") for name in ("asan", "tsan", "ubsan"))
START_SECONDS = 60
REPLY_SECONDS = 120


def question_words(inputs, question):
    """The command line that asks the same as a question of the page."""
    command, *options = question
    numbers = [int(value) for name, value in options if name == "input"] or [1]
    words = [f"--{name}={value}" if value else f"--{name}" for name, value in options if name != "input"]
    if command != "export" and all(name != "format" for name, _ in options):
        words += ["--format", "json"]
    return [command, *words, "--", *[inputs[number - 1] for number in numbers]]


def command_line(inputs, question):
    """What the command prints."""
    return run(*question_words(inputs, question))


class Reply:
    """Status 0: the server closed the connection without an answer."""

    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        match = re.fullmatch(r"HTTP/1\.[01] (\d{3}) .*", lines[0])
        self.status = int(match[1]) if match else 0
        self.headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}

    def json(self):
        return json.loads(self.body)


def receive(connection):
    """All bytes of one reply, as its Content-Length has it."""
    raw = bytearray()
    end = None
    while end is None or len(raw) < end:
        try:
            some = connection.recv(1 << 20)
        except ConnectionError:
            some = b""
        if not some:
            break
        raw += some
        head = raw.find(b"\r\n\r\n") if end is None else -1
        if head >= 0:
            length = re.search(rb"(?im)^content-length: *(\d+)", raw[:head])
            end = head + 4 + int(length[1]) if length else float("inf")
    return bytes(raw)


class Server:
    """`etlheap view` with a TMPDIR of its own, until it is stopped."""

    def __init__(self, inputs, *options, folder, environment=None, stdin=None):
        self.temporary = os.path.abspath(folder)
        os.makedirs(self.temporary, exist_ok=True)
        # What a shell starts in the background ignores Ctrl-C; this is not of a shell.
        self.process = subprocess.Popen(
            [ETLHEAP, "view", *inputs, *options], stdin=stdin or subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": self.temporary, **(environment or {})},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
        # A test that fails leaves no server behind.
        atexit.register(self.process.kill)
        self.url = self.process.stdout.readline().decode().strip()
        if not self.url:
            raise RuntimeError(f"etlheap view did not start: {self.process.communicate()[1].decode('utf-8', 'replace')}")
        parts = urllib.parse.urlsplit(self.url)
        self.address, self.port, self.host, self.path = parts.hostname, parts.port, parts.netloc, parts.path

    def connect(self):
        connection = socket.create_connection((self.address, self.port), timeout=REPLY_SECONDS)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def send(self, raw):
        with self.connect() as connection:
            try:
                connection.sendall(raw)
            except ConnectionError:
                pass  # refused before all was sent; the reply says why
            return Reply(receive(connection))

    def head(self, path, method="GET", version="HTTP/1.1", **headers):
        """The bytes of a request; a header that is None is left out."""
        given = {"Host": self.host, **{name.replace("_", "-"): value for name, value in headers.items()}}
        lines = [f"{method} {path} {version}"] + [f"{name}: {value}" for name, value in given.items() if value is not None]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def get(self, path="", **headers):
        """A path below the token."""
        return self.send(self.head(self.path + path, **headers))

    def question(self, command, options=()):
        return f"api/{command}?" + urllib.parse.urlencode(options)

    def ask(self, command, *options):
        return self.get(self.question(command, options))

    def session(self):
        return self.get("api/session").json()

    def await_inputs(self):
        """Waits until every input is read, and names have arrived."""
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            inputs = self.session()["inputs"]
            if all(one["state"] == "ready" and one["symbols"] != "pending" for one in inputs):
                return
            if any(one["state"] == "failed" for one in inputs):
                raise RuntimeError(f"an input failed: {inputs}")
            time.sleep(0.05)
        raise RuntimeError(f"the inputs were not read within {START_SECONDS} s")

    def stop(self, number=signal.SIGTERM):
        """(exit status, standard error), after a signal."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self):
        _, said = self.process.communicate(timeout=REPLY_SECONDS)
        return self.process.returncode, said.decode("utf-8", "replace")

    def left_over(self):
        return sorted(os.path.join(where, name) for where, _, names in os.walk(self.temporary) for name in names)
