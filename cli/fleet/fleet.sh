# fleet.sh - what the scripts for fleets share. To be sourced by bash.
#
# A fleet's folder, which all machines see under the same path, holds
#
#     traces.list          absolute paths of traces, one a line
#     options              of `etlheap store`, the same for all of them
#     summaries/PATH.ehs   a summary of each, below the path of its trace
#     logs/                what the parts of the run said
#     all.ehs              the sum of all summaries
#
# A summary is written under a temporary name, renamed when it is complete, and then given
# the time of its trace: one that has it need not be made again, whatever was killed, when
# and where, and whatever clocks say. Summaries depend on nothing but the trace, its path and the options, and `etlheap
# merge` gives the same bytes in any order, so neither does all.ehs depend on who stored what.
#
# shellcheck shell=bash

ETLHEAP=${ETLHEAP:-etlheap}
# Paths that fit in one command line; more are merged in several steps.
FLEET_MERGE_FILES=${FLEET_MERGE_FILES:-256}

fleet_say()
{
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
}

# A message, and the status of etlheap for the same: 2 wrong use, 3 cannot read or write.
fleet_fail() # status, message
{
    local status=$1
    shift
    fleet_say "$*"
    exit "$status"
}

# The program by its full path, as jobs may start in other folders.
fleet_need_program()
{
    local found
    found=$(command -v "$ETLHEAP") || fleet_fail 3 "no program $ETLHEAP here; install it, or name it in ETLHEAP"
    ETLHEAP=$(realpath "$found")
}

fleet_summary_of() # folder, trace
{
    printf '%s/summaries%s.ehs\n' "$1" "$2"
}

fleet_is_done() # folder, trace
{
    local times
    # In whole seconds, which all file systems keep.
    times=$(stat -c %Y -- "$2" "$(fleet_summary_of "$1" "$2")" 2> /dev/null) && test "${times%%$'\n'*}" = "${times##*$'\n'}"
}

# Writes traces.list and options. What was stored with other options cannot be merged with
# what will be, so that is refused.
fleet_prepare() # folder, options of store as one line, trace...
{
    local folder=$1 line=$2 trace
    shift 2
    test $# -gt 0 || fleet_fail 2 "name traces to store"
    mkdir -p "$folder/summaries" "$folder/logs" || exit 3
    if test -f "$folder/options" && test "$(cat "$folder/options")" != "$line"; then
        fleet_fail 2 "$folder has summaries made with the options '$(cat "$folder/options")', not '$line'; use another folder"
    fi
    for trace in "$@"; do
        case $trace in *$'\n'*) fleet_fail 2 "a path with a line break cannot be listed: $trace" ;; esac
        test -f "$trace" || fleet_fail 3 "$trace: no such file"
    done
    # Links are not followed: machines may see other targets.
    realpath -s -- "$@" > "$folder/traces.list.new" || exit 3
    printf '%s\n' "$line" > "$folder/options.new" &&
        mv "$folder/options.new" "$folder/options" &&
        mv "$folder/traces.list.new" "$folder/traces.list" || exit 3
}

# Removes what a killed run left of a summary: files of this user under etlheap's temporary names
# that nobody has locked.
fleet_remove_leftovers() # summary
{
    local left
    for left in "$1".[0-9]*-[0-9]*.tmp; do
        if [[ ${left#"$1"} =~ ^\.[0-9]+-[0-9]+\.tmp$ ]] && test -f "$left" && test ! -L "$left" && test -O "$left"; then
            flock -n "$left" rm -f -- "$left" || true
        fi
    done
}

# Stores one trace, unless that is done.
fleet_store() # folder, trace
{
    local summary options
    summary=$(fleet_summary_of "$1" "$2")
    if fleet_is_done "$1" "$2"; then
        fleet_say "$2: done before"
        return 0
    fi
    mkdir -p "$(dirname "$summary")" || return 3
    fleet_remove_leftovers "$summary"
    read -r -a options < "$1/options" || return 3
    "$ETLHEAP" store "${options[@]}" -j "${SLURM_CPUS_PER_TASK:-1}" -o "$summary" "$2" < /dev/null || return
    touch -r "$2" "$summary" || return 3
    fleet_say "$2: stored"
}

# The traces of the list that have no summary, one a line.
fleet_missing() # folder
{
    local trace
    while IFS= read -r trace; do
        fleet_is_done "$1" "$trace" || printf '%s\n' "$trace"
    done < "$1/traces.list"
}

# Merges files into one, in several steps when there are many.
fleet_merge() # output, file...
{
    local output=$1 parts=() part step=0 jobs=()
    shift
    # A job of Slurm has the processors that it asked for, one at least.
    test -z "${SLURM_JOB_ID-}" || jobs=(-j "${SLURM_CPUS_PER_TASK:-1}")
    while test $# -gt "$FLEET_MERGE_FILES"; do
        part=$output.part$step.ehs
        "$ETLHEAP" merge "${@:1:FLEET_MERGE_FILES}" "${jobs[@]}" -o "$part" || return
        parts+=("$part")
        # In front of the others it would be merged again and again.
        shift "$FLEET_MERGE_FILES"
        set -- "$@" "$part"
        step=$((step + 1))
    done
    "$ETLHEAP" merge "$@" "${jobs[@]}" -o "$output" || return
    test ${#parts[@]} -eq 0 || rm -f "${parts[@]}"
}
