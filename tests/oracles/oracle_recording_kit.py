#!/usr/bin/env python3
"""The recorder's kit, packaging/recording: profiles for wpr, and the scripts that use them.

Nothing here can run wpr. So a reader of its own, written from the published schema of recording
profiles, says what each profile would record: keywords, stacks and providers after its bases are
added, and the buffers of its sessions. That is compared with what etlheap reads: each keyword and
stack stands for hooks, and each hook must have the name in `etlheap info` that its documentation
gives it. The reader must also find the mistakes that are made in copies of the file on purpose.

The scripts are compared with what they call: profiles that exist, options that etlheap has, and
options of wpr that are published. A parser of PowerShell reads the script if it is installed.
"""

import copy
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

from oracle_support import ETLHEAP, WORK, Results, run_json

KIT = os.path.abspath("packaging/recording")
CONSUMERS = os.environ.get("CONSUMERS", os.path.join(os.environ.get("BUILD", "build"), "consumers"))
MAKE_TRACE = os.environ["MAKE_TRACE"]

# What wpr's words stand for: hooks, by the documentation of SystemProvider's keywords and stacks.
KEYWORDS = {
    "ProcessThread": {0x0301: "Process/Start", 0x0302: "Process/End", 0x0303: "Process/DCStart",
                      0x0501: "Thread/Start", 0x0503: "Thread/DCStart"},
    "Loader": {0x030A: "Image/Load", 0x1402: "Image/UnLoad", 0x1403: "Image/DCStart"},
    "VirtualAllocation": {0x0262: "PageFault/VirtualAlloc", 0x0263: "PageFault/VirtualFree"},
}
STACKS = {"VirtualAllocation": 0x0262, "VirtualFree": 0x0263,
          "HeapAllocation": 0x1021, "HeapReallocation": 0x1022, "HeapFree": 0x1024}
HEAP_HOOKS = {0x1020: "Heap/Create", 0x1021: "Heap/Alloc", 0x1022: "Heap/ReAlloc", 0x1024: "Heap/Free"}

# The order in which the schema wants the parts of a file and of a profile.
ORDER = {
    "WindowsPerformanceRecorder": ["Profiles", "TraceMergeProperties"],
    "Profiles": ["SystemCollector", "EventCollector", "HeapEventCollector", "SystemProvider", "EventProvider",
                 "HeapEventProvider", "Profile"],
    "Collectors": ["SystemCollectorId", "EventCollectorId", "HeapEventCollectorId"],
    "SystemProvider": ["Keywords", "Stacks"],
    "SystemCollector": ["BufferSize", "Buffers"],
    "EventCollector": ["BufferSize", "Buffers"],
    "HeapEventCollector": ["BufferSize", "Buffers"],
    "HeapEventCollectorId": ["HeapEventProviders"],
    "HeapEventProvider": ["HeapProcessIds"],
}
REQUIRED = {
    "Profile": ["Id", "Name", "DetailLevel", "LoggingMode", "Description"],
    "SystemCollector": ["Id", "Name"], "EventCollector": ["Id", "Name"], "HeapEventCollector": ["Id", "Name"],
    "SystemProvider": ["Id"], "EventProvider": ["Id", "Name"], "HeapEventProvider": ["Id"],
}
# What an element may refer to by its Value.
REFERENCES = {
    "SystemCollectorId": "SystemCollector", "EventCollectorId": "EventCollector",
    "HeapEventCollectorId": "HeapEventCollector", "SystemProviderId": "SystemProvider",
    "EventProviderId": "EventProvider", "HeapEventProviderId": "HeapEventProvider",
}
SESSION_NAMES = {"NT Kernel Logger", "Circular Kernel Context Logger"}


