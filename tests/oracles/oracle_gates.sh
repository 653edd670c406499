#!/usr/bin/env bash
# Do the gates close? What counts results, checks layers and lengths, and follows links is
# given what it must refuse: a gate that lets a planted defect through is open.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh

tree=$PWD
TEST_TMP=${TEST_TMP:-$(mktemp -d)}
PYTHON=${PYTHON:-python3}
cd "$TEST_TMP" || exit 1

# --- what counts results: status, wanted "passed failed skipped", log ------------------------

counts() # name, status, wanted, line...
{
    local name=$1 status=$2 wanted=$3 got
    shift 3
    printf '%s\n' "$@" > log
    got=$(awk -v status="$status" -f "$tree/tests/run/count_part.awk" log)
    if test "$got" = "$wanted"; then pass "counted: $name"; else fail "counted: $name" "got '$got', wanted '$wanted'"; fi
}

counts "a part that passed" 0 "2 0 0" "ok 1 - a" "ok 2 - b" "1..2"
counts "the plan may come first, as of cmocka" 0 "1 0 0" "1..1" "ok 1 - a"
counts "a test that failed" 1 "1 1 0" "ok 1 - a" "not ok 2 - b" "1..2"
counts "silence is a failure" 0 "0 1 0" ""
counts "a part that ended before its plan" 0 "2 1 0" "ok 1 - a" "ok 2 - b"
counts "fewer tests than planned" 0 "1 1 0" "1..2" "ok 1 - a"
counts "a status that nothing explains" 139 "1 1 0" "1..1" "ok 1 - a"
counts "a part that skips all of it passes nothing" 0 "0 0 1" "skipped: no tool" "0 passed, 0 failed, 1 skipped"
counts "what tap.sh skips" 0 "1 0 1" "ok 1 - a" "ok 2 # SKIP b: no tool" "1..2"
counts "what an oracle skips by its name" 0 "1 0 1" "ok 1 - a" "ok 2 - b # SKIP no tool" "1..2"
counts "what cmocka skips" 0 "1 0 1" "1..2" "ok 1 - a" "not ok 2 # SKIP b"
counts "what is left out in a sentence" 0 "1 0 1" "ok 1 - a" "skipped: b, there is no tool" "1..1"
counts "a plan of no tests" 0 "0 1 0" "1..0"

# --- layers, lengths, links --------------------------------------------------------------------

refuses() # name, words of the complaint, command...
{
    local name=$1 words=$2 output
    shift 2
    if output=$("$@" 2>&1); then
        fail "$name" "it was let through"
    elif grep -qF -- "$words" <<< "$output"; then
        pass "$name"
    else
        fail "$name" "it is refused for another reason:" "$(head -n 3 <<< "$output")"
    fi
}

mkdir -p parser engine/{log,fold,odd} formats cli tests docs
printf '#include "cursor.h"\n#include <string.h>\n' > parser/good.c
: > parser/cursor.h
: > engine/log/store.h
: > engine/fold/replay.h
headers="parser/cursor.h engine/log/store.h engine/fold/replay.h"
printf '#include "replay.h"\n#include "engine/log/store.h"\n#include "engine/engine.h"\n' > engine/fold/down.c
: > engine/engine.h
if awk -f "$tree/tests/gates/layers.awk" engine/fold/down.c engine/engine.h $headers; then pass "layers: a room below"; else fail "layers: a room below"; fi
if awk -f "$tree/tests/gates/layers.awk" parser/good.c parser/cursor.h; then pass "layers: what is right"; else fail "layers: what is right"; fi
row=0
while IFS='|' read -r file include words; do
    row=$((row + 1))
    printf '#include %s\n' "$include" > "$file"
    refuses "layers: $file may not have $include" "$words" awk -f "$tree/tests/gates/layers.awk" "$file" $headers
