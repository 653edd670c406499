#!/usr/bin/env bash
# Does the runner of the tests tell what becomes of them? Parts that pass, fail, die, say
# nothing, break off, hang, skip, and leave files behind are run by run_tests.sh, and what
# it prints is compared with what they did. Tests that nobody lists must be found, and
# temporary files lie in TMPDIR.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh
TEST_TMP=$(realpath "${TEST_TMP:-$(mktemp -d)}")
# From here on nothing of the run that this is a part of.
unset PARTS LONG PLATFORM LOGS
export OUT=$TEST_TMP/check TMPDIR=$TEST_TMP/temporary
mkdir -p "$OUT" "$TMPDIR"

part() # name, script
{
    printf '%s\n' "$2" > "$TEST_TMP/$1.part"
    echo "$1 bash $TEST_TMP/$1.part"
}

# Runs the parts of a list; output and status.
run_parts() # list
{
    output=$(PARTS=$1 PART_SECONDS=2 JOBS=2 bash tests/run/run_tests.sh 2>&1)
    status=$?
}

{
    part good 'echo "ok 1 - a"; echo "ok 2 - b"; echo "1..2"'
    part sums 'echo "5 passed, 0 failed, 2 skipped"'
    part skips 'echo "skipped: no such program"; echo "0 passed, 0 failed, 1 skipped"'
} > "$TEST_TMP/good"
run_parts "$TEST_TMP/good"

says() # name, pattern
{
    if grep -qE -- "$2" <<< "$output"; then pass "$1"; else fail "$1" "$2 is not in:" "$output"; fi
}

says "TAP is counted" '^good +2 passed, 0 failed, 0 skipped '
says "sums are taken over" '^sums +5 passed, 0 failed, 2 skipped '
says "skips are told with their reason" '^    skipped: no such program$'
says "and once more at the end, with the part" '^    skips: no such program$'
says "the last line is the sum" '^7 passed, 0 failed, 3 skipped$'
test "$(tail -n 1 <<< "$output")" = "7 passed, 0 failed, 3 skipped" && test $status -eq 0 &&
    pass "a run of good parts passes" || fail "a run of good parts passes" "status $status" "$output"
says "each part has its seconds" '^good .* [0-9]+\.[0-9] s, +[0-9]+\.[0-9] s of CPU$'
says "and so has the run" '^[0-9]+ s, [0-9]+ s of CPU$'

fails() # name, script
{
    part one "$2" > "$TEST_TMP/one"
    run_parts "$TEST_TMP/one"
    if test $status -ne 0 && grep -qE '^one +[0-9]+ passed, [1-9]' <<< "$output"; then
        pass "a part that $1 fails"
    else
        fail "a part that $1 fails" "status $status" "$output"
    fi
}

# Each keeps its plan, so that nothing but what its name says can make it fail.
fails "says so" 'echo "not ok 1 - a"; echo "1..1"'
fails "says nothing" 'true'
fails "dies" 'echo "ok 1 - a"; echo "1..1"; kill -SEGV $$'
fails "breaks its plan off" 'echo "ok 1 - a"; echo "1..2"'
fails "hangs" 'echo "ok 1 - a"; echo "1..1"; sleep 60'
says "and is told to have been stopped" 'stopped after 2 seconds'
fails "leaves a temporary file" 'echo "ok 1 - a"; echo "1..1"; mktemp'
says "with its name" '^    tmp\.'
fails "cannot be started" 'exec /there/is/no/such/program'

# --- order ----------------------------------------------------------------------------------

. tests/run/parts.sh
printf '%s\n' 'slow 9.5' 'quick 0.2' 'changed 100' > "$TEST_TMP/committed"
printf '%s\n' 'changed 1.5' > "$TEST_TMP/measured"
: > "$TEST_TMP/none"
order=$(printf '%s\n' 'test_new program' 'quick bash a' 'changed bash b' 'new bash c' 'slow bash d' |
    longest_first "$TEST_TMP/none" "$TEST_TMP/committed" "$TEST_TMP/measured" | cut -d ' ' -f 1 | tr '\n' ' ')
wanted="new slow changed quick test_new "
if test "$order" = "$wanted"; then pass "the longest part is first"; else fail "the longest part is first" "$order" "not $wanted"; fi
logs=$TEST_TMP/remembered
mkdir "$logs"
echo "7.25 14" > "$logs/changed.seconds"
cp "$TEST_TMP/committed" "$TEST_TMP/known"
remember_seconds "$TEST_TMP/known"
known=$(tr '\n' ' ' < "$TEST_TMP/known")
wanted="changed 7.25 quick 0.2 slow 9.5 "
if test "$known" = "$wanted"; then pass "seconds are kept for the next run"; else fail "seconds are kept for the next run" "$known"; fi

# --- what is found --------------------------------------------------------------------------

