#!/usr/bin/env bash
# Bad input, row by row: each gets its exit status, one sentence on stderr that
# names what is wrong, nothing on stdout, and leaves no output file behind.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh
begin_program_test

# --- inputs ---------------------------------------------------------------------

"$MAKE_TRACE" demo good.etl > make.log 2>&1 || { cat make.log; fail "the demo trace is made" "$(tail -n 1 make.log)"; finish; }
: > empty.etl
mkdir folder.etl
echo "This is a text file, not a trace; it is longer than the header of a buffer, which has 72 bytes." > text.etl
head -c 71 good.etl > short.etl
printf '// UMDH: version 10.0.1: Logtime 2024-02-29 12:26 - Machine=BOX - PID=77\n// Loaded modules:\n' > umdh.txt
head -c 65536 /dev/zero > zeros.etl
{ printf 'MZ'; head -c 4096 /dev/urandom; } > program.etl
head -c 70000 good.etl > cut.etl
cp good.etl same.etl
cp good.etl locked.etl
chmod 0 locked.etl
if command -v zip > /dev/null; then
    zip -q good.etl.zip good.etl
    zip -q none.etl.zip text.etl make.log
    head -c 3000 good.etl.zip > cut.etl.zip
fi
echo "no zip either" > text.etl.zip
mkfifo pipe.etl

printf '<Tag Name="A"/>' > good.stacktags
printf '<Tag Name="">\n<Stack/></Tag>' > bad.stacktags
printf '<!DOCTYPE Tag [<!ENTITY a "lol">]><Tag Name="&a;"/>' > laughs.stacktags

# --- the check --------------------------------------------------------------------

# A leftover is any file that was not there before: a partial output or its
# temporary name.
list_files() { ls -A | grep -vx -e out -e err; }

# expect STATUS WORD ARGUMENT...: WORD must be in the sentence, case aside. A word that was
# typed is no proof: any sentence that repeats the command line would have it.
expect()
{
    local status=$1 word=$2 name before got problems=()
    shift 2
    case " $* " in *"$word"*) problems+=("this test would pass on any sentence: '$word' was typed") ;; esac
    name="etlheap $*"
    before=$(list_files)
    timeout 60 "$ETLHEAP" "$@" > out 2> err < /dev/null
    got=$?
    test "$got" -eq "$status" || problems+=("exit status $got, wanted $status")
    test ! -s out || problems+=("something on stdout: $(head -c 100 out)")
    test "$(wc -l < err)" -eq 1 || problems+=("$(wc -l < err) lines on stderr, wanted one sentence")
    grep -qiF -- "$word" err || problems+=("'$word' is not in the sentence")
    test "$(list_files)" = "$before" || problems+=("files left behind: $(list_files | grep -vxF "$before" | tr '\n' ' ')")
    if test ${#problems[@]} -eq 0; then
        pass "$name"
    else
        fail "$name" "${problems[@]}" "stderr: $(head -c 300 err)"
    fi
}

# --- no usable input: status 3 ------------------------------------------------------

# What is said of each of these, whatever the command.
declare -A unusable=(
    [missing.etl]='missing.etl: cannot be opened: No such file'
    [empty.etl]='empty.etl: the file is empty'
    [folder.etl]='folder.etl: is a directory'
    [text.etl]='text.etl: not an ETL trace: it looks like text'
    [short.etl]='short.etl: too short'
    [zeros.etl]='zeros.etl: not an ETL trace: it looks like zero bytes'
    [program.etl]='program.etl: not an ETL trace: it looks like a Windows program'
    [text.etl.zip]='text.etl.zip: not an ETL trace: it looks like text'
    [/dev/null]='/dev/null: is not a regular file'
    [pipe.etl]='pipe.etl: is not a regular file'
)
for command in report windows symbols info dump; do
    for input in missing.etl empty.etl folder.etl text.etl short.etl zeros.etl program.etl text.etl.zip /dev/null pipe.etl; do
        expect 3 "${unusable[$input]}" $command $input
    done
