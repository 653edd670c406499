#!/bin/sh
# Builds the portable program and library for Linux, in an old system so that they run on newer ones:
#
#   linux_build.sh FOLDER ROOT TARGET      into FOLDER/TARGET/{etlheap,libetlheap.so,deps}
#
# ROOT is a minimal Debian 11, whose C library is older than those of the systems in use: a program needs
# the C library that it was linked with, or a newer one. It is made by debootstrap, which needs root, and kept.
# "-" builds in this system, and the program then needs its C library.
#
# All other libraries are linked into both. libcurl is loaded when symbols are downloaded.
set -eu
. packaging/debian_root.sh

folder=$(realpath -m "${1:?linux_build.sh needs the folder to build in}")
root=$2
target=$3
tools='gcc libc6-dev make cmake pkg-config'
case $target in
linux-x64) prefix= ;;
linux-arm64) prefix=aarch64-linux-gnu- tools="$tools gcc-aarch64-linux-gnu libc6-dev-arm64-cross" ;;
*)
    echo "linux_build.sh: the target $target is unknown" >&2
    exit 1
    ;;
esac

main()
{
    mkdir -p "$folder/$target"
    recipe="$(sha256sum < packaging/static_deps.sh | cut -c 1-64) $target"
    if test "$root" = -; then
        sh packaging/static_deps.sh "$folder/$target/deps" "$target"
        compile "$PWD" "$folder/$target"
        return
    fi
    root=$(realpath -m "$root")
    make_root
    inside=$root/build/$target
    if test "$(sed -n 's/^recipe //p' "$inside/deps/versions.txt" 2> /dev/null)" != "$recipe"; then
        rm -rf "$inside"
        mkdir -p "$inside"
        sh packaging/static_deps.sh "$inside/deps" "$target" sources
    fi
    # The sources at the same path for each build: messages and debug information have it.
    rm -rf "$root/build/source"
    mkdir -p "$root/build/source"
    git archive HEAD | tar -x -C "$root/build/source"
    in_root "sh packaging/static_deps.sh /build/$target/deps $target build"
    in_root "$(command_of "/build/$target")"
    cp "$inside/etlheap" "$inside/libetlheap.so" "$folder/$target"
    rm -rf "$folder/$target/deps"
    cp -r "$inside/deps" "$folder/$target/deps"
}

make_root()
{
    make_debian_root "$root" bullseye ca-certificates "$folder/root.log" || exit 1
    # shellcheck disable=SC2086
    chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $tools > "$folder/tools.log" 2>&1 || {
        tail -n 5 "$folder/tools.log" >&2
        exit 1
    }
}

in_root() # commands
{
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-0}" \
        sh -euc "cd /build/source && $1"
}

# Both, without what only debuggers read.
command_of() # folder
{
    echo "make -j$(nproc) VARIANT=release LTO=0 CC=${prefix}gcc AR=${prefix}ar BUILD=/tmp/$target" \
        "PKG_CONFIG='PKG_CONFIG_LIBDIR=$1/deps/lib/pkgconfig pkg-config --static'" \
        "LDFLAGS='-Wl,--gc-sections,--as-needed -static-libgcc' /tmp/$target/etlheap /tmp/$target/release/libetlheap.so" \
        "> /tmp/$target.log 2>&1 || { tail -n 20 /tmp/$target.log >&2; exit 1; }; ${prefix}strip -o $1/etlheap /tmp/$target/etlheap;" \
        "${prefix}strip --strip-unneeded -o $1/libetlheap.so /tmp/$target/release/libetlheap.so"
}

compile() # sources, folder
{
    (cd "$1" && sh -euc "$(command_of "$2")")
}

main
