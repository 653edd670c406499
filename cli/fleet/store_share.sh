#!/usr/bin/env bash
# Stores one share of a fleet's traces:
#
#   store_share.sh FOLDER SHARES [SHARE]
#
# of SHARES equal ones that of number SHARE, from 0, which a job array of Slurm
# (SLURM_ARRAY_TASK_ID), PBS, LSF or Kubernetes counts by itself. Traces that are stored
# already are passed over, so that a share may be interrupted and run again at any time. A
# trace that cannot be stored does not keep the others from it; status 3 tells of it.
set -u
here=$(dirname "$(realpath "$0")")
# shellcheck source=cli/fleet/fleet.sh
. "$here/fleet.sh"

folder=${1:?usage: store_share.sh FOLDER SHARES [SHARE]}
shares=${2:?usage: store_share.sh FOLDER SHARES [SHARE]}
share=${3:-${SLURM_ARRAY_TASK_ID:-${PBS_ARRAY_INDEX:-${LSB_JOBINDEX:-${JOB_COMPLETION_INDEX:?which share? name it}}}}}
status=0
number=0

fleet_need_program
while IFS= read -r trace; do
    if test $((number % shares)) -eq $((share % shares)); then
        fleet_store "$folder" "$trace" || {
            fleet_say "$trace: not stored"
            status=3
        }
    fi
    number=$((number + 1))
done < "$folder/traces.list"
exit "$status"
