#!/usr/bin/env bash
# What cli/fleet/ and formats/sql/ are for, tried with the programs that they are for:
# Slurm, GNU parallel with ssh, DuckDB; and the recipes of docs/ci.md. Each part prints TAP;
# the sum is said at the end.
set -u
cd "$(dirname "$0")/../.." || exit 1
export TEST_TMP
TEST_TMP=$(mktemp -d)
trap 'rm -rf "$TEST_TMP"' EXIT
export PYTHONDONTWRITEBYTECODE=1
good=0
bad=0
skipped=0

part() # name, command...
{
    local name=$1
    shift
    "$@" > "$TEST_TMP/log" 2>&1 < /dev/null || echo "not ok - $name ended with status $?" >> "$TEST_TMP/log"
    echo "$name: $(grep -c '^ok' "$TEST_TMP/log") passed"
    grep -A 6 '^not ok' "$TEST_TMP/log"
    sed -nE 's/^ok [0-9]+ # SKIP |^skipped: /    skipped: /p' "$TEST_TMP/log"
    good=$((good + $(grep '^ok' "$TEST_TMP/log" | grep -vc '# SKIP')))
    bad=$((bad + $(grep -c '^not ok' "$TEST_TMP/log")))
    skipped=$((skipped + $(grep -cE '# SKIP|^skipped: ' "$TEST_TMP/log")))
}

scripts()
{
    echo "1..1"
    shellcheck --external-sources --source-path=. cli/fleet/*.sh tests/fleet/*.sh && echo "ok 1 - shellcheck"
}

part "shell scripts" scripts
part "GNU parallel" bash tests/fleet/fleet_parallel.sh
part "Slurm" bash tests/fleet/fleet_slurm.sh
part "DuckDB" "${PYTHON:-python3}" tests/oracles/oracle_growth.py
part "recipes for build servers" "${PYTHON:-python3}" tests/oracles/docs_commands.py
echo "$good passed, $bad failed, $skipped skipped"
test "$bad" -eq 0 && test "$good" -gt 0