done
expect 3 "${unusable[missing.etl]}" report good.etl missing.etl
expect 3 "${unusable[text.etl]}" info good.etl text.etl
if test -f good.etl.zip; then
    expect 3 "none.etl.zip: text.etl in the zip" report none.etl.zip
    expect 3 "cut.etl.zip: cannot open the zip" report cut.etl.zip
else
    skip "damaged zip files" "there is no zip program (package zip)"
fi
# root reads everything, so another user must try.
if test "${PLATFORM:-posix}" = windows; then
    skip "an unreadable file" "Wine serves one user alone"
elif test "$(id -u)" -ne 0; then
    expect 3 "locked.etl: cannot be opened: Permission denied" report locked.etl
elif command -v setpriv > /dev/null && setpriv --reuid=65534 --clear-groups test -x "$ETLHEAP" -a -x . 2> /dev/null; then
    plain=$ETLHEAP
    # Counters of coverage are not nobody's to write either, so they go elsewhere.
    mkdir -m 777 counters
    printf '#!/bin/sh\nGCOV_PREFIX="%s" exec setpriv --reuid=65534 --clear-groups "%s" "$@"\n' "$PWD/counters" "$plain" > as-nobody
    chmod +x as-nobody
    ETLHEAP=./as-nobody expect 3 "locked.etl: cannot be opened: Permission denied" report locked.etl
else
    skip "an unreadable file" "this runs as root, and no other user can run the program here"
fi

# --- results that cannot be written: status 3 -----------------------------------------

expect 3 "nowhere/out.json: cannot write: No such file" report good.etl -o nowhere/out.json
expect 3 "folder.etl: cannot write: it is a directory" report good.etl -o folder.etl
expect 3 "${unusable[text.etl]}" report text.etl -o result.json
expect 2 "same.etl: -o would overwrite the input" report same.etl -o same.etl
expect 2 twice report good.etl good.etl
expect 3 twice report good.etl same.etl
expect 2 "bash, zsh or fish" --completion tcsh
expect 2 "bash, zsh or fish" --completion
expect 2 "name of a command" --man nothing
expect 2 "no input" selftest good.etl
expect 2 "trend takes three or more inputs, one per run; etlheap diff" trend good.etl good.etl
expect 2 "umdh.txt: UMDH logs can only be compared with other UMDH logs" trend good.etl umdh.txt good.etl
expect 2 "only one run can come from standard input" trend good.etl - -
expect 2 "--sort peak_size cannot be compared" trend good.etl good.etl good.etl --sort peak_size
expect 2 "--group-by heap cannot be compared" trend good.etl good.etl good.etl --group-by heap
expect 3 "${unusable[missing.etl]}" trend good.etl missing.etl umdh.txt
expect 3 "${unusable[missing.etl]}" dump missing.etl -o result.ndjson
expect 2 "--sort: 'nonsense' is not one of count, size" report good.etl --sort nonsense -o result.json
for trace in missing.etl empty.etl text.etl short.etl zeros.etl pipe.etl; do
    expect 3 "${unusable[$trace]}" store $trace -o result.ehs
done
expect 3 "nowhere/out.ehs: cannot write: No such file" store good.etl -o nowhere/out.ehs
expect 3 "folder.etl: cannot write: it is a directory" store good.etl -o folder.etl
expect 2 "same.etl: -o would overwrite the input" store same.etl -o same.etl
if "$ETLHEAP" store good.etl -o good.ehs > out 2> err && test ! -s out && test ! -s err; then
    pass "etlheap store says nothing when all is well"
    expect 2 "already a store" store good.ehs -o again.ehs
else
    fail "etlheap store says nothing when all is well" "stderr: $(head -c 300 err)"
fi
# SIGXFSZ is ignored, so writing beyond the limit fails as on a full disk.
( trap '' XFSZ; ulimit -f 8; exec "$ETLHEAP" store good.etl -o result.ehs > out 2> err )
got=$?
if test $got -eq 3 && test "$(wc -l < err)" -eq 1 && test -z "$(find . -name 'result.ehs*')"; then
    pass "etlheap store on a full disk leaves nothing"
