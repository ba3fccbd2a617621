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

# jdk_build HOME: the build of the JDK there, as 17.0.17+10-Debian-1. Distributions leave out the file `release` of JDK 8: then the JVM says it.
jdk_build() {
    if [ -r "$1/release" ] && grep -q '^JAVA_RUNTIME_VERSION=' "$1/release"; then
        sed -n 's/^JAVA_RUNTIME_VERSION="\(.*\)"/\1/p' "$1/release"
    else
        "$1/bin/java" -version 2>&1 | sed -n 's/.* (build \([^)]*\))$/\1/p' | head -n 1
    fi
}

# jdk_version HOME: the feature release of the JDK there (8, 17, 25), nothing where there is none.
jdk_version() {
    local v
    [ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] || return 0
    if [ -r "$1/release" ]; then
        v=$(sed -n 's/^JAVA_VERSION="\(.*\)".*/\1/p' "$1/release")
    elif [ -d "$1/jre/lib" ]; then # none but JDK 8 has it
        v=$(jdk_build "$1")
    else
        return 0
    fi
    v=${v#1.}
    printf '%s\n' "${v%%[!0-9]*}"
}

# jdk_homes LABEL: the folders in which a JDK of that label may be, one a line, in the order of preference.
# HPX_JDK_DIRS (a list of folders, colons between) replaces the places searched; empty: only tools/jdks counts.
jdk_homes() {
    local named="JAVA_HOME_$1" dir
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
    homes+=("$JDKS/$1")
    for dir in "${homes[@]}"; do
        if [ -n "$dir" ] && [ -d "$dir/bin" ]; then
            printf '%s\n' "$dir"
        fi
    done
}

# find_jdk LABEL: the home of an installed JDK, else of one that tools/jdks made; status 1 where there is neither.
# A label is a feature release, with the name of a VM behind it where that is not the server VM: 17, 17zero.
find_jdk() {
    local want=$1 home
    while read -r home; do
        if [ "$(jdk_version "$home")" = "${want%zero}" ] && { [ "$want" = "${want%zero}" ] || [ -e "$home/lib/zero/libjvm.so" ]; }; then
            (cd "$home" && pwd -P)
            return 0
        fi
    done < <(jdk_homes "$want")
    return 1
}

# present_jdks: the labels of the JDKs from 8 on that find_jdk finds without an installation, the lowest first.
present_jdks() {
    local home label
    {
        while read -r home; do
            jdk_version "$home"
            [ ! -e "$home/lib/zero/libjvm.so" ] || printf '%szero\n' "$(jdk_version "$home")"
        done < <(jdk_homes "")
        for home in "$JDKS"/*; do
            [ ! -d "$home/bin" ] || printf '%s\n' "${home##*/}"
        done
    } | grep -xE '([89]|[1-9][0-9])(zero)?' | sort -Vu | while read -r label; do
        [ -z "$(find_jdk "$label")" ] || printf '%s\n' "$label"
    done
}
