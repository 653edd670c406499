#!/usr/bin/env python3
"""Do the JSON documents look as docs/schema/ and docs/json.md describe them?

Documents of every command and of most options, of built traces, stores and summaries, are
validated with the schemas by jsonschema. A key that no schema describes fails, too: schemas
allow more keys, since programs should ignore what they do not know, but people look them up
in docs/json.md, whose tables are made of the schemas. So that the test can fail, documents
with a missing key, a wrong type and an unknown key must be refused.

    oracle_schemas.py             checks
    oracle_schemas.py --update    writes the tables of docs/json.md
"""

import copy
import json
import os
import re
import subprocess
import sys
import tempfile

from oracle_support import Results
from view_client import Server

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SCHEMAS = os.path.join(ROOT, "docs", "schema")
PAGE = os.path.join(ROOT, "docs", "json.md")
ETLHEAP = os.path.abspath(os.environ.get("ETLHEAP", "build/etlheap"))
MAKE_TRACE = os.path.abspath(os.environ.get("MAKE_TRACE", "build/release/make_trace"))
MAKE_SYMBOLS = os.path.join(os.path.dirname(MAKE_TRACE), "make_demo_symbols")
TABLE = re.compile(r"(<!-- (\w[\w-]*)(?:#(\w+))? -->\n)((?:\|.*\n)*)")