else
    fail "etlheap store on a full disk leaves nothing" "exit status $got, wanted 3" \
        "files: $(find . -name 'result.ehs*' | tr '\n' ' ')" "stderr: $(head -c 300 err)"
fi
# Asked to stop before it begins: the signal is held back and pending.
stopped='import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
os.kill(os.getpid(), signal.SIGINT)
os.execv(sys.argv[1], sys.argv[1:])'
if test "${PLATFORM:-posix}" = windows; then
    skip "etlheap store that is interrupted" "Windows has no signals that could be pending"
elif command -v "${PYTHON:-python3}" > /dev/null; then
    "${PYTHON:-python3}" -c "$stopped" "$ETLHEAP" store good.etl -o result.ehs > out 2> err
    got=$?
    if test $got -eq 3 && test -z "$(find . -name 'result.ehs*')"; then
        pass "etlheap store that is interrupted leaves nothing"
    else
        fail "etlheap store that is interrupted leaves nothing" "exit status $got, wanted 3" \
            "files: $(find . -name 'result.ehs*' | tr '\n' ' ')"
    fi
else
    skip "etlheap store that is interrupted" "there is no Python"
fi
if cmp -s good.etl same.etl; then
    pass "an input that was named as the output is as before"
else
    fail "an input that was named as the output is as before" "same.etl differs from good.etl"
fi
if test -e /dev/full; then
    for command in report windows symbols info dump; do
        "$ETLHEAP" $command good.etl > /dev/full 2> err
        got=$?
        if test $got -eq 3 && test "$(wc -l < err)" -eq 1; then
            pass "etlheap $command on a full disk"
        else
            fail "etlheap $command on a full disk" "exit status $got, wanted 3" "stderr: $(head -c 300 err)"
        fi
    done
fi

# --- usage errors: status 2 --------------------------------------------------------------

expect 2 "unknown command 'nonsense'; see" nonsense
expect 2 "unknown command 'nonsense'; see" nonsense good.etl
expect 2 "unknown command 'nonsense'; see" help nonsense
expect 2 "good.etl: is a file, not a command; did you mean etlheap report good.etl?" good.etl
expect 2 "--format: 'html' is a format of the command export: etlheap export INPUT --format html -o FILE.html" report good.etl --format html
expect 2 "--format: 'parquet' is a format of the command export" windows good.etl --format parquet
expect 2 "--format: 'json' is a format of other commands: etlheap report INPUT --format json" export good.etl --format json
expect 2 "--format: 'sarif' is a format of other commands: etlheap check INPUT" export good.etl --format sarif
expect 2 "the suffix means the format html" report good.etl -o page.html
expect 2 "or -o FILE with the suffix of a format" export good.etl -o page.txt
expect 2 "lifetime_p99_ns, committed_size, reserved_size, overhead_size, growth_rate, steadiness" report good.etl --sort nonsense
for command in report windows symbols info dump; do
    expect 2 input $command
    expect 2 "unknown option --nonsense; see etlheap $command --help" $command --nonsense good.etl
    expect 2 "--format needs a value: FORMAT" $command good.etl --format
    expect 2 "--format: 'nonsense' is not one of text, " $command good.etl --format nonsense
    expect 2 "unknown option -x; see etlheap $command --help" $command good.etl -x
    expect 2 "-j: invalid value 'nonsense': expected a number from 1 to 1024" $command good.etl -j nonsense
    expect 2 "-j: invalid value '-1': expected a number from 1 to 1024" $command good.etl -j -1
