#!/usr/bin/env bash
# Does a Slurm cluster make the same archive as one machine, whatever is killed on the way?
#
# Twenty-four traces, some of the same name, are stored and merged by single commands; that
# is what must come out. Then a real Slurm of this one machine, started in a folder, does it
# with cli/fleet/slurm_store.sh. One summary is stopped midway: there the program is killed,
# its task is cancelled, or Slurm is told to requeue it.
#
# Functions are called through check:
# shellcheck disable=SC2317
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh
. tests/fleet/fleet_traces.sh
. tests/fleet/slurm_node.sh

# Sockets have short paths, so that the node is in a folder of its own.
work=$(mktemp -d)
trap 'slurm_node_stop; rm -rf "$work"' EXIT
TRACE_COUNT=24

lacks=$(slurm_node_lacks)
if test -n "$lacks"; then
    skip "an array of Slurm jobs" "$lacks"
    finish
fi

make_traces $TRACE_COUNT
slow=${traces[9]}
check "one machine stores and merges $TRACE_COUNT traces" single_machine "$work/wanted.ehs" "${traces[@]}"

stopping_program "$slow"

# --- Slurm -------------------------------------------------------------------------

if ! slurm_node_start "$work/node"; then
    fail "Slurm starts"
    finish
fi
pass "Slurm starts"

queue_is_empty() { test -z "$(squeue --noheader)"; }
submit() { ETLHEAP=$work/etlheap "$FLEET/slurm_store.sh" -n 6 -e "$EVERY" "$@"; }
array_job() { squeue --noheader --states=running --format=%A-%F_%K --name="$(squeue --noheader --format=%j | grep -m 1 store)" | sed -n "s/.*-\(.*_$1\)\$/\1/p"; }

# The summaries that are done, told apart from anything made later. One who is killed
# between a summary's renaming and its time leaves one that is not done.
listing() # folder
{
    local trace summary
    for trace in "${traces[@]}"; do
        summary=$1/summaries$trace.ehs
        test ! -e "$summary" || test "$(stat -c %Y "$summary")" != "$(stat -c %Y "$trace")" || stat -c '%n %i %Z' "$summary"
    done | sort
}
stored_lines() { cat "$1"/logs/share-*.log | grep -c ': stored$'; }

# Starts a run that is stopped in the middle of one summary, which is of task 3.
begin_run() # name
{
    folder=$work/$1
    export STOP_ONCE=$work/$1.stopped
    check "$1: the jobs are submitted" submit -o "$folder" "${traces[@]}"
    check "$1: the program is caught midway" wait_for is_stopped
}

finish_run() # name
{
    check "$1: the run ends" wait_for queue_is_empty
    cp "$folder/logs/merge.log" "$work/merge.log" 2> /dev/null
}

sum_is_wanted() { cmp "$folder/all.ehs" "$work/wanted.ehs" || { cat "$folder/logs/merge.log"; return 1; }; }

is_refused_as_incomplete()
{
    test ! -e "$folder/all.ehs" && grep -q "1 of $TRACE_COUNT traces are not stored" "$work/merge.log" &&
        grep -qF "$slow" "$work/merge.log" && test "$(stored_lines "$folder")" -le $((TRACE_COUNT - 1))
}

# The same command again makes what is missing, and nothing else.
check_rerun() # name
{
    local before after
    listing "$folder" > "$work/before"
    before=$(stored_lines "$folder")
    check "$1: the same command again" submit -w -o "$folder" "${traces[@]}"
    after=$(stored_lines "$folder")
    listing "$folder" > "$work/after"
    made=$(comm -13 "$work/before" "$work/after" | wc -l)
    changed=$(comm -23 "$work/before" "$work/after" | wc -l)
    check "$1: it stores only what is missing ($made)" test "$changed" -eq 0 -a "$made" -ge 1 -a $((after - before)) -eq "$made"
    check "$1: the sum has the bytes of the single machine" sum_is_wanted
    check "$1: nothing temporary is left" test -z "$(find "$folder" -name '*.tmp' -o -name '*.part*')"
}

begin_run killed
submit -o "$folder" "${traces[@]}" > "$work/busy.log" 2>&1
check "killed: a second run in the same folder is refused" test $? -eq 3 -a -s "$work/busy.log"
kill -9 "$(cat "$STOP_ONCE")"
finish_run killed
check "killed: nothing is merged, and it says what is missing" is_refused_as_incomplete
check "killed: the others of its share are stored" test "$(stored_lines "$folder")" -eq $((TRACE_COUNT - 1))
check_rerun killed

begin_run cancelled
check "cancelled: the task is" scancel "$(array_job 3)"
finish_run cancelled
lacks_some() { test ! -e "$folder/all.ehs" && grep -q "of $TRACE_COUNT traces are not stored" "$work/merge.log"; }
check "cancelled: nothing is merged" lacks_some
check_rerun cancelled

begin_run requeued
task=$(array_job 3)
check "requeued: Slurm is told to" scontrol requeue "$task"
# It waits until its old credentials have expired, some seconds here (slurm_node.sh). Told to start sooner, it would at
# times be lost: the node refuses it, and Slurm takes it for one that has ended.
waits_again() { squeue --noheader --array --jobs "$task" --format=%T | grep -q PENDING; }
check "requeued: the task waits again" wait_for waits_again
finish_run requeued
check "requeued: the sum has the bytes of the single machine" sum_is_wanted
# But for the one, when it was stopped after its renaming and before it was said.
check "requeued: no other trace is stored twice" \
    test -z "$(cat "$folder"/logs/share-*.log | grep ': stored$' | grep -vF "$slow" | sort | uniq -d)"

# --- the rest of what the scripts promise ------------------------------------------

unset STOP_ONCE
submit -o "$folder" -e 20ms "${traces[@]}" > "$work/log" 2>&1
check "other options in the same folder are refused" test $? -eq 2

# A damaged trace is left out, if that is asked for.
folder=$work/damaged
echo 'this is no trace' > "$work/traces/bad.etl"
submit -w -o "$folder" "${traces[@]}" "$work/traces/bad.etl" > "$work/log" 2>&1
check "a trace that cannot be read: nothing is merged, status 3" test $? -eq 3 -a ! -e "$folder/all.ehs"
submit -w -k -o "$folder" "${traces[@]}" "$work/traces/bad.etl" > "$work/log" 2>&1
check "a trace that cannot be read: with -k status 4" test $? -eq 4
check "a trace that cannot be read: with -k the others are merged" cmp "$folder/all.ehs" "$work/wanted.ehs"

merge_in_steps() { ETLHEAP=$ETLHEAP FLEET_MERGE_FILES=$1 "$FLEET/merge_shares.sh" -k "$folder"; test $? -eq 4 && cmp "$folder/all.ehs" "$work/wanted.ehs"; }
for files in 2 5 23; do
    check "merging $files at a time gives the same bytes" merge_in_steps $files
done

# A trace that is recorded anew is stored anew.
touch -d '2001-01-01' "${traces[0]}"
check "a trace with another time: the same command again" submit -w -k -o "$folder" "${traces[@]}"
check "a trace with another time is stored again" test "$(stored_lines "$folder")" -eq $((TRACE_COUNT + 1))

finish
