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
