#!/usr/bin/env bash
# Merges the summaries of a fleet's traces into FOLDER/all.ehs:
#
#   merge_shares.sh [-k] FOLDER
#
# When a summary is missing nothing is merged, and status 3 says so; with -k the others
# are, and the status is 4: finished, but not complete.
set -u
here=$(dirname "$(realpath "$0")")
# shellcheck source=cli/fleet/fleet.sh
. "$here/fleet.sh"

# As a job of Slurm, with the tasks' job in FLEET_TASKS: a task that Slurm requeues has ended, too, so the merge may
# start before it has run again. Then the merge goes back into the queue, where it takes no processor from that task.
wait_for_requeued() # job of the tasks
{
    local second
    for ((second = 0; second < 10; second++)); do
        test -n "$(squeue --noheader --jobs="$1" --states=COMPLETING 2> /dev/null)" || break
        sleep 1
    done
    test -n "$(squeue --noheader --jobs="$1" --states=PENDING,RUNNING,SUSPENDED 2> /dev/null)" || return 0
    fleet_say "Slurm runs some tasks of job $1 again; the merge goes back into the queue until then"
    scontrol requeue "$SLURM_JOB_ID" && sleep 60 # it is ended before
}

keep_going=0
if test "${1-}" = -k; then
    keep_going=1
    shift
fi
folder=${1:?usage: merge_shares.sh [-k] FOLDER}
status=0
summaries=()

fleet_need_program
missing=$(fleet_missing "$folder")
test -z "$missing" || test -z "${FLEET_TASKS-}" || wait_for_requeued "$FLEET_TASKS"
if test -n "$missing"; then
    fleet_say "$(wc -l <<< "$missing") of $(wc -l < "$folder/traces.list") traces are not stored:"
    head -n 20 <<< "$missing" >&2
    test "$keep_going" -eq 1 ||
        fleet_fail 3 "nothing is merged; run the same again for those, or with -k for the others"
    status=4
fi
while IFS= read -r trace; do
    if fleet_is_done "$folder" "$trace"; then
        summaries+=("$(fleet_summary_of "$folder" "$trace")")
    fi
done < "$folder/traces.list"
test ${#summaries[@]} -gt 0 || fleet_fail 3 "there is nothing to merge"
fleet_merge "$folder/all.ehs" "${summaries[@]}" || exit
fleet_say "$folder/all.ehs: ${#summaries[@]} traces"
exit "$status"
