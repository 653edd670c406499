#!/bin/sh
# Builds, as static libraries, what etlheap is linked with: for Windows, and for Linux programs that need
# libc only.
#
#   static_deps.sh FOLDER TARGET [STEP]       into FOLDER/{include,lib,lib/pkgconfig,licenses}
#
# TARGET is windows-x64, linux-x64 or linux-arm64. STEP is `sources`, which only fetches them, or `build`,
# which takes those that an earlier step fetched, perhaps in another system; without it, both.
#
# The sources are those of this Debian, with its security fixes: `apt-get source` takes
# them by the package sources that the machine has (deb becomes deb-src in a copy, and
# lists and downloads stay in FOLDER), so neither root nor a change of the system is
# needed. apt checks their signatures. FOLDER/versions.txt tells what was built, with the
# SHA-256 of each file; while it agrees with this script, nothing is done again.
#
# Each library has only what etlheap uses: no programs, no other libraries behind it.
# For Windows, TLS is Windows' own (Schannel), which trusts the certificates that Windows trusts. For
# Linux, of curl only the headers are here: the library of the machine is loaded when symbols are downloaded.
set -eu

prefix=$(realpath -m "${1:?static_deps.sh needs the folder to build in}")
target=${2:?static_deps.sh needs a target}
step=${3:-all}
work=$prefix/work
jobs=$(nproc)
# Of Debian's source packages.
packages='zlib libzstd xxhash libxml2 libzip curl libmspack libmicrohttpd'
# Names of files in messages of the libraries must not depend on where they were built.
cflags="-O2 -ffunction-sections -fdata-sections -fstack-protector-strong -ffile-prefix-map=$work=."
case $target in
windows-x64)
    system=Windows processor=x86_64 host=x86_64-w64-mingw32- cc=x86_64-w64-mingw32-gcc-posix
    packages="$packages cmocka" # for tests
    ;;
linux-x64) system=Linux processor=x86_64 host= cc=gcc cflags="$cflags -fPIC" ;;
linux-arm64) system=Linux processor=aarch64 host=aarch64-linux-gnu- cc=aarch64-linux-gnu-gcc cflags="$cflags -fPIC" ;;
*)
    echo "static_deps.sh: the target $target is unknown" >&2
    exit 1
    ;;
esac

main()
{
    recipe="$(sha256sum < "$0" | cut -c 1-64) $target"
    if test "$(sed -n 's/^recipe //p' "$prefix/versions.txt" 2> /dev/null)" = "$recipe"; then
        return
    fi
    test "$step" = build || take_sources
    test "$step" = sources || build
}

take_sources()
{
    command -v apt-get > /dev/null || {
        echo "static_deps.sh: the sources come from Debian's archive, and there is no apt-get here" >&2
        exit 1
    }
    rm -rf "$prefix"
    mkdir -p "$prefix/include" "$prefix/lib/pkgconfig" "$prefix/licenses" "$work"
    fetch
}

build()
{
    write_toolchain
    for package in $packages; do
        echo "  $package $(version_of "$package")"
        "build_$package" > "$work/$package.log" 2>&1 || {
            tail -n 20 "$work/$package.log" >&2
            echo "static_deps.sh: $package does not build; the whole log is $work/$package.log" >&2
            exit 1
        }
        keep_licences "$package"
    done
    record > "$prefix/versions.txt.new"
    # What is left are static libraries, their headers and their licences.
    rm -rf "$work" "$prefix/bin" "$prefix/share" "$prefix"/lib/cmake "$prefix"/lib/*.dll.a "$prefix"/lib/*.sh
    mv "$prefix/versions.txt.new" "$prefix/versions.txt"
}

# --- the sources ---------------------------------------------------------------

fetch()
{
    mkdir -p "$work/apt/sources.list.d" "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/files"
    copy_package_sources
    # A source without deb-src fails here; that it was needed shows below.
    private_apt update > "$work/apt.log" 2>&1 || true
    for package in $packages; do
        fetch_newest "$package" || {
            tail -n 5 "$work/apt.log" >&2
            echo "static_deps.sh: apt cannot fetch the source of $package" >&2
            exit 1
        }
        dpkg-source --no-check -x "$work/files/${package}"_*.dsc "$work/$package" >> "$work/apt.log" 2>&1
    done
}

# The newest version of a source that can be had: a mirror may list one, a security fix mostly, that it does
# not have yet. An older one is said, and versions.txt has it.
fetch_newest() # package
{
    newest=
    for version in $(versions_of "$1"); do
        if (cd "$work/files" && private_apt source --only-source --download-only "$1=$version") >> "$work/apt.log" 2>&1; then
            test -z "$newest" ||
                echo "static_deps.sh: $1 $newest cannot be fetched; $version is built in its place" >&2
            return
        fi
        newest=${newest:-$version}
        rm -f "$work/files/$1"_*
    done
    return 1
}

# Those that the lists have, the newest first.
versions_of() # package
{
    private_apt_cache showsrc --only-source "$1" | sed -n 's/^Version: //p' | sort -Vru
}

# The two forms of apt's lists of sources.
copy_package_sources()
{
    eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
    : > "$work/apt/sources.list"
    for file in "$list" "$parts"/*.list; do
        test ! -f "$file" || sed -n 's/^[[:space:]]*deb[[:space:]]/deb-src /p' "$file" >> "$work/apt/sources.list"
    done
    for file in "$parts"/*.sources; do
        test ! -f "$file" || sed 's/^Types:.*/Types: deb-src/' "$file" > "$work/apt/sources.list.d/${file##*/}"
    done
}

