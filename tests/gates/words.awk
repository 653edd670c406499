# words.awk - the libraries name no option of a program.
#
# Reads the C files of parser/, engine/ and formats/, and the scripts of the HTML report;
# others are passed over. A string with a word such as --memory is an error: a sentence of
# a library has a hint (parser/hint.h), and cli/options/advice.c the option. Comments may name
# options. So may the table of questions, whose rows are called as the command line asks
# them: tests compare it with the program's options, and nothing prints it.

function complain(text)
{
    printf "%s:%d: the string names an option: %s\n", FILENAME, FNR, text
    wrong++
}

# The line without comments, which may go on from line to line.
function code_of(line,    out, c, i, size, in_string)
{
    out = ""
    size = length(line)
    for (i = 1; i <= size; i++) {
        c = substr(line, i, 1)
        if (in_comment) {
            if (substr(line, i, 2) == "*/") {
                in_comment = 0
                i++
            }
        } else if (in_string) {
            out = out c
            if (c == "\\") {
                out = out substr(line, ++i, 1)
            } else if (c == in_string) {
                in_string = ""
            }
        } else if (substr(line, i, 2) == "/*") {
            in_comment = 1
            i++
        } else if (substr(line, i, 2) == "//") {
            break
        } else {
            if (c == "\"" || c == "`")
                in_string = c
            out = out c
        }
    }
    return out
}

FNR == 1 {
    is_library = FILENAME ~ /(^|\/)(parser|engine|formats)\// && FILENAME !~ /engine\/query\/questions\.[ch]$/
    in_comment = 0
    if (is_library)
        files++
}

!is_library || (!in_comment && !/--/ && !/\/\*/) { next }

{
    rest = code_of($0)
    while (match(rest, /"([^"\\]|\\.)*"|`[^`]*`/)) {
        text = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        # A property of CSS stands alone, or in var(): "--hue".
        if (text ~ /(^|[^-A-Za-z0-9])--[a-z]/ && text !~ /var\(--|^"--[a-z-]*"$/)
            complain(text)
        else if (FILENAME !~ /\.js$/ && text ~ /^"--[a-z-]*"$/)
            complain(text)
    }
}

END {
    if (!files) {
        print "words.awk: no files of a library given"
        exit 1
    }
    exit wrong > 0
}
