#!/usr/bin/env python3
"""Opens what `export --format heaptrack` writes in heaptrack's own programs.

heaptrack_print must find the difference of two exports: every total of the comparison is
the difference of what the lists of allocations say. heaptrack_gui must show each file,
and a comparison, on a virtual screen: it stays alive, and its page of results has coloured
bars. SCREENSHOTS=FOLDER keeps what it showed as PNG files.
"""

import os
import re
import shutil
import struct
import subprocess
import time
import zlib

from oracle_export import HINT, WORK, export, hostile_trace, made_traces
from oracle_export_events import HEAPTRACK, flame_totals, rows_of, wanted_totals
from oracle_support import LONG, Results, skip_all

GUI = shutil.which("heaptrack_gui")
XVFB = shutil.which("Xvfb")
SCREENSHOTS = os.environ.get("SCREENSHOTS")
SCREEN = "1280x900x24"
# A program with a window takes seconds; the long form shows all files.
SHOWN = ("demo", "hostile")
LOAD_SECONDS = 90
CHARTS_SECONDS = 2
# Cells of costs are painted on white, in a hue from green to red: no blue is added, and
# green or red is full. Nothing else of the window is like that.
BAR = re.compile(b"[\0-\xfa](?:\xff.|.\xff).", re.DOTALL)
# Of so many lines one is looked at, each time that the program is waited for.
BAR_LINES = 4
BAR_PIXELS = 800 // BAR_LINES


def exported(name, trace, kind, *arguments):
    path = os.path.join(WORK, f"{name}.heaptrack")
    with open(path, "wb") as file:
        file.write(export(trace, "heaptrack", "--kind", kind, *arguments))
    return path


def check_difference(results, label, base, new):
    """base and new are (file, lifetimes)."""
    got = flame_totals("-d", base[0], "-f", new[0])
    before, after = wanted_totals(base[1]), wanted_totals(new[1])
    wanted = {key: after[key] - before[key] for key in after}
    results.equal(f"{label}: heaptrack_print -d finds {wanted}", got,
                  {**wanted, "said": (wanted["allocations"], wanted["temporary"])})


# --- heaptrack_gui -------------------------------------------------------------------------


class Screen:
    """A virtual screen whose pixels lie in a file, as an XWD dump."""

    def __init__(self):
        read, write = os.pipe()
        self.server = subprocess.Popen(
            [XVFB, "-displayfd", str(write), "-screen", "0", SCREEN, "-fbdir", WORK, "-nolisten", "tcp", "-noreset"],
            pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as pipe:
            self.display = pipe.readline().strip()

    def close(self):
        self.server.terminate()
        self.server.wait()

    def pixels(self):
        """(width, height, lines of pixels of four bytes: blue, green, red, nothing)."""
        with open(os.path.join(WORK, "Xvfb_screen0"), "rb") as file:
            data = file.read()
        head = struct.unpack(">25I", data[:100])
        width, height, line, first = head[4], head[5], head[12], head[0] + 12 * head[19]
        return width, height, [data[first + y * line:first + y * line + 4 * width] for y in range(height)]

    def has_window(self):
        """The screen is black where nothing is."""
        width, height, lines = self.pixels()
        return sum(len(line) - line.count(0) for line in lines) > width * height

    def bar_count(self):
        """Pixels of the colours that bars have."""
        return sum(BAR.match(line, at) is not None for line in self.pixels()[2][::BAR_LINES] for at in range(0, len(line), 4))

    def save(self, name):
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        width, height, lines = self.pixels()
        rows = b"".join(b"\0" + bytes(line[i + 2 - c] for i in range(0, len(line), 4) for c in range(3)) for line in lines)
        with open(os.path.join(SCREENSHOTS, f"{name}.png"), "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
                       + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def show(screen, name, arguments, bars_wanted):
    """"shown", or what became of the program."""
    home = os.path.join(WORK, "home")
    os.makedirs(home, mode=0o700, exist_ok=True)
    environment = {**os.environ, "DISPLAY": f":{screen.display}", "HOME": home, "XDG_RUNTIME_DIR": home,
                   "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home, "QT_QPA_PLATFORM": "xcb", "LC_ALL": "C.UTF-8"}
    gui = subprocess.Popen([GUI, *arguments], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + LOAD_SECONDS
        while gui.poll() is None and not (screen.has_window() and screen.bar_count() >= bars_wanted):
            if time.monotonic() > deadline:
                return f"no bars after {LOAD_SECONDS} s: {screen.bar_count()} pixels of bars"
            time.sleep(0.3)
        time.sleep(CHARTS_SECONDS)  # charts are made once the first page is shown
        if gui.poll() is not None:
            return f"ended with status {gui.returncode}: {gui.stderr.read().decode(errors='replace')[-300:]}"
        if SCREENSHOTS:
            screen.save(name)
        return "shown"
    finally:
        gui.kill()
        gui.communicate()


def check_gui(results, files, base, new, nothing):
    screen = Screen()
    try:
        results.equal("an empty screen has no window and no bars", (screen.has_window(), screen.bar_count()), (False, 0))
        for name, path in files:
            results.equal(f"heaptrack_gui shows {name}", show(screen, name, [path], BAR_PIXELS), "shown")
        results.equal("heaptrack_gui shows a comparison",
                      show(screen, "comparison", ["-d", base, new], BAR_PIXELS), "shown")
        # Without costs there are no bars to wait for.
        results.equal("heaptrack_gui opens a file in which nothing is selected",
                      show(screen, "nothing", [nothing], 0), "shown")
    finally:
        screen.close()


def main():
    if not HEAPTRACK:
        skip_all(f"there is no heaptrack_print; {HINT}")
    results = Results()
    demo, keyed, slow = made_traces()
    hostile, named = hostile_trace()
    asked = [("demo", demo, "heap"), ("keyed", keyed, "heap"), ("slow", slow, "heap"),
             ("virtualalloc", demo, "virtualalloc"), ("extent", demo, "extent"), ("hostile", hostile, "heap", *named)]
    files = {name: (exported(name, *rest), rows_of(*rest)[0]) for name, *rest in asked}
    early, late = ((exported(name, keyed, "heap", *window), rows_of(keyed, "heap", *window)[0])
                   for name, window in (("early", ["--to", "40ms"]), ("late", ["--from", "20ms"])))
    nothing = exported("nothing", demo, "heap", "--process", "nobody.exe")
    check_difference(results, "two windows of a trace", early, late)
    check_difference(results, "two traces of different programs", files["demo"], files["keyed"])
    check_difference(results, "names that need escaping", files["hostile"], files["slow"])
    check_difference(results, "a file and itself", files["keyed"], files["keyed"])
    check_difference(results, "nothing and something", (nothing, []), files["demo"])
    if GUI and XVFB:
        shown = [(name, path) for name, (path, _) in files.items() if LONG or name in SHOWN]
        check_gui(results, shown, early[0], late[0], nothing)
    else:
        print(f"skipped: heaptrack_gui needs heaptrack-gui and Xvfb; {HINT}")
    results.finish()


if __name__ == "__main__":
    main()
