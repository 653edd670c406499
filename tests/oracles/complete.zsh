#!/usr/bin/env zsh
# Completes words as an interactive zsh does, and prints what it would offer:
#
#   complete.zsh FOLDER LINE...      FOLDER holds _etlheap
#
# A shell in a pseudo terminal has compadd replaced by a function that tells the
# candidates. Each line begins with its number: "2:--kind".
zmodload zsh/zpty || exit 2
folder=$1
shift

zpty shell zsh -f -i
zpty -w shell "PS1=; fpath=(${(q)folder} \$fpath)"
zpty -w shell 'autoload -Uz compinit; compinit -u -D; bindkey "^I" complete-word; setopt no_beep no_auto_list no_auto_menu; LISTMAX=10000'
zpty -w shell 'compadd() {
    local -a found
    if [[ " $* " == *" -"[OAD]" "* ]]; then builtin compadd "$@"; return; fi
    builtin compadd -A found "$@"
    for word in $found; do print -r -- "<offer:$word>"; done
}'
# The line editor tells when it reads, and a key empties the line: between two commands
# the terminal would take the line, and its ^U would delete what came too early.
zpty -w shell 'zle-line-init() { print "<rea""dy>"; }; done-with-line() { BUFFER=; print "<do""ne>"; }'
zpty -w shell 'zle -N done-with-line; bindkey "^T" done-with-line; zle -N zle-line-init'
zpty -r shell output '*<ready>*'

number=0
for line in "$@"; do
    (( number++ ))
    zpty -w -n shell "$line"$'\t\C-t'
    zpty -r shell output '*<done>*'
    print -r -- "$output" | tr -d '\r' | sed -n "s/.*<offer:\\(.*\\)>.*/$number:\\1/p" | sort -u
done
zpty -d shell
