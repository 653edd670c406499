#!/bin/sh
# Writes files as C: the table of demo_data.h, one row a file, in the order of the arguments.
#
#   embed.sh FOLDER FILE.zst... > demo_data.c
#
# A row has the name below FOLDER without .zst, and the bytes of the file as they are. The bytes
# are written as words, which compile many times faster than single bytes; od writes zeros behind
# the last.
set -eu

folder=$1
shift
echo '/* Made of the files in cli/demo: change those, with make demo-update. */'
echo '#include "cli/demo/demo_data.h"'
number=0
for file in "$@"; do
    echo
    echo "static const uint64_t words_of_$number[] = {"
    od -An -v -tx8 "$file" | sed 's/  *\([0-9a-f]\{16\}\)/ 0x\1u,/g'
    echo '};'
    number=$((number + 1))
done
echo
echo 'const cli_demo_data cli_demo_files[] = {'
number=0
for file in "$@"; do
    name=${file#"$folder"/}
    echo "    { \"${name%.zst}\", words_of_$number, $(($(wc -c < "$file"))) },"
    number=$((number + 1))
done
echo '    { 0 },'
echo '};'
