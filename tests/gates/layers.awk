# layers.awk - includes go downward only.
#
# Reads all C files of the tree, and first of all the list of exceptions. A library's
# folder has rooms. A file includes headers of its room by bare name; of other rooms of
# the library, by their path from the top of the tree, only those below its own, and what
# stands in the library's folder itself, which may include every room. Of other libraries
# it includes only the headers listed here; foreign libraries are granted folder by
# folder too. tests, fuzz and bench may include anything, and nothing but themselves
# includes them.
#
# Exceptions are lines "file header". One that is not needed is an error, so that the
# list can only shrink.

BEGIN {
    # Bottom first.
    rooms("parser", "system etl symbols undecorate")
    rooms("engine", "core symbol_store context read log pair result query names table fold summary compare share run")
    rooms("formats", "io parts json text csv markdown read check export")
    rooms("cli", "options system batch demo view commands")
    allow("parser", "")
    allow("engine", "parser/parser.h parser/etl/lean.h parser/symbols.h parser/sized.h parser/base.h parser/cursor.h parser/system/cgroup.h parser/system/digest.h parser/system/late_library.h parser/system/map.h parser/system/files.h parser/system/name_fold.h parser/system/wide.h")
    allow("formats", "engine/engine.h engine/core/workers.h parser/parser.h parser/sized.h parser/base.h parser/cursor.h parser/system/digest.h parser/system/late_library.h parser/system/map.h parser/system/files.h parser/system/name_fold.h")
    # Beside the front doors: short names, and the seam between us and the system.
    allow("cli", "parser/parser.h parser/base.h engine/engine.h formats/formats.h parser/system/files.h parser/system/late_library.h parser/system/name_fold.h parser/system/wide.h")

    # The C library is for everyone; what else there is has an owner.
    grant("xxhash.h", "engine")
    grant("zstd.h", "engine formats")
    grant("zip.h", "formats")
    grant("zlib.h", "formats")
    grant("curl/curl.h", "engine")
    grant("mspack.h", "engine")
    grant("microhttpd.h", "cli")
    grant("pthread.h", "engine cli")
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

function rooms(folder, names,    n, list, i)
{
    n = split(names, list, " ")
    for (i = 1; i <= n; i++)
        height[folder "/" list[i]] = i
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

# "engine/log" of "engine/log/store.h"; "" for "engine/engine.h"
function room_of(path,    part)
{
    return split(path, part, "/") == 3 ? part[1] "/" part[2] : ""
}

FILENAME ~ /\.txt$/ {
    if (NF == 2 && $1 !~ /^#/)
        exception[$1, $2] = FNR
    next
}

FNR == 1 {
    folder = here = FILENAME
    sub("/.*", "", folder)
    sub("/[^/]*$", "", here)
    room = room_of(FILENAME)
    files++
    if ((folder in layered) && room != "" && !(room in height))
        complain(room " is no room of " folder ": list it in layers.awk")
}

!(folder in layered) || !/^[ \t]*#[ \t]*include[ \t]/ { next }

/"/ {
    split($0, part, "\"")
    name = part[2]
    if (name !~ "/") {
        if (!((here "/" name) in exists))
            complain("\"" name "\" is no header of " here)
    } else if (index(name, folder "/") != 1) {
        if (!((folder, name) in allowed))
            complain(folder " may not include " name)
    } else if (!(name in exists)) {
        complain(name " is no header")
    } else if (room != "" && room_of(name) == room) {
        complain("include \"" name "\" by its bare name: it is of the same room")
    } else if (room != "" && height[room_of(name)] > height[room]) {
        if ((FILENAME, name) in exception)
            needed[FILENAME, name] = 1
        else
            complain(room " is below " room_of(name) ", and may not include " name)
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
    for (pair in exception) {
        split(pair, part, SUBSEP)
        if (!(pair in needed) && (part[1] in exists)) {
            printf "an exception is not needed any more: %s %s\n", part[1], part[2]
            wrong++
        }
    }
    exit wrong > 0
}