# Schema, then the command. Names are those of TRACES and of what earlier lines wrote.
DOCUMENTS = [
    ("report", "report demo.etl --churn --group-by process,thread"),
    ("report", "report demo.etl"),
    ("report", "report demo.etl --symbols symbols --group-by process,site,module,free_type"),
    ("report", "report demo.etl --group-by kind,process,heap,thread,type,frame,size_class,tag,type_name --stack-tags some.stacktags"),
    ("report", "report demo.etl --symbols symbols --group-by process,site,source_line"),
    ("report", "report demo.etl --symbols symbols --group-by process,function"),
    ("report", "report pool.etl --kind pool --group-by kind,pool_tag"),
    ("report", "report demo.etl --growth"),
    ("report", "report demo.etl --columns lifetime_mean_ns,growth_rate,size,first_ns,last_ns"),
    ("report", "report demo.etl --impacting transient"),
    ("report", "report demo.etl --at peak"),
    ("report", "report demo.etl --at 12s"),
    ("report", "report demo.etl --histogram size --group-by process"),
    ("report", "report demo.etl --histogram lifetime"),
    ("report", "report demo.etl --kind heap --group-by process,heap"),
    ("report", "report random.etl"),
    ("report", "report kitchen.etl"),
    ("report", "report broken.etl"),
    ("report", "report demo.ehs --from 5s --to 9s"),
    ("report", "report all.ehs"),
    ("report", "report runner.etl --group-by generation"),
    ("report", "report random.etl --pairs"),
    ("report", "report demo.etl --exclude-frame ntdll! --fold-module k*"),
    ("report", "report random.etl --unmatched --group-by kind,process,heap,free_thread,free_stack"),
    ("report", "report demo.etl --group-by thread_name,free_stack,free_site,free_module,free_thread --sort freed_by_other_count"),
    ("report", "report random.etl --group-by kind,process,impacting_stack --from 10ms --to 50ms"),
    ("tree", "report demo.etl --tree --symbols symbols"),
    ("tree", "report random.etl --tree=callers --tree-min 0 --group-by process,heap,type,thread --sort size"),
    ("tree", "report demo.etl --tree --root kernel32! --symbols symbols"),
    ("focus", "report demo.etl --focus '*::append' --symbols symbols"),
    ("focus", "report random.etl --focus kernel32! --group-by process,heap,thread --sort count --from 10ms"),
    ("focus", "report demo.etl --focus nobody!"),
    ("spikes", "report demo.etl --spikes --symbols symbols"),
    ("spikes", "report random.etl --spikes --group-by heap,stack --top 3"),
    ("suspects", "report demo.etl --suspects --symbols symbols"),
    ("suspects", "report random.etl --suspects --group-by process,site"),
    ("windows", "windows demo.etl --every 2s"),
    ("windows", "windows demo.etl --window 1s..3s --window 2s.. --group-by kind,process,heap,stack"),
    ("report", "report demo.etl --at peak --kind heap"),
    ("windows", "windows demo.etl --find-growth"),
    ("windows", "windows demo.etl --find-spikes --group-by kind,process,heap"),
    ("windows", "windows runner.etl --at marks"),
    ("windows", "windows kitchen.etl"),
    ("windows", "windows windows.ehs"),
    ("allocations", "allocations demo.etl --top 50"),
    ("allocations", "allocations random.etl --symbols symbols"),
    ("allocations-line", "allocations demo.etl --top 50 --format ndjson"),
    ("allocations-line", "export random.etl --format ndjson --rows"),
    ("export", "export demo.etl --format ndjson --symbols symbols"),
    ("info", "info demo.etl"),
    ("info", "info kitchen.etl"),
    ("info", "info all.ehs"),
    ("info", "info runner.etl"),
    ("symbols", "symbols demo.etl --symbols symbols"),
    ("symbols", "symbols demo.etl"),
    ("sources", "symbols demo.etl --symbols symbols --source history.cpp:2 --source ui.cpp:9 --source-root C:/src=. --source-links vscode"),
    ("diff", "diff demo.etl longer.etl"),
    ("diff", "diff demo.etl longer.etl --symbols symbols --per-second --all --group-by kind,process,site"),
    ("diff", "diff demo.ehs exercise.etl"),
    ("diff", "diff demo.etl longer.etl --churn --per-second"),
    ("diff", "diff demo.etl longer.etl --lifetimes --group-by process,site --all"),
    ("diff", "diff demo.ehs exercise.etl --sort lifetime_p99_ns"),
    ("report", "report demo.etl --sort lifetime_mean_ns"),
    ("trend", "trend demo.etl longer.etl exercise.etl --in-order --all"),
    ("trend", "trend demo.etl longer.etl exercise.etl --in-order --sort outstanding_count --group-by process,stack"),
    ("check", "check demo.etl --max-outstanding 1M --max-outstanding stack:256K --max-outstanding-count heap/heap:10"),
    ("check", "check longer.etl --baseline demo.etl --max-growth total:1K+5% --suppressions known.supp"),
    ("check", "check pool.etl --max-outstanding pool/pool_tag:1K --max-peak pool/pool_tag:Le*:1K"),
    ("check", "check demo.etl --process nobody --max-outstanding 1M"),
    ("check", "check demo.etl --max-peak heap:1K --max-allocations module:1 --max-temporary total:0 --max-alloc-rate function:1"),
    ("check", "check longer.etl --baseline demo.etl --max-peak total:5% --max-allocations stack:+1 --max-peak heap/function:1"),
    ("check", "check runner.etl --max-peak heap/mark:1 --max-allocations heap/mark:Cache*:0"),
    ("check", "check demo.etl --max-outstanding 1K --exclude-frame ckb! --fold-module *"),
    ("check", "check broken.etl --max-outstanding 1T"),
    ("check", "check runner.etl --max-outstanding heap/mark:16K"),
    ("check", "check demo.etl --max-outstanding heap/mark:16K"),
    ("tree", "report demo.etl --tree --exclude-frame ckb! --fold-module *"),
    ("suspects", "report demo.etl --suspects --exclude-frame ckb!"),
    ("spikes", "report demo.etl --spikes --exclude-frame ckb!"),
    ("windows", "windows demo.etl --every 2s --exclude-frame ckb!"),
    ("allocations", "allocations demo.etl --top 50 --exclude-frame ckb! --fold-module *"),
    ("diff", "diff demo.etl longer.etl --exclude-frame ckb! --fold-module *"),
    ("trend", "trend demo.etl longer.etl exercise.etl --in-order --exclude-frame ckb! --fold-module *"),
    ("report", "report handle.etl --kind handle"),
    ("report", "report handle.etl --kind handle --growth"),
    ("report", "report handle.etl --kind handle --churn"),
    ("report", "report handle.etl --kind handle --pairs"),
    ("report", "report handle.etl --kind handle --group-by process,heap"),
    ("suspects", "report handle.etl --kind handle --suspects"),
    ("tree", "report handle.etl --kind handle --tree"),
    ("focus", "report handle.etl --kind handle --focus worker.exe!"),
    ("windows", "windows handle.etl --kind handle --every 1s"),
    ("diff", "diff handle.etl handle.etl --kind handle --all"),
    ("diff", "diff handle.etl handle.etl --kind handle --all --per-second"),
    ("trend", "trend handle.etl handle.etl handle.etl --kind handle --in-order"),
    ("allocations", "allocations handle.etl --kind handle --top 20"),
    ("check", "check handle.etl --max-outstanding-count handle/50"),
    ("allocations-line", "allocations handle.etl --kind handle --top 20 --format ndjson"),
    ("export", "export handle.etl --kind handle --format ndjson"),
    ("dump", "dump kitchen.etl"),
    ("dump", "dump demo.etl --to 1s"),
]
TRACES = [("demo.etl", "demo"), ("longer.etl", "battery-meter"), ("exercise.etl", "heap-exercise"),
          ("random.etl", "workload"), ("kitchen.etl", "kitchen-sink"), ("pool.etl", "pool-leak"), ("handle.etl", "handle-leak"),
          ("runner.etl", "test-runner")]
