#!/usr/bin/env python3
"""Writes the pictures of README and docs/: the HTML report of the demo trace, and `etlheap view` of it.

    make_screenshot.py FOLDER

writes report.png, view.png (from the cards to the table, with a window) and view-stacks.png (flame graph,
callers and callees, probable leaks). The pages are opened in headless Chromium, light, 1,400 pixels wide.
pngquant and optipng reduce the pictures if they are installed; larger ones than BYTES_MAX are refused.
"""

import base64
import os
import shutil
import subprocess
import sys
import tempfile

from browser_page import PACKAGE, Page, find_browser
from oracle_support import ETLHEAP
from view_client import Server

MAKE_TRACE = os.path.abspath(os.environ.get("MAKE_TRACE", "build/release/make_trace"))
MAKE_SYMBOLS = os.path.join(os.path.dirname(MAKE_TRACE), "make_demo_symbols")
WIDTH = 1400
HEIGHT = 2228
TALL = 6000  # so that all parts of the view are in sight, and ask
BYTES_MAX = 300_000
# The last part of a picture is the one at its lower edge: {file: (fragment of the address, first and last part)}.
VIEWS = {
    "view.png": ("#from=6s&to=12s", None, "table"),
    "view-stacks.png": ("#from=6s&to=12s&metric=size&focus=BatteryMeter.exe!Ui::layout", "flame", "suspects"),
}


def make_demo(folder):
    symbols = os.path.join(folder, "symbols")
    os.mkdir(symbols)
    subprocess.run([MAKE_TRACE, "demo", "demo.etl"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([MAKE_SYMBOLS, symbols], check=True)
    return symbols


def make_report(folder, symbols):
    subprocess.run([ETLHEAP, "export", "demo.etl", "--symbols", symbols, "--format", "html", "-o", "demo.html"],
                   cwd=folder, check=True)
    return os.path.join(folder, "demo.html")


def save(path, picture):
    with open(path, "wb") as file:
        file.write(base64.b64decode(picture["data"]))
    reduce(path)
    size = os.path.getsize(path)
    if size > BYTES_MAX:
        sys.exit(f"make_screenshot.py: {path} has {size} bytes, more than {BYTES_MAX}")


def take_report(page, report, path):
    page.open(report, "#kind=heap")
    page.come_to_rest()
    save(path, page.call("Page.captureScreenshot", format="png"))


EDGES = """(() => {
  const box = (id) => document.getElementById(id).getBoundingClientRect();
  return [%s, box('%s').bottom + scrollY];
})()"""


def take_view(page, url, path, fragment, first, last):
    page.navigate("about:blank")
    page.navigate(url + fragment)
    page.until("document.documentElement.dataset.ready", 60)
    page.rest()
    top, bottom = page.run(EDGES % ("0" if first is None else f"box('{first}').top + scrollY - 16", last))
    clip = {"x": 0, "y": top, "width": WIDTH, "height": bottom + 16 - top, "scale": 1}
    save(path, page.call("Page.captureScreenshot", format="png", clip=clip))


def take_report_alone(browser, folder, symbols, target):
    page = Page(browser, folder, WIDTH, HEIGHT)
    try:
        page.call("Emulation.setScrollbarsHidden", hidden=True)
        take_report(page, make_report(folder, symbols), os.path.join(target, "report.png"))
    finally:
        page.close()


def take_views(browser, folder, symbols, target):
    os.chdir(folder)  # commands name the inputs as they were typed
    server = Server(["demo.etl"], "--symbols", symbols, folder=os.path.join(folder, "tmp"))
    page = Page(browser, folder, WIDTH, TALL)
    try:
        server.await_inputs()
        page.call("Emulation.setScrollbarsHidden", hidden=True)
        for name, (fragment, first, last) in VIEWS.items():
            take_view(page, server.url, os.path.join(target, name), fragment, first, last)
    finally:
        page.close()
        server.stop()


def reduce(path):
    if shutil.which("pngquant"):
        subprocess.run(["pngquant", "--force", "--strip", "--speed", "1", "--output", path, "64", path], check=True)
    if shutil.which("optipng"):
        subprocess.run(["optipng", "-quiet", "-o5", path], check=True)


def main():
    browser = find_browser()
    if browser is None:
        sys.exit(f"make_screenshot.py: no Chromium here; install it with: apt-get install {PACKAGE}")
    target = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        symbols = make_demo(folder)
        take_report_alone(browser, folder, symbols, target)
        take_views(browser, folder, symbols, target)


if __name__ == "__main__":
    main()
