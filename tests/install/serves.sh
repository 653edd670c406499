# serves.sh - does an installed program serve its page? Sourced by the scripts of this folder; needs
# bash only, because the systems in which programs are tried have nothing else.

# One request, over the loopback that all systems of this machine share; prints the answer.
ask_page() # port, path
{
    local answer
    exec 9<> "/dev/tcp/127.0.0.1/$1" || return 1
    printf 'GET %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\n\r\n' "$2" "$1" >&9
    answer=$(cat <&9)
    exec 9>&- 9<&-
    printf '%s\n' "$answer"
}

# The page, its script and an answer come, a wrong token is refused, and SIGTERM ends it with status 0.
serves() # trace, command that starts etlheap...
{
    local trace=$1 folder url port path answer server wait=0 failed=
    shift
    folder=$(mktemp -d)
    "$@" view "$trace" --no-symbols --idle 60s > "$folder/url" 2> "$folder/said" < /dev/null &
    server=$!
    while test ! -s "$folder/url" && kill -0 $server 2> /dev/null && test $wait -lt 300; do
        sleep 0.1
        wait=$((wait + 1))
    done
    url=$(cat "$folder/url")
    path=/${url#http://*/}
    port=${url#http://127.0.0.1:}
    port=${port%%/*}
    if test -z "$url"; then
        failed="it printed no address"
    else
        case $(ask_page "$port" "$path") in *'200 OK'*'view.js'*'</html>'*) ;; *) failed="no page" ;; esac
        case $(ask_page "$port" "${path}view.js") in *'200 OK'*'use strict'*) ;; *) failed="no script" ;; esac
        wait=0
        while answer=$(ask_page "$port" "${path}api/report?top=1") && test $wait -lt 300; do
            case $answer in *'503 '*) sleep 0.1 ;; *) break ;; esac
            wait=$((wait + 1))
        done
        case $answer in *'200 OK'*'"etlheap-report-1"'*) ;; *) failed="no report" ;; esac
        case $(ask_page "$port" "/00000000000000000000000000000000/") in *' 403 '*) ;; *) failed="a wrong token is not refused" ;; esac
    fi
    kill -TERM $server 2> /dev/null
    wait $server || failed="${failed:-status $? at the end}"
    test -z "$failed" || { echo "$failed"; cat "$folder/said"; }
    rm -rf "$folder"
    test -z "$failed"
}
