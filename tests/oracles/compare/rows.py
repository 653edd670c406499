"""What is run on which input: commands x inputs, a row each in a const table.

Words in braces are replaced, one run for each that there is:
  {--format}     the words that the program's completion has for this option of the command
  {in}           the files of an input that has one of the row's tags
  {base} {new}   the files of a pair of inputs; {base.ehs} and {base.s.ehs} the program's
                 own store and summary of it
  {store}        one of the program's own stores, and merges; {summary} one of its summaries
A command that has no place for an input gets {in} behind its name.
"""

from dataclasses import dataclass

CORE, WIDE, UMDH = ("core",), ("wide",), ("umdh",)
FREES, MARKS = ("core", "frees"), ("marks",)
LARGE = 3 << 20
MARK_EVENT = "3f471139-acb7-4a01-b7a7-ff5da4ba2d43/7"  # of mimalloc, in the workloads


@dataclass(frozen=True)
class Row:
    command: str
    arguments: str
    on: tuple = CORE
    bytes_max: int = 1 << 62  # of an input
    keep: str = ""  # where the output goes for later rows
    volatile: tuple = ()  # patterns of what is of the run, not of the answer


# First, for the others read what these write.
STORES = (
    Row("store", "{in} -o own/{name}.ehs", ("stored",), keep="store"),
    Row("store", "{in} --summary --every 5ms -o own/{name}.s.ehs --unpack-limit 1G", ("stored",), keep="summary"),
)
MERGES = (
    Row("merge", "own/demo.s.ehs own/plain.s.ehs own/next.s.ehs -o own/three.m.ehs", (), keep="summary"),
    Row("merge", "own/keyed.ehs own/two-files.ehs --every 10ms -o own/full.m.ehs", (), keep="summary"),
    Row("merge", "own/demo.s.ehs own/demo.s.ehs --allow-duplicates --unpack-limit 1G -o own/twice.m.ehs", (), keep="summary"),
)

