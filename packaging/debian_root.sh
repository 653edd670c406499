# debian_root.sh - a minimal Debian, made by debootstrap, which needs root. To be sourced.

# The mirror of this machine, if it is Debian's.
mirror()
{
    found=$(apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Identifier: Packages' 2> /dev/null | awk '$1 == "Debian" { print $2; exit }')
    echo "${found:-http://deb.debian.org/debian}"
}

# Makes it, unless an earlier run did.
make_debian_root() # folder, suite, packages with commas, log
{
    PATH=$PATH:/usr/sbin
    test ! -e "$1/etc/made" || return 0
    rm -rf "$1"
    debootstrap --variant=minbase --include="$3" "$2" "$1" "$(mirror)" > "$4" 2>&1 || {
        tail -n 5 "$4" >&2
        echo "no Debian $2 can be made here; the whole log is $4" >&2
        return 1
    }
    touch "$1/etc/made"
}