done
expect 2 input store -o out.ehs
expect 2 -o store good.etl
expect 2 "unknown option --format for store" store good.etl -o out.ehs --format json
expect 2 "unknown option --sort for store" store good.etl -o out.ehs --sort size
expect 2 "--from cannot be combined with --summary" store good.etl --summary --from 1s -o out.ehs
expect 2 "marks cannot be combined with --out-dir" store good.etl --from mark:a --out-dir out
expect 2 "no process matches 'nobody'" store good.etl --process nobody -o out.ehs
"$ETLHEAP" store good.etl --from 0.1s -o part.ehs
expect 3 "etlheap: part.ehs: is a store of a part of a recording" store part.ehs --summary -o out.ehs
rm part.ehs
expect 2 "--from is after --to" store good.etl --from 2s --to 1s -o out.ehs
expect 2 "--symbols: a chain of the symbol path has more than" report good.etl --symbols 'srv*a*b*c*d*e*f*g*h*i*j*k'
_NT_SYMBOL_PATH='srv*a*b*c*d*e*f*g*h*i*j*k' expect 2 _NT_SYMBOL_PATH symbols good.etl
expect 2 "steadiness" report good.etl --sort nonsense
expect 2 "--group-by: 'nonsense' is not one of kind, process, heap" report good.etl --group-by kind,nonsense
expect 2 "--group-by tag needs --stack-tags FILE" report good.etl --group-by tag
expect 2 "--stack-tags needs --group-by" report good.etl --stack-tags good.stacktags --group-by process
expect 2 "--stack-tags needs --group-by" report good.etl --stack-tags good.stacktags --tree
expect 3 "none.stacktags: No such file" report good.etl --stack-tags none.stacktags
expect 3 "bad.stacktags, line 2: <Stack> is not an element" report good.etl --stack-tags good.stacktags --stack-tags bad.stacktags
expect 3 "laughs.stacktags, line 1: a document type" report good.etl --stack-tags laughs.stacktags
expect 3 "text.etl, line 1" report good.etl --stack-tags text.etl
expect 2 "--tree and --group-by function cannot be combined" report good.etl --tree --group-by process,function
expect 2 "--focus and --group-by function cannot be combined" report good.etl --focus x --group-by function
expect 2 "--suspects and --group-by function cannot be combined" report good.etl --suspects --group-by function
expect 2 "stack and function cannot be combined" report good.etl --group-by stack,function
expect 2 "--group-by function: not possible here" windows good.etl --group-by function
expect 2 "--growth and --group-by function cannot be combined" report good.etl --group-by function --growth
expect 2 "--growth and --group-by type cannot be combined" report good.etl --growth --group-by process,type
expect 2 "--sort steadiness and --type cannot be combined" report good.etl --sort steadiness --type AIFO
expect 2 "--growth and --group-by free_site cannot be combined" report good.etl --growth --group-by free_site
expect 2 "--suspects and --group-by impacting_stack cannot be combined" report good.etl --suspects --group-by impacting_stack
expect 2 "--suspects and --group-by generation cannot be combined" report good.etl --suspects --group-by generation
expect 2 "--suspects and --group-by thread_name cannot be combined" report good.etl --suspects --group-by thread_name
expect 2 "stack and impacting_stack cannot be combined" report good.etl --group-by stack,process,impacting_stack
expect 2 "--group-by impacting_stack: not possible here" windows good.etl --group-by impacting_stack
expect 2 "--group-by impacting_stack cannot be compared" diff good.etl good.etl --group-by impacting_stack
expect 2 "--unmatched and --group-by impacting_stack cannot be combined" report good.etl --unmatched --group-by impacting_stack
expect 2 "--growth and --at cannot be combined" report good.etl --growth --at peak
expect 2 "--growth and --tree cannot be combined" report good.etl --growth --tree
expect 2 "--kind: 'nonsense' is not one of heap, virtualalloc" report good.etl --kind nonsense
expect 2 "--type: 'nonsense' is not one of AIFO, AIFI, AOFI, AOFO" report good.etl --type nonsense
expect 2 "--at-exit: 'nonsense' is not one of leaked, freed" report good.etl --at-exit=nonsense
expect 2 "--top: invalid value 'nonsense': expected a number from 1" report good.etl --top nonsense
expect 2 "--top: invalid value '-1': expected a number from 1" report good.etl --top -1
expect 2 "--from: invalid value 'nonsense': expected a time such as 12s" report good.etl --from nonsense
expect 2 "--to: invalid value '5parsecs': expected a time such as 12s" report good.etl --to 5parsecs
expect 2 "--max-growth: growth cannot be limited per mark" check good.etl --baseline good.etl --max-growth mark:1K
expect 2 "--max-peak: growth cannot be limited per heap" check good.etl --baseline good.etl --max-peak heap:5%
expect 2 "--max-peak with + or % needs a baseline" check good.etl --max-peak 5%
expect 2 "--max-peak above a baseline cannot be used with --suppressions" check good.etl --baseline good.etl --max-peak 5% --suppressions known.supp
expect 2 "--max-allocations: invalid value 'mark:x:1K': expected a limit such as 1000" check good.etl --max-allocations mark:x:1K
expect 2 "--max-temporary: 'total:x:5' names a part of the total" check good.etl --max-temporary total:x:5
expect 2 "--mark-event: invalid value 'nonsense': expected PROVIDER/ID" report good.etl --mark-event nonsense
expect 2 "--mark-event: invalid value 'A/1:x'" report good.etl --mark-event A/1:x
expect 2 "--custom-heap: 'nonsense' at character 1: expected the GUID" report good.etl --custom-heap nonsense
expect 2 "at character 56: expected ':'" report good.etl --custom-heap 'Microsoft-Windows-Win32k:alloc=100(address@0:u64,size@8)'
printf '# an engine\nMicrosoft-Windows-Win32k:free=1(size@0:u64)\n' > bad.engines
expect 2 "line 2 of bad.engines: the text ends" report good.etl --custom-heap @bad.engines
expect 3 "cannot read the custom heaps missing.txt" report good.etl --custom-heap @missing.txt
expect 2 "--heap: invalid value 'nonsense': expected a list of heap handles" report good.etl --heap nonsense
expect 2 "--lifetime: invalid value 'nonsense': expected a range of times" report good.etl --lifetime nonsense
expect 2 "--size: invalid value 'nonsense': expected a range of sizes" report good.etl --size nonsense
expect 2 "--size: invalid value '12Q..': expected a range of sizes" report good.etl --size 12Q..
expect 2 "expected a number from 1 to 4294967294" report good.etl --top 99999999999999999999
expect 2 "--tree: 'nonsense' is not one of callees, callers" report good.etl --tree=nonsense

