#!/usr/bin/env python3
"""Does Microsoft's validator, with its rules for GitHub, take what `check --format sarif` writes?

The logs are those of passes, failures, checks that prove nothing or measured nothing, and
of more results than GitHub shows. All rules for GitHub are on, which they are not by
default. A rule that never fires shows nothing: logs from which something was taken away
must be refused. Every result has a file, a line and, among those of its rule and file, a
hash of its own, the same in the next run.

    oracle_sarif.py --install    installs the validator, 100 MB from npm (make consumer-deps)
"""

import copy
import fcntl
import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import oracle_symbols
from oracle_check import BUILD, Block, attempt, documents, make_trace, path_of, write_trace
from oracle_support import LONG, Results, skip_all

PACKAGE = "@microsoft/sarif-multitool@5.7.0"
INSTALL_SECONDS = 120
KINDS = "Gh;Ghas;Sarif"
SHOWN_BY_GITHUB = 5000
# From before GitHub raised it. A result takes the validator several milliseconds, so that
# only the long form shows it as many.
SHOWN_BY_VALIDATOR = 1000


# --- the validator -------------------------------------------------------------------------


def validator():
    """The program, which `make consumer-deps` installs; the end of the run without."""
    folder = os.path.join(BUILD, "test-modules", "sarif")
    program = os.path.join(folder, "node_modules", "@microsoft", "sarif-multitool-linux", "Sarif.Multitool")
    if "--install" in sys.argv:
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        with open(f"{folder}.lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.exists(program):
                install(folder)
        return program
    if not os.path.exists(program):
        skip_all("the SARIF validator (100 MB, from npm) is not here; to have it: make consumer-deps")
    if validate(program, "--help").returncode != 0:
        skip_all(f"{program} does not run here")
    return program


def install(folder):
    command = ["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", folder, PACKAGE]
    try:
        subprocess.run(command, capture_output=True, check=True, timeout=INSTALL_SECONDS)
    except (OSError, subprocess.SubprocessError):
        shutil.rmtree(folder, ignore_errors=True)
        skip_all(f"the SARIF validator cannot be had: npm install {PACKAGE} failed")


def validate(program, *arguments):
    # Without it .NET needs ICU, which is not a part of the package.
    environment = {**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1", "DOTNET_BUNDLE_EXTRACT_BASE_DIR": path_of("net")}
    return subprocess.run([program, *arguments], capture_output=True, check=False, env=environment, timeout=300)


class Validator:
    def __init__(self):
        self.program = validator()
        self.rules = path_of("rules.xml")
        validate(self.program, "export-validation-config", self.rules)
        tree = xml.etree.ElementTree.parse(self.rules)
        self.enabled = 0
        self.sound = []
        for group in tree.getroot().iter("Properties"):
            if group.get("Key", "").startswith("GH") and not group.get("Key").startswith("GHAzDO"):
                for rule in group.iter("Property"):
                    rule.set("Value", "Error")
                    self.enabled += 1
        tree.write(self.rules)

    def errors(self, *logs):
        """For each log {rule: its first message} of what is wrong with it. It takes the
        validator a second to start, and little to read one more log."""
        answer = path_of("answer.sarif")
        sources = [path_of(f"validated-{number}.sarif") for number in range(len(logs))]
        for source, log in zip(sources, logs):
            with open(source, "w", encoding="utf-8") as file:
                json.dump(log, file)
        done = validate(self.program, "validate", "--rule-kind", KINDS, "--config", self.rules, "--log", "ForceOverwrite",
                        "--output", answer, *sources)
        try:
            with open(answer, encoding="utf-8-sig") as file:
                run = json.load(file)["runs"][0]
            os.remove(answer)
        except (OSError, ValueError) as error:
            return [{"no answer": f"{error}: {done.stdout[-300:]} {done.stderr[-300:]}"}] * len(logs)
        wrong = [{} for _ in logs]
        for result in run.get("results", []):
            if result.get("level", "warning") == "error":
                wrong[read_log(run, result)].setdefault(result["ruleId"].split("/")[0], json.dumps(result["message"])[:300])
        # What the validator says of itself is not said of a log.
        for invocation in run.get("invocations", []):
            for note in invocation.get("toolExecutionNotifications", []) + invocation.get("toolConfigurationNotifications", []):
                if note.get("level") == "error":
                    for one in wrong:
                        one.setdefault(note["descriptor"]["id"], json.dumps(note["message"])[:300])
        return wrong


def read_log(run, result):
    """The number of the log that a result of the validator is about."""
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    uri = location.get("uri") or run["artifacts"][location["index"]]["location"]["uri"]
    return int(uri.rsplit("-", 1)[1].removesuffix(".sarif"))


# --- logs ----------------------------------------------------------------------------------


def log_of(*arguments):
    status, out, said = attempt(*arguments, "--format", "sarif")
    if status not in (0, 1, 4):
        raise RuntimeError(f"status {status}: {said}")
    return json.loads(out)


def results_of(log):
    return log["runs"][0]["results"]


def identity(result):
    """What GitHub takes for the same alert."""
    place = result["locations"][0]["physicalLocation"]
    return result["ruleId"], place["artifactLocation"]["uri"], result["partialFingerprints"]["primaryLocationLineHash"]


def notes_of(log):
    return {note["descriptor"]["id"]: note["message"]["text"]
            for note in log["runs"][0]["invocations"][0]["toolExecutionNotifications"]}


def check_log(results, checker, name, log):
    """Whether the validator takes it is asked at the end, of all such logs together."""
    checker.sound.append((name, log))
    check_results(results, name, results_of(log))


def check_sound(results, checker):
    for (name, _), errors in zip(checker.sound, checker.errors(*(log for _, log in checker.sound))):
        results.equal(f"{name}: the validator finds nothing wrong", errors, {})


def check_results(results, name, found):
    lines = [place["physicalLocation"]["region"]["startLine"] for result in found for place in result["locations"]]
    results.check(f"{name}: {len(found)} results have a line and are told apart",
                  all(line > 0 for line in lines) and len({identity(result) for result in found}) == len(found))


def check_documents(results, checker):
    with open(path_of("known.supp"), "w", encoding="utf-8") as file:
        file.write("leak:^lib.dll$\n")
    for name, arguments in documents():
        if os.path.exists(path_of("fresh.ehs")):
            os.remove(path_of("fresh.ehs"))
        check_log(results, checker, name, log_of(*arguments))
    sound = make_trace("demo.etl")
    log = log_of(sound, "--max-outstanding", "1G", "--process", "nobody.exe")
    check_log(results, checker, "nothing measured", log)
    results.equal("nothing measured is a failure of the process that is missing",
                  [identity(result)[:2] for result in results_of(log)], [("max-outstanding", "nobody.exe")])
    accepted = path_of("accepted.ehs")
    shutil.copyfile(sound, path_of("now.etl"))
    subprocess.run([os.environ.get("ETLHEAP", "build/etlheap"), "store", write_trace("tiny.etl", [Block("heap", 1, ())]),
                    "-o", accepted], check=True)
    check_log(results, checker, "what was accepted", log_of(path_of("now.etl"), "--max-growth", "stack:0", "--baseline", accepted,
                                                            "--update-baseline", "--accept"))


def check_refusals(results, checker):
    """What was taken away is missed."""
    whole = log_of(make_trace("demo.etl"), "--max-outstanding", "stack:1K")

    def without(change):
        log = copy.deepcopy(whole)
        change(log["runs"][0])
        return log

    results.check("enough rules are on", checker.enabled >= 10, checker.enabled)
    # Of the first two the validator dies while it formats what it has to say: each is asked of alone.
    changes = (
        ("a result without a place", {"GH1001", "ERR999.UnhandledEngineException"}, lambda run: run["results"][0].pop("locations")),
        ("a place without a file", {"GH1001", "ERR999.UnhandledEngineException"}, lambda run: run["results"][0]["locations"][0].pop("physicalLocation")),
        ("a file without a line", {"GH1003"}, lambda run: run["results"][0]["locations"][0]["physicalLocation"].pop("region")),
        ("a rule without a description", {"GH2012"}, lambda run: run["tool"]["driver"]["rules"][0].pop("fullDescription")),
        ("a rule without help", {"GH2012"}, lambda run: run["tool"]["driver"]["rules"][0].pop("help")),
        ("a result without words", {"GH1015"}, lambda run: run["results"][0]["message"].update(text=" ")),
    )
    alone = [checker.errors(without(change))[0] for _, _, change in changes[:2]]
    together = checker.errors(*(without(change) for _, _, change in changes[2:]))
    for (name, rules, _), errors in zip(changes, alone + together):
        results.check(f"{name} is refused", rules & errors.keys(), errors)


# --- many results --------------------------------------------------------------------------


def many_blocks(count):
    """Blocks of different stacks, the first the largest, one of them of another kind."""
    return [Block("heap", 8 * (count - i), (("app.exe", 0x10 + 4 * (i % 3000)), ("lib.dll", 0x10 + 4 * (i // 3000))))
            for i in range(count)] + [Block("virtualalloc", 0x1000, (("lib.dll", 0x5000),))]


def check_many(results, checker):
    """The largest stacks of each failure are listed, and the log says that there are more."""
    trace = write_trace("many.etl", many_blocks(6000))
    asked = [trace, "--max-outstanding", "process:1", "--max-outstanding", "total:1", "--top", "100000"]
    log, whole = log_of(*asked), log_of(*asked, "--sarif-results", "1000000")
    listed, found = results_of(log), results_of(whole)
    check_results(results, "many results", listed)
    results.check(f"{len(found)} results: as many are listed as GitHub shows",
                  SHOWN_BY_GITHUB - 4 <= len(listed) <= SHOWN_BY_GITHUB < len(found), len(listed))
    note = notes_of(log).get("results-omitted", "")
    results.check("a notification says so", note.startswith(f"{len(listed):,} of {len(found):,} results are listed"), note)
    results.check("all results need no notification", "results-omitted" not in notes_of(whole))

    def by_subject(results_found):
        subjects = {}
        for result in results_found:
            subject = result["partialFingerprints"]["etlheapSubject/v2"]
            subjects.setdefault((result["ruleId"], subject), []).append(result["properties"]["outstanding_size"])
        return subjects

    some, all_of_them = by_subject(listed), by_subject(found)
    results.check("each failure has its largest stacks",
                  some.keys() == all_of_them.keys() and all(sizes == all_of_them[key][:len(sizes)] for key, sizes in some.items()))
    few = log_of(*asked, "--sarif-results", SHOWN_BY_VALIDATOR, "--sarif-category", "nightly/x86")
    results.check("a log of as many results as the validator allows has about as many",
                  SHOWN_BY_VALIDATOR - 4 <= len(results_of(few)) <= SHOWN_BY_VALIDATOR, len(results_of(few)))
    validated = few if LONG else log_of(*asked, "--sarif-results", 100, "--sarif-category", "nightly/x86")
    check_log(results, checker, f"{len(results_of(validated)):,} of many results", validated)
    results.equal("--sarif-category is what precedes the slash", few["runs"][0]["automationDetails"], {"id": "nightly/x86/"})
    subjects = log_of(trace, "--max-outstanding", "stack:1", "--max-outstanding-count", "stack:0", "--sarif-results", "50")
    check_log(results, checker, "more subjects than results", subjects)
    results.equal("each limit has its share", sorted(result["ruleId"] for result in results_of(subjects)),
                  ["max-outstanding"] * 25 + ["max-outstanding-count"] * 25)


# --- from run to run -----------------------------------------------------------------------


def check_stable(results):
    """Other sizes, times and builds give the same alerts."""
    blocks = many_blocks(40)
    larger = [Block(block.kind, block.size * 3, block.stack) for block in reversed(blocks)]
    limits = ["--max-outstanding", "stack:1", "--max-outstanding", "process:1", "--top", "100"]
    first, second = (log_of(write_trace(name, made, stamp), *limits)
                     for name, made, stamp in (("one.etl", blocks, 0x5F000000), ("two.etl", larger, 0x5F0000AA)))
    results.equal("two runs have the same alerts", sorted(map(identity, results_of(first))), sorted(map(identity, results_of(second))))


def check_sources(results, checker):
    """Places are lines of source code; as paths below the checkout they pass."""
    program = oracle_symbols.made_program("inline-x64", "sample_inline.cpp", "x86_64", ["-O2"], [])
    code = [rva for rva, size, is_code in program.sections if is_code for rva in range(rva, rva + size, 7)]
    lines = [program.lines(), *(oracle_symbols.memory("alloc", 64, [program.at(rva)]) for rva in code[:200])]
    trace = oracle_symbols.make_trace("sarif-sources", *lines)
    log = log_of(trace, "--symbols", os.path.dirname(program.pdb), "--max-outstanding", "stack:1")
    places = [result["locations"][0]["physicalLocation"] for result in results_of(log)]
    sources = {place["artifactLocation"]["uri"] for place in places if place["region"]["startLine"] > 1}
    results.check("places are lines of the sources", any(uri.endswith("sample_inline.cpp") for uri in sources), sources)
    results.equal("absolute paths need a checkout path, and nothing else", set(checker.errors(log)[0]), {"GH1006"})
    source = "tests/oracles/sample_inline.cpp"
    root = next(uri for uri in sources if uri.endswith(source)).removesuffix(source)
    folder = root.removeprefix("file://").rstrip("/")
    mapped = log_of(trace, "--symbols", os.path.dirname(program.pdb), "--max-outstanding", "stack:1",
                    "--source-root", "/nowhere=no", "--source-root", f"{folder.upper()}=.")
    check_log(results, checker, "sources below the checkout", mapped)
    mapped_sources = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results_of(mapped)}
    results.check("--source-root makes them paths of the checkout", source in mapped_sources and root not in json.dumps(mapped), mapped_sources)


def main():
    if "--install" in sys.argv:
        validator()
        return
    checker = Validator()
    results = Results()
    check_documents(results, checker)
    check_refusals(results, checker)
    check_many(results, checker)
    check_stable(results)
    check_sources(results, checker)
    check_sound(results, checker)
    results.finish()


if __name__ == "__main__":
    main()
