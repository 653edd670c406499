#!/usr/bin/env bash
# Every fuzz target runs its corpus and damaged copies of it, without a fuzzer: the
# targets keep compiling, and what was found once stays found; and the libraries write
# nothing to standard output or error. A small corpus is damaged
# more often than a large one, and targets that analyse a whole trace several times take
# fewer damaged copies: the corpus itself is always run.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh

OUT=${OUT:-build/check}
# Of each target, damaged copies included, as far as so many rounds give them.
if test "${LONG:-0}" = 1; then INPUTS=${INPUTS:-60000} ROUNDS_MAX=10000; else INPUTS=${INPUTS:-1500} ROUNDS_MAX=300; fi
slow=' built trace workload '

# A seed of the target `export` says by a number which exporter it is for.
check_export_seeds() # exporter...
{
    local index=0 name seed byte
    for name in "$@"; do
        for seed in "$name" "${name}_hostile"; do
            byte=$(od -An -tu1 -j4 -N1 "fuzz/corpus/export/$seed" 2>&1)
            if test "$((byte % $#))" = "$index" 2> /dev/null; then
                pass "export/$seed is for that exporter"
            else
                fail "export/$seed is for that exporter" "the byte at offset 4 should be $index: $byte"
            fi
        done
        index=$((index + 1))
    done
}

# The column behind --format FORMAT is the table of exporters, in its order.
formats=$("$OUT/etlheap" export --help | sed -nE '/--format FORMAT +[a-z]/,/--metric/ s/^( +--format FORMAT| {24,}) *([a-z][a-z-]*)  .*/\2/p')
test -n "$formats" || fail "the formats of etlheap export are known" "its --help is of another form"
# shellcheck disable=SC2086
check_export_seeds $formats

for source in fuzz/fuzz_*.c; do
    target=$(basename "$source" .c)
    target=${target#fuzz_}
    test "$target" != file || continue
    set -- fuzz/corpus/"$target"/*
    inputs=$INPUTS
    case $slow in *" $target "*) test "${LONG:-0}" = 1 || inputs=$((INPUTS / 3)) ;; esac
    rounds=$((inputs / $#))
    test $rounds -le $ROUNDS_MAX || rounds=$ROUNDS_MAX
    if ! test -f "$1"; then
        fail "$target" "fuzz/corpus/$target has no input"
    elif output=$("$OUT/fuzz/replay_$target" "$rounds" "$@" 2>&1); then
        case $output in
        *[!0-9]*" inputs" | *$'\n'*) fail "$target writes of its own accord" "$(echo "$output" | head -n 3)" ;;
        [1-9]*" inputs") pass "$target: $output" ;;
        *) fail "$target" "it does not say how many inputs it ran: '$output'" ;;
        esac
    else
        fail "$target" "$(echo "$output" | tail -n 5)"
    fi
done
finish