private_apt()
{
    of_private_lists apt-get -q "$@"
}

private_apt_cache()
{
    of_private_lists apt-cache "$@"
}

of_private_lists() # command...
{
    command=$1
    shift
    "$command" -o "Dir::Etc::sourcelist=$work/apt/sources.list" -o "Dir::Etc::sourceparts=$work/apt/sources.list.d" \
        -o "Dir::State::lists=$work/apt/lists" -o "Dir::Cache=$work/apt/cache" \
        -o APT::Sandbox::User=root -o Acquire::Languages=none "$@"
}

version_of() # package
{
    sed -n 's/^Version: //p' "$work/files/$1"_*.dsc | head -n 1
}

# Debian's list of who wrote what, and upstream's own words where they lie on top.
keep_licences() # package
{
    cp "$work/$1/debian/copyright" "$prefix/licenses/$1.txt"
    for file in "$work/$1"/LICENSE* "$work/$1"/COPYING* "$work/$1"/Copyright; do
        test ! -f "$file" || cp "$file" "$prefix/licenses/$1-${file##*/}.txt"
    done
}

record()
{
    echo "recipe $recipe"
    echo "compiler $($cc --version | head -n 1)"
    for package in $packages; do
        echo "package $package $(version_of "$package")"
    done
    (cd "$work/files" && sha256sum -- *.dsc *.tar.* | sed 's/^/sha256 /')
}

# --- building ------------------------------------------------------------------

# Where CMake looks for other libraries: those built here, never the machine's own.
write_toolchain()
{
    cat > "$work/toolchain.cmake" << END
set(CMAKE_SYSTEM_NAME $system)
set(CMAKE_SYSTEM_PROCESSOR $processor)
set(CMAKE_C_COMPILER $cc)
$(test $system != Windows || echo "set(CMAKE_RC_COMPILER ${host}windres)")
set(CMAKE_FIND_ROOT_PATH $prefix$(test -z "$host" || echo " /usr/${host%-}"))
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
END
}

with_cmake() # package, folder of its CMakeLists.txt, options...
{
    source=$work/$1/$2
    build=$work/$1.build
    shift 2
    PKG_CONFIG_LIBDIR="$prefix/lib/pkgconfig" cmake -S "$source" -B "$build" \
        -DCMAKE_TOOLCHAIN_FILE="$work/toolchain.cmake" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_C_FLAGS="$cflags" -DCMAKE_C_FLAGS_RELEASE=-DNDEBUG \
        -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
        -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF "$@" &&
        cmake --build "$build" --parallel "$jobs" &&
        cmake --install "$build"
}

