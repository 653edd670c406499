#!/usr/bin/env bash
# Every fuzz target runs its corpus and damaged copies of it, without a fuzzer: the
# targets keep compiling, and what was found once stays found.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

OUT=${OUT:-build/check}
ROUNDS=${ROUNDS:-300}

for source in fuzz/fuzz_*.c; do
    target=$(basename "$source" .c)
    target=${target#fuzz_}
    test "$target" != file || continue
    set -- fuzz/corpus/"$target"/*
    if ! test -f "$1"; then
        fail "$target" "fuzz/corpus/$target has no input"
    elif output=$("$OUT/fuzz/replay_$target" "$ROUNDS" "$@" 2>&1); then
        pass "$target: $output"
    else
        fail "$target" "$(echo "$output" | tail -n 5)"
    fi
done
finish
