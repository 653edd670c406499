#!/bin/sh
# Installs the Debian packages that are missing, after saying so.
#
#   check_deps.sh build        what the program needs
#   check_deps.sh build test   and what the tests need
#   check_deps.sh build deb    and what Debian packages are made with
#   check_deps.sh consumers    and the large programs that some tests use if they are there
#   check_deps.sh fleet        what distributes work, for make check-fleet
#   check_deps.sh windows      what builds the program for Windows, from here
#   check_deps.sh wine         and what runs it here
#
# Nothing is installed, and apt is not asked, when everything is there.
set -u

missing=

need_command() # command, package
{
    command -v "$1" > /dev/null 2>&1 || missing="$missing $2"
}

need_library() # pkg-config name, package
{
    pkg-config --exists "$1" 2> /dev/null || missing="$missing $2"
}

need_module() # Python module, package
{
    "${PYTHON:-python3}" -c "import $1" > /dev/null 2>&1 || missing="$missing $2"
}

need_for_build()
{
    need_command gcc gcc
    # A compiler without the C library's headers is a common half-installation.
    test -e /usr/include/stdio.h || missing="$missing libc6-dev"
    need_command pkg-config pkg-config
    need_library libxxhash libxxhash-dev
    need_library libzstd libzstd-dev
    need_library libzip libzip-dev
    need_library libcurl libcurl4-openssl-dev
    need_library libmspack libmspack-dev
    need_library libxml-2.0 libxml2-dev
    need_library zlib zlib1g-dev
}

# Libraries of the libraries, which pkg-config --static names and whose packages the
# others do not depend on.
need_for_static()
{
    need_library openssl libssl-dev
    need_library liblzma liblzma-dev
    need_library icu-i18n libicu-dev
    test -e /usr/include/bzlib.h || missing="$missing libbz2-dev"
}

need_for_deb()
{
    need_for_static
    need_command dpkg-shlibdeps dpkg-dev
    need_command strip binutils
}

# A browser is not installed for the tests' sake, it is too large: browser_*.py are
# skipped without one, and say so.
need_for_test()
{
    need_library cmocka libcmocka-dev
    need_for_static
    need_command python3 python3
    need_module jsonschema python3-jsonschema
    need_module yaml python3-yaml
    need_command xmllint libxml2-utils
    need_command zip zip
    need_command zstd zstd
    need_command heaptrack_print heaptrack
    need_command sqlite3 sqlite3
    need_command openssl openssl
    need_command gcab gcab
    # Sums of files, to compare ours with.
    need_command xxhsum xxhash
    # Their completions are asked, and manual pages are set.
    need_command zsh zsh
    need_command fish fish
    need_command groff groff-base
    # Programs and PDBs are made and compared with these; other versions print otherwise.
    need_command clang-16 clang-16
    need_command lld-link-16 lld-16
    need_command llvm-symbolizer-16 llvm-16
}

# Half a gigabyte, for readers of exports; one has a window, which needs a screen.
need_for_consumers()
{
    need_command go golang-go
    need_command valgrind valgrind
    need_command heaptrack_gui heaptrack-gui
    need_command Xvfb xvfb
    need_command node nodejs
    need_command npm npm
}

# Its libraries come from Debian's source packages, see packaging/windows_deps.sh.
need_for_windows()
{
    need_command x86_64-w64-mingw32-gcc-posix gcc-mingw-w64-x86-64-posix
    need_command make make
    need_command cmake cmake
    need_command pkg-config pkg-config
    need_command dpkg-source dpkg-dev
    need_command patch patch
    need_command xz xz-utils
    need_command bzip2 bzip2
    need_command zip zip
    need_command groff groff-base
}

need_for_wine()
{
    # Debian keeps it out of the way of programs for both kinds of Windows.
    test -x /usr/lib/wine/wine64 || need_command wine64 wine64
}

# Their daemons are found in sbin.
need_for_fleet()
{
    PATH=$PATH:/usr/sbin
    need_command slurmctld slurmctld
    need_command slurmd slurmd
    need_command sbatch slurm-client
    need_command munged munge
    need_command parallel parallel
    need_command sshd openssh-server
    need_command ssh openssh-client
    need_command rsync rsync
    need_command shellcheck shellcheck
    need_command python3 python3
    need_module yaml python3-yaml
    need_command node nodejs
    need_command npm npm
}

for what in "$@"; do
    case $what in
    build) need_for_build ;;
    test) need_for_test ;;
    deb) need_for_deb ;;
    consumers) need_for_consumers ;;
    fleet) need_for_fleet ;;
    windows) need_for_windows ;;
    wine) need_for_wine ;;
    *)
        echo "check_deps.sh: unknown list '$what'; use build, test, deb, consumers, fleet, windows or wine" >&2
        exit 2
        ;;
    esac
done

test -n "$missing" || exit 0

if ! command -v apt-get > /dev/null 2>&1; then
    echo "These Debian packages (or your system's equivalents) are missing, and there is no apt-get here to install them:$missing" >&2
    exit 1
fi

root=
if test "$(id -u)" -ne 0; then
    if ! command -v sudo > /dev/null 2>&1; then
        echo "Packages are missing and installing them needs root; run as root: apt-get install$missing" >&2
        exit 1
    fi
    root=sudo
fi

echo "Installing missing packages:$missing"
# The package lists of a fresh machine are empty: on failure, fetch them once and try again.
# shellcheck disable=SC2086
install() { $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing > "$log" 2>&1; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if install || { $root apt-get update -q > "$log" 2>&1 && install; }; then
    exit 0
fi
tail -n 5 "$log" >&2
echo "Installing failed; install by hand: apt-get install$missing" >&2
exit 1
