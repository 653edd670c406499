# wine.sh - one Wine for a whole run: a prefix of its own, one server, and the wrappers by
# which tests start programs for Windows. To be sourced by bash.
#
# The tests start a program and compare what it says; they start here one that starts Wine.
# Paths need no translation: from the folder a program is in, Wine makes a drive that is
# the whole file system, and Windows takes slashes.
#
# Three habits of Wine decide what stands here:
#
# * Debian's looks for its server in a folder of $TMPDIR, and starts another where it finds
#   none. Each part of a run has a TMPDIR of its own, so the wrappers keep it from Wine, and
#   give it to the program as TMP and TEMP. These Wine passes on as WINETMP and WINETEMP, if
#   the registry does not have them.
# * The first program that starts in a prefix starts services that live as long as the server,
#   and hold its standard output open. A test that reads a pipe to its end would wait for them.
#   So that first program is one of ours, which writes to a file.
# * In a terminal it draws a console, with codes of its own, so what is tested on a terminal is
#   tested on Linux alone.
#
# shellcheck shell=bash

# Names Wine's programs; returns 1 when they are not here.
wine_find()
{
    wine=$(command -v wine64 || echo /usr/lib/wine/wine64)
    wine_server=$(command -v wineserver64 || echo /usr/lib/wine/wineserver)
    test -x "$wine"
}

# Starts the server, in a prefix that is made when it is not there. wine_end ends it.
wine_begin() # prefix, folder of logs
{
    export WINEPREFIX=$1 WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml,winemenubuilder.exe='
    # Windows' own arithmetic of names: Wine takes the encoding of names from the locale.
    export LC_ALL=C.UTF-8
    unset DISPLAY WAYLAND_DISPLAY
    local log=$2/wineboot.log
    mkdir -p "$2"
    wine_end
    if ! test -f "$WINEPREFIX/etlheap-prefix"; then
        echo "  WINE  $WINEPREFIX"
        rm -rf "$WINEPREFIX"
        mkdir -p "$(dirname "$WINEPREFIX")"
        wine_run "$wine" wineboot -i > "$log" 2>&1 && wine_forget_temporary >> "$log" 2>&1 || { cat "$log" >&2; return 1; }
        # Until its server has ended, the registry is in memory alone.
        wine_run "$wine_server" -k > /dev/null 2>&1
        wine_run "$wine_server" -w
        : > "$WINEPREFIX/etlheap-prefix"
    fi
    wine_run "$wine_server" -p > "$log" 2>&1
    wine_run "$wine" wineboot >> "$log" 2>&1 || { cat "$log" >&2; return 1; }
}

# Where nobody has said it, programs get what the wrappers say.
wine_forget_temporary()
{
    local key name
    for key in 'HKCU\Environment' 'HKLM\System\CurrentControlSet\Control\Session Manager\Environment'; do
        for name in TMP TEMP; do
            wine_run "$wine" reg delete "$key" /v $name /f || return
        done
    done
}

wine_end()
{
    test ! -d "$WINEPREFIX" || wine_run "$wine_server" -k > /dev/null 2>&1
    return 0
}

wine_run() # command...
{
    env -u TMPDIR timeout 300 "$@" < /dev/null
}

# A program that starts the words that are given here with its own after them.
wine_wrap() # file, word...
{
    local file=$1 words
    shift
    words=$(test $# -eq 0 || printf '"%s" ' "$@")
    cat > "$file" << SH
#!/bin/sh
folder=\${TMPDIR:-/tmp}
unset TMPDIR
LC_ALL=C.UTF-8 WINETMP=\$folder WINETEMP=\$folder WINEPREFIX="$WINEPREFIX" WINEDEBUG=-all exec "$wine" $words"\$@"
SH
    chmod +x "$file"
}
