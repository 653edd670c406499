#!/bin/sh
# Line coverage from what `make cov` left behind: one row per source file, one per
# folder, and the targets. Fails when a folder with a target is below it.
#
#   coverage.sh FOLDER SOURCE...      FOLDER holds the objects of VARIANT=cov
#
# All programs count into the one object that each source file has. A function of a
# header is in many objects and still the same lines: they are counted once, and as
# run when any of their copies ran. FOLDER/uncovered.txt lists the lines that no test
# runs, as FILE:LINE: TEXT.
set -u

folder=$1
shift
targets='parser 95 engine 90'
lines=$folder/coverage.txt
uncovered=$folder/uncovered.txt

# gcov's text: COUNT:LINE:SOURCE, behind a line 0 that names the source. COUNT is "-"
# where there is no code and starts with "#" or "=" where none ran.
for source in "$@"; do
    object=$folder/${source%.c}.o
    # A file that nothing ran counts too: without counters all of its lines are "#".
    gcov -t -o "$(dirname "$object")" "$object" 2> /dev/null
done > "$lines"

awk -v targets="$targets" -v uncovered="$uncovered" '
    function rate(hit, all) { return all ? 100 * hit / all : 0 }
    function row(hit, all, name, remark) {
        printf "%7.2f %% of %5d lines  %s%s\n", rate(hit, all), all, name, remark
    }
    {
        count = $0; sub(/:.*/, "", count); gsub(/ /, "", count)
        rest = substr($0, index($0, ":") + 1)
        line = rest + 0
        text = substr(rest, index(rest, ":") + 1)
    }
    line == 0 && text ~ /^Source:/ { file = substr(text, 8); ours = file !~ /^\// && file ~ /\// }
    line == 0 || !ours || count == "-" { next }
    {
        key = file ":" line
        if (!(key in runs)) { keys[++n] = key; file_of[n] = file; text_of[n] = text; runs[key] = 0 }
        if (count !~ /^[#=]/) runs[key] = 1
    }
    END {
        printf "" > uncovered
        for (i = 1; i <= n; i++) {
            file = file_of[i]
            if (!(file in all)) files[++m] = file
            all[file]++
            hit[file] += runs[keys[i]]
            if (!runs[keys[i]]) print keys[i] ":" text_of[i] > uncovered
        }
        for (i = 1; i <= m; i++) {
            file = files[i]
            row(hit[file], all[file], file, "")
            name = file; sub(/\/.*/, "", name)
            if (!(name in folder_all)) folders[++k] = name
            folder_all[name] += all[file]; folder_hit[name] += hit[file]
        }
        split(targets, part, " ")
        for (i = 1; i in part; i += 2) target[part[i]] = part[i + 1]
        print ""
        for (i = 1; i <= k; i++) {
            name = folders[i]
            remark = ""
            if (name in target) {
                low = rate(folder_hit[name], folder_all[name]) < target[name]
                failed += low
                remark = (low ? "BELOW its target of " : ", its target is ") target[name] " %"
                if (low) remark = ", " remark
            }
            row(folder_hit[name], folder_all[name], "in " name "/", remark)
            sum_all += folder_all[name]; sum_hit += folder_hit[name]
        }
        row(sum_hit, sum_all, "in all", "")
        print "lines that no test runs: " uncovered
        for (name in target) if (!(name in folder_all)) { print "nothing is known of " name "/"; failed++ }
        exit failed > 0
    }' "$lines"
