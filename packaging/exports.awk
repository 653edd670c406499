# exports.awk - the version script of the shared library, from the public headers.
#
#     awk -v node=ETLHEAP_0 -f exports.awk parser/parser.h engine/engine.h ...
#
# Every function that a public header declares is exported, and nothing else. A
# declaration is what is left between semicolons outside braces once comments,
# directives and bodies are gone; what is declared is the name before the first
# parenthesis. Types and inline functions export nothing.

# What C++ alone sees: the braces of extern "C".
/^#ifdef __cplusplus/ { for_cpp = 1 }
for_cpp {
    for_cpp = !/^#endif/
    next
}

# Directives, with the lines that continue them.
continued || /^[ \t]*#/ {
    continued = /\\$/
    next
}

{
    text = text $0 "\n"
}

END {
    strip_comments()
    walk()
    printf "%s {\n  global:\n", node
    count = sort_names()
    for (i = 1; i <= count; i++)
        printf "    %s;\n", sorted[i]
    printf "  local:\n    *;\n};\n"
    if (!count) {
        print "exports.awk: the headers declare no function" > "/dev/stderr"
        exit 1
    }
}

function strip_comments(    out, from, to)
{
    while ((from = index(text, "/*")) > 0) {
        out = out substr(text, 1, from - 1) " "
        text = substr(text, from + 2)
        to = index(text, "*/")
        text = substr(text, to + 2)
    }
    text = out text
}

# A body of a function ends its declaration as a semicolon does; one of a type
# does not, its semicolon comes later.
function walk(    i, c, depth, statement, size)
{
    size = length(text)
    for (i = 1; i <= size; i++) {
        c = substr(text, i, 1)
        if (c == "{") {
            depth++
        } else if (c == "}") {
            depth--
            if (depth == 0 && statement ~ /\)[ \t\n]*$/)
                statement = ""
        } else if (depth == 0) {
            if (c == ";") {
                declare(statement)
                statement = ""
            } else {
                statement = statement c
            }
        }
    }
}

function declare(statement,    head, words, count)
{
    gsub(/[ \t\n]+/, " ", statement)
    if (statement ~ /^ ?(typedef|static) / || statement !~ /\(/)
        return
    head = substr(statement, 1, index(statement, "(") - 1)
    if (head ~ /static_assert ?$/)
        return
    sub(/ +$/, "", head)
    count = split(head, words, /[ *]/)
    names[words[count]] = 1
}

# By name, so that the script does not depend on the order of the headers.
function sort_names(    name, count, i)
{
    count = 0
    for (name in names) {
        for (i = ++count; i > 1 && sorted[i - 1] > name; i--)
            sorted[i] = sorted[i - 1]
        sorted[i] = name
    }
    return count
}
