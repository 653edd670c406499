#!/usr/bin/env bash
# Goal: the program for Windows and the one for Linux are one program.
# Method: both get the same words in folders that hold the same files, and must agree
# byte for byte in what they print, say on stderr, return and write: each command, each
# format and most options on made traces, the main ones on real traces, and errors. Then
# what only Windows has: backslashes, drive letters, patterns for files, paths beyond 260
# characters, names beyond ASCII.
#
#   ETLHEAP   starts etlheap.exe (see run_windows.sh)
#   NATIVE    the program for Linux, built of the same sources
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh

TRACES=$(realpath -m "${TRACES:-../shared/traces}")
. tests/windows/both.sh

# --- without a trace --------------------------------------------------------------

check_words()
{
    local command shell
    same --help
    same --version
    same selftest
    same_as 2
    same_as 2 nonsense
    for command in $("$NATIVE" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
        same "$command" --help
        same --man "$command"
    done
    for shell in bash zsh fish; do
        same --completion $shell
    done
}

# --- made traces --------------------------------------------------------------------

check_demo()
{
    local format
    for format in text json csv; do
        same report demo.etl --format $format
        same windows demo.etl --format $format
        same symbols demo.etl --format $format
        same report demo.etl --histogram size --format $format
        same diff demo.etl other.etl --format $format
    done
    for format in text json ndjson csv; do
        same allocations demo.etl --format $format
    done
    same dump demo.etl
    same dump demo.etl --format ndjson
    for format in text json junit sarif; do
        same_as 1 check demo.etl --max-outstanding 1K --format $format
    done
    same info demo.etl
    same info demo.etl --format json
    same report demo.etl --tree
    same report demo.etl --tree=callers
    same report demo.etl --growth --group-by process,stack
    same report demo.etl --from 2s --to 9500ms --at-exit freed --type AIFO,AIFI
    same report demo.etl --at peak --group-by kind,process,site,size_class
    same report demo.etl --histogram lifetime
    same report demo.etl --process 'demo*' --sort -size --top 3 --frames 9 --no-cull
    same report demo.etl --no-mmap --format json
    same report demo.etl --memory 64M --format json
    same report demo.etl -j 1 --format json
    same report demo.etl -j 7 --format json
    same report demo.etl --format json -o out.json
    same windows demo.etl --every 700ms --group-by stack --top 4
    same windows demo.etl --find-growth
    same windows demo.etl --window 1s..2s --window 8s..9s --format csv
    same diff demo.etl other.etl --all --per-second
    same check demo.etl --max-outstanding 1G
    same_as 1 check demo.etl --baseline other.etl --max-growth 1K
    same check demo.etl --max-growth 1K --update-baseline --baseline out.ehs
}

check_exports() # input, argument...
{
    local input=$1 format
    shift
    # On a terminal it is the same; here each goes to a file, as most are meant to.
    for format in folded speedscope pprof perfetto dhat heaptrack csv ndjson parquet wpa-xml wpaprofile perfview html; do
        case $format in
        dhat | heaptrack) same export "$input" --format $format --kind heap -o "out.$format" "$@" ;;
        *) same export "$input" --format $format -o "out.$format" "$@" ;;
        esac
    done
    for format in csv ndjson parquet wpa-xml perfview; do
        same export "$input" --format $format --rows -o "out.$format" "$@"
    done
    same export "$input" --format folded --metric peak "$@"
}

# What is stored by one is read by the other: both names are in both folders.
check_stores() # trace
{
    local store=out.ehs
    same store "$1" -o $store
    same store "$1" --summary -o $store
    same store "$1" --summary --every 1s -o $store
    same store "$1" -j 1 -o $store
    "$NATIVE" store "$TEST_TMP/native/$1" -o "$TEST_TMP/inputs/full.ehs"
    "$NATIVE" store "$TEST_TMP/native/$1" --summary -o "$TEST_TMP/inputs/summary.ehs"
    put "$TEST_TMP/inputs/full.ehs" full.ehs
    put "$TEST_TMP/inputs/summary.ehs" summary.ehs
    same report full.ehs --format json
    same allocations full.ehs --format csv
    same report summary.ehs --format json
    same diff summary.ehs full.ehs --group-by process,stack
    same_as 2 merge full.ehs summary.ehs -o $store
    same merge full.ehs summary.ehs --allow-duplicates -o $store
    remove full.ehs summary.ehs
}