STORES = ["demo.etl -o demo.ehs", "demo.etl --summary -o a.ehs", "longer.etl --summary -o b.ehs",
          "longer.etl --summary --every 1s -o windows.ehs", "demo.etl longer.etl broken.etl empty.etl --out-dir stores"]


def load(name):
    with open(os.path.join(SCHEMAS, name + ".json"), encoding="utf-8") as file:
        return json.load(file)


# --- what a schema describes --------------------------------------------------------------


class Schemas:
    def __init__(self):
        self.all = {name[:-5]: load(name[:-5]) for name in sorted(os.listdir(SCHEMAS))}

    def resolve(self, schema):
        """The schema that a reference means; all of them lead into common.json."""
        while "$ref" in schema:
            schema = self.all["common"]["definitions"][schema["$ref"].split("/")[-1]]
        return schema

    def parts(self, schema):
        schema = self.resolve(schema)
        yield schema
        for word in ("anyOf", "allOf"):
            for part in schema.get(word, []):
                yield from self.parts(part)

    def undescribed(self, schema, value, path=""):
        """The keys of a document that the schema has no property for."""
        parts = list(self.parts(schema))
        if isinstance(value, list):
            for item in value:
                for part in parts:
                    if "items" in part:
                        yield from self.undescribed(part["items"], item, path + "[]")
        elif isinstance(value, dict):
            properties = {key: part for some in parts for key, part in some.get("properties", {}).items()}
            for key, item in value.items() if properties else ():
                if key not in properties:
                    yield f"{path}.{key}"
                else:
                    yield from self.undescribed(properties[key], item, f"{path}.{key}")


# --- the tables of docs/json.md -----------------------------------------------------------


def type_text(schema):
    if "$ref" in schema:
        return f"[{schema['$ref'].split('/')[-1]}](#{schema['$ref'].split('/')[-1]})"
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(type_text(part) for part in schema["anyOf"])
    if "allOf" in schema:
        return type_text(schema["allOf"][0])
    kind = schema.get("type", "any")
    if kind == "array":
        return "array of " + type_text(schema["items"])
    text = " or ".join(kind) if isinstance(kind, list) else kind
    return text + (", hexadecimal" if schema.get("pattern", "").startswith("^0x") else "")


def table_rows(properties, prefix=""):
    for key, schema in properties.items():
        yield f"| `{prefix}{key}` | {type_text(schema)} | {schema.get('description', '')} |"
        for part in [schema, *schema.get("anyOf", [])]:
            inner = part.get("items", part)
            if "properties" in inner:
                yield from table_rows(inner["properties"], prefix + key + ("[]." if "items" in part else "."))


def table_text(name, definition):
    schema = load(name)
    schema = schema["definitions"][definition] if definition else schema
    return "\n".join(["| key | type | meaning |", "|---|---|---|", *table_rows(schema["properties"])]) + "\n"


def page_with_tables():
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    return text, TABLE.sub(lambda match: match[1] + table_text(match[2], match[3]), text)


# --- the documents ------------------------------------------------------------------------


def run(folder, words):
    return subprocess.run([ETLHEAP, *words.split()], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=120, check=False)


