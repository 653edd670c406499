# layers.awk - includes go downward only.
#
# Reads all C files of the tree. Each library folder may include its own headers
# by bare name, and of other folders only the headers listed here; libraries are
# granted folder by folder too. tests, fuzz and bench may include anything, and
# nothing but themselves includes them.

BEGIN {
    allow("parser", "")
    allow("engine", "parser/parser.h parser/lean.h parser/symbols.h parser/base.h parser/cursor.h parser/late_library.h parser/map.h parser/files.h parser/name_fold.h parser/wide.h")
    allow("formats", "engine/engine.h parser/parser.h parser/base.h parser/cursor.h parser/late_library.h parser/map.h parser/files.h parser/name_fold.h")
    # Beside the front doors: the seam between us and the system.
    allow("cli", "parser/parser.h engine/engine.h formats/formats.h parser/files.h parser/name_fold.h parser/wide.h")

    # The C library is for everyone; what else there is has an owner.
    grant("xxhash.h", "engine")
    grant("zstd.h", "engine formats")
    grant("zip.h", "formats")
    grant("zlib.h", "formats")
    grant("curl/curl.h", "engine")
    grant("mspack.h", "engine")
    grant("pthread.h", "engine")
    grant("stdatomic.h", "engine cli")

    # What only some systems have is behind a seam: file.c is portable, its halves
    # file_posix.c and file_windows.c need not be.
    split("unistd.h fcntl.h dirent.h dlfcn.h link.h io.h windows.h psapi.h shellapi.h poll.h termios.h", list, " ")
    for (i in list)
        of_system[list[i]] = 1
    for (i = 1; i < ARGC; i++)
        exists[ARGV[i]] = 1
}

function allow(folder, headers,    n, list, i)
{
    layered[folder] = 1
    n = split(headers, list, " ")
    for (i = 1; i <= n; i++)
        allowed[folder, list[i]] = 1
}

function grant(header, folders,    n, list, i)
{
    owned[header] = 1
    n = split(folders, list, " ")
    for (i = 1; i <= n; i++)
        granted[list[i], header] = 1
}

function complain(text)
{
    printf "%s:%d: %s\n", FILENAME, FNR, text
    wrong++
}

FNR == 1 {
    folder = FILENAME
    sub("/.*", "", folder)
    files++
}

!(folder in layered) || !/^[ \t]*#[ \t]*include[ \t]/ { next }

/"/ {
    split($0, part, "\"")
    name = part[2]
    if (name ~ "/") {
        if (!((folder, name) in allowed))
            complain(folder " may not include " name)
    } else if (!((folder "/" name) in exists)) {
        complain("\"" name "\" is no header of " folder)
    }
    next
}

/</ {
    name = $0
    sub(/^[^<]*</, "", name)
    sub(/>.*/, "", name)
    if (((name in of_system) || name ~ /^sys\//) && FILENAME !~ /_(posix|windows)\.c$/)
        complain("<" name "> is not of the C library: use it in a _posix.c or _windows.c")
    if ((name in owned) && !((folder, name) in granted))
        complain(folder " may not use <" name ">")
    if (name ~ /^libxml\// && folder != "formats")
        complain(folder " may not use <" name ">")
}

END {
    if (!files) {
        print "layers.awk: no files given"
        exit 1
    }
    exit wrong > 0
}