def mistakes_of(root):
    """Why wpr would refuse the file, or record something else than its author meant."""
    found = []
    by_id = {}
    for element in root.find("Profiles") if root.find("Profiles") is not None else []:
        if element.get("Id") in by_id:
            found.append(f"two elements are {element.get('Id')}")
        by_id[element.get("Id")] = element
    for element in root.iter():
        for name in REQUIRED.get(element.tag, []):
            if element.get(name) is None:
                found.append(f"{element.tag} without {name}")
        if not re.fullmatch(r"[^:\s]+", element.get("Id", "x")):
            found.append(f"the id {element.get('Id')!r}")
        wanted = REFERENCES.get(element.tag)
        target = by_id.get(element.get("Value"))
        if wanted is not None and (target is None or target.tag != wanted):
            found.append(f"{element.tag} {element.get('Value')} refers to nothing")
        order = ORDER.get(element.tag)
        if order is not None:
            places = [order.index(child.tag) if child.tag in order else -1 for child in element]
            if -1 in places or places != sorted(places):
                found.append(f"parts of {element.tag}: {[child.tag for child in element]}")
    for profile in root.iter("Profile"):
        if profile.get("Id") != ".".join(profile.get(name, "") for name in ("Name", "DetailLevel", "LoggingMode")):
            found.append(f"the profile {profile.get('Id')} is not called by its name, level and mode")
        if profile.get("Base") is not None and by_id.get(profile.get("Base")) is None:
            found.append(f"the base {profile.get('Base')} is missing")
        if profile.get("DetailLevel") not in ("Light", "Verbose") or profile.get("LoggingMode") not in ("File", "Memory"):
            found.append(f"the profile {profile.get('Id')} has another level or mode")
    for collector in root.iter("SystemCollector"):
        if collector.get("Name") not in SESSION_NAMES:
            found.append(f"the kernel's session is called {collector.get('Name')}")
    for name, known in (("Keyword", KEYWORDS), ("Stack", STACKS)):
        for provider in root.iter("SystemProvider"):
            found += [f"{name} {one.get('Value')}" for one in provider.iter(name) if one.get("Value") not in known]
    return found


def recorded_by(root, profile):
    """Keywords, stacks, providers and sessions of a profile, with those of its base."""
    by_id = {element.get("Id"): element for element in root.find("Profiles")}
    base = by_id.get(profile.get("Base"))
    what = recorded_by(root, base) if base is not None else {"keywords": set(), "stacks": set(), "providers": set(),
                                                             "heap": [], "buffers": {}}
    for place in profile.iter("SystemCollectorId"):
        for reference in place.iter("SystemProviderId"):
            provider = by_id[reference.get("Value")]
            what["keywords"] |= {one.get("Value") for one in provider.iter("Keyword")}
            what["stacks"] |= {one.get("Value") for one in provider.iter("Stack")}
    what["providers"] |= {by_id[one.get("Value")].get("Name") for one in profile.iter("EventProviderId")}
    what["heap"] += [one.get("Value") for one in profile.iter("HeapEventCollectorId")]
    for tag in ("SystemCollectorId", "EventCollectorId", "HeapEventCollectorId"):
        for place in profile.iter(tag):
            collector = by_id[place.get("Value")]
            what["buffers"][tag] = int(collector.find("BufferSize").get("Value")) * int(collector.find("Buffers").get("Value"))
    return what


def profiles_of(root):
    return {profile.get("Id"): recorded_by(root, profile) for profile in root.iter("Profile")}