def make_inputs(folder):
    for name, scenario in TRACES:
        subprocess.run([MAKE_TRACE, scenario, name], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(folder, "demo.etl"), "rb") as file:
        data = file.read()
    with open(os.path.join(folder, "broken.etl"), "wb") as file:
        file.write(data[: 5 * 65536] + data[6 * 65536 : -1000])
    with open(os.path.join(folder, "empty.etl"), "wb"):
        pass
    with open(os.path.join(folder, "empty.zst"), "wb") as file:
        file.write(b"\x28\xb5\x2f\xfd")
    with open(os.path.join(folder, "known.supp"), "w", encoding="utf-8") as file:
        file.write("leak:BatteryMeter\nleak:nothing\n")
    with open(os.path.join(folder, "some.stacktags"), "w", encoding="utf-8") as file:
        file.write('<Tag Name=""><Tag Name="App"><Entrypoint Module="BatteryMeter.exe"/></Tag></Tag>\n')
    os.mkdir(os.path.join(folder, "symbols"))
    subprocess.run([MAKE_SYMBOLS, "symbols"], cwd=folder, check=True)
    os.mkdir(os.path.join(folder, "BatteryMeter"))
    with open(os.path.join(folder, "BatteryMeter", "history.cpp"), "w", encoding="utf-8") as file:
        file.write("one\ntwo\nthree\n")
    for words in STORES:
        run(folder, "store " + words + " --progress never")
    run(folder, "merge a.ehs b.ehs -o all.ehs")


def documents_of(command, output):
    is_lines = command.startswith("dump") or "ndjson" in command
    return [json.loads(line) for line in output.splitlines()] if is_lines else [json.loads(output)]


def check_document(results, schemas, validators, name, title, documents):
    errors, unknown = [], set()
    for document in documents:
        errors += [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
                   for error in validators[name].iter_errors(document)][:5]
        unknown |= set(schemas.undescribed(schemas.all[name], document))
    results.check(f"{title}: valid, {len(documents)} of {name}", documents and not errors, *errors[:5])
    results.check(f"{title}: each key is described", not unknown, *sorted(unknown),
                  f"describe it in docs/schema/{name}.json, then run make readme-update")


def check_refusals(results, schemas, validators, document):
    """The test can fail: a document of `report` that is spoilt is found out."""
    def spoil(change):
        spoilt = copy.deepcopy(document)
        change(spoilt)
        return spoilt

    missing = spoil(lambda report: report["trace"].pop("events"))
    wrong = spoil(lambda report: report["rows"][0].update(size="large"))
    unknown = spoil(lambda report: report["rows"][0].update(secret=1))
    results.check("a missing key is refused", list(validators["report"].iter_errors(missing)))
    results.check("a wrong type is refused", list(validators["report"].iter_errors(wrong)))
    results.equal("an unknown key is found", list(schemas.undescribed(schemas.all["report"], unknown)), [".rows[].secret"])


def make_validators(schemas):
    import jsonschema

    store = {"common.json": schemas.all["common"]}
    return {name: jsonschema.Draft7Validator(schema, resolver=jsonschema.RefResolver("", schema, store=store))
            for name, schema in schemas.all.items()}


def check_all(results, folder):
    schemas = Schemas()
    validators = make_validators(schemas)
    make_inputs(folder)
    for name, command in DOCUMENTS:
        words = command if "--format" in command else command + " --format " + ("ndjson" if name == "dump" else "json")
        done = run(folder, words)
        title = "etlheap " + command
        if not done.stdout:
            results.check(title, False, done.stderr.decode("utf-8", "replace"))
            continue
        documents = documents_of(words, done.stdout.decode("utf-8"))
        check_document(results, schemas, validators, name, title, documents)
        if command == "report demo.etl":
            check_refusals(results, schemas, validators, documents[0])
    with open(os.path.join(folder, "stores", "runs.ndjson"), encoding="utf-8") as file:
        runs = [json.loads(line) for line in file]
    check_document(results, schemas, validators, "run", "runs.ndjson", runs)
    server = Server([os.path.join(folder, "demo.etl"), os.path.join(folder, "empty.zst")], "--symbols",
                    os.path.join(folder, "symbols"), folder=folder)
    described = [server.session()]
    while any(one["state"] == "reading" or one["symbols"] == "pending" for one in described[-1]["inputs"]):
        described.append(server.session())
    server.stop()
    check_document(results, schemas, validators, "view", "api/session", described)
    results.equal("an input that cannot be read", [one["state"] for one in described[-1]["inputs"]], ["ready", "failed"])
    named = {name for name, _ in DOCUMENTS} | {"run", "common", "view"}
    results.equal("every schema is used", set(schemas.all), named)


def main():
    if "--update" in sys.argv:
        _, updated = page_with_tables()
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(updated)
        return
    results = Results()
    text, updated = page_with_tables()
    results.check("the tables of docs/json.md are those of the schemas", text == updated, "run make readme-update")
    try:
        with tempfile.TemporaryDirectory() as folder:
            check_all(results, folder)
    except ImportError:
        results.skip("schemas", "python3-jsonschema is not installed")
    results.finish()


if __name__ == "__main__":
    main()
