#!/usr/bin/env bash
# Stores many traces as an array of Slurm jobs, and merges their summaries:
#
#   slurm_store.sh -o FOLDER [OPTION...] TRACE...
#
#   -o FOLDER    for summaries, logs and the sum, all.ehs; all nodes see it
#   -n SHARES    tasks of the array (one for each trace, 64 at most)
#   -e DURATION  keep totals of windows of this length too: 1s
#   -b OPTION    an option for sbatch, one each: -b --partition=short -b --cpus-per-task=4
#   -k           merge what could be stored, even if some could not
#   -w           wait for the end; the status is that of the merge
#
# The job that merges starts when all tasks have ended, however they ended. What was
# killed, or lost with its node, is made good by running the same command again: only
# summaries that are missing are made, and all.ehs has the same bytes. Slurm may requeue
# tasks by itself, too.
set -u
here=$(dirname "$(realpath "$0")")
# shellcheck source=cli/fleet/fleet.sh
. "$here/fleet.sh"

usage()
{
    sed -n '2,/^set -u/s/^# \{0,1\}//p' "$here/slurm_store.sh"
}

# For the shell that sbatch --wrap starts.
quoted()
{
    printf "'%s'" "${1//\'/\'\\\'\'}"
}

# Whether jobs of an earlier run still write here; they are named after the folder.
is_busy()
{
    test -n "$(squeue --noheader --name="$store_name,$merge_name" 2> /dev/null)"
}

folder='' shares='' line='--summary' keep='' wait=()
sbatch=(sbatch --parsable --requeue --open-mode=append)
while getopts o:n:e:b:kwh option; do
    case $option in
    o) folder=$OPTARG ;;
    n) shares=$OPTARG ;;
    e) line="--summary --every $OPTARG" ;;
    b) sbatch+=("$OPTARG") ;;
    k) keep=-k ;;
    w) wait=(--wait) ;;
    h) usage && exit 0 ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
test -n "$folder" || fleet_fail 2 "name a folder with -o FOLDER"
command -v sbatch > /dev/null || fleet_fail 3 "no sbatch here; this is for machines that submit to Slurm"
fleet_need_program
mkdir -p "$folder" || exit 3
folder=$(realpath -s "$folder")
name=$(printf '%s' "$folder" | cksum)
store_name=etlheap-store-${name%% *}
merge_name=etlheap-merge-${name%% *}
! is_busy || fleet_fail 3 "jobs $store_name or $merge_name still work on $folder; wait for them, or scancel them"
fleet_prepare "$folder" "$line" "$@"
shares=${shares:-$(($# < 64 ? $# : 64))}
test "$shares" -gt 0 2> /dev/null || fleet_fail 2 "-n $shares: not a number of tasks"

program="ETLHEAP=$(quoted "$ETLHEAP") exec"
store=$("${sbatch[@]}" --job-name="$store_name" --array="0-$((shares - 1))" --output="$folder/logs/share-%a.log" \
    --wrap "$program $(quoted "$here/store_share.sh") $(quoted "$folder") $shares") || exit 3
store=${store%%;*}
fleet_say "job $store stores $# traces in $shares tasks and another merges them into $folder/all.ehs; logs are in $folder/logs"
"${sbatch[@]}" "${wait[@]}" --job-name="$merge_name" --dependency="afterany:$store" --output="$folder/logs/merge.log" \
    --wrap "$program $(quoted "$here/merge_shares.sh") $keep $(quoted "$folder")" > /dev/null
