#!/usr/bin/env bash
# Calls of the system that fail, memory that is refused, a file that is changed while
# it is read, and interruptions: at some of the places where a command can meet one, with
# LONG=1 at each (STRIDE). See fault_program.c for what must hold.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh

OUT=${OUT:-build/check}
if test "${LONG:-0}" = 1; then STRIDE=${STRIDE:-1}; else STRIDE=${STRIDE:-131}; fi
FAULTS=$(realpath "$OUT/fault_program")
MAKE_TRACE=$(realpath "${MAKE_TRACE:-$OUT/make_trace}")
TEST_TMP=${TEST_TMP:-$(mktemp -d)}
cd "$TEST_TMP" || exit 1

"$MAKE_TRACE" demo a.etl > make.log 2>&1 && "$MAKE_TRACE" workload b.etl --events 300 --keys --compress >> make.log 2>&1 &&
    "$MAKE_TRACE" workload c.etl --events 6000 >> make.log 2>&1 &&
    "$FAULTS" store a.etl -o a.ehs >> make.log 2>&1 && "$FAULTS" store b.etl -o b.ehs >> make.log 2>&1 ||
    { fail "the inputs are made" "$(tail -n 3 make.log)"; finish; }
gzip -k a.etl a.ehs
python3 -c 'import zipfile; zipfile.ZipFile("b.zip", "w", zipfile.ZIP_DEFLATED).write("b.etl")'

# Runs etlheap with each call of that name failing in turn.
# What was met of each name of calls: one that nothing meets is not tested at all.
declare -A met

try() # calls sticky stride argument...
{
    local name="$1$(test "$2" = 0 || echo " and all after it"): etlheap ${*:4}" output
    rm -rf folder
    mkdir -p folder/out
    if output=$(FAULT_CALLS=$1 FAULT_STICKY=$2 FAULT_STRIDE=$3 FAULT_FOLDER=$PWD/folder "$FAULTS" "${@:4}" 2>&1); then
        pass "$name: $(echo "$output" | tail -n 1)"
        met[$1]=$((${met[$1]:-0} + $(echo "$output" | sed -nE '$s/^([0-9]+) runs, .*/\1/p')))
    else
        fail "$name" "$(echo "$output" | tail -n 14)"
    fi
}

commands=(
    "report -j1 a.etl --format json -o folder/out/x"
    "report -j2 b.etl"
    "report -j1 a.ehs --growth --group-by process,site"
    "windows -j1 a.etl --find-growth -o folder/out/x.zst"
    "windows -j1 b.etl --every 1s --format csv"
    "store -j1 b.etl -o folder/out/x.ehs"
    "store -j1 b.etl --summary --every 1s -o folder/out/x.ehs"
    "merge a.ehs b.ehs -o folder/out/x.ehs"
    "diff -j1 a.ehs b.etl --format json -o folder/out/x"
    "allocations -j1 b.etl --format ndjson -o folder/out/x"
    "check -j1 a.etl --max-outstanding 1K --baseline b.ehs --max-growth stack:4K --format junit -o folder/out/x"
    "info b.etl"
    "dump b.etl --format ndjson -o folder/out/x"
    "symbols -j1 a.etl"
    "report -j1 a.etl.gz"
    "report -j2 b.zip"
    "store -j2 b.zip -o folder/out/x.ehs"
    "allocations -j1 a.ehs.gz -o folder/out/x"
)
# The column behind --format FORMAT.
formats=$("$FAULTS" export --help | sed -nE '/--format FORMAT +[a-z]/,/--metric/ s/^( +--format FORMAT| {24,}) *([a-z][a-z-]*)  .*/\2/p')
test -n "$formats" || fail "the formats of etlheap export are known" "its --help is of another form"
for format in $formats; do
    commands+=("export -j1 a.etl --format $format -o folder/out/x")
done

# In `make check` each command meets one kind of memory fault, in turn.
number=0
for command in "${commands[@]}"; do
    number=$((number + 1))
    for sticky in 0 1; do
        test "$STRIDE" -gt 1 && test $((number % 2)) -eq $sticky && continue
        # shellcheck disable=SC2086
        try memory $sticky "$STRIDE" $command
    done
done
# Temporary files that pwrite is for come with recordings that are larger than these inputs;
# test_event_list_disk.c has their faults.
for calls in open stat read mmap write close rename mkstemp thread; do
    for command in "${commands[@]}"; do
        number=$((number + 1))
        test "$STRIDE" -gt 1 && test $((number % 9)) -ne 0 && continue
        for sticky in 0 1; do
            # shellcheck disable=SC2086
            try $calls $sticky 1 $command
        done
    done
    # The sample may have been of commands that make no such call.
    for command in "${commands[@]}"; do
        test "${met[$calls]:-0}" -eq 0 || break
        # shellcheck disable=SC2086
        try $calls 0 1 $command
    done
done
for calls in interrupt shrink grow; do
    for command in "${commands[@]}"; do
        # diff looks what its inputs are before it opens them: what changes in between
        # is another file, and no fault.
        test $calls = interrupt || test "${command%% *}" != diff || continue
        number=$((number + 1))
        test "$STRIDE" -gt 1 && test $((number % 3)) -ne 0 && continue
        # shellcheck disable=SC2086
        try $calls 0 "$STRIDE" $command
    done
done
# Signals are held back while a file is incomplete, so each writer has to look for them: after one,
# it may write what is under way, and no more. The outputs have some hundred KiB.
for format in $formats; do
    try stop 0 1000000 export -j1 c.etl --format "$format" -o folder/out/x
done
for command in "report -j1 c.etl --format json --top all" "dump c.etl --format ndjson" "allocations -j1 c.etl --format csv --top all" "windows -j1 c.etl --every 10ms --group-by process,site --format csv" "export -j1 c.etl --format csv --rows"; do
    # shellcheck disable=SC2086
    try stop 0 1000000 $command -o folder/out/x
done
for calls in memory open stat read mmap write close rename mkstemp thread interrupt stop shrink grow; do
    if test "${met[$calls]:-0}" -gt 0; then
        pass "$calls: ${met[$calls]} runs met the fault"
    else
        fail "$calls: some run meets the fault" "no command makes such a call, or fault_program does not see it"
    fi
done
finish