check_other_shapes()
{
    local name
    make compressed.etl workload --seed 3 --compress --keys
    make narrow.etl workload --seed 4 --pointer-bytes 4 --clock 2
    make ring.etl workload --seed 5 --ring 40 --unclosed
    make kitchen.etl kitchen-sink
    make leak.etl heap-exercise
    make commits.etl virtualalloc-exercise
    for name in compressed narrow ring kitchen leak commits; do
        same info $name.etl --format json
        same report $name.etl --format json
        same report $name.etl
        same windows $name.etl --format json
        same allocations $name.etl --top 200
        same dump $name.etl --format ndjson
        same store $name.etl -o out.ehs
    done
    make kernel.etl workload --seed 6 --split "$TEST_TMP/inputs/heap.etl"
    put "$TEST_TMP/inputs/heap.etl" heap.etl
    same report kernel.etl heap.etl --format json
    (cd "$TEST_TMP/inputs" && zip -q -X both.etl.zip kernel.etl heap.etl)
    put "$TEST_TMP/inputs/both.etl.zip" both.etl.zip
    same report both.etl.zip --format json
    remove compressed.etl narrow.etl ring.etl kitchen.etl leak.etl commits.etl kernel.etl heap.etl both.etl.zip
}

# --- real traces ---------------------------------------------------------------------

