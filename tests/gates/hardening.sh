#!/usr/bin/env bash
# What a release build promises to whoever runs it on files of others: what checksec
# looks for is there (PIE, full RELRO, stack protector, fortified calls, no executable
# stack, no memory that is written and executed, no search path for libraries), it cannot
# start programs, and it opens no connection unless a symbol server was named; nor
# does it load a library before.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh

BUILD=${BUILD:-build}
OUT=${OUT:-$BUILD/check}
TEST_TMP=${TEST_TMP:-$(mktemp -d)}
# What was just built, which has the flags of a release: another variant may be of old sources.
MAKE_TRACE=$(realpath "${MAKE_TRACE:-$OUT/make_trace}")
PROGRAM=$(realpath "$OUT/etlheap")
LIBRARY=$(realpath -m "$OUT/libetlheap.so")

has() # name, text, pattern
{
    if grep -qE -- "$3" <<< "$2"; then pass "$1"; else fail "$1" "$3 is not in:" "$(head -n 3 <<< "$2")"; fi
}

has_not() # name, text, pattern
{
    local found
    if found=$(grep -E -- "$3" <<< "$2"); then fail "$1" "$(head -n 3 <<< "$found")"; else pass "$1"; fi
}

# --- what the linker wrote ----------------------------------------------------------------

check_file() # name, file
{
    local name=$1 segments dynamic imports
    segments=$(readelf -lW "$2")
    dynamic=$(readelf -dW "$2")
    imports=$(nm -D --undefined-only "$2" | awk '{ sub(/@.*/, "", $NF); print $NF }')
    has "$name: what is relocated is read-only afterwards" "$segments" '^ *GNU_RELRO '
    has "$name: all of it before the program begins" "$dynamic" 'BIND_NOW|\(FLAGS_1\).* NOW'
    has "$name: the stack is not executed" "$segments" '^ *GNU_STACK .* RW  *0x'
    has_not "$name: nothing is both written and executed" "$segments" '^ *[A-Z_]+ .* RWE '
    has_not "$name: code is not relocated" "$dynamic" 'TEXTREL'
    has_not "$name: libraries are looked for where the system has them" "$dynamic" '\((RPATH|RUNPATH)\)'
    has "$name: stacks are guarded" "$imports" '^__stack_chk_fail$'
    for call in memcpy snprintf vsnprintf; do
        has "$name: $call is fortified" "$imports" "^__${call}_chk\$"
    done
    has_not "$name: no call that cannot know how much room there is" "$imports" \
        '^(gets|strcpy|stpcpy|strcat|sprintf|vsprintf|mktemp|tmpnam|tempnam)$'
    # The program asks the command of --symbol-login and opens the browser of view --open, and starts
    # nothing else; the library starts none. Only the program looks whether a client of view is there.
    local started='^(system|popen|posix_spawnp|wordexp|' received='recv|'
    test "$name" = libetlheap.so || started='^(system|wordexp|' received=''
    has_not "$name: no other program can be started" "$imports" \
        "$started"'exec(l|le|lp|v|ve|veat|vp|vpe)|fexecve|posix_spawn|v?fork|clone|dlmopen)$'
    has_not "$name: connections are made by libcurl and libmicrohttpd alone" "$imports" \
        "^($received"'socket|socketpair|connect|bind|listen|accept4?|send|sendto|sendmsg|recvfrom|recvmsg|getaddrinfo|gethostbyname.*)$'
    has_not "$name: no memory is made executable" "$imports" '^(mprotect|pkey_mprotect|memfd_create)$'
}

# only_in CALL FILE TITLE: of the program's own files, only cli/system/FILE makes the call.
only_in() {
    local found
    found=$(nm -A --undefined-only "$OUT"/cli/*.o "$OUT"/cli/*/*.o 2> /dev/null | awk -v call="$1" '$NF == call { sub(/:.*/, "", $1); print $1 }')
    if test "$found" = "$OUT/cli/system/$2.o"; then
        pass "$3"
    else
        fail "$3" "$found"
    fi
}

if ! command -v readelf > /dev/null || ! command -v nm > /dev/null; then
    skip "what the linker wrote" "there is no readelf (package binutils)"
else
    check_file "${PROGRAM##*/}" "$PROGRAM"
    header=$(readelf -hW "$PROGRAM")
    only_in popen host_posix "etlheap: only the function that asks for a login starts a command"
    only_in posix_spawnp browser_posix "etlheap: only the function that opens a browser starts one"
    only_in recv sockets_posix "etlheap: only the function that looks for a client receives"
    has "etlheap: it is loaded at a random address" "$header" 'Type: *DYN'
    has "etlheap: and says so" "$(readelf -dW "$PROGRAM")" '\(FLAGS_1\).* PIE'
    if test -f "$LIBRARY"; then
        check_file libetlheap.so "$LIBRARY"
        stale=$(find "$OUT"/parser "$OUT"/engine "$OUT"/formats -name '*.o' -newer "$LIBRARY" 2> /dev/null | head -n 1)
        if test -n "$stale"; then
            fail "libetlheap.so is of the objects that were just built" "$stale is newer: make VARIANT=check $LIBRARY"
        else
            pass "libetlheap.so is of the objects that were just built"
        fi
    else
        fail "libetlheap.so" "it is not built, which is what installs: make VARIANT=check $LIBRARY"
    fi
