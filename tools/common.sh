#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What the scripts of this folder share. Sourced, never run.
set -euo pipefail
export LC_ALL=C.UTF-8
# shellcheck disable=SC2034 # for the scripts that source this
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
: "${JDKS:=/opt/jdks}" # where tools/jdks puts JDKs that the distribution lacks

say() { printf '%s: %s\n' "${0##*/}" "$*"; }
die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "needs root or sudo: $*"
    fi
}

# run_logged LOG COMMAND...: quiet when it works; the end of the log, and where it is, when it does not.
run_logged() {
    local log=$1
    shift
    mkdir -p "$(dirname "$log")"
    if "$@" >"$log" 2>&1; then
        return 0
    fi
    tail -n 25 "$log" | sed 's/^/    | /'
    printf '    | all of it: %s\n' "$log"
    return 1
}

# jdk_version HOME: the feature release of the JDK there (8, 17, 25), nothing where there is none.
jdk_version() {
    local v
    [ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] && [ -r "$1/release" ] || return 0
    v=$(sed -n 's/^JAVA_VERSION="\(.*\)".*/\1/p' "$1/release")
    v=${v#1.}
    printf '%s\n' "${v%%[!0-9]*}"
}

# find_jdk VERSION: the home of an installed JDK, else of one that tools/jdks made; status 1 where there is neither.
# HPX_JDK_DIRS (a list of folders, colons between) replaces the places searched; empty: only tools/jdks counts.
find_jdk() {
    local want=$1 named="JAVA_HOME_$1" home dir
    local -a homes=() dirs=()
    if [ -z "${HPX_JDK_DIRS+set}" ]; then
        homes=("${!named:-}" "${JAVA_HOME:-}")
        dirs=(/usr/lib/jvm /opt/java /opt/jdk /usr/java "${HOME:-/}/.sdkman/candidates/java" "${HOME:-/}/.jdks")
    else
        IFS=: read -r -a dirs <<<"$HPX_JDK_DIRS"
    fi
    for dir in "${dirs[@]}"; do
        [ -z "$dir" ] || homes+=("$dir" "$dir"/*)
    done
    homes+=("$JDKS/$want")
    for home in "${homes[@]}"; do
        if [ -n "$home" ] && [ "$(jdk_version "$home")" = "$want" ]; then
            (cd "$home" && pwd -P)
            return 0
        fi
    done
    return 1
}