ROWS = (
    # --- every input ---
    Row("info", "{in} --format {--format}", WIDE),
    Row("report", "{in} --format {--format}", WIDE),
    Row("report", "{in} --no-cull --group-by kind,process,heap,type,free_type,stack,thread --format json", WIDE),
    Row("allocations", "{in} --no-cull --format csv", WIDE),
    Row("allocations", "{in} --top 60", WIDE),
    Row("allocations", "{in} --impacting --from 5ms --format csv"),
    Row("allocations", "{in} --address 0x10000..0x200000000 --top 60"),
    Row("windows", "{in} --format {--format}", WIDE),
    Row("windows", "{in} --find-growth", WIDE),
    Row("windows", "{in} --find-spikes", WIDE),
    Row("symbols", "{in} --format {--format}", WIDE),
    Row("export", "{in} --format folded", WIDE),
    Row("export", "{in} --format html", WIDE, LARGE),
    Row("export", "{in} --format perfetto", WIDE, LARGE),
    Row("export", "{in} --format parquet --rows -o out.parquet", WIDE, LARGE),
    Row("check", "{in} --max-outstanding 1K --strict --unpack-limit 1G", WIDE),
    Row("dump", "{in} --format {--format} --unpack-limit 1G", WIDE, LARGE),
    # --- every shape ---
    Row("report", "{in} --group-by {--group-by} --format json"),
    Row("report", "{in} --group-by process,heap --sort {--sort} --growth"),
    Row("report", "{in} --group-by stack --sort -{--sort} --top 5 --growth --format csv"),
    Row("report", "{in} --columns {--columns} --group-by process,heap"),
    Row("report", "{in} --columns lifetime_median_ns,size --format {--format}"),
    Row("report", "{in} --skip 5 --top 9 --format {--format}"),
    Row("report", "{in} --histogram {--histogram} --format {--format}"),
    Row("report", "{in} --tree={--tree}"),
    Row("report", "{in} --tree --size 64.."),
    Row("report", "{in} --tree --tree-min 0.5 --format json"),
    Row("report", "{in} --tree --root kernel32!"),
    Row("report", "{in} --focus kernel32!"),
    Row("report", "{in} --size 64.. --frames 9"),
    Row("report", "{in} --type {--type} --from 5ms --to 40ms"),
    Row("report", "{in} {edges} --group-by kind,type --at-exit freed --format csv"),
    Row("windows", "{in} {edges} --every 1ms --format csv"),
    Row("report", "{in} --impacting {--impacting} --from 5ms --format csv"),
    Row("report", "{in} --at peak --group-by kind,process,site,size_class"),
    Row("report", "{in} --at 20ms --format json"),
    Row("report", "{in} --kind {--kind} --format csv --titles"),
    Row("report", "{in} --unpack-limit 1G"),
    Row("allocations", "{in} --top 5 --unpack-limit 1G"),
    Row("windows", "{in} --unpack-limit 1G"),
    Row("symbols", "{in} --unpack-limit 1G"),
    Row("symbols", "{in} --source no.cpp:1 --source-lines 2 --source-root /src=. --source-links {--source-links} --format json"),
    Row("export", "{in} --format html --source-root /src=. --source-links {--source-links}"),
    Row("info", "{in} --unpack-limit 1G"),
    Row("export", "{in} --format folded --unpack-limit 1G"),
    Row("diff", "{base} {new} --unpack-limit 1G"),
    Row("trend", "{base} {new} {base} --unpack-limit 1G"),
    Row("report", "{in} --group-by process,site --format csv --csv-safe"),
    # --- servers and their logins, none of which is asked ---
    Row("report", "{in} --symbol-login localhost=env:PATH --download-limit 1M --download-time 1s --private-redirects --symbols none --offline"),
    Row("allocations", "{in} --top 5 --symbol-login localhost=env:PATH --download-limit 1M --download-time 1s --private-redirects --symbols none --offline"),
    Row("windows", "{in} --symbol-login localhost=env:PATH --download-limit 1M --download-time 1s --private-redirects --symbols none --offline"),
    Row("symbols", "{in} --symbol-login localhost=env:PATH --download-limit 1M --download-time 1s --private-redirects --symbols none --offline"),
    Row("check", "{in} --max-outstanding 1 --symbol-login localhost=env:PATH --download-limit 1M --download-time 1s --private-redirects --symbols none --offline"),
    Row("export", "{in} --format folded --symbol-login localhost=env:PATH --download-limit 1M --download-time 1s --private-redirects --symbols none --offline"),
    Row("trend", "{base} {new} {base} --symbol-login localhost=env:PATH --download-limit 1M --download-time 1s --private-redirects --symbols none --offline"),
    Row("diff", "{base} {new} --symbol-login localhost=env:PATH --download-limit 1M --download-time 1s --private-redirects --symbols none --offline"),
    Row("report", "{in} --at-exit {--at-exit} --group-by process,free_type"),
    Row("report", "{in} --process *o* --lifetime 1us..5ms --heap 0x10000"),
    Row("report", "{in} --thread 8 --require-frame ntdll* --no-symbols"),
    Row("report", "{in} --exclude-frame ntdll! --fold-module k* --no-symbols"),
    Row("report", "{in} --cull-frame *!* --cull-list cull.txt"),
    Row("report", "{in} --stack-tags tags.stacktags --group-by tag"),
    Row("report", "{in} --kind pool --group-by pool_tag --pool-tags pooltag.txt"),
    Row("report", "{in} --symbols none --offline --symbols-loose"),
    Row("report", "{in} --jobs {jobs} --no-cull --format json"),
    Row("report", "{in} --memory {memory} --no-cull --format json"),
    Row("report", "{in} --no-mmap --strict --format csv"),
    Row("report", "{in} --together -o out.txt"),
    Row("allocations", "{in} --format {--format} --top 200"),
    Row("allocations", "{in} --format csv --titles --sort {--sort} --top 40"),
    Row("allocations", "{in} --format csv --csv-safe --top 40"),
    Row("allocations", "{in} --from 5ms --to 30ms --type {--type} --format ndjson"),
    Row("allocations", "{in} --kind {--kind} --at-exit freed --no-symbols"),
    Row("allocations", "{in} --at-exit {--at-exit} --process *e* --size 16..4K --lifetime ..2ms --frames 2"),
    Row("allocations", "{in} --thread 4,8 --heap 0x10000,0x20000"),
    Row("allocations", "{in} --require-frame *!* --exclude-frame x! --fold-module n* --cull-frame n* --cull-list cull.txt --symbols none --offline --symbols-loose"),
    Row("allocations", "{in} --jobs {jobs} --format ndjson"),
    Row("allocations", "{in} --memory {memory} --format ndjson"),
    Row("allocations", "{in} --no-mmap --together --strict -o out.txt"),
    Row("windows", "{in} --every 7ms --group-by {--group-by} --top 4 --format json"),
    Row("windows", "{in} --skip 1 --every 9ms --format {--format}"),
    Row("allocations", "{in} --skip 7 --top 30 --format {--format}"),
    Row("windows", "{in} --every 7ms --group-by stack --sort {--sort}"),
    Row("windows", "{in} --window 1ms..9ms --window 5ms..30ms --format {--format}"),
    Row("windows", "{in} --at 5ms --at 20ms --format {--format}"),
    Row("windows", "{in} --find-growth --kind {--kind} --format json --frames 7"),
    Row("windows", "{in} --from 3ms --to 44ms --at-exit {--at-exit} --format csv --titles"),
    Row("windows", "{in} --every 20ms --group-by process --format csv --csv-safe"),
    Row("windows", "{in} --process *o* --size 16..4K --lifetime ..9ms --heap 0x10000 --thread 8"),
    Row("windows", "{in} --require-frame *!* --exclude-frame x! --fold-module n* --cull-frame n* --cull-list cull.txt --no-cull --no-symbols"),
    Row("windows", "{in} --kind pool --group-by pool_tag --pool-tags pooltag.txt"),
    Row("windows", "{in} --stack-tags tags.stacktags --group-by tag --symbols none --offline --symbols-loose"),
    Row("windows", "{in} --jobs {jobs} --every 3ms --format csv"),
    Row("windows", "{in} --memory {memory} --every 3ms --format csv"),
    Row("windows", "{in} --no-mmap --together --strict -o out.txt"),
    Row("symbols", "{in} --kind {--kind} --at-exit {--at-exit} --format csv --titles"),
    Row("symbols", "{in} --csv-safe --format csv"),
    Row("symbols", "{in} --from 1ms --to 9ms --process *o* --size 16.. --heap 0x10000"),
    Row("symbols", "{in} --cull-frame n* --cull-list cull.txt --symbols none --offline --symbols-loose --no-cull"),
    Row("symbols", "{in} --jobs {jobs} --memory 64M --no-mmap --together --strict -o out.txt"),
    Row("info", "{in} --top 3 --jobs {jobs} --memory 64M --no-mmap --together --strict -o out.txt"),
    Row("check", "{in} --max-outstanding 1K --format {--format}"),
    Row("check", "{in} --max-outstanding 1G --max-outstanding-count stack:3 --top 3 --frames 2 --format json"),
    Row("check", "{in} --max-outstanding 64 --per {--per} --at-exit {--at-exit}"),
    Row("check", "{in} --max-peak 1K --max-allocations module:3 --max-temporary total:0 --max-alloc-rate stack:1 --format {--format}"),
    Row("check", "{in} --max-peak pool/pool_tag:1K --pool-tags pooltag.txt"),
    Row("check", "{in} --max-outstanding 1 --suppressions known.supp --kind {--kind} --format junit"),
    Row("check", "{in} --max-outstanding 1 --sarif-results 3 --sarif-category ours --format sarif"),
    Row("check", "{in} --max-outstanding 1 --from 3ms --to 44ms --process *o* --size 16.. --lifetime 1us.. --thread 8"),
    Row("check", "{in} --max-outstanding 1 --process nobody --allow-empty --heap 0x10000 --require-frame *!* --exclude-frame x! --fold-module n*"),
    Row("check", "{in} --max-outstanding 1 --cull-frame n* --cull-list cull.txt --symbols none --offline --symbols-loose --no-cull"),
    Row("check", "{in} --max-outstanding 1 --jobs {jobs} --memory 64M --no-mmap --together --no-symbols -o out.txt"),
    Row("check", "{in} --max-growth 1G --baseline first.ehs --update-baseline"),
    Row("check", "{in} --max-growth 1G --baseline gone.ehs --require-baseline --require-process nobody --lenient --format {--format}"),
    Row("check", "{in} --max-outstanding 1 --source-root /src/=ours/ --junit out.xml --sarif out.sarif --markdown out.md --json out.json"),
    Row("export", "{in} --format {--format}"),
    Row("export", "{in} --format {--format} --kind heap -o out.{--format}"),
    Row("export", "{in} --format {--format} --kind heap --rows -o out.{--format}"),
    Row("export", "{in} --format folded --metric {--metric} --kind {--kind}"),
    Row("export", "{in} --format speedscope --metric {--metric} --at-exit {--at-exit}"),
    Row("export", "{in} --format csv --rows --titles --from 3ms --to 44ms --process *o* --size 16.. --lifetime ..9ms"),
    Row("export", "{in} --format ndjson --rows --heap 0x10000 --thread 8 --require-frame *!* --exclude-frame x! --fold-module n* --no-symbols"),
    Row("export", "{in} --format folded --cull-frame n* --cull-list cull.txt --symbols none --offline --symbols-loose --no-cull"),
    Row("export", "{in} --format ndjson --jobs {jobs} --no-mmap --together --strict"),
    Row("export", "{in} --format html --memory {memory} -o out.html"),
    Row("export", "{in} --format heaptrack --kind heap -o out.heaptrack.zst"),
    Row("dump", "{in} --events Heap/*,Stack* --from 1ms --to 9ms --process *o* --format {--format}"),
    Row("dump", "{in} --jobs {jobs} --memory 64M --no-mmap --together --strict -o out.txt"),
    # --- churn, suspects, who frees, the address space ---
    Row("report", "{in} --churn --format {--format}"),
    Row("report", "{in} --churn --group-by {--group-by} --sort alloc_rate --format csv --titles"),
    Row("report", "{in} --suspects --format {--format}", WIDE),
    Row("report", "{in} --suspects --from 5ms --to 40ms --kind {--kind} --top 7 --format csv --titles"),
    Row("report", "{in} --pairs --format {--format}", FREES),
    Row("report", "{in} --pairs --from 5ms --to 40ms --kind {--kind} --top 9", FREES),
    Row("report", "{in} --unmatched --format {--format}", FREES),
    Row("report", "{in} --group-by free_stack,free_site,free_module,free_thread --no-cull --format json", FREES),
    Row("report", "{in} --group-by impacting_stack --from 5ms --to 40ms --sort impacting_size --format {--format}", FREES),
    Row("report", "{in} --spikes --format {--format}", WIDE),
    Row("report", "{in} --map --format text", WIDE),
    Row("report", "{in} --map --format json"),
    Row("report", "{in} --map --format csv --titles"),
    Row("report", "{in} --map --map-unit 1M --to 20ms --process *e* --format json"),
    Row("export", "{in} --churn --format csv --titles"),
    Row("export", "{in} --format csv --csv-safe"),
    Row("export", "{in} --churn --format ndjson"),
    # --- marks ---
    Row("info", "{in} --format json", MARKS),
    Row("windows", "{in} --at marks --format {--format}", MARKS),
    Row("report", "{in} --from mark:Parser.reads_nested_lists --to mark:done --group-by generation --format json", MARKS),
    Row("export", "{in} --format html", MARKS),
    Row("check", "{in} --max-outstanding heap/mark:16K --format {--format}", MARKS),
    *(Row(command, f"{{in}} {arguments} --mark-event {MARK_EVENT}") for command, arguments in (
        ("report", "--group-by generation --format csv"), ("allocations", "--format csv"), ("windows", "--at marks --format json"),
        ("symbols", ""), ("info", "--format json"), ("export", "--format html"), ("dump", "--to 1ms"),
        ("check", "--max-outstanding 1K"), ("store", "-o out.ehs"))),
    Row("diff", f"{{base}} {{new}} --mark-event {MARK_EVENT} --format json"),
    Row("trend", f"{{base}} {{new}} {{base}} --mark-event {MARK_EVENT} --format json"),
    # --- allocators of programs ---
    Row("report", "{in} --custom-heap Microsoft-Windows-Win32k:alloc=1(address@0:u64,size@8:u64),free=2(address@0:u64) --kind custom"),
    Row("allocations", "{in} --custom-heap Microsoft-Windows-Win32k:alloc=1(address@0:u64,size@8:u64),free=2(address@0:u64) --kind custom"),
    Row("windows", "{in} --custom-heap Microsoft-Windows-Win32k:alloc=1(address@0:u64,size@8:u64),free=2(address@0:u64) --every 5ms"),
    Row("symbols", "{in} --custom-heap Microsoft-Windows-Win32k:alloc=1(address@0:u64,size@8:u64),free=2(address@0:u64)"),
    Row("info", "{in} --custom-heap Microsoft-Windows-Win32k:alloc=1(address@0:u64,size@8:u64),free=2(address@0:u64)"),
    Row("export", "{in} --custom-heap Microsoft-Windows-Win32k:alloc=1(address@0:u64,size@8:u64),free=2(address@0:u64) --format folded --kind custom"),
    Row("dump", "{in} --custom-heap Microsoft-Windows-Win32k:alloc=1(address@0:u64,size@8:u64),free=2(address@0:u64) --to 1ms"),
    Row("check", "{in} --custom-heap Microsoft-Windows-Win32k:alloc=1(address@0:u64,size@8:u64),free=2(address@0:u64) --max-outstanding 1K"),
    # --- two inputs ---
    Row("diff", "{base} {new} --custom-heap Microsoft-Windows-Win32k:alloc=1(address@0:u64,size@8:u64),free=2(address@0:u64)"),
    Row("trend", "{base} {new} {base} --format {--format}"),
    Row("trend", "{base} {new} {base} --all --in-order --group-by {--group-by} --format json"),
    Row("trend", "{base} {new} {base} --sort {--sort} --top 9 --format csv --titles"),
    Row("trend", "{base} {new} {base} --format csv --csv-safe"),
    Row("diff", "{base} {new} --format csv --csv-safe"),
    Row("trend", "{base} {new} {base} --kind {--kind} --type {--type} --at-exit {--at-exit}"),
    Row("trend", "{base} {new} {base} --from 3ms --to 44ms --process *o* --size 16.. --lifetime ..9ms --heap 0x10000 --thread 8"),
    Row("trend", "{base} {new} {base} --require-frame *!* --exclude-frame x! --fold-module n* --cull-frame n* --cull-list cull.txt --no-cull --no-symbols --group-by kind,process,stack --frames 9"),
    Row("trend", "{base} {new} {base} --kind pool --group-by pool_tag --pool-tags pooltag.txt"),
    Row("trend", "{base} {new} {base} --stack-tags tags.stacktags --group-by tag --symbols none --offline --symbols-loose"),
    Row("trend", "{base} {new} {base} --jobs {jobs} --memory 64M --no-mmap --strict -o out.txt"),
    Row("trend", "{base} {new} {base} --custom-heap Microsoft-Windows-Win32k:alloc=1(address@0:u64,size@8:u64),free=2(address@0:u64)"),
    Row("diff", "{base} {new} --format {--format}"),
    Row("diff", "{base} {new} --churn --sort alloc_count --top 9 --format {--format}"),
    Row("diff", "{base} {new} --lifetimes --top 9 --format {--format}"),
    Row("diff", "{base} {new} --sort lifetime_median_ns --group-by process --top 9 --format {--format}"),
    Row("diff", "{base} {new} --all --per-second --group-by {--group-by} --format json"),
    Row("diff", "{base} {new} --sort {--sort} --top 9 --format csv --titles"),
    Row("diff", "{base} {new} --kind {--kind} --type {--type} --at-exit {--at-exit}"),
    Row("diff", "{base} {new} --from 3ms --to 44ms --process *o* --size 16.. --lifetime ..9ms --heap 0x10000 --thread 8"),
    Row("diff", "{base} {new} --require-frame *!* --exclude-frame x! --fold-module n* --cull-frame n* --cull-list cull.txt --no-cull --no-symbols --frames 9"),
    Row("diff", "{base} {new} --kind pool --group-by pool_tag --pool-tags pooltag.txt"),
    Row("diff", "{base} {new} --stack-tags tags.stacktags --group-by tag --symbols none --offline --symbols-loose"),
    Row("diff", "{base} {new} --jobs {jobs} --memory 64M --no-mmap --strict -o out.txt"),
    Row("check", "{new} --baseline {base} --max-growth 1K --max-growth-count stack:2+5% --format {--format}"),
    Row("check", "{new} --baseline {base} --max-growth 1K --update-baseline --accept"),
    Row("diff", "own/demo.ehs own/plain.s.ehs --format json", ()),
    Row("diff", "own/plain.s.ehs own/next.s.ehs --format json --group-by process,stack", ()),
    Row("diff", "own/plain.ehs in/plain.etl --all --format json", ()),
    # --- what the program stored itself ---
    Row("info", "{store} --format json"),
    Row("report", "{store} --format json --no-cull --group-by kind,process,heap,type,stack,thread"),
    Row("report", "{store} --from 5ms --to 40ms"),
    Row("allocations", "{store} --format csv --no-cull"),
    Row("report", "{store} --suspects --format json"),
    Row("report", "{store} --pairs --format json"),
    Row("report", "{store} --map --format json"),
    Row("windows", "{store} --every 5ms --format json"),
    Row("symbols", "{store} --format csv"),
    Row("export", "{store} --format html"),
    Row("check", "{store} --max-outstanding 1K"),
    Row("report", "{summary} --format json --no-cull"),
    Row("report", "{summary} --group-by kind,process,site"),
    Row("windows", "{summary} --format csv"),
    Row("info", "{summary}"),
    Row("export", "{summary} --format folded"),
    Row("export", "{summary} --format parquet -o out.parquet"),
    Row("merge", "{store} --jobs {jobs} --memory 64M --strict --allow-duplicates -o out.ehs"),
    Row("store", "{in} --custom-heap Microsoft-Windows-Win32k:alloc=1(address@0:u64,size@8:u64),free=2(address@0:u64) -o out.ehs", CORE),
    Row("store", "{in} --from 5ms --to 40ms --process * --kind {--kind} -o out.ehs", CORE),
    Row("store", "{store} --from 5ms --to 40ms --kind heap -o out.ehs"),
    Row("store", "{in} --kind extent,custom,reserve,pool -o out.ehs", CORE),
    Row("store", "{in} --anonymise shared.key --symbols none --offline --symbols-loose --symbol-login localhost=env:PATH --download-limit 1M "
        "--download-time 1s --private-redirects -o out.ehs", CORE),
    Row("store", "{store} --anonymise shared.key --no-symbols -o out.ehs"),
    Row("store", "{in} --out-dir stores --jobs {jobs} --memory 64M --together --no-mmap --strict", CORE,
        volatile=(r'"(duration_ns|peak_memory_bytes)": *[0-9]+', r'"(input|output)_stamp": *"[^"]*"', r" in [0-9.]+ s ")),
    Row("merge", "own/plain.s.ehs own/missing.ehs -o out.ehs", ()),
    # --- snapshot logs ---
    Row("report", "{in}", UMDH),
    # --- without an input ---
    Row("selftest", "", ()),
    Row("selftest", "--write-demo out", ()),
)

