#!/bin/sh
# Line coverage by file, from what a `make cov` run left behind:
#
#   coverage.sh FOLDER SOURCE...      FOLDER holds the objects of VARIANT=cov
set -u

folder=$1
shift
for source in "$@"; do
    object=$folder/${source%.c}.o
    if test -f "${object%.o}.gcda"; then
        gcov -n -o "$(dirname "$object")" "$object" 2> /dev/null |
            awk -v source="$source" '
                /^File / { ours = index($0, "\x27" source "\x27") > 0 }
                /^Lines executed:/ && ours { split($2, part, /[:%]/); print source, part[2], $4; ours = 0 }'
    else
        echo "$source 0 0"
    fi
done | awk '
    { covered = $2 * $3 / 100; total += $3; hit += covered; printf "%7.2f %% of %5d lines  %s\n", $2, $3, $1 }
    END { if (total) printf "%7.2f %% of %5d lines  in all\n", 100 * hit / total, total }'
