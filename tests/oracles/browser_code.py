#!/usr/bin/env python3
"""Reads the code of frames on the page of `etlheap view` and in an HTML report, in a real browser.

    browser_code.py

Lines that open below a frame are compared with the file on disk: in the table, in blocks, in suspects and
between callers and callees. They open with the keyboard, are copied without their numbers, say when the file
is another one, scroll by themselves, and can be read by everybody (axe-core, contrast) in light and dark, at
1,400 and 800 pixels. A page without folders of sources offers nothing.
"""

import json
import os

from axe import axe_script
from browser_page import Page, find_browser
from browser_view_looks import check_axe, check_contrast, check_widths
from static_page import TALL, WIDE, StaticView
from view_page import run_views, viewed, write_demo

ROOT = "C:\\src=code"
LINES = 220
OPTIONS = ("--symbols", "symbols", "--source-root", ROOT, "--source-links", "vscode")
PARTS = "#kind=heap&focus=BatteryMeter.exe!History%3A%3Aappend"

# Opens rows of the table down to the stack, blocks and suspects, then every line of code.
OPEN_STACKS = """(async () => {
  const wait = () => new Promise((done) => setTimeout(done, 60));
  for (let i = 0; i < 40; i++) {
    const row = document.querySelector('#table tr[aria-expanded=false]');
    if (row === null || document.querySelector('#table .frames-box') !== null) break;
    row.querySelector('.label').click();
    await wait();
  }
  document.querySelector('#blocks .address')?.click();
  document.querySelectorAll('#suspects details').forEach((one) => { one.open = true; });
  await wait();
  return [...new Set([...document.querySelectorAll('button.source')].map((one) => one.closest('section').id))].sort();
})()"""
OPEN_CODE = "document.querySelectorAll('button.source[aria-expanded=false]').forEach((one) => one.click())"
READ_CODE = """[...document.querySelectorAll('.code-part')].map((part) => ({
  section: part.closest('section').id, file: part.dataset.file, command: part.closest('.code-box').dataset.command,
  asked: part.closest('.code').querySelector('button').textContent, link: part.querySelector('a')?.getAttribute('href') ?? null,
  notes: [...part.querySelectorAll('.note')].map((one) => one.textContent),
  marked: [...part.querySelectorAll('.is-it')].map((one) => one.querySelector('.code-number').textContent.trim()),
  lines: [...part.querySelectorAll('.code-line')].map((one) => [one.querySelector('.code-number').textContent.trim(), one.querySelector('.code-text').textContent]),
}))"""


def write_code(folder):
    os.makedirs(os.path.join(folder, "code", "BatteryMeter"))
    for name in ("history", "monitor", "ui", "text", "json", "settings", "http", "icons", "compactor"):
        with open(os.path.join(folder, "code", "BatteryMeter", f"{name}.cpp"), "w", encoding="utf-8") as file:
            file.writelines(f"{'    ' * (number % 4)}{name}({number}); // <i>\u00fc&amp;</i>{' and so on' * (40 if number % 10 == 1 else 0)}\n" for number in range(1, LINES + 1))


def check_against_disk(view, folder, name, sections):
    parts = view.run(READ_CODE)
    wrong = []
    for part in parts:
        place, _, line = part["asked"].rpartition(":")
        path = os.path.join(folder, "code", *part["file"].split("\\")[2:])
        with open(path, encoding="utf-8") as file:
            on_disk = file.read().split("\n")
        first = max(1, int(line) - 4)
        wanted = [[str(number), on_disk[number - 1] + "\n"] for number in range(first, int(line) + 5)]
        link = "vscode://file" + os.path.realpath(path) + f":{line}"
        if (part["file"], part["lines"], part["marked"], part["link"], part["notes"]) != (place, wanted, [line], link, []):
            wrong.append(part)
    view.results.check(f"{name}: {len(parts)} places have the lines of their files", len(parts) >= 8 and not wrong, *wrong[:2])
    view.results.equal(f"{name}: where code is shown", sorted({part["section"] for part in parts}), sections)
    return parts


def check_commands(view, parts):
    commands = {part["command"]: [text.rstrip("\n") for _, text in part["lines"]] for part in parts}
    wrong = [command for command, lines in commands.items()
             if json.loads(view.documents.bytes_of(command, "--format", "json"))["sources"][0]["lines"] != lines]
    view.results.check(f"{len(commands)} commands print what is shown", commands and not wrong, *wrong[:3])