done << 'END'
parser/up.c|"engine/engine.h"|parser may not include engine/engine.h
parser/test.c|"tests/tap.h"|parser may not include tests/tap.h
engine/inside.c|"parser/record.h"|engine may not include parser/record.h
formats/inside.c|"engine/pair/pair.h"|formats may not include engine/pair/pair.h
cli/inside.c|"engine/pair/pair.h"|cli may not include engine/pair/pair.h
parser/gone.c|"nothing.h"|"nothing.h" is no header of parser
parser/threads.c|<pthread.h>|parser may not use <pthread.h>
cli/zstd.c|<zstd.h>|cli may not use <zstd.h>
engine/system.c|<unistd.h>|<unistd.h> is not of the C library
engine/xml.c|<libxml/tree.h>|engine may not use <libxml/tree.h>
engine/room.c|"../parser/record.h"|engine may not include ../parser/record.h
engine/log/up.c|"engine/fold/replay.h"|engine/log is below engine/fold
engine/log/gone.c|"engine/fold/gone.h"|engine/fold/gone.h is no header
engine/log/same.c|"engine/log/store.h"|by its bare name
engine/log/bare.c|"replay.h"|"replay.h" is no header of engine/log
engine/odd/room.c|"engine/log/store.h"|engine/odd is no room of engine
END
test $row -eq 16 || fail "layers: all rows were tried" "$row of 16"
echo 'engine/log/up.c engine/fold/replay.h' > exceptions.txt
if awk -f "$tree/tests/gates/layers.awk" exceptions.txt engine/log/up.c $headers; then pass "layers: an exception"; else fail "layers: an exception"; fi
echo > engine/log/up.c
refuses "layers: an exception without need" "not needed any more" \
    awk -f "$tree/tests/gates/layers.awk" exceptions.txt engine/log/up.c $headers
refuses "layers: no files are no success" "no files given" awk -f "$tree/tests/gates/layers.awk" /dev/null

seq 601 | sed 's|.*|/* & */|' > long.c
refuses "limits: a file of 601 lines" "the file has 601 lines" awk -f "$tree/tests/gates/limits.awk" long.c
{ echo 'int f(void)'; echo '{'; seq 59 | sed 's/.*/    g();/'; echo '}'; } > function.c
refuses "limits: a function of 61 lines" "function f has 61 lines" awk -f "$tree/tests/gates/limits.awk" function.c
{ seq 600 | sed 's|.*|/* & */|'; } > fits.c
if awk -f "$tree/tests/gates/limits.awk" fits.c; then pass "limits: 600 lines are allowed"; else fail "limits: 600 lines are allowed"; fi
refuses "limits: no files are no success" "no files given" awk -f "$tree/tests/gates/limits.awk" /dev/null

# --- what must stand once -----------------------------------------------------------------------

# Each file is what the table finds nothing wrong with, but for the one thing in its name.
mkdir -p shape/engine/{core,log,fold,run} shape/cli
cd shape || exit 1
cat > engine/log/log_reader.c << 'END'
static bool number_events(const ehs_events *events, u32 *out)
{
    const u32 *const back = events->back;
    for (u32 i = 0; i < events->count; i++)
        out[i] = events->kind[i] + back[i];
    return true;
}

static etl_status read_segment(log_reader *reader)
{
    return ehs_segment_read(&reader->from, &reader->events);
}
END
cat > engine/log/store_batch.c << 'END'
static void put_rows(ehs_events *out)
{
    while (out->count < 9)
        out->slot[out->count++] = 1;
}
END
cat > engine/core/type_rule.h << 'END'
static inline etlheap_type type_in_window(i64 alloc_ticks, i64 free_ticks, i64 from, i64 to)
{
    return type_by_ends(alloc_ticks >= from, free_ticks < to);
}
END
printf '#include "sums.h"\n#include "engine/core/type_rule.h"\nassert(row->free_ticks >= row->alloc_ticks);\n' > engine/fold/sums.c
: > engine/fold/sums.h
sound="engine/log/log_reader.c engine/log/store_batch.c engine/core/type_rule.h engine/fold/sums.c engine/fold/sums.h"
measure() { "$PYTHON" -B "$tree/tests/gates/rooms.py" "$@"; }
# Only what exceeds a limit.
measure_exceeded() { local status; measure "$@" > out.txt 2>&1; status=$?; grep EXCEEDED out.txt; return $status; }
# shellcheck disable=SC2086
if measure $sound > out.txt 2>&1; then pass "rooms: what is right"; else fail "rooms: what is right" "$(grep EXCEEDED out.txt)"; fi
cat > engine/fold/second_loop.c << 'END'
static u64 sum_sizes(const reader *own)
{
    u64 sum = 0;
    for (u32 i = 0; i < own->events.alloc_count; i++)
        sum += own->events.size[i];
    return sum;
}
END
cat > engine/fold/second_decoder.c << 'END'
static etl_status read_again(reader *own)
{
    return ehs_segment_read(&own->from, &own->events);
}
END
cat > engine/fold/second_rule.c << 'END'
static bool is_type(const row *row)
{
    return row->alloc_ticks < row->to_ticks && row->free_ticks >= row->from_ticks;
}
END
cat > engine/fold/second_choice.c << 'END'
static etlheap_type type_of(bool is_inside)
{
    return is_inside ? ETLHEAP_TYPE_AIFO : ETLHEAP_TYPE_AOFO;
}
END
printf '#include "engine/run/down.h"\n' > engine/fold/up.c
printf '#include "engine/fold/sums.h"\n' > engine/run/down.h
: > engine/flat.c
mkdir engine/odd
: > engine/odd/new.c
while IFS='|' read -r file words; do
    # shellcheck disable=SC2086
    refuses "rooms: $words ($file)" "$words" measure_exceeded $sound $file
