#!/bin/sh
# Installs the Debian packages that are missing, after saying so.
#
#   check_deps.sh build        what the program needs
#   check_deps.sh build test   and what the tests need
#   check_deps.sh build deb    and what Debian packages are made with
#   check_deps.sh consumers    and the large programs that some tests use if they are there
#   check_deps.sh bare         what makes bare systems, for make check-bare
#   check_deps.sh fleet        what distributes work, for make check-fleet
#   check_deps.sh windows      what builds the program for Windows, from here
#   check_deps.sh linux        what makes the old system in which the one file for Linux is built
#   check_deps.sh wine         and what runs it here
#   check_deps.sh wheel        what builds the wheel for Python
#   check_deps.sh lintian      what checks Debian packages
#   check_deps.sh arm64        what builds and runs the program for arm64, from here
#   check_deps.sh list WHAT... prints the packages of these lists, missing or not
#
# Nothing is installed, and apt is not asked, when everything is there.
set -u

missing=
wished=
listing=
# Programs and PDBs are made and compared with clang, lld and llvm of one of these versions; others
# print otherwise. No distribution has all of them; those that the tests were tried with come first.
llvm_versions='16 19 18 17'

need() # package, command that succeeds if it is there
{
    package=$1
    shift
    test -z "$listing" && "$@" > /dev/null 2>&1 || missing="$missing $package"
}

# Not every distribution or processor has the package. Without it, tests are skipped by name.
wish_command() # command, package
{
    test -z "$listing" && command -v "$1" > /dev/null 2>&1 || wished="$wished $2"
}

wish_file() # path, package
{
    test -z "$listing" && test -e "$1" || wished="$wished $2"
}

# clang-LLVM and so on stand for the version that will be installed.
need_llvm()
{
    for version in $llvm_versions; do
        test -z "$listing" && command -v "clang-$version" > /dev/null && command -v "lld-link-$version" > /dev/null &&
            command -v "llvm-pdbutil-$version" > /dev/null && return
    done
    missing="$missing clang-LLVM lld-LLVM llvm-LLVM"
}

need_command() # command, package
{
    need "$2" command -v "$1"
}

need_file() # path, package
{
    need "$2" test -e "$1"
}

need_library() # pkg-config name, package
{
    need "$2" pkg-config --exists "$1"
}

need_module() # Python module, package
{
    need "$2" "${PYTHON:-python3}" -c "import $1"
}

need_for_build()
{
    need_command gcc gcc
    # A compiler without the C library's headers is a common half-installation.
    need_file /usr/include/stdio.h libc6-dev
    need_command pkg-config pkg-config
    need_library libxxhash libxxhash-dev
    need_library libzstd libzstd-dev
    need_library libzip libzip-dev
    need_library libcurl libcurl4-openssl-dev
    need_library libmicrohttpd libmicrohttpd-dev
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
    need_file /usr/include/bzlib.h libbz2-dev
}

need_for_deb()
{
    need_for_static
    need_command dpkg-shlibdeps dpkg-dev
    need_command strip binutils
}

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
    need_command jq jq
    need_command openssl openssl
    need_command gcab gcab
    # Sums of files, to compare ours with.
    need_command xxhsum xxhash
    # Their completions are asked, and manual pages are set.
    need_command zsh zsh
    need_command fish fish
    need_command groff groff-base
    need_llvm
    # Sources are read by another compiler, for another processor, and as C++.
    need_command clang clang
    need_command g++ g++
    wish_command aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
    wish_file /usr/aarch64-linux-gnu/include/stdlib.h libc6-dev-arm64-cross
    # Readers of protocol buffers, for the traces written for Perfetto.
    wish_command protoc protobuf-compiler
    wish_file /usr/lib/python3/dist-packages/google/protobuf/__init__.py python3-protobuf
    # Other versions format otherwise.
    wish_command clang-format-14 clang-format-14
    # The library's binary interface is compared, and its Python module is checked, packed and used.
    wish_command abidiff abigail-tools
    wish_command mypy mypy
    for module in build wheel setuptools pip pandas; do
        wish_file /usr/lib/python3/dist-packages/$module python3-$module
    done
    # Readers of exports, and of the pages. npm fetches what checks pages for screen readers, once.
    need_command node nodejs
    need_command npm npm
    command -v chromium > /dev/null 2>&1 || command -v google-chrome > /dev/null 2>&1 ||
        wish_command chromium-headless-shell chromium-headless-shell
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

