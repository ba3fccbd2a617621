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

# private_apt DIR ARCHITECTURE ARGUMENT...: as the host trusts its mirror, but with lists, state and cache in DIR, for that architecture alone.
private_apt() {
    local dir=$1 option
    local -a options=()
    for option in "APT::Architecture=$2" "APT::Architectures::=$2" APT::Install-Recommends=false APT::Get::List-Cleanup=false APT::Sandbox::User= Acquire::Languages=none \
        Acquire::Retries=3 Acquire::http::Timeout=20 "Dir::State=$dir/state" "Dir::State::status=$dir/status" "Dir::Cache=$dir/cache" "Dir::Etc::sourcelist=$dir/sources" Dir::Etc::sourceparts=/dev/null \
        Debug::NoLocking=true; do
        options+=(-o "$option")
    done
    shift 2
    apt-get -q "${options[@]}" "$@"
}

# debian_root DIR SUITE ARCHITECTURE FETCH...: a folder with packages, whole or not at all; FETCH... DIR-OF-APT downloads them. They are unpacked, not
# configured: no root is needed, and none of their programs runs. Links in it lead where they do for a process that has it as its root. Output: $log.
debian_root() {
    local to=$1 suite=$2 arch=$3 apt mirror deb link up
    apt=${to%/*}/.apt-${to##*/}
    shift 3
    # shellcheck disable=SC2016 # apt's own placeholder
    mirror=$(apt-get indextargets --format '$(SITE)' 'Identifier: Packages' | grep '/debian$' | head -n 1) || mirror=http://deb.debian.org/debian
    rm -rf --one-file-system "$to" "$to.new" "$apt"
    mkdir -p "$to.new" "$apt/state/lists/partial" "$apt/cache/archives/partial"
    : >"$apt/status"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$apt/sources"
    run_logged "$log" private_apt "$apt" "$arch" update || die "the registry has no lists of $suite for $arch"
    "$@" "$apt" || die "the registry does not give, of $suite for $arch, what is needed"
    for deb in "$apt"/cache/archives/*.deb; do
        dpkg-deb -x "$deb" "$to.new" || die "$deb cannot be unpacked"
    done
    (cd "$to.new" && find . -type l -lname '/*' -printf '%P\n' | while read -r link; do
        up=${link//[!\/]/}
        ln -sfn "${up//\//../}.$(readlink "$link")" "$link"
    done)
    [ -e "$to.new/lib" ] || ln -s usr/lib "$to.new/lib" # a merged /usr, whose links are made by another package
    mv "$to.new" "$to"
    rm -rf "$apt"
}

# make_chroot_exec FILE: tests/jvm/chroot-exec.c of today, compiled; its source lies beside it.
make_chroot_exec() {
    if ! cmp -s "$root/tests/jvm/chroot-exec.c" "$1.c"; then
        run_logged "$log" cc -std=gnu11 -O2 -Wall -Wextra -static -o "$1.new" "$root/tests/jvm/chroot-exec.c" || die "chroot-exec.c does not compile"
        mv "$1.new" "$1" # another process may be running the old one
        cp "$root/tests/jvm/chroot-exec.c" "$1.c"
    fi
}

# put_program FILE: standard input becomes that program, at once; one that is the same stays as it is. Somebody may run it.
put_program() {
    cat >"$1.new"
    chmod +x "$1.new"
    if cmp -s "$1.new" "$1"; then
        rm "$1.new"
    else
        mv -T "$1.new" "$1"
    fi
}

# put_link TARGET LINK: the same of a link.
put_link() {
    [ "$(readlink "$2")" = "$1" ] || { ln -sfn "$1" "$2.new" && mv -T "$2.new" "$2"; }
}

# wrap_chroot EXEC TREE HOME-IN-TREE DIR: a folder that looks like the JDK and whose programs run in the tree, which EXEC enters (make_chroot_exec).
wrap_chroot() {
    local file name
    mkdir -p "$4/bin"
    for file in "$2$3"/*; do
        name=${file##*/}
        case $name in
        bin | docs | man) ;;
        jre) wrap_chroot "$1" "$2" "$3/jre" "$4/jre" ;;
        *) put_link "$file" "$4/$name" ;;
        esac
    done
    for file in "$2$3"/bin/*; do
        name=${file##*/}
        printf '#!/bin/sh\nexec %s %s %s/bin/%s "$@"\n' "$1" "$2" "$3" "$name" | put_program "$4/bin/$name"
    done
}