done << 'END'
engine/fold/second_loop.c|loops over event columns
engine/fold/second_decoder.c|places that decode columns
engine/fold/second_rule.c|copies of the type rule
engine/fold/second_choice.c|copies of the type rule
engine/fold/up.c engine/run/down.h|include circles of rooms
engine/flat.c|flat .c files in engine/
engine/odd/new.c|no room of its library
END
refuses "rooms: no files are no success" "no files given" measure
cd ..

# What additions cost, in a history of one commit that touches two files and adds one.
mkdir -p history/gates
cp "$tree/tests/gates/additions.py" history/gates/
touched() # limit, "new" or "-"
{
    printf 'kind | %s | %s | one: add a kind\n' "$1" "$2" > history/gates/additions.txt
    "$PYTHON" -B history/gates/additions.py
}
if touched 0 - 2>&1 | grep -q skipped; then pass "additions: no history"; else fail "additions: no history" "not skipped"; fi
as() { git -C history -c user.name=a -c user.email=a@b -c init.defaultBranch=m "$@" > git.txt 2>&1; }
if as init; then
    for file in a b CHANGELOG.md; do : > history/$file; done
    as add -A && as commit -m "before"
    for file in a b c CHANGELOG.md; do echo more >> history/$file; done
    as add a b c CHANGELOG.md && as commit -m "one: add a kind"
    refuses "additions: more files than may be" "EXCEEDED: a, b, c" touched 2 -
    if touched 3 - > out.txt && touched 2 new >> out.txt; then
        pass "additions: as many as may be, and new files apart"
    else
        fail "additions: as many as may be, and new files apart" "$(cat out.txt)"
    fi
else
    skip "additions: counts" "there is no git"
fi

printf '# One\n[a](two.md#there) [b](missing.md)\n' > docs/one.md
printf '# Here\n' > docs/two.md
refuses "links: a heading that is not there" "two.md#there: no such heading" "$PYTHON" -B "$tree/tests/gates/doc_links.py" docs
refuses "links: a page that is not there" "missing.md: no such file" "$PYTHON" -B "$tree/tests/gates/doc_links.py" docs
printf '# One\n' > docs/one.md
refuses "links: pages without any" "no page has a link" "$PYTHON" -B "$tree/tests/gates/doc_links.py" docs

# --- what make looks at ----------------------------------------------------------------------------

# Files in folders of a library are looked at like others: each of these lists all there are.
cd "$tree" || exit 1
for folder in parser engine formats cli; do
    found=$(find $folder -name '*.[ch]' | LC_ALL=C sort)
    listed=$(make -s --no-print-directory print-files | tr ' ' '\n' | grep "^$folder/" | LC_ALL=C sort)
    if test -n "$found" && test "$found" = "$listed"; then
        pass "make layers, limits and format-check see all of $folder"
    else
        fail "make layers, limits and format-check see all of $folder" "$(diff <(echo "$found") <(echo "$listed") | head -n 3)"
    fi
done
finish