def check_keyboard(view):
    view.run("document.querySelector('#table button.source').focus()")
    view.page.press("Enter")
    view.page.rest()
    view.results.equal("Enter opens a line of code", view.run("[document.activeElement.getAttribute('aria-expanded'), document.querySelectorAll('#table .code-line').length]"), ["true", 9])
    view.page.press("Tab")
    view.results.check("the next stop is the link", view.run("document.activeElement.matches('.code-head a')"), view.run("document.activeElement.outerHTML.slice(0, 120)"))
    view.page.press("Tab")
    view.results.check("then the lines, which can be scrolled", view.run("document.activeElement.matches('.code-lines[role=group]')"), view.run("document.activeElement.outerHTML.slice(0, 120)"))
    view.results.check("they have a name", "history.cpp:" in view.run("document.activeElement.getAttribute('aria-label')"))
    copied = view.run("(() => { const lines = document.activeElement; getSelection().selectAllChildren(lines); const text = getSelection().toString(); getSelection().removeAllRanges(); return text; })()")
    shown = view.texts("#table .code-lines .code-text")
    view.results.equal("selected text has no numbers", copied.split(), "".join(shown[:9]).split())
    view.run("document.querySelector('#table button.source').click()")
    view.results.equal("a second time closes it", view.run("document.querySelector('#table .code-box').hidden"), True)


def check_views(results, folder):
    write_demo(folder)
    write_code(folder)
    script = axe_script()
    with viewed(results, folder, ["demo.etl"], *OPTIONS) as view:
        view.open(PARTS)
        sections = view.run(OPEN_STACKS)
        results.equal("parts whose frames have code", sections, ["blocks", "focus", "suspects", "table"])
        check_keyboard(view)
        view.run(OPEN_CODE)
        view.page.rest()
        check_commands(view, check_against_disk(view, folder, "live", sections))
        for width in (1400, 800):
            for scheme in ("light", "dark"):
                view.page.resize(width, 20000)
                view.page.prefer(scheme)
                view.open(PARTS)
                view.run(OPEN_STACKS)
                view.run(OPEN_CODE)
                view.page.rest()
                name = f"{width} px, {scheme}"
                results.check(f"{name}: lines of code are there", view.run("document.querySelectorAll('.code-line').length") > 50)
                check_contrast(view, name)
                check_axe(view, script, name)
                check_widths(view, name)
        results.check("long lines scroll by themselves", view.run("[...document.querySelectorAll('.code-lines')].some((one) => one.scrollWidth > one.clientWidth + 100)"))
        os.rename("code/BatteryMeter/history.cpp", "code/BatteryMeter/gone.cpp")
        view.open(PARTS)
        view.run(OPEN_STACKS)
        view.run(OPEN_CODE)
        view.page.rest()
        notes = [(part["file"].split("\\")[-1], part["notes"]) for part in view.run(READ_CODE)]
        results.check("a file that is gone has a reason in place of lines", ("history.cpp", ["The file was not found."]) in notes and ("monitor.cpp", []) in notes, notes)
        os.rename("code/BatteryMeter/gone.cpp", "code/BatteryMeter/history.cpp")
    with viewed(results, folder, ["demo.etl"], "--symbols", "symbols") as view:
        view.open(PARTS)
        view.run(OPEN_STACKS)
        results.check("without a folder frames have lines, and nothing opens", view.run("document.querySelectorAll('.source').length") > 5 and view.run("document.querySelector('button.source')") is None)
    profile = os.path.join(folder, "profile-of-reports")
    os.makedirs(profile)
    page = Page(find_browser(), profile, WIDE, TALL)
    try:
        check_static(results, page, folder)
        results.equal("no errors in reports", page.problems, [])
    finally:
        page.close()


def check_static(results, page, folder):
    view = StaticView(results, page, folder)
    view.export("demo.etl", *OPTIONS)
    view.open(PARTS)
    sections = view.run(OPEN_STACKS)
    view.run(OPEN_CODE)
    page.rest()
    parts = check_against_disk(view, folder, "report", sections)
    results.check("a report has code in the table and in suspects", {"table", "suspects"} <= set(sections), sections)
    check_commands(view, parts)
    view.export("demo.etl", "--symbols", "symbols")
    view.open(PARTS)
    view.run(OPEN_STACKS)
    results.check("a report without a folder has none", view.run("document.querySelectorAll('.source').length") > 5 and view.run("document.querySelector('button.source')") is None)


if __name__ == "__main__":
    run_views(check_views)
