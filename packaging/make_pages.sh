#!/bin/sh
# Writes manual pages and completions, ready to be installed:
#
#   make_pages.sh PROGRAM FOLDER
#
# The program writes what its table of options says; what cli/man/COMMAND.roff says
# in words goes in front of the options.
set -eu

program=$1
folder=$2
version=$("$program" --version | sed -n '1s/^etlheap //p')

mkdir -p "$folder"
rm -f "$folder"/*.1
sed "s/@version@/$version/g" cli/etlheap.1 > "$folder/etlheap.1"
for command in $("$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    words=cli/man/$command.roff
    "$program" --man "$command" |
        if test -f "$words"; then sed -e "/^\.SH OPTIONS\$/{" -e "r $words" -e "N" -e "}"; else cat; fi \
            > "$folder/etlheap-$command.1"
done
for shell in bash zsh fish; do
    "$program" --completion $shell > "$folder/etlheap.$shell"
done
