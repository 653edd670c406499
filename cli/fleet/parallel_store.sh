#!/usr/bin/env bash
# Stores many traces with GNU parallel, here or on other machines, and merges their summaries:
#
#   parallel_store.sh -o FOLDER [OPTION...] TRACE...
#
#   -o FOLDER    for summaries, logs and the sum, all.ehs
#   -j JOBS      at a time on each machine (as many as processors)
#   -e DURATION  keep totals of windows of this length too: 1s
#   -S LOGIN     a machine that works too, as --sshlogin of parallel takes it: 8/user@host;
#                may be repeated, and : is this one. All see the traces, FOLDER and the
#                programs under the same paths
#   -k           merge what could be stored, even if some could not
#
# What was killed is made good by running the same command again: --joblog and
# --resume-failed repeat what has not ended well, and of that only summaries that are
# missing are made. all.ehs has the same bytes.
set -u
here=$(dirname "$(realpath "$0")")
# shellcheck source=cli/fleet/fleet.sh
. "$here/fleet.sh"

usage()
{
    sed -n '2,/^set -u/s/^# \{0,1\}//p' "$here/parallel_store.sh" 
}

folder='' line='--summary' keep=''
parallel=(parallel --will-cite --env ETLHEAP --line-buffer)
while getopts o:j:e:S:kh option; do
    case $option in
    o) folder=$OPTARG ;;
    j) parallel+=(--jobs "$OPTARG") ;;
    e) line="--summary --every $OPTARG" ;;
    S) parallel+=(--sshlogin "$OPTARG") ;;
    k) keep=-k ;;
    h) usage && exit 0 ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
test -n "$folder" || fleet_fail 2 "name a folder with -o FOLDER"
command -v parallel > /dev/null || fleet_fail 3 "no GNU parallel here; install the package parallel"
fleet_need_program
mkdir -p "$folder" || exit 3
folder=$(realpath -s "$folder")
exec 9> "$folder/lock" || exit 3
flock --nonblock 9 || fleet_fail 3 "another run works on $folder; wait for it"

# The log of jobs numbers them: it says nothing of another list.
cp "$folder/traces.list" "$folder/traces.list.old" 2> /dev/null
fleet_prepare "$folder" "$line" "$@"
cmp -s "$folder/traces.list" "$folder/traces.list.old" || rm -f "$folder/joblog"
rm -f "$folder/traces.list.old"

# What is to be done is said by the summaries alone, so the log forgets the others.
if test -f "$folder/joblog"; then
    awk -F '\t' '
        FILENAME == ARGV[1] { missing[$0]; next }
        FILENAME == ARGV[2] { if ($0 in missing) again[FNR]; next }
        FNR == 1 || !($1 in again)' \
        <(fleet_missing "$folder") "$folder/traces.list" "$folder/joblog" > "$folder/joblog.new"
    mv "$folder/joblog.new" "$folder/joblog"
fi

# Each trace is a share of its own.
export ETLHEAP
seq 0 $(($# - 1)) | "${parallel[@]}" --joblog "$folder/joblog" --resume-failed --quote "$here/store_share.sh" "$folder" $# {}
"$here/merge_shares.sh" ${keep:+"$keep"} "$folder"
