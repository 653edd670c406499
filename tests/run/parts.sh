# parts.sh - runs commands as parts of a test run, and sums what they count. To be sourced
# by run_tests.sh and run_nightly.sh.
#
# A part prints TAP lines (cmocka programs) or a last line "N passed, N failed, N skipped"
# (scripts, and make goals that run parts of their own). A part that dies, says nothing, or
# leaves temporary files behind is a failure: silence must not look like success.
#
# In $logs lie NAME.log, NAME.status, and NAME.seconds: seconds of the clock, and of the
# processors. A part gets two folders of its own, in TMPDIR if that is set: TEST_TMP to work
# in, and another TMPDIR. Both are gone when it ends. Their paths are as long as build agents
# have them, because a test that expects a whole path in a message would fail only there. They
# have no spaces: those of a build folder that has some lie in the system's temporary folder.

# Where parts put temporary files; called once, before the first part.
begin_parts() # folder of logs
{
    logs=$1
    rm -rf "$logs"
    mkdir -p "$logs"
    local folder
    folder=$(realpath "$logs")
    # Parts compile, install and preload there, and make, pkg-config and LD_PRELOAD take no spaces.
    if test -n "${TMPDIR:-}" || test "$folder" != "${folder//[[:space:]]/}"; then
        folder=$(mktemp -d) || exit 1
        trap 'rm -rf "${parts_folder%/*}"' EXIT
    fi
    parts_folder=$folder/temporary_files_of_the_tests_below_a_name_that_is_as_long_as_those_of_build_agents
    export logs parts_folder
}

run_part() # name, command...
{
    local name=$1
    shift
    export TEST_TMP=$parts_folder/$name.tmp TMPDIR=$parts_folder/$name.tmpdir
    local status tries=1 left
    while :; do
        rm -rf "$TEST_TMP" "$TMPDIR"
        mkdir -p "$TEST_TMP" "$TMPDIR"
        TIMEFORMAT='%R %U %S'
        { time timeout "$PART_SECONDS" "$@" > "$logs/$name.log" 2>&1 < /dev/null; } 2> "$logs/$name.time"
        status=$?
        # Wine's server drops a client now and then, which says nothing of the program.
        test "${PLATFORM:-posix}" = windows && test $status -ne 0 && test $tries -lt 3 || break
        grep -q 'wine client error' "$logs/$name.log" || ! grep -qE '^(not )?ok ' "$logs/$name.log" || break
        tries=$((tries + 1))
    done
    tr , . < "$logs/$name.time" | awk 'NF == 3 { print $1, $2 + $3 }' > "$logs/$name.seconds"
    test $status -ne 124 || echo "stopped after $PART_SECONDS seconds" >> "$logs/$name.log"
    echo $status > "$logs/$name.status"
    left=$(ls -A "$TMPDIR")
    test -z "$left" || printf '%s\n' "not ok 0 - no file is left in TMPDIR" "$left" >> "$logs/$name.log"
    rm -rf "$TEST_TMP" "$TMPDIR"
}
export -f run_part

# Sorts lines "name command..." by the seconds that each part took the last time, longest
# first, so that none is left alone at the end. Files have lines "name seconds"; the last
# that names a part counts. A script that nobody has measured may be long, a program is not.
longest_first() # file...
{
    { cat "$@"; echo; cat; } | awk '
        NF == 0 { listed = 1; next }
        !listed { took[$1] = $2; next }
        { print ($1 in took) ? took[$1] : (NF > 2 ? 15 : 0), $0 }' | LC_ALL=C sort -s -k 1,1gr | cut -d ' ' -f 2-
}

# Keeps what the parts took for the next run, beside what is known of parts that did not run.
remember_seconds() # file
{
    local seconds
    {
        cat "$1"
        for seconds in "$logs"/*.seconds; do
            echo "$(basename "$seconds" .seconds) $(cut -d ' ' -f 1 "$seconds")"
        done
    } | awk 'NF == 2 { took[$1] = $2 } END { for (name in took) print name, took[name] }' | sort > "$1.new"
    mv "$1.new" "$1"
}

# "passed failed skipped" of one log.
count_part() # log, status
{
    awk -v status="$2" -f tests/run/count_part.awk "$1"
}

# All that was skipped, one line for each with its part and reason. In the middle of a long run
# nobody reads them. cmocka tells a reason on a line of its own, before the name of the test.
print_skips() # list
{
    local name lines
    lines=$(while read -r name _; do
        test ! -e "$logs/$name.log" || awk -v part="$name" '
            /^not ok [0-9]+ # SKIP / { sub(/^not ok [0-9]+ # SKIP /, ""); print part ": " $0 ": " told; next }
            /^ok [0-9]+ # SKIP / { sub(/^ok [0-9]+ # SKIP /, ""); print part ": " $0; next }
            /^ok [0-9]+ - .* # SKIP / { sub(/^ok [0-9]+ - /, ""); sub(/ # SKIP /, ": "); print part ": " $0; next }
            /^ *skipped: / { sub(/^ *skipped: /, ""); print part ": " $0; next }
            { told = $0 }' "$logs/$name.log"
    done < "$1")
    test -n "$lines" || return 0
    echo "Skipped, and why:"
    sed 's/^/    /' <<< "$lines"
}

# One line for each part of a list, why something failed, what was skipped and why, and the sum
# as the last line, which is kept in $logs/summary. Returns 1 unless all parts passed.
print_parts() # list
{
    local name log p f s wall processor passed=0 failed=0 skipped=0
    while read -r name _; do
        log=$logs/$name.log
        read -r p f s < <(count_part "$log" "$(cat "$logs/$name.status" 2> /dev/null || echo 1)")
        read -r wall processor < <(cat "$logs/$name.seconds" 2> /dev/null || echo 0 0)
        printf '%-28s %5d passed, %d failed, %d skipped  %6.1f s, %6.1f s of CPU\n' "$name" "$p" "$f" "$s" "$wall" "$processor"
        # Why something was skipped is part of the result.
        sed -nE 's/^(not )?ok [0-9]+ # SKIP /skipped: /; s/^ *skipped: /    &/p' "$log"
        if test "$f" -gt 0; then
            grep -vE '^ok [0-9]|^1\.\.|^ *skipped: |# SKIP|^[0-9]+ passed, |^  CC  ' "$log" | cut -c 1-300 | head -n 40 | sed 's/^/    /'
            echo "    (whole log: $log)"
        fi
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    done < "$1"
    print_skips "$1"
    cat "$logs"/*.seconds | awk -v clock="$SECONDS" '{ processor += $2 } END { printf "%d s, %.0f s of CPU\n", clock, processor }'
    echo "$passed passed, $failed failed, $skipped skipped" | tee "$logs/summary"
    test "$failed" -eq 0 && test "$passed" -gt 0
}
