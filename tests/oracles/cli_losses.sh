#!/usr/bin/env bash
# Nothing is lost silently: whatever the command and the format, a trace that lost events
# and one that is damaged are said to be, with the count and the advice; in the document,
# or on stderr where the format is a list that has no room for it. --strict makes that
# the exit status, and check does so by itself. A sound trace is not complained about.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh
begin_program_test

"$MAKE_TRACE" demo sound.etl > make.log 2>&1 &&
    "$MAKE_TRACE" demo lossy.etl --break SESSION_EVENTS_LOST:0:4711 --break BUFFER_TYPE:1:77 >> make.log 2>&1 &&
    "$ETLHEAP" store lossy.etl -o lossy.ehs >> make.log 2>&1 || { fail "the inputs are made" "$(tail -n 3 make.log)"; finish; }

# What must be said, in the words of parser/diag.h; text breaks lines between words.
says_losses() # file...
{
    cat "$@" | tr -s ' \n' '  ' > words
    grep -qE 'events_lost' words && grep -qE '4,?711' words && grep -qF 'record with more or larger buffers' words &&
        grep -qF 'buffer_type_unknown' words && grep -qF 'a buffer of unknown type was skipped: totals lack its events' words
}

# Both names of the demo: the trace and the store that was made of it.
try() # command argument...
{
    local name="etlheap $*" status problems=()
    rm -f made
    "$ETLHEAP" "$@" > out 2> err
    status=$?
    if test "$1" = check; then
        test $status -eq 4 || problems+=("exit status $status of an inconclusive check")
    else
        test $status -le 1 || problems+=("exit status $status: $(head -n 1 err)")
    fi
    touch made
    says_losses out err made || problems+=("nothing is said of 4711 lost events, or of a buffer that was skipped" "stderr: $(head -c 300 err)")
    "$ETLHEAP" "$@" --strict > out 2> err
    status=$?
    test $status -eq 4 || problems+=("exit status $status with --strict")
    grep -qF 'events_lost (4711)' err || problems+=("--strict does not say why: $(head -c 300 err)")
    "$ETLHEAP" "${@/lossy/sound}" --strict > out 2> err
    status=$?
    test $status -le 1 || problems+=("exit status $status of a sound trace with --strict: $(head -c 300 err)")
    if test ${#problems[@]} -eq 0; then pass "$name"; else fail "$name" "${problems[@]}"; fi
}

for format in text json csv; do
    try report lossy.etl --format $format
    try report lossy.etl --histogram size --format $format
    try windows lossy.etl --every 1s --format $format
    try diff sound.etl lossy.etl --format $format
    try diff lossy.etl sound.etl --format $format
    try symbols lossy.etl --format $format
done
for format in text json ndjson csv; do
    try allocations lossy.etl --format $format
done
for format in text json junit sarif; do
    try check lossy.etl --max-outstanding 1G --format $format
    try check sound.etl --baseline lossy.etl --max-growth total:1G --format $format
done
for format in text json; do
    try info lossy.etl --format $format
done
for format in text ndjson; do
    try dump lossy.etl --format $format
done
# The column behind --format FORMAT.
formats=$("$ETLHEAP" export --help | sed -nE '/--format FORMAT +[a-z]/,/--metric/ s/^( +--format FORMAT| {24,}) *([a-z][a-z-]*)  .*/\2/p')
test -n "$formats" || fail "the formats of etlheap export are known" "its --help is of another form"
for format in $formats; do
    try export lossy.etl --format "$format" -o made
done
"$ETLHEAP" store sound.etl -o sound.ehs > out 2>&1
try report lossy.ehs
try report lossy.ehs --format csv
try windows lossy.ehs --every 1s --format csv
finish