# --- contradictory filters: status 2 ---------------------------------------------------------

expect 2 "--from is after --to, so the window is empty" report good.etl --from 5s --to 2s
expect 2 "--size: the range 64K..1K is empty" report good.etl --size 64K..1K
expect 2 "--lifetime: the range 2s..1s is empty" report good.etl --lifetime 2s..1s
expect 2 "--type and --impacting cannot be combined: both choose types" allocations good.etl --impacting --type AIFO
expect 2 "--tree is only for text and JSON; with --format csv" report good.etl --tree --format csv
expect 2 "--focus is only for text, Markdown and JSON; with --format csv" report good.etl --focus main --format csv
expect 2 "--focus: '*!*' matches every frame" report good.etl --focus '*!*'
expect 2 "--root: '!' matches every frame" report good.etl --tree --root '!'
expect 2 "--root needs --tree" report good.etl --root main
expect 2 "--from is after --to, so the window is empty" dump good.etl --from 5s --to 2s

# --- damage is no error, unless --strict asks: status 4 ------------------------------------------

expect_damage() # STATUS ARGUMENT...
{
    local status=$1 got
    shift
    timeout 60 "$ETLHEAP" "$@" > out 2> err < /dev/null
    got=$?
    if test $got -eq "$status" && test -s out; then
        pass "etlheap $* gives its answer and status $status"
    else
        fail "etlheap $* gives its answer and status $status" "exit status $got" "$(wc -c < out) bytes on stdout" "stderr: $(head -c 300 err)"
    fi
}

for command in report windows symbols info dump; do
    expect_damage 0 $command cut.etl
    expect_damage 4 $command cut.etl --strict
    expect_damage 0 $command good.etl --strict
done

chmod 600 locked.etl
finish
