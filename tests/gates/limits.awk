# limits.awk - files have at most 600 lines, functions at most 60, lines at most 100
# columns, and the comment at the top of a long source of the product names its
# input, output and invariant.
#
# A function begins with a brace in the first column that follows a line ending
# in a parenthesis, and ends with the next closing brace there; the formatter
# guarantees both.

BEGIN {
    file_lines_max = 600
    function_lines_max = 60
    columns_max = 100
    bare_lines_max = 150 # of a source without such a comment
}

FNR == 1 {
    end_of_file()
    file = FILENAME
    start = 0
    files++
    head = ""
    is_head = 1
}

{ lines = FNR }

is_head {
    head = head "\n" $0
    is_head = $0 !~ /\*\//
}

# Bytes that continue a character take no column. Strings cannot be wrapped.
length($0) > columns_max {
    text = $0
    gsub(/[\200-\277]/, "", text)
    if (length(text) > columns_max && text !~ /"/)
        complain(FNR, "the line has " length(text) " columns, more than " columns_max)
}

/^{/ && previous ~ /\)[ \t]*$/ {
    start = FNR
    name = previous
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
}

/^}/ {
    if (start && FNR - start + 1 > function_lines_max)
        complain(start, "function " name " has " FNR - start + 1 " lines, more than " function_lines_max)
    start = 0
}

{ previous = $0 }

function complain(line, text)
{
    printf "%s:%d: %s\n", file, line, text
    wrong++
}

function end_of_file()
{
    if (file && lines > file_lines_max)
        complain(lines, "the file has " lines " lines, more than " file_lines_max)
    if (file ~ /^(parser|engine|formats|cli)\/.*\.c$/ && lines > bare_lines_max && !names_all(head))
        complain(1, "the comment at the top has to name input (In), output (Out) and invariant")
}

function names_all(text)
{
    return text ~ /In( \([^)]*\))?[,:]/ && text ~ /Out[^.:]*:/ && text ~ /[Ii]nvariant/
}

END {
    end_of_file()
    if (!files) {
        print "limits.awk: no files given"
        exit 1
    }
    exit wrong > 0
}