listed=$(OUT=build/check bash tests/run/run_tests.sh --list)
unlisted=
for script in $(find tests -name 'oracle_*.py' -o -name 'oracle_*.sh' -o -name 'cli_*.py' -o -name 'cli_*.sh' -o -name 'fault_*.sh'); do
    test "$script" = tests/oracles/oracle_support.py || grep -qF " $script" <<< "$listed" || unlisted="$unlisted $script"
done
for program in $(find tests -name 'test_*.c'); do
    grep -q "^$(basename "$program" .c) " <<< "$listed" || unlisted="$unlisted $program"
done
if test -z "$unlisted"; then pass "every test is a part, wherever it lies"; else fail "every test is a part, wherever it lies" "$unlisted"; fi
for_windows=$(PLATFORM=windows ETLHEAP=/none/etlheap WINDOWS_OUT=/none bash tests/run/run_tests.sh --list)
excepted=$(sed -n "/^not_for_windows='/,/^'/p" tests/run/run_tests.sh | grep -c '^[a-z_]* *[a-z]* ')
found=$(grep -cE ' tests/[a-z]+/(oracle|cli)_|docs_commands' <<< "$listed")
remaining=$(grep -cE ' tests/[a-z]+/(oracle|cli)_' <<< "$for_windows")
if test $((excepted + remaining)) -eq "$found"; then
    pass "for Windows all oracles but the exceptions, of which each exists"
else
    fail "for Windows all oracles but the exceptions, of which each exists" "$excepted and $remaining are not $found"
fi
nightly=$(bash tests/run/run_nightly.sh --list)
for goal in $(grep -oE ' (check-?[a-z]*|fuzz-hour|consumer-deps)( |$)' <<< "$nightly"); do
    if grep -q "^$goal:" Makefile ./*/*.mk; then pass "make $goal, of check-nightly, is there"; else fail "make $goal, of check-nightly, is there" "not in the Makefile"; fi
done
output=$(ONLY=deb,banana LOGS=$TEST_TMP/nightly bash tests/run/run_nightly.sh 2>&1)
status=$?
says "a part of check-nightly that is not there is a mistake" 'no part banana'

# --- packages -------------------------------------------------------------------------------

# A goal that had prerequisites would need the compiler before it could ask for one.
late_goals() # Makefiles...
{
    awk '/^[a-zA-Z_-]+:/ { goal = $1; sub(/ *##.*/, ""); early = NF == 1; line = 0 }
        /^\t/ { line++; if (/check_deps\.sh/ && !(early && line == 1)) print goal }' "$@"
}

late=$(late_goals Makefile ./*/*.mk)
if test -z "$late"; then pass "goals look for packages before they build"; else fail "goals look for packages before they build" "$late"; fi
printf '%s\n' 'good: ## help' '	@sh check_deps.sh' 'first: program' '	@sh check_deps.sh' 'second: ## help' '	build' '	sh check_deps.sh' |
    sed 's/\\t/\t/' > "$TEST_TMP/Makefile"
late=$(late_goals "$TEST_TMP/Makefile" | tr '\n' ' ')
if test "$late" = "first: second: "; then pass "one that does it later is found"; else fail "one that does it later is found" "$late"; fi

# --- temporary files ------------------------------------------------------------------------

left=$(ls -A "$TMPDIR")
if test -z "$left"; then pass "nothing is left in TMPDIR"; else fail "nothing is left in TMPDIR" "$left"; fi
part where 'echo "ok 1 - $TMPDIR $TEST_TMP"' > "$TEST_TMP/one"
run_parts "$TEST_TMP/one"
read -r _ _ _ temporary work < "$OUT/test-logs/where.log"
case $temporary:$work in
"$TMPDIR"/*:"$TMPDIR"/*) pass "folders of parts lie in TMPDIR" ;;
*) fail "folders of parts lie in TMPDIR" "$temporary $work" "$output" ;;
esac
# Neither does make take a folder with a space, nor LD_PRELOAD a library in one.
part spaces 'case $TMPDIR$TEST_TMP in *" "*) echo "not ok 1 - $TMPDIR" ;; *) echo "ok 1 - it has none" ;; esac; echo 1..1' > "$TEST_TMP/one"
temporary=$TMPDIR
unset TMPDIR
LOGS="$TEST_TMP/of a user/test-logs" run_parts "$TEST_TMP/one"
export TMPDIR=$temporary
says "below a folder with a space, folders of parts have none" '^spaces +1 passed, 0 failed'
# Within a folder that other systems have.
fixed=$(grep -rnE --include='*.[ch]' --include='*.py' '"/tmp[/"]|P_tmpdir|[^_]tmpfile\(|tempnam' tests bench fuzz cli engine formats |
    grep -vE '^(tests/support/posix_calls\.[ch]|tests/support/temporary\.c|fuzz/fuzz_cab\.c):')
if test -z "$fixed"; then pass "no test names a folder for temporary files"; else fail "no test names a folder for temporary files" "$fixed"; fi
finish
