"""`etlheap view` in a browser, for tests: after each step of its user, every painted number is compared
with the command that the page shows for it (view_numbers.py).

The view is as high as all parts together, so that each part asks at once and is compared after each step.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
from collections import Counter
from urllib.parse import parse_qsl, urlsplit

from browser_page import PACKAGE, Page, find_browser
from oracle_support import ETLHEAP, Results, skip_all
from view_client import Server
from view_numbers import PAINTED, UNTOLD, Commands, option_of, wrong_numbers

TALL = 14000
WIDE = 1400
FILTERS = {"process", "heap", "thread", "type", "size", "lifetime", "require-frame", "exclude-frame", "fold-module", "cull-frame", "at-exit"}
LOGIN = re.compile(r"--symbol-login|//[^/ ]*@|sekret")
# What parts may leave out, since their commands cannot take it: all that they say must be among this.
MAY_IGNORE = {
    **dict.fromkeys(("curve", "growth", "map", "spikes", "suspects"), "Type: .*"),
    "modules": "(Thread|Type|Lifetime|Only stacks with|No stacks with|Fold module): .*|the search",
    "frees": "(Type|Size|Lifetime|Only stacks with|No stacks with|At process exit): .*|the search",  # of frees without an allocation
}
SHOWN_MOST = 6  # wrong numbers of a step that are printed

# The commands of each part in sight, and what it says of choices that it does not follow.
COVERS = """[...document.querySelectorAll('main section')].filter((one) => !one.hidden).map((one) => [one.id,
  one.querySelector('.covers').textContent, [one.dataset.command, ...[...one.querySelectorAll('[data-command]')].map((inner) => inner.dataset.command)]])"""
ERRORS = "[...document.querySelectorAll('main [role=alert]:not([hidden])')].map((one) => [one.closest('section')?.id, one.textContent]).filter(([, text]) => text !== '')"


def write_demo(folder):
    """The traces and symbols of the documentation's examples."""
    subprocess.run([ETLHEAP, "selftest", "--write-demo", folder], check=True, stdout=subprocess.DEVNULL)


def is_name(part, _, text):
    """A class of sizes, or the unit of the map, which are choices and no results."""
    classes = r".* B to .*B|.*iB to .*iB"
    words = {"table": classes, "curve": classes, "churn": "from .*", "compare": "from .*", "histogram": r".* \u2013 .*|.* and more", "map": ".*in units of.*"}
    return part in words and re.fullmatch(words[part], text) is not None


def ignored(said):
    """What a part says that it does not follow."""
    found = re.search(r"Does not follow (.*?)\.(?=$|Names)", said)
    return found[1].split("; ") if found else []


def await_page(page):
    """Waits until a page that has been loaded has drawn its first parts. A script that fails never does."""
    page.until("document.documentElement.dataset.ready", 60, lambda: page.problems)
    if not page.run("document.documentElement.dataset.ready"):
        raise RuntimeError(f"the page is not ready: {page.problems}")
    page.rest()