def check_profiles(results, root):
    results.equal("the file has no mistakes", mistakes_of(root), [])
    profiles = profiles_of(root)
    results.equal("each profile records to a file and into memory, in two levels", sorted(profiles),
                  sorted(f"{name}.{level}.{mode}" for name in ("EtlheapHeap", "EtlheapVirtualAlloc")
                         for level in ("Light", "Verbose") for mode in ("File", "Memory")))
    for name, what in profiles.items():
        heap = name.startswith("EtlheapHeap")
        wanted = {"VirtualAllocation", "HeapAllocation", "HeapReallocation"}
        if ".Verbose." in name:
            wanted |= {"VirtualFree", "HeapFree"}
        results.equal(f"{name}: keywords", what["keywords"], set(KEYWORDS))
        results.equal(f"{name}: stacks", what["stacks"], wanted)
        results.equal(f"{name}: sessions of heap events", len(what["heap"]), 1 if heap else 0)
        results.check(f"{name}: room for bursts", min(what["buffers"].values()) >= 16 * 1024 and
                      what["buffers"]["SystemCollectorId"] >= 256 * 1024, what["buffers"])
    ring = profiles["EtlheapHeap.Light.Memory"]["buffers"]["HeapEventCollectorId"]
    results.check("the ring of heap events is as large as the comment says", ring == 1024 * 1024, ring)
    merged = {one.get("Value") for one in root.iter("CustomEvent")}
    results.check("merging adds the identity of modules' PDBs", "ImageId" in merged, merged)


def check_hooks(results):
    """Each hook that a word stands for has its documented name here."""
    trace = os.path.join(WORK, "kit_workload.etl")
    seen = {}
    for seed in ("3", "5"):
        subprocess.run([MAKE_TRACE, "workload", trace, "--seed", seed, "--events", "3000", "--free-stacks"], check=True,
                       stdout=subprocess.DEVNULL)
        for hook in run_json("info", trace)["events"]:
            if hook.get("hook") is not None:
                seen[int(hook["hook"], 16)] = hook["name"]
    for word, hooks in list(KEYWORDS.items()) + [("heap session", HEAP_HOOKS)]:
        for hook, name in hooks.items():
            results.equal(f"{word}: hook {hook:#06x}", seen.get(hook), name)


def check_reader(results, root):
    """Mistakes made on purpose are found."""

    def changed(what, change):
        other = copy.deepcopy(root)
        change(other)
        results.check(f"the reader sees {what}", mistakes_of(other) != [] or profiles_of(other) != profiles_of(root))

    changed("a profile that is called by another name", lambda r: r.find(".//Profile").set("Name", "Other"))
    changed("a missing collector", lambda r: r.find("Profiles").remove(r.find(".//HeapEventCollector")))
    changed("a missing provider", lambda r: r.find("Profiles").remove(r.find(".//EventProvider")))
    changed("an unknown keyword", lambda r: r.find(".//Keyword").set("Value", "VirtualAlloc"))
    changed("an unknown stack", lambda r: r.find(".//Stack").set("Value", "HeapAlloc"))
    changed("a missing stack", lambda r: r.find(".//Stacks").remove(r.find(".//Stack")))
    changed("parts in another order", lambda r: r.find("Profiles").insert(0, r.find(".//Profile")))
    changed("a session of another name", lambda r: r.find(".//SystemCollector").set("Name", "etlheap"))
    changed("a missing base", lambda r: r.findall(".//Profile")[-1].set("Base", "Nothing"))
    changed("fewer buffers", lambda r: r.find(".//HeapEventCollector/Buffers").set("Value", "3"))


def check_process_profile(results, root, script):
    """What record.ps1 adds for a running process is a profile, too."""
    added = copy.deepcopy(root)
    profiles = added.find("Profiles")
    provider = ElementTree.Element("HeapEventProvider", {"Id": "EtlheapProcess"})
    ElementTree.SubElement(ElementTree.SubElement(provider, "HeapProcessIds"), "HeapProcessId", {"Value": "4321"})
    profiles.insert(list(profiles).index(profiles.find("Profile")), provider)
    for place in added.iter("HeapEventCollectorId"):
        ElementTree.SubElement(ElementTree.SubElement(place, "HeapEventProviders"), "HeapEventProviderId",
                               {"Value": "EtlheapProcess"})
    results.equal("a profile of a running process has no mistakes", mistakes_of(added), [])
    for name in ("HeapEventProvider", "HeapProcessIds", "HeapProcessId", "HeapEventProviders", "HeapEventProviderId"):
        results.check(f"record.ps1 adds {name}", f"CreateElement('{name}')" in script)