# Words in braces that stand for themselves, whatever the program knows.
CHOICES = {
    "jobs": ("1", "2"),
    "memory": ("8M", "64M"),
    # Windows that begin and end at the very moments of allocations and frees in demo, plain and keyed.
    "edges": tuple(f"--from {a}ns --to {b}ns" for pair in ((9461966300, 9089634000), (22764900, 23235600), (56278800, 59023900))
                   for a, b in (sorted(pair), (0, max(pair)), (max(pair), 10 * max(pair)), (0, min(pair)))),
}

# Commands that no row has, and why.
NOT_RUN = {
    "view": "it serves a page until it is stopped; oracle_view_server.py compares its answers with those of the commands",
}

# Options that no row has, and why.
NOT_COMPARED = {
    "--help": "texts change without an answer changing; cli_readme.py and oracle_completion.sh hold them",
    "--progress": "a bar moves with time; it is never shown without a terminal",
}

FILES = {
    "shared.key": "the key of the comparisons\n",
    "cull.txt": "ntdll.dll!*\nucrtbase.dll!*\n",
    "known.supp": "leak:ntdll*\n",
    "pooltag.txt": "Leak - leaky.sys - blocks that leak\nT?m* - <unknown> - temporary ones\n",
    "tags.stacktags": '<Tag Name="all"><Tag Name="nt"><Entrypoint Module="ntdll.dll" Method="*"/></Tag>'
                      '<Tag Name="kernel"><Entrypoint Module="nt*" Method="*"/></Tag></Tag>',
}
