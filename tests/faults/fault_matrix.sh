#!/usr/bin/env bash
# Damaged and excessive traces, a sample of them; with LONG=1 all. EVERY, CHECK and SHRINK
# are the options of fault_matrix.c.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh

OUT=${OUT:-build/check}
TRACES=${TRACES:-../shared/traces}
if test "${LONG:-0}" = 1; then
    EVERY=${EVERY:-1} CHECK=${CHECK:-11} SHRINK=${SHRINK:-1}
else
    EVERY=${EVERY:-61} CHECK=${CHECK:-7} SHRINK=${SHRINK:-50}
fi

# Sound ones: what fuzzing found is in that folder too.
inputs=()
for name in appended bits32 compressed far_times keyed one_stream plain unclosed; do
    inputs+=("fuzz/corpus/trace/$name.etl")
done
for name in tiny-32bit-compressed tiny-selfdescribing-compressed primitive-types; do
    if test -f "$TRACES/$name.etl"; then
        inputs+=("$TRACES/$name.etl")
    else
        skip "harm to $name.etl" "it is not in TRACES ($TRACES)"
    fi
done

if output=$("$OUT/fault_matrix" --every "$EVERY" --check-every "$CHECK" --shrink "$SHRINK" "${inputs[@]}" 2>&1); then
    test "$EVERY" -gt 1 || echo "$output" | grep '^#'
    pass "fault matrix: $(echo "$output" | tail -n 1)"
else
    fail "fault matrix" "$(echo "$output" | tail -n 40)"
fi
finish