# Its libraries come from Debian's source packages, see packaging/static_deps.sh.
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

need_for_wheel()
{
    need_file /usr/lib/python3/dist-packages/build python3-build
    need_file /usr/lib/python3/dist-packages/setuptools python3-setuptools
    need_file /usr/lib/python3/dist-packages/wheel python3-wheel
    need_command readelf binutils
}

# The compiler and the rest are in the old system, which debootstrap makes.
need_for_linux()
{
    PATH=$PATH:/usr/sbin
    need_command debootstrap debootstrap
    need_command dpkg-source dpkg-dev
    need_command patch patch
    need_command xz xz-utils
    need_command bzip2 bzip2
}

need_for_wine()
{
    # Debian keeps it out of the way of programs for both kinds of Windows.
    test -x /usr/lib/wine/wine64 && test -z "$listing" || need_command wine64 wine64
}

# Both are in sbin on some systems.
need_for_bare()
{
    PATH=$PATH:/usr/sbin
    need_command debootstrap debootstrap
    need_command unshare util-linux
}

need_for_arm64()
{
    need_command aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
    need_command qemu-aarch64-static qemu-user-static
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

if test "${1-}" = list; then
    listing=yes
    shift
fi
for what in "$@"; do
    case $what in
    build) need_for_build ;;
    test) need_for_test ;;
    deb) need_for_deb ;;
    consumers) need_for_consumers ;;
    bare) need_for_bare ;;
    fleet) need_for_fleet ;;
    windows) need_for_windows ;;
    linux) need_for_linux ;;
    wine) need_for_wine ;;
    wheel) need_for_wheel ;;
    lintian) need_command lintian lintian ;;
    arm64) need_for_arm64 ;;
    *)
        echo "check_deps.sh: unknown list '$what'; use build, test, deb, consumers, bare, fleet, windows, wine, wheel, lintian or arm64" >&2
        exit 2
        ;;
    esac
done

if test -n "$listing"; then
    # shellcheck disable=SC2086
    printf '%s\n' $missing $wished
    exit 0
fi
test -n "$missing$wished" || exit 0

if ! command -v apt-get > /dev/null 2>&1; then
    test -n "$missing" || exit 0
    echo "These Debian packages (or your system's equivalents) are missing, and there is no apt-get here to install them:$missing" >&2
    exit 1
fi

has() { apt-cache show --no-all-versions "$1" 2> /dev/null | grep -q '^Package:'; }

# Names the packages to install. False if apt has not all that are needed.
choose()
{
    packages='' status=0
    for package in $wished; do
        ! has "$package" || packages="$packages $package"
    done
    for package in $missing; do
        case $package in
        *-LLVM)
            for version in $llvm_versions; do
                ! has "${package%LLVM}$version" || break
            done
            package=${package%LLVM}$version
            ;;
        esac
        has "$package" || status=1
        packages="$packages $package"
    done
    return $status
}

root=
test "$(id -u)" -eq 0 || root=sudo
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# The package lists of a fresh machine are empty.
update() { $root apt-get update -q > "$log" 2>&1; }
# shellcheck disable=SC2086
install() { $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $packages > "$log" 2>&1; }

if test -n "$root" && ! command -v sudo > /dev/null 2>&1; then
    test -n "$missing" || exit 0
    echo "Packages are missing and installing them needs root; run as root: apt-get install$missing" >&2
    exit 1
fi
choose || { update && choose; }
test -n "$packages" || exit 0
echo "Installing missing packages:$packages"
if install || { update && choose && install; }; then
    exit 0
fi
tail -n 5 "$log" >&2
test -n "$missing" || exit 0
echo "Installing failed; install by hand: apt-get install$packages" >&2
exit 1