class View:
    """A page of a server, whose inputs lie in the folder in which commands are run."""

    is_static = False
    may_ignore = MAY_IGNORE

    def __init__(self, results, page, server, folder):
        self.results, self.page, self.server = results, page, server
        self.documents = Commands(folder)
        self.counts, self.steps = Counter(), 0
        self.commands = set()

    def run(self, script):
        return self.page.run(script)

    def open(self, fragment=""):
        self.page.navigate("about:blank")  # else only the fragment would change
        self.page.navigate(self.server.url + fragment)
        await_page(self.page)

    def state(self):
        """What the fragment of the address says: {name: [value, ...]}."""
        found = {}
        for name, value in parse_qsl(urlsplit(self.run("location.href")).fragment, keep_blank_values=True):
            found.setdefault(name, []).append(value)
        return found

    def step(self, name, act=None, **floors):
        """Does something, waits for rest, and compares all. `floors`: how many numbers parts have to paint."""
        if act is not None:
            act()
        self.page.rest()
        self.compare(name, floors)

    def painted(self):
        """The numbers to compare."""
        return self.run(PAINTED)

    def compare(self, name, floors):
        numbers = self.painted()
        wrong = wrong_numbers(numbers, self.documents, self.is_static)
        by_part = Counter(number["section"] for number in numbers)
        self.counts.update(by_part)
        self.steps += 1
        self.results.check(f"{name}: {len(numbers)} numbers are those of their commands", numbers and not wrong,
                           *(wrong[:SHOWN_MOST] + ([f"and {len(wrong) - SHOWN_MOST} more"] if len(wrong) > SHOWN_MOST else [])))
        few = {part: by_part[part] for part, least in floors.items() if by_part[part] < least}
        if floors:
            self.results.check(f"{name}: {', '.join(f'{part} at least {least}' for part, least in floors.items())}", not few, few)
        self.compare_covers(name)
        told = [line for line in self.run(UNTOLD) if not is_name(*line)]
        if told:
            self.results.check(f"{name}: every size that is painted names its command", False, *told[:SHOWN_MOST])
        errors = self.run(ERRORS)
        if errors:
            self.results.check(f"{name}: no part fails", False, *errors)

    def compare_covers(self, name):
        """Each part follows the window and the filters, or says that it does not."""
        state = self.state()
        chosen = [(option, value) for option in FILTERS for value in state.get(option, [])]
        wrong = []
        parts = self.run(COVERS)
        # Comparisons and trends have all their rows, among which the page searches by itself.
        can_narrow = any(command.split()[1] not in ("diff", "trend") for _, _, commands in parts for command in commands if command)
        for part, said, commands in parts:
            self.commands.update(commands)
            for option, value in chosen:
                if value not in said and not any(option_of(command, option) is not None for command in commands):
                    wrong.append(f"{part} ignores --{option} {value}")
            # A search is a filter of frames while there is no other.
            if can_narrow and "search" in state and "require-frame" not in state and "0x" not in state["search"][0] and "the search" not in said:
                marks = part == "flame" and any("free_stack" in command for command in commands)
                if not marks and not any(state["search"][0] in (option_of(command, "require-frame") or "") for command in commands):
                    wrong.append(f"{part} ignores the search")
            ends = [(end, state[end][0]) for end in ("from", "to") if end in state]
            ignores = part in ("curve", "compare") or "the selected window" in said
            for end, time in ends:
                has = any(option_of(command, end) == time or (end == "to" and option_of(command, "at") == time) for command in commands)
                if not has and not ignores and not (part == "map" and end == "from"):
                    wrong.append(f"{part} ignores --{end} {time}")
            wrong += [f"{part} does not follow {what}" for what in ignored(said) if not self.may_leave_out(part, what, bool(ends))]
        self.results.check(f"{name}: parts follow what is chosen, or say that they do not", not wrong, *wrong)

    def may_leave_out(self, part, what, has_window):
        del has_window
        return re.fullmatch(self.may_ignore.get(part, ""), what) is not None

    # --- what a user does -----------------------------------------------------------------------

    def place(self, selector, across=0.5, down=0.5):
        left, top, width, height = self.page.box(selector)
        return left + width * across, top + height * down

    def brush(self, start, end):
        """Selects a window of the curve, by shares of its width."""
        self.page.drag(self.place("#curve .surface", start), self.place("#curve .surface", end))

    def click(self, selector):
        self.page.click(selector)

    def menu(self, selector, item):
        """Chooses from the menu of an element, by what the item begins with."""
        self.page.click(selector)
        items = self.run("[...document.querySelectorAll('[role=menu] [role=menuitem]')].map((one) => one.textContent)")
        at = next((i for i, text in enumerate(items) if text.startswith(item)), None)
        if at is None:
            raise RuntimeError(f"{selector} has no item {item!r}: {items}")
        self.page.click(f"[role=menu] [role=menuitem]:nth-of-type({at + 1})")

    def mark(self, find, name):
        """Gives the element that a script finds an id, and returns the selector for it."""
        if not self.run(f"(() => {{ const one = {find}; if (!one) return false; document.querySelectorAll('#{name}').forEach((old) => old.removeAttribute('id'));"
                        f" one.id = '{name}'; return true; }})()"):
            raise RuntimeError(f"nothing is found by {find}")
        return f"#{name}"

    def texts(self, selector):
        return self.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((one) => one.textContent)")

    def finish(self, floors):
        """How many numbers all steps have compared, by part, and that no command has a login."""
        print(f"# {sum(self.counts.values())} numbers in {self.steps} steps: {dict(self.counts.most_common())}")
        few = {part: self.counts[part] for part, least in floors.items() if self.counts[part] < least}
        self.results.equal("every part was compared often enough", few, {})
        secret = [command for command in self.commands if LOGIN.search(command or "")]
        self.results.check(f"none of {len(self.commands)} commands has a login", len(self.commands) > 10 and not secret, *secret)


@contextlib.contextmanager
def viewed(results, folder, inputs, *options, width=WIDE, height=TALL, awaits=True):
    """A server for inputs in the folder, and a page that is not opened yet. What the page logged, threw or
    asked of others fails. If it `awaits`, all names of functions are there first."""
    program = find_browser()
    if program is None:
        skip_all(f"no Chromium here to open pages in; to have it: apt-get install {PACKAGE}")
    before = os.getcwd()
    os.chdir(folder)  # inputs and commands have the names that a user would type there
    server = Server(inputs, *options, folder=os.path.join(folder, "tmp"))
    page = None
    try:
        if awaits:
            server.await_inputs()
        profile = os.path.join(folder, "profile")
        os.makedirs(profile, exist_ok=True)
        page = Page(program, profile, width, height)
        yield View(results, page, server, folder)
        results.equal("no errors", page.problems, [])
        foreign = [url for url in page.requests if not url.startswith((server.url, "data:", "blob:"))]
        results.equal("no requests but to its server", foreign, [])
    finally:
        if page is not None:
            page.close()
        server.stop()
        os.chdir(before)
        shutil.rmtree(os.path.join(folder, "profile"), ignore_errors=True)


def run_views(use):
    """Calls use(results, folder) with a folder of its own."""
    results = Results()
    folder = os.path.join(os.path.abspath(os.environ.get("TEST_TMP", ".")), "view")
    os.makedirs(folder, exist_ok=True)
    use(results, folder)
    results.finish()