check_real()
{
    local trace name found=
    for trace in "$TRACES"/*.etl "$TRACES"/../traces-built/*.etl; do
        test -f "$trace" || continue
        found=1
        name=$(basename "$trace")
        put "$trace" "$name"
        same info "$name" --format json
        same report "$name" --format json
        same windows "$name" --format json
        same symbols "$name"
        same store "$name" -o out.ehs
        # All events, but of the large ones that would be a gigabyte of text.
        test "$(stat -c %s "$trace")" -gt 3000000 || same dump "$name" -o out.ndjson --format ndjson
        remove "$name"
    done
    test -n "$found" || skip "real traces" "none are at $TRACES"
}

# --- errors -----------------------------------------------------------------------------

check_errors()
{
    head -c 70000 "$TEST_TMP/inputs/demo.etl" > "$TEST_TMP/inputs/cut.etl"
    echo 'This is a text, and longer than the header of a buffer is: it has more than seventy-two bytes.' > "$TEST_TMP/inputs/text.etl"
    : > "$TEST_TMP/inputs/empty.etl"
    put "$TEST_TMP/inputs/cut.etl" cut.etl
    put "$TEST_TMP/inputs/text.etl" text.etl
    put "$TEST_TMP/inputs/text.etl" text.etl.zip
    put "$TEST_TMP/inputs/empty.etl" empty.etl
    mkdir -p "$TEST_TMP/native/folder.etl" "$TEST_TMP/windows/folder.etl"
    local command name
    for command in report windows symbols info dump allocations; do
        same_as 4 $command cut.etl --strict
        same $command cut.etl
        for name in missing text empty folder; do
            same_as 3 $command $name.etl
        done
        same_as 2 $command
        same_as 2 $command demo.etl --nonsense
        same_as 2 $command demo.etl --from 5s --to 2s
    done
    same_as 3 report text.etl.zip
    same_as 3 report missing/missing.etl
    same_as 3 report demo.etl -o missing/out.json
    same_as 3 report demo.etl -o folder.etl
    same_as 2 report demo.etl -o demo.etl
    same_as 2 report demo.etl ./demo.etl
    same_as 2 report demo.etl --top -1
    same_as 2 report demo.etl --symbols 'srv*a*b*c*d*e*f*g*h*i*j*k'
    same_as 3 report demo.etl --stack-tags missing.stacktags
    if test -n "${WINEPREFIX:-}"; then
        skip "etlheap report demo.etl --memory 64K" "Wine does not enforce the limits of a job, by which the program measures its need"
    else
        same_as 3 report demo.etl --memory 64K
    fi
    same_as 2 store cut.etl
    same_as 3 store text.etl -o out.ehs
    same_as 3 merge demo.etl -o out.ehs
    same_as 2 check demo.etl
}

# --- what Windows has of its own -------------------------------------------------------------

check_names()
{
    local folder='Übung 測試 😀' deep=. part=a-folder-with-a-name-of-forty-characters-
    local native=$TEST_TMP/native windows=$TEST_TMP/windows full
    mkdir -p "$native/$folder" "$windows/$folder"
    put "$TEST_TMP/inputs/demo.etl" "$folder/Übung 測試 😀.etl"
    same report "$folder/Übung 測試 😀.etl" --format json
    same report "$folder/Übung 測試 😀.etl"
    same store "$folder/Übung 測試 😀.etl" -o "$folder/größer.ehs"
    same_as 3 report "$folder/nicht da – 無.etl"
    alike 'backslashes' report "$folder\\Übung 測試 😀.etl" --format json -- report "$folder/Übung 測試 😀.etl" --format json
    alike 'a path with .. and backslashes' report ".\\$folder\\..\\demo.etl" --format json -- report demo.etl --format json
    full=$(tr / '\\' <<< "Z:$windows/demo.etl")
    alike 'a path with a drive' report "$full" --format json -- report demo.etl --format json
    alike 'a UNC-like path that is long already' report "\\\\?\\$full" --format json -- report demo.etl --format json
    alike 'an output with backslashes' report demo.etl --format json -o "$folder\\out.json" -- report demo.etl --format json -o "$folder/out.json"
    rm -f "$native/$folder"/* "$windows/$folder"/*
    while test ${#deep} -lt 400; do
        deep=$deep/$part
    done
    mkdir -p "$native/$deep" "$windows/$deep"
    put "$TEST_TMP/inputs/demo.etl" "$deep/demo.etl"
    same report "$deep/demo.etl" --format json
    same store "$deep/demo.etl" -o "$deep/demo.ehs"
    same report "$deep/demo.ehs" --format json
    same_as 3 report "$deep/missing.etl"
    alike 'a long path with backslashes' report "${deep//\//\\}\\demo.etl" --format json -- report "$deep/demo.etl" --format json
    rm -rf "$native/a-folder"* "$windows/a-folder"*
}

# Windows' shells leave patterns to the program; quoted here, so that it is one there.
check_patterns()
{
    local native=$TEST_TMP/native windows=$TEST_TMP/windows
    mkdir -p "$native/run" "$windows/run"
    put "$TEST_TMP/inputs/kernel.etl" run/kernel.etl
    put "$TEST_TMP/inputs/heap.etl" run/heap.etl
    alike '*.etl' report 'run/*.etl' --format json -- report run/heap.etl run/kernel.etl --format json
    alike '*.etl with a backslash' report 'run\*.etl' --format json -- report run/heap.etl run/kernel.etl --format json
    alike '?' report 'run\kernel.et?' run/heap.etl --format json -- report run/kernel.etl run/heap.etl --format json
    alike 'capitals' report 'RUN\KERNEL.ETL' --format json -- report run/kernel.etl --format json
    same_as 3 report 'run/*.none'
    rm -rf "$native/run" "$windows/run"
}

make demo.etl demo
make other.etl heap-exercise
check_words
check_demo
check_exports demo.etl
check_stores demo.etl
check_other_shapes
check_errors
check_names
check_patterns
check_real
finish
