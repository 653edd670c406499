#!/usr/bin/env bash
# Do the README's first two commands work on a machine that has nothing else?
#
#   check_bare.sh [NAME...]     NAME is a row of the table below, or demo or check
#
# debootstrap makes a minimal system of each distribution, with what the README takes for granted:
# git, make and certificates (kept in $BUILD/bare for the next time). The last commit is cloned into
# a fresh copy, at a path with a space, and `make demo` installs what it needs, builds and reports;
# then in another fresh copy `make check`. Packages come from the mirror that apt uses here if it is
# one of that distribution, else from debootstrap's own. A distribution whose archive does not answer
# is skipped by name.
#
# Inside there is /proc, but no /dev/pts and no terminal, as on build agents. From whoever starts it:
# BUILD, and KEEP=1 to keep the systems for a look. Logs are in $BUILD/bare.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/tap.sh

# name, distribution as apt calls it, suite, components, and the script of debootstrap that makes it:
# debootstrap knows no suites younger than itself, but those of a distribution are all made alike.
systems='
debian12 Debian bookworm main          sid
debian13 Debian trixie   main          sid
ubuntu24 Ubuntu noble    main,universe gutsy
'
scripts=/usr/share/debootstrap/scripts

work=${BUILD:-build}/bare
mkdir -p "$work"
work=$(realpath "$work")
given=git,make,ca-certificates
root=

remove_root()
{
    test -z "$root" || test "${KEEP:-0}" = 1 || rm -rf "$root"
}
trap remove_root EXIT

wanted() # word; true if it is among the names, or if none of its kind is
{
    local kind=$1 word
    shift
    local asked=0
    for word in "${names[@]}"; do
        case " $kind " in *" $word "*) asked=1 ;; esac
        test "$word" != "$1" || return 0
    done
    test $asked -eq 0
}

# The mirror of apt on this machine, for its own distribution.
mirror_of() # distribution
{
    apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Identifier: Packages' 2> /dev/null |
        awk -v name="$1" '$1 == name && $2 == name && /http/ { print $3; exit }'
}

# The mirror that debootstrap itself takes: a script has one for old suites, and one or two for today's
# by processor.
mirror_of_script() # script
{
    sed -n 's/^[ \t]*default_mirror //p' "$scripts/$1" | grep -v old |
        case $(dpkg --print-architecture) in amd64 | i386) head -n 1 ;; *) tail -n 1 ;; esac
}

# A tarball of the minimal system. Status 2: the archive does not answer.
make_base() # name, distribution, suite, components, script
{
    local base=$work/$1.tar log=$work/$1-base.log folder mirror
    test ! -s "$base" || return 0
    folder=$(mktemp -d)
    mirror=$(mirror_of "$2")
    mirror=${mirror:-$(mirror_of_script "$5")}
    # Packages are checked with the distribution's key if that is installed here.
    # shellcheck disable=SC2086
    if debootstrap --variant=minbase --include="$given" --components="$4" "$3" "$folder" ${mirror:+"$mirror" "$scripts/$5"} > "$log" 2>&1; then
        rm -rf "$folder"/var/cache/apt/archives/*.deb
        tar -cf "$base.new" -C "$folder" . && mv "$base.new" "$base"
    else
        rm -rf "$folder"
        ! grep -qE 'Failed getting release|Invalid Release file|Couldn.t download' "$log" || return 2
        return 1
    fi
    rm -rf "$folder"
}

# A fresh system with the last commit in it.
make_root() # name
{
    remove_root
    root=$(mktemp -d -p "$work" "root-$1-XXXXXX")
    tar -xf "$work/$1.tar" -C "$root" || return 1
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
    apt-config dump 2> /dev/null | grep -i '::proxy ' > "$root/etc/apt/apt.conf.d/90proxy"
    mkdir -p "$root/home/a user"
    git clone --quiet --no-hardlinks . "$root/home/a user/etlheap"
}

# Mounts go with the process that made them, whatever happens to it.
# shellcheck disable=SC2016
inside() # command
{
    unshare --mount --pid --fork sh -c 'mount -t proc proc "$1/proc" && shift && exec "$@"' sh "$root" \
        chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
        sh -c "cd '/home/a user/etlheap' && $1" < /dev/null
}

run() # name of the result, log, command
{
    local begun=$SECONDS
    if inside "$3" > "$2" 2>&1; then
        pass "$1, $((SECONDS - begun)) s"
    else
        fail "$1" "$(tail -n 15 "$2")" "(whole log: $2)"
    fi
}

try_demo() # name
{
    make_root "$1" || { fail "$1: a fresh system"; return; }
    run "$1: make demo" "$work/$1-demo.log" 'make demo'
    # The README shows this command next, and what it prints.
    local command said
    command=$(sed -n 's/^    \$ \(build.*\)/\1/p' README.md | head -n 1)
    said=$(awk '/^    \$ build/ { shown++ } shown == 1 && /^\* / { exit } shown == 1 && !/\$ build/ { sub(/^    /, ""); print }' README.md)
    if test -n "$said" && diff <(echo "$said") <(inside "$command") > "$work/$1-readme.log" 2>&1; then
        pass "$1: the README's next command prints what the README says"
    else
        fail "$1: the README's next command prints what the README says" "$command" "$(head -n 15 "$work/$1-readme.log")"
    fi
}

try_check() # name
{
    make_root "$1" || { fail "$1: a fresh system"; return; }
    run "$1: make check" "$work/$1-check.log" 'make check'
    tail -n 3 "$work/$1-check.log" | sed 's/^/# /'
}

names=("$@")
if test "$(id -u)" -ne 0 || ! command -v debootstrap > /dev/null || ! command -v unshare > /dev/null; then
    skip "the README's commands on bare systems" "needs root, debootstrap and unshare (packages debootstrap, util-linux)"
    finish
fi
while read -r name distribution suite components script; do
    test -n "$name" && wanted "debian12 debian13 ubuntu24" "$name" || continue
    make_base "$name" "$distribution" "$suite" "$components" "$script"
    case $? in
    0) ;;
    2) skip "$name" "the archive of $distribution does not answer, or has no $suite"; continue ;;
    *) fail "$name: a minimal system" "$(tail -n 5 "$work/$name-base.log")"; continue ;;
    esac
    if wanted "demo check" demo; then try_demo "$name"; fi
    if wanted "demo check" check; then try_check "$name"; fi
done <<< "$systems"
finish
