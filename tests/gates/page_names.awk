# page_names.awk - no two scripts of a page give a name twice.
#
#   awk -f page_names.awk PAGE.js...
#
# The scripts of a page are put together, so all that they name on the left margin shares one scope. Of
# two functions of one name the last would be called everywhere, and nothing would say so; two constants
# stop the page. Declarations begin on the left margin, as the formatter has them, and a list of constants
# goes on with two spaces. Files that are not scripts are passed over.

function note(name)
{
    if (name in place) {
        printf "%s:%d: %s is named in %s, too: scripts of a page share one scope\n", FILENAME, FNR, name, place[name]
        wrong++
    } else
        place[name] = FILENAME
    names++
}

# The name before "=" or the end.
function note_first(text)
{
    if (match(text, /^[A-Za-z_$][A-Za-z0-9_$]*/))
        note(substr(text, RSTART, RLENGTH))
}

FILENAME !~ /\.js$/ { next }
FNR == 1 { in_list = 0 }

/^(async )?function[* ]/ {
    sub(/^(async )?function[* ]+/, "")
    note_first($0)
    in_list = 0
    next
}

/^class / {
    note_first(substr($0, 7))
    in_list = 0
    next
}

/^(const|let|var) / {
    text = $0
    sub(/^[a-z]+ /, "", text)
    if (text ~ /^[{[]/) {
        printf "%s:%d: take names apart inside a function, where this check need not see them\n", FILENAME, FNR
        wrong++
    }
    note_first(text)
    in_list = /,$/
    next
}

/^  [A-Za-z_$][A-Za-z0-9_$]*( =|[,;]$)/ && in_list {
    note_first(substr($0, 3))
    in_list = /,$/
    next
}

/^[^ ]/ { in_list = 0 }

END {
    if (names == 0) {
        print "page_names.awk: no script names anything"
        wrong++
    }
    exit wrong > 0
}
