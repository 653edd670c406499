#!/usr/bin/env bash
# What surrounds the program goes wrong: readers that leave, disks that are full,
# files that other programs cut off or go on writing, interruptions. The program is
# held at a known place by a pipe that nobody reads from.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh
begin_program_test
mkdir tmp
export TMPDIR=$PWD/tmp

"$MAKE_TRACE" demo a.etl > make.log 2>&1 && "$ETLHEAP" dump a.etl > whole.txt 2>> make.log ||
    { fail "the inputs are made" "$(tail -n 3 make.log)"; finish; }

expect() # name, condition, what else there is to say...
{
    if eval "$2"; then pass "$1"; else fail "$1" "not so: $2" "${@:3}"; fi
}

sentence() { test "$(wc -l < err)" -eq 1 && grep -qF -- "$1" err; }

# --- files that change while they are read --------------------------------------------

# Starts a listing that soon waits for its reader; $! is the program. Signals do to it what
# they do to a program that a person starts: a shell without job control ignores SIGINT, nohup
# SIGHUP, and what is ignored here would be ignored there.
begin_listing() # file argument...
{
    rm -f pipe
    mkfifo pipe
    env --default-signal=INT,TERM,HUP "$ETLHEAP" dump "$@" > pipe 2> err &
    exec 3< pipe
    head -c 100 <&3 > begun.txt
}

end_listing()
{
    cat <&3 > rest.txt
    exec 3<&-
    wait $!
    status=$?
}

cp a.etl b.etl
begin_listing b.etl
truncate -s 70000 b.etl
end_listing
expect "a file that is cut off while it is read is an error" "test $status -eq 3 && sentence 'b.etl: a file became shorter'" \
    "status $status" "$(cat err)"

cp a.etl b.etl
begin_listing b.etl
head -c 300000 /dev/zero >> b.etl
end_listing
cat begun.txt rest.txt > all.txt
expect "a file that grows while it is read is read as it was" "test $status -eq 0 && cmp -s all.txt whole.txt" "status $status" "$(cat err)"

# Shorter within the last page that is mapped: there are zeros, and no signal. Buffers at
# the end are read last.
cp a.etl b.etl
truncate -s -100 b.etl
begin_listing b.etl
truncate -s -100 b.etl
end_listing
expect "a file that loses less than a page while it is read is told of" "test $status -eq 0 && grep -q 'were written to while etlheap read them' err" \
    "status $status" "$(cat err)"

cp a.etl b.etl
begin_listing b.etl --strict
dd if=a.etl of=b.etl bs=65536 count=1 conv=notrunc 2> dd.log
end_listing
expect "a file that is written to in its middle while it is read is damage" "test $status -eq 4 && grep -q 'were written to while etlheap read them' err" \
    "status $status" "$(cat err)"

cp a.etl b.etl
begin_listing b.etl --no-mmap
truncate -s 0 b.etl
end_listing
cat begun.txt rest.txt > all.txt
expect "with --no-mmap a file may be cut off once it is read" "test $status -eq 0 && cmp -s all.txt whole.txt" "status $status" "$(cat err)"

cp a.etl b.etl
begin_listing b.etl
rm b.etl
end_listing
cat begun.txt rest.txt > all.txt
expect "a file that is deleted while it is read stays readable" "test $status -eq 0 && cmp -s all.txt whole.txt" "status $status" "$(cat err)"

# A fault that is none of a file's ends the program as it would any other.
begin_listing a.etl
kill -BUS $!
end_listing 2> /dev/null
expect "SIGBUS from elsewhere still ends the program" "test $status -eq $((128 + $(kill -l BUS)))" "status $status"

# --- interruptions -----------------------------------------------------------------------

for signal in INT TERM HUP; do
    begin_listing a.etl
    kill -$signal $!
    end_listing 2> /dev/null
    expect "SIG$signal ends a listing" "test $status -eq $((128 + $(kill -l $signal)))" "status $status"
done

# Nothing is left over that would need the program to go on.
rm -f pipe
mkfifo pipe
"$ETLHEAP" dump a.etl -o pipe 2> err &
exec 3< pipe
head -c 100 <&3 > begun.txt
kill -TERM $!
wait $! 2> /dev/null
status=$?
exec 3<&-
expect "a listing into a pipe that nobody reads can be stopped" "test $status -eq $((128 + $(kill -l TERM)))" "status $status"

# --- readers that leave --------------------------------------------------------------------

for command in "dump a.etl" "dump a.etl --format ndjson" "allocations a.etl --format csv" "export a.etl --format heaptrack"; do
    # shellcheck disable=SC2086
    "$ETLHEAP" $command 2> err | head -n 1 > begun.txt
    status=${PIPESTATUS[0]}
    expect "$command | head -n 1" "test $status -eq $((128 + $(kill -l PIPE))) -o $status -eq 0 && test ! -s err -a -s begun.txt" \
        "status $status" "$(cat err)"
    # The same where SIGPIPE is ignored, as under Python.
    # shellcheck disable=SC2086
    (trap '' PIPE; "$ETLHEAP" $command 2> err; echo $? > status) | head -n 1 > begun.txt
    expect "$command | head -n 1, ignoring SIGPIPE" "test \$(cat status) -eq 3 -o \$(cat status) -eq 0" "status $(cat status)" "$(cat err)"
done

# --- disks ----------------------------------------------------------------------------------

if test -e /dev/full; then
    for command in "allocations a.etl" "windows a.etl" "diff a.etl a.etl" "store a.etl -o /dev/full" "export a.etl --format pprof" "check a.etl --max-outstanding 1"; do
        test "${command%% *}" = diff && cp a.etl c.etl && command="diff a.etl c.etl"
        # shellcheck disable=SC2086
        "$ETLHEAP" $command > /dev/full 2> err
        status=$?
        expect "$command on a full disk" "test $status -eq 3 && sentence 'No space left'" "status $status" "$(cat err)"
    done
fi
# Also to root.
for command in "report a.etl" "store a.etl" "export a.etl --format folded"; do
    # shellcheck disable=SC2086
    "$ETLHEAP" $command -o /proc/out 2> err
    status=$?
    expect "$command -o into a folder that takes no files" "test $status -eq 3 && sentence '/proc/out'" "status $status" "$(cat err)"
done
if command -v zip > /dev/null; then
    zip -q a.zip a.etl
    TMPDIR=$PWD/nowhere "$ETLHEAP" report a.zip > out.txt 2> err
    status=$?
    expect "a folder for temporary files that is not there" "test $status -eq 3 && sentence 'TMPDIR'" "status $status" "$(cat err)"
    "$ETLHEAP" report a.zip > out.txt 2> err
    expect "a zip is unpacked and cleaned up after" "test $? -eq 0 && test -z \"\$(ls -A tmp)\""
else
    skip "temporary files of a zip" "there is no zip program (package zip)"
fi
expect "no temporary files are left" "test -z \"\$(ls -A tmp)\"" "$(ls -A tmp)"
finish
