#!/usr/bin/env bash
# Do manual pages and completions say what the program takes?
#
# --help is the measure, and the shells themselves are asked: bash runs the function
# that it would run, zsh completes in a pseudo terminal, fish answers `complete -C`. For
# each command all options are compared, and some lines stand for the kinds of values.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh

ETLHEAP=$(realpath "${ETLHEAP:-build/etlheap}")
TEST_TMP=$(realpath "${TEST_TMP:-$(mktemp -d)}")
pages=$TEST_TMP/pages
export HOME=$TEST_TMP XDG_CONFIG_HOME=$TEST_TMP XDG_DATA_HOME=$TEST_TMP TERM=dumb LC_ALL=C.UTF-8

if ! sh packaging/make_pages.sh "$ETLHEAP" "$pages" > "$TEST_TMP/log" 2>&1; then
    fail "pages and completions are written" "$(tail -n 3 "$TEST_TMP/log")"
    finish
fi
for written in "$pages"/*; do
    test -s "$written" || { fail "pages and completions are written" "$written is empty"; finish; }
done
pass "pages and completions are written"
mkdir "$TEST_TMP/zsh"
cp "$pages/etlheap.zsh" "$TEST_TMP/zsh/_etlheap"
touch "$TEST_TMP/some.etl"

# same NAME EXPECTED GOT: both a word a line, in any order.
same()
{
    local difference
    difference=$(diff <(sort -u <<< "$2") <(sort -u <<< "$3"))
    if test -n "$2" && test -z "$difference"; then pass "$1"; else fail "$1" "< in --help, > in the script" "$difference"; fi
}

commands=$("$ETLHEAP" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
options_of() { "$ETLHEAP" "$1" --help | sed -nE 's/^  (-[a-z], )?(--[a-z-]+).*/\2/p'; }

# --- manual pages ------------------------------------------------------------------

for command in $commands; do
    same "etlheap-$command(1) has the options of --help" "$(options_of "$command")" \
        "$(sed -nE '/^\.TP$/{n;s/\\-/-/g;s/^(\\fB-[a-z]\\fR, )?\\fB(--[a-z-]+)\\fR.*/\2/p}' "$pages/etlheap-$command.1")"
done
same "etlheap(1) lists all commands" "$commands" "$(sed -nE 's/^\.BR etlheap\\-([a-z]+) \(1\)$/\1/p' "$pages/etlheap.1")"

# What it says of options in common, they have.
all_options=$(for command in $commands; do options_of "$command"; done; printf '%s\n' --version --completion)
unknown=$(grep -o '\\-\\-[a-z\\-]*' "$pages/etlheap.1" | sed 's|\\f.*||; s|\\-|-|g' | sort -u | grep -vxF -e "$all_options")
if test -z "$unknown"; then pass "etlheap(1) names no option that is none"; else fail "etlheap(1) names no option that is none" "$unknown"; fi

# What was written by hand is of a command, and of options that there are.
for words in cli/man/*.roff; do
    command=$(basename "$words" .roff)
    name="$words names no option that is none"
    unknown=$(grep -o '\\-\\-[a-z\\-]*' "$words" | sed 's|\\f.*||; s|\\-|-|g' | sort -u | grep -vxF -e "$all_options")
    if ! grep -qx "$command" <<< "$commands"; then
        fail "$name" "there is no command $command"
    elif test -n "$unknown"; then
        fail "$name" "$unknown"
    else
        pass "$name"
    fi
done

if command -v groff > /dev/null; then
    for page in "$pages"/*.1; do
        warnings=$(groff -man -Tutf8 -ww -z "$page" 2>&1 | head -n 3)
        if test -z "$warnings"; then pass "$(basename "$page") is good roff"; else fail "$(basename "$page") is good roff" "$warnings"; fi
    done
else
    skip "pages are good roff" "no groff here (package groff-base)"
fi

# --- shells ------------------------------------------------------------------------

# Each completes the lines that it is given, and answers "N:word", N the line's number.
bash_offers()
{
    # The variables of the completion, of which readline makes words as bash does.
    bash --norc -c '
        cd "$1" || exit
        compopt() { :; }
        . "$2"
        shift 2
        for line in "$@"; do
            number=$((number + 1))
            read -r -a COMP_WORDS <<< "${line//=/ = }"
            test "${line% }" = "$line" || COMP_WORDS+=("")
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            COMPREPLY=()
            _etlheap
            printf "$number:%s\n" "${COMPREPLY[@]}"
        done' bash "$TEST_TMP" "$pages/etlheap.bash" "$@"
}

zsh_offers() { (cd "$TEST_TMP" && timeout 60 zsh -f "$OLDPWD/tests/oracles/complete.zsh" "$TEST_TMP/zsh" "$@"); }

fish_offers()
{
    (cd "$TEST_TMP" && fish --no-config -c '
        source $argv[1]
        set number 0
        for line in $argv[2..]
            set number (math $number + 1)
            for word in (complete -C $line | cut -f 1)
                echo $number:$word
            end
        end' "$pages/etlheap.fish" "$@")
}

# What is typed, and what has to be offered: after the last comma or "=" of the word.
typed=(
    'etlheap expo' 'export'
    'etlheap hel' 'help'
    'etlheap help ' "$commands"
    'etlheap help expo' 'export'
    'etlheap report --proc' '--process'
    'etlheap report --kind v' 'virtualalloc'
    'etlheap report --kind heap,e' 'extent'
    'etlheap report --kind=heap,e' 'extent'
    'etlheap report app.etl --at-exit ' 'freed leaked'
    'etlheap report --at-exit=l' 'leaked'
    'etlheap report --tree=' 'callees callers'
    'etlheap dump --format ' "$("$ETLHEAP" dump --help | grep -oE '(text|json|ndjson|csv) \(' | tr -d '(\n')"
    'etlheap export --metric p' 'peak'
    'etlheap store -o som' 'some.etl'
    'etlheap report som' 'some.etl'
    'etlheap check --baseline som' 'some.etl'
)

for shell in bash zsh fish; do
    if ! command -v $shell > /dev/null; then
        skip "$shell completes" "no $shell here (package $shell)"
        continue
    fi
    if test $shell = zsh && ! zsh -fc 'zmodload zsh/zpty && zpty terminal true' > /dev/null 2>&1; then
        skip "zsh completes" "no terminal can be opened, as in a system without /dev/pts"
        continue
    fi
    lines=()
    for command in $commands; do lines+=("etlheap $command --"); done
    for ((i = 0; i < ${#typed[@]}; i += 2)); do lines+=("${typed[i]}"); done
    offers=$(${shell}_offers "${lines[@]}" 2> "$TEST_TMP/$shell.err")
    number=0
    for command in $commands; do
        number=$((number + 1))
        same "$shell offers the options of $command" "$(options_of "$command")" "$(sed -n "s/^$number:\(--[a-z-]*\).*/\1/p" <<< "$offers")"
    done
    for ((i = 0; i < ${#typed[@]}; i += 2)); do
        number=$((number + 1))
        same "$shell: ${typed[i]}" "$(tr -s ' ' '\n' <<< "${typed[i + 1]% }")" "$(sed -nE "s/^$number:(.*[=,])?//p" <<< "$offers")"
    done
    test ! -s "$TEST_TMP/$shell.err" || fail "$shell says nothing on stderr" "$(head -n 3 "$TEST_TMP/$shell.err")"
done

finish