def check_script(results, root, script):
    names = {profile.get("Name") for profile in root.iter("Profile")}
    used = set(re.findall(r"'(Etlheap\w+)'", script)) - {"EtlheapProcess"}
    results.equal("record.ps1 uses the profiles", used, names)
    declared = set(re.findall(r"^    \[\w+\] \$(\w+)", script[script.index("param(") : script.index("Set-StrictMode")], re.M))
    described = set(re.findall(r"^\.PARAMETER (\w+)", script, re.M))
    results.equal("record.ps1 describes its parameters", described, declared)
    wpr = {"-start", "-stop", "-cancel", "-heaptracingconfig", "-filemode", "-recordtempto"}
    results.check("record.ps1 gives wpr published options", set(re.findall(r"'(-[a-z]+)'", script)) <= wpr,
                  set(re.findall(r"'(-[a-z]+)'", script)) - wpr)
    shown = subprocess.run([ETLHEAP, "check", "--help"], capture_output=True, text=True, check=True).stdout
    options = set(re.findall(r"--[a-z][a-z-]+", script)) - {"--quick"}
    shown += subprocess.run([ETLHEAP, "report", "--help"], capture_output=True, text=True, check=True).stdout
    results.check("etlheap has the options", all(option in shown for option in options), sorted(options))
    with open(os.path.join(KIT, "record.cmd"), "rb") as file:
        lines = file.read().split(b"\n")
    results.check("record.cmd has the line ends of cmd", all(line.endswith(b"\r") for line in lines[:-1]) and len(lines) > 2)
    results.check("record.cmd passes its words and the status on", b"record.ps1\" %*" in b"\n".join(lines) and
                  b"exit /b %ERRORLEVEL%" in b"\n".join(lines))


PARSE = """
const { Parser, Language } = require('web-tree-sitter');
(async () => {
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(process.argv[2]));
  const wrong = [];
  const walk = (node) => {
    if (node.isError || node.isMissing) wrong.push(`${node.startPosition.row + 1}: ${node.text.slice(0, 60)}`);
    for (let i = 0; i < node.childCount; i++) walk(node.child(i));
  };
  walk(parser.parse(require('fs').readFileSync(process.argv[3], 'utf8')).rootNode);
  console.log(wrong.join('\\n'));
})();
"""


def check_syntax(results):
    grammar = os.path.join(CONSUMERS, "node_modules/tree-sitter-powershell/tree-sitter-powershell.wasm")
    if not os.path.exists(grammar) or shutil.which("node") is None:
        results.skip("record.ps1 is PowerShell", "no parser of PowerShell is here; `make consumer-deps` installs it")
        return
    script = os.path.join(WORK, "parse.cjs")
    with open(script, "w", encoding="utf-8") as file:
        file.write(PARSE)

    def wrong_in(path):
        return subprocess.run(["node", script, os.path.abspath(grammar), path], capture_output=True, text=True, check=True,
                              env={**os.environ, "NODE_PATH": os.path.abspath(os.path.join(CONSUMERS, "node_modules"))}).stdout

    results.equal("record.ps1 is PowerShell", wrong_in(os.path.join(KIT, "record.ps1")).strip(), "")
    broken = os.path.join(WORK, "broken.ps1")
    with open(os.path.join(KIT, "record.ps1"), encoding="utf-8") as file, open(broken, "w", encoding="utf-8") as out:
        out.write(file.read().replace("} finally {", "finally {", 1))
    results.check("a missing brace is seen", wrong_in(broken).strip() != "")


def main():
    results = Results()
    root = ElementTree.parse(os.path.join(KIT, "etlheap.wprp")).getroot()
    with open(os.path.join(KIT, "record.ps1"), encoding="utf-8") as file:
        script = file.read()
    check_profiles(results, root)
    check_hooks(results)
    check_reader(results, root)
    check_process_profile(results, root, script)
    check_script(results, root, script)
    check_syntax(results)
    results.finish()


main()
