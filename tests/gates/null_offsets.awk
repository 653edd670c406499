# null_offsets.awk - nothing is added to memory before a test says that there is any.
#
# Reads C files. `p = malloc(…)` gives NULL when memory is refused, and `p + n`, `p[n]` or
# `&p[n]` is undefined from there on: gcc's sanitizer says nothing, and clang's only in the
# run in which that allocation fails. From the line of the allocation to the one that compares
# its pointer, such an expression is an error. A function ends with a brace in the first column.

# Of `text`, where `name` stands as a whole word, from `from` on; 0 if it does not.
function find_name(text, name, from,    at, before, after)
{
    while ((at = index(substr(text, from), name)) > 0) {
        at += from - 1
        before = at == 1 ? "" : substr(text, at - 1, 1)
        after = substr(text, at + length(name), 1)
        if (before !~ /[A-Za-z0-9_.>]/ && after !~ /[A-Za-z0-9_]/)
            return at
        from = at + length(name)
    }
    return 0
}

# What the line does with the name first: "tests", "adds", "gives" away (another value), or "".
function first_use(text, name,    at, before, after)
{
    for (at = find_name(text, name, 1); at > 0; at = find_name(text, name, at + length(name))) {
        before = substr(text, 1, at - 1)
        after = substr(text, at + length(name))
        if (after ~ /^ *(==|!=|\?|&&|\|\|)/ || before ~ /(!|&& *|\|\| *|if \(|while \(|return |assert[a-z_]*\()$/)
            return "tests"
        if (after ~ /^ *=[^=]/)
            return "gives"
        if (before !~ /sizeof \*?$/ && after ~ /^ *(\+|-[^>]|\[)/)
            return "adds"
    }
    return ""
}

FNR == 1 || /^}/ {
    split("", waiting)
    count = 0
}

count == 0 && !/(alloc|alloc_aligned|strdup)\(/ || /^ *(\/\*|\* )/ { next }

{
    line = $0
    gsub(/"([^"\\]|\\.)*"|'([^'\\]|\\.)*'|\/\*.*/, "", line)
    for (name in waiting) {
        use = first_use(line, name)
        if (use == "adds") {
            printf "%s:%d: %s may be NULL here: compare it before you add to it\n", FILENAME, FNR, name
            wrong++
        }
        if (use != "") {
            delete waiting[name]
            count--
        }
    }
    if (match(line, /[A-Za-z_][A-Za-z0-9_]*((->|\.)[A-Za-z_][A-Za-z0-9_]*)* = [^=;?]*(malloc|calloc|realloc|arena_alloc|alloc_aligned|strdup)\(/)) {
        name = substr(line, RSTART, RLENGTH)
        rest = substr(line, RSTART + RLENGTH)
        sub(/ = .*/, "", name)
        if (first_use(rest, name) != "tests" && !(name in waiting)) {
            waiting[name] = 1
            count++
        }
    }
}

END { exit wrong > 0 }
