# embed.awk - the files of a page as C: arrays of lines, NULL behind the last.
#
#   awk -v page=view_page -f embed.awk view.html view_base.css view_format.js ... > view_page.c
#
# Files become view_page_html, view_page_css and so on, those of one kind one after
# the other in one array. A compiler need not take literals of more than 4095
# characters: each line is one. The files are ASCII, so that their bytes do not depend
# on what awk takes for a character.

BEGIN {
    print "/* Made of the files in formats/html: change those. */"
    print "#include \"formats/export/export_html.h\""
}

FNR == 1 {
    before = name
    name = FILENAME
    sub(/.*\./, "", name)
    if (NR > 1 && name != before)
        print "    NULL,\n};"
    if (name != before)
        printf "\nconst char *const %s_%s[] = {\n", page, name
}

{
    gsub(/\\/, "&&")
    gsub(/"/, "\\\\&")
    gsub(/\?\?/, "?\" \"?")
    printf "    \"%s\\n\",\n", $0
}

END {
    print "    NULL,\n};"
}