fi

# --- what it does -------------------------------------------------------------------------

cd "$TEST_TMP" || exit 1
cat > watch.c << 'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <stdlib.h>

static int note(const char *what)
{
    int file = open(getenv("WATCH_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (write(file, what, strlen(what)) < 0)
        abort();
    close(file);
    errno = EACCES;
    return -1;
}

int socket(int domain, int type, int protocol) { (void)domain, (void)type, (void)protocol; return note("socket\n"); }
int connect(int file, const void *to, unsigned size) { (void)file, (void)to, (void)size; return note("connect\n"); }
int getaddrinfo(const char *n, const char *s, const void *h, void **r) { (void)n, (void)s, (void)h, (void)r; return note("getaddrinfo\n"); }
int execve(const char *path, char *const argv[], char *const env[]) { (void)path, (void)argv, (void)env; return note("execve\n"); }
FILE *popen(const char *command, const char *type) { (void)command, (void)type; note("popen\n"); return NULL; }
int system(const char *command) { (void)command; return note("system\n"); }
void *dlopen(const char *name, int flags)
{
    void *(*next)(const char *, int) = dlsym(RTLD_NEXT, "dlopen");
    char line[256];
    snprintf(line, sizeof line, "dlopen %s\n", name ? name : "itself");
    note(line);
    return getenv("WATCH_NO_LIBRARY") ? NULL : next(name, flags);
}
END
export WATCH_LOG=$PWD/watched
unset _NT_SYMBOL_PATH _NT_ALT_SYMBOL_PATH _NT_SYMCACHE_PATH

watch() # argument...
{
    rm -f watched
    timeout 60 env LD_PRELOAD="$PWD/watch.so" HOME="$PWD" "$PROGRAM" "$@" > out.txt 2> err.txt
}

keeps_to_itself() # argument...
{
    local status
    watch "$@"
    status=$?
    if test -e watched; then
        fail "etlheap $*: no connection" "$(sort watched | uniq -c | tr '\n' ' ')"
    elif test $status -gt 1; then
        fail "etlheap $*: no connection" "status $status" "$(head -n 2 err.txt)"
    else
        pass "etlheap $*: no connection"
    fi
}

if ! ${CC:-cc} -shared -fPIC -w -o watch.so watch.c 2> cc.log; then
    skip "no connection unless asked" "nothing can be compiled to watch with: $(head -n 1 cc.log)"
    finish
fi
"$MAKE_TRACE" demo a.etl > make.log 2>&1 || fail "a trace is made" "$(tail -n 2 make.log)"
if ! watch --version; then
    fail "the program runs while it is watched" "$(head -n 1 err.txt)"
    finish
fi
mkdir symbols
keeps_to_itself report a.etl
keeps_to_itself report a.etl --symbols symbols
keeps_to_itself symbols a.etl
keeps_to_itself symbols a.etl --symbols symbols --format json
keeps_to_itself symbols a.etl --symbols "srv*$PWD/cache*http://127.0.0.1:9/x" --offline
keeps_to_itself info a.etl
keeps_to_itself dump a.etl
keeps_to_itself windows a.etl --every 1s
keeps_to_itself allocations a.etl --top 5
keeps_to_itself store a.etl -o a.ehs
keeps_to_itself diff a.ehs a.etl
keeps_to_itself check a.etl --max-outstanding 1G
keeps_to_itself export a.etl --format html -o a.html
keeps_to_itself export a.etl --format pprof -o a.pb.gz

# Else all of the above would prove nothing.
watch symbols a.etl --symbols "srv*$PWD/cache*http://127.0.0.1:9/x"
if grep -qE '^(socket|connect)$' watched 2> /dev/null; then
    pass "a server that is named is asked"
else
    fail "a server that is named is asked" "no connection was tried" "$(head -n 2 err.txt)"
fi
if grep -q '^popen$' watched 2> /dev/null; then
    fail "without --symbol-login it starts no program" "$(cat watched)"
else
    pass "without --symbol-login it starts no program"
fi
watch symbols a.etl --symbols "srv*$PWD/login*http://127.0.0.1:9/x" --symbol-login '127.0.0.1:9=command:true'
has "its command is started by popen" "$(cat watched 2> /dev/null)" '^popen$'
# Of a fixed name, which the system looks for where it looks for all libraries; what that
# one loads is its own affair.
has "with a library of a fixed name, loaded for it" "$(grep '^dlopen' watched | head -n 1)" '^dlopen libcurl\.so\.4$'

# Names of functions are worth less than the rest of an answer.
WATCH_NO_LIBRARY=1 watch report a.etl --symbols "srv*$PWD/none*http://127.0.0.1:9/x"
status=$?
if test $status -eq 0 && grep -q 'symbol_server_unasked' out.txt; then
    pass "without it there is an answer, which says why it has no names"
else
    fail "without it there is an answer, which says why it has no names" "status $status" "$(tail -n 3 out.txt err.txt)"
fi
has "and --version tells" "$(WATCH_NO_LIBRARY=1 watch --version; cat out.txt)" 'libcurl not installed'
finish
