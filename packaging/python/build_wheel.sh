#!/bin/sh
# Builds a wheel of the Python module and the library that it loads, with Debian's own packages
# (python3-build, python3-setuptools, python3-wheel) and without network:
#
#   build_wheel.sh LIBRARY VERSION FOLDER [LICENCES]      into FOLDER/etlheap-VERSION-py3-none-*.whl
#
# LIBRARY is libetlheap.so or etlheap.dll; the portable one of `make linux` needs libc alone. The tag names
# the oldest C library that it runs with, and is read from the library. LICENCES is the folder with those of
# what is linked into it. The same files give the same bytes, dated SOURCE_DATE_EPOCH.
set -eu
umask 022

library=$(realpath "${1:?build_wheel.sh needs the library}")
version=${2:?build_wheel.sh needs the version}
folder=$(realpath -m "${3:?build_wheel.sh needs the folder to build in}")
licences=${4-}
here=$(realpath "$(dirname "$0")")
work=$folder/wheel.work

# A version manager may have put another Python in front, without Debian's modules.
for python in ${PYTHON:-python3} /usr/bin/python3; do
    ! "$python" -c 'import build, setuptools, wheel' 2> /dev/null || break
    python=
done
test -n "$python" || {
    echo "a wheel needs Debian's modules; install them with: sudo apt-get install python3-build python3-setuptools python3-wheel" >&2
    exit 1
}

# The newest symbol of the C library that it refers to: GLIBC_2.31 is manylinux_2_31.
platform_of() # library
{
    case $1 in
    *.dll) echo win_amd64 ;;
    *)
        machine=$(readelf -h "$1" | sed -n 's/^ *Machine: *.*X86-64$/x86_64/p; s/^ *Machine: *AArch64$/aarch64/p')
        newest=$(readelf -W --version-info "$1" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
        others=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
            grep -cvE '^(libc|libm|libdl|libpthread|librt)\.so\.[0-9]+$|^ld-linux') || true
        # A library that needs others runs on systems like this one alone.
        test "$others" -gt 0 && echo "linux_$machine" || echo "manylinux_$(echo "${newest#GLIBC_}" | tr . _)_$machine"
        ;;
    esac
}

name_of() # library
{
    case $1 in
    *.dll) echo etlheap.dll ;;
    *) readelf -d "$1" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p' ;;
    esac
}

rm -rf "$work"
mkdir -p "$work/etlheap"
cp "$here/pyproject.toml" "$here/setup.py" "$work"
cp "$here/etlheap.py" "$work/etlheap/__init__.py"
cp "$here/py.typed" "$work/etlheap/py.typed"
cp "$here/../../LICENSE" "$work/LICENSE"
cp "$here/../../docs/python.md" "$work/README.md"
cp "$library" "$work/etlheap/$(name_of "$library")"
case $library in *.so*) strip --strip-unneeded "$work/etlheap/$(name_of "$library")" 2> /dev/null || true ;; esac
test -z "$licences" || cp -R "$licences" "$work/etlheap/licenses"
find "$work" -exec touch -d "@${SOURCE_DATE_EPOCH:-315532800}" {} +
WHEEL_VERSION=$version WHEEL_PLATFORM=$(platform_of "$library") SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-315532800} \
    "$python" -m build --wheel --no-isolation --outdir "$folder" "$work" > "$folder/wheel.log" 2>&1 || {
    tail -n 10 "$folder/wheel.log" >&2
    exit 1
}
rm -rf "$work"
ls "$folder"/etlheap-"$version"-py3-none-*.whl