# A library of few files needs no build system.
by_hand() # archive, pkg-config name, version, flags, sources...
{
    archive=$1 name=$2 version=$3 flags=$4
    shift 4
    # The objects of two libraries may have the same names.
    mkdir -p "$work/$archive.objects"
    # shellcheck disable=SC2086
    (cd "$work/$archive.objects" &&
        printf '%s\n' "$@" | xargs -P "$jobs" -n 1 $cc $cflags -DNDEBUG $flags -c &&
        ${host}ar rcsD "$prefix/lib/lib$archive.a" ./*.o) || return
    write_pc "$name" "$version" "-l$archive" "-I\${includedir}"
}

# The folder may be moved: its files find each other by their own place.
write_pc() # pkg-config name, version, libraries, compiler flags
{
    printf '%s\n' 'prefix=${pcfiledir}/../..' 'libdir=${prefix}/lib' 'includedir=${prefix}/include' '' \
        "Name: $1" "Description: static, for $target" "Version: $2" "Libs: -L\${libdir} $3" "Cflags: $4" \
        > "$prefix/lib/pkgconfig/$1.pc"
}

# The version that Debian's begins with: 1:1.2.13.dfsg-1 is 1.2.13.
upstream_version() # package
{
    version_of "$1" | sed 's/^[0-9]*://; s/[-+].*//; s/\.dfsg.*//'
}

build_zlib()
{
    folder=$work/zlib
    by_hand z zlib "$(upstream_version zlib)" "-I$folder" "$folder"/*.c || return
    cp "$folder/zlib.h" "$folder/zconf.h" "$prefix/include"
}

build_libzstd()
{
    folder=$work/libzstd/lib
    by_hand zstd libzstd "$(upstream_version libzstd)" '-O3 -DZSTD_LEGACY_SUPPORT=0 -DZSTD_DISABLE_ASM' \
        "$folder"/common/*.c "$folder"/compress/*.c "$folder"/decompress/*.c || return
    cp "$folder/zstd.h" "$folder/zstd_errors.h" "$prefix/include"
}

build_xxhash()
{
    folder=$work/xxhash
    by_hand xxhash libxxhash "$(upstream_version xxhash)" "-I$folder -O3" "$folder/xxhash.c" || return
    cp "$folder/xxhash.h" "$folder/xxh3.h" "$prefix/include"
}

# Readers and writers of XML that is at hand: nothing is fetched, nothing validated.
build_libxml2()
{
    off=
    for part in C14N CATALOG DEBUG DOCB FTP HTML HTTP ICONV LEGACY LZMA MODULES PROGRAMS PYTHON REGEXPS \
        SCHEMAS SCHEMATRON TESTS VALID XINCLUDE XPATH XPTR ZLIB; do
        off="$off -DLIBXML2_WITH_$part=OFF"
    done
    # shellcheck disable=SC2086
    with_cmake libxml2 . $off || return
    behind='-lm -lpthread'
    test $system != Windows || behind=-lws2_32
    write_pc libxml-2.0 "$(upstream_version libxml2)" "-lxml2 $behind" "-I\${includedir}/libxml2 -DLIBXML_STATIC"
}

build_libzip()
{
    off=
    for part in COMMONCRYPTO GNUTLS MBEDTLS OPENSSL WINDOWS_CRYPTO BZIP2 LZMA ZSTD; do
        off="$off -DENABLE_$part=OFF"
    done
    # shellcheck disable=SC2086
    with_cmake libzip . $off -DBUILD_TOOLS=OFF -DBUILD_REGRESS=OFF -DBUILD_EXAMPLES=OFF -DBUILD_DOC=OFF || return
    write_pc libzip "$(upstream_version libzip)" '-lzip -lz' "-I\${includedir}"
}

# A symbol server speaks http or https.
build_curl()
{
    if test $system = Linux; then
        mkdir -p "$prefix/include/curl"
        cp "$work"/curl/include/curl/*.h "$prefix/include/curl"
        write_pc libcurl "$(upstream_version curl)" '' "-I\${includedir}"
        return
    fi
    with_cmake curl . -DBUILD_CURL_EXE=OFF -DHTTP_ONLY=ON -DCURL_USE_SCHANNEL=ON -DCURL_USE_OPENSSL=OFF \
        -DCURL_ZLIB=OFF -DCURL_USE_LIBSSH2=OFF -DCURL_USE_LIBPSL=OFF -DUSE_LIBIDN2=OFF -DENABLE_UNICODE=ON \
        -DCURL_DISABLE_MIME=ON -DENABLE_MANUAL=OFF || return
    write_pc libcurl "$(upstream_version curl)" '-lcurl -lws2_32 -lcrypt32 -lbcrypt -ladvapi32' \
        "-I\${includedir} -DCURL_STATICLIB"
}

# Its readers of other compressed formats than cabinets are a few kilobytes.
build_libmspack()
{
    folder=$work/libmspack
    cp "$folder/config.h.in" "$folder/config.h"
    by_hand mspack libmspack "$(upstream_version libmspack)" \
        "-I$folder -I$folder/mspack -DHAVE_CONFIG_H -DHAVE_INTTYPES_H -D_FILE_OFFSET_BITS=64 -DHAVE_FSEEKO -DSIZEOF_OFF_T=8" \
        "$folder"/mspack/*.c || return
    cp "$folder/mspack/mspack.h" "$prefix/include"
}

# Plain HTTP for a browser on the same machine: no TLS, no logins, no forms. The program calls it directly
# (cli/view/http_library.h), on Linux, too.
build_libmicrohttpd()
{
    case $target in
    windows-x64) for_host=--host=x86_64-w64-mingw32 behind=-lws2_32 ;;
    linux-arm64) for_host=--host=aarch64-linux-gnu behind=-lpthread ;;
    *) for_host= behind=-lpthread ;;
    esac
    # shellcheck disable=SC2086
    (cd "$work/libmicrohttpd" &&
        ./configure $for_host CC=$cc CFLAGS="$cflags" --prefix="$prefix" --libdir="$prefix/lib" --disable-shared --enable-static \
            --disable-https --disable-bauth --disable-dauth --disable-httpupgrade --disable-postprocessor --disable-messages \
            --disable-doc --disable-examples --disable-tools --disable-curl --with-threads=posix &&
        make -C src/include install && make -C src/microhttpd -j"$jobs" libmicrohttpd.la &&
        make -C src/microhttpd install-libLTLIBRARIES) || return
    rm -f "$prefix"/lib/libmicrohttpd.la
    write_pc libmicrohttpd "$(upstream_version libmicrohttpd)" "-lmicrohttpd $behind" "-I\${includedir} -DVIEW_HTTP_LINKED"
}

build_cmocka()
{
    with_cmake cmocka . -DWITH_STATIC_LIB=ON -DWITH_EXAMPLES=OFF -DUNIT_TESTING=OFF || return
    # Newer versions leave out the word.
    rm -f "$prefix/lib/libcmocka.dll.a"
    archive=$(basename "$prefix"/lib/libcmocka*.a .a)
    write_pc cmocka "$(upstream_version cmocka)" "-l${archive#lib}" "-I\${includedir}"
}

main
exit
