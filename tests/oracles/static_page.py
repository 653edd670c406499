"""HTML reports in a browser, for tests: after each step of their user, every painted number is compared
with the command that the page shows for it, as for `etlheap view` (view_page.py, view_numbers.py).

The page has a few blocks of each stack and not all that `allocations` lists, so blocks are compared by
their addresses, in browser_shown.py. What the page makes of its cells has the rows of the command in
the same order, but for rows that are equal in what sorts them: such a row may be another of these.
"""

import json
import os
import re
import subprocess

from browser_page import run_in_browser
from view_numbers import PAINTED, Commands
from view_page import LOGIN, View

from oracle_support import ETLHEAP

TALL = 14000
WIDE = 1400
# What parts of a report may leave out. Lists are documents, of the whole page, whatever is selected. The
# others are made of cells, which have processes, heaps, types and frames; in a selected window, no types.
LISTS = {"suspects", "growth", "spikes", "churn", "frees", "histogram", "map", "modules"}
OF_CELLS = {"overview", "curve", "table", "flame", "focus", "blocks", "diagnostics"}
NOT_IN_CELLS = "(Thread|Size|Lifetime|Fold module|Hide innermost|At process exit): .*"


class StaticView(View):
    """An HTML report in the folder in which commands are run."""

    is_static = True
    own_tests = ("blocks",)

    def __init__(self, results, page, folder):
        super().__init__(results, page, None, folder)
        self.opened = []

    def export(self, trace, *options):
        """Writes the report of a trace, and opens it. Commands have the trace's name as it is typed here."""
        return self.write("export", [trace], *options)

    def write(self, command, inputs, *options):
        path = os.path.join(self.documents.folder, os.path.basename(inputs[-1]) + ".html")
        subprocess.run([ETLHEAP, command, *inputs, "--format", "html", *options, "-o", path],
                       cwd=self.documents.folder, check=True, stdin=subprocess.DEVNULL, capture_output=True)
        self.documents = Commands(self.documents.folder)
        self.path = path
        self.open()
        return path

    def open(self, fragment=""):
        address = "file://" + os.path.abspath(self.path)
        self.opened.append(address)
        self.page.navigate("about:blank")
        self.page.navigate(address + fragment)
        self.page.until("document.documentElement.dataset.ready", 60)
        self.page.rest()

    def may_leave_out(self, part, what, has_window):
        if part in LISTS:
            return True
        pattern = NOT_IN_CELLS + ("|Type: .*" if has_window or part == "curve" else "")
        return part in OF_CELLS and re.fullmatch(pattern, what) is not None

    def painted(self):
        return [number for number in self.run(PAINTED) if number["section"] not in self.own_tests]

    def finish(self, floors):
        super().finish(floors)
        self.results.equal("no errors or warnings", self.page.problems, [])
        foreign = [url for url in self.page.requests if not url.startswith((*self.opened, "about:", "data:", "blob:"))]
        self.results.equal("no requests but for the files", foreign, [])


class ComparedView(StaticView):
    """The page of `diff` or `trend`, which has the answer of one command, whole."""

    is_static = False
    own_tests = ()

    def may_leave_out(self, part, what, has_window):
        return False

    def document(self):
        """What the command prints that the page shows."""
        return self.documents.document(self.run("document.querySelector('#runs').dataset.command"))

    def choose(self, label, value):
        """Chooses in a list, by its label."""
        self.run(f"(() => {{ const one = [...document.querySelectorAll('main label')].find((one) => one.checkVisibility() && one.textContent.startsWith({json.dumps(label)})).querySelector('select');"
                 f" one.value = {json.dumps(value)}; one.dispatchEvent(new Event('change', {{ bubbles: true }})); }})()")

    def kinds(self):
        return self.run("[...document.querySelectorAll('.kind')].map((one) => one.dataset.kind)")

    def choose_kind(self, kind):
        self.run(f"document.querySelector('.kind[data-kind=\"{kind}\"]').click()")
        self.page.rest()

    def search(self, text):
        self.run(f"byId('search').value = {json.dumps(text)}; byId('search').dispatchEvent(new Event('input'))")
        self.page.until(f"state.search === {json.dumps(text)}")
        self.page.rest()

    def show_all(self, part):
        more = f"document.querySelector('#{part} .after button')"
        while self.run(f"{more} !== null"):
            self.run(f"{more}.click()")
            self.page.rest()

    def rows(self, part):
        """The rows that a table shows, by their numbers in the document."""
        return self.run(f"[...document.querySelectorAll('#{part} tbody tr[data-row]')].map((row) => Number(row.dataset.row))")

    def finish(self, least):
        print(f"# {sum(self.counts.values())} numbers in {self.steps} steps: {dict(self.counts.most_common())}")
        self.results.check(f"at least {least} numbers were compared", sum(self.counts.values()) >= least, self.counts)
        secret = [command for command in self.commands if LOGIN.search(command or "")]
        self.results.equal("no command has a login", secret, [])
        self.results.equal("no errors or warnings", self.page.problems, [])
        foreign = [url for url in self.page.requests if not url.startswith((*self.opened, "about:", "data:", "blob:"))]
        self.results.equal("no requests but for the files", foreign, [])


def run_static(use, view=StaticView):
    """Calls use(view) with a page of a browser, and a folder of its own."""

    def with_page(results, page, folder):
        page.call("Emulation.setDeviceMetricsOverride", width=WIDE, height=TALL, deviceScaleFactor=1, mobile=False)
        use(view(results, page, folder))

    run_in_browser(with_page)
