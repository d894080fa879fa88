#!/bin/sh
# Installs what building looptree needs: LLVM 22 with clang-22, and the autotools and C compiler that isl is built with.
# Says what it will do before it does it; does nothing where everything is there.
set -eu

llvm_prefix=${LLVM_SYS_221_PREFIX:-/usr/lib/llvm-22}
missing=
need() { # need PROGRAM-OR-FILE PACKAGE...
    probe=$1
    shift
    case $probe in
    /*) [ -e "$probe" ] && return 0 ;;
    *) command -v "$probe" >/dev/null 2>&1 && return 0 ;;
    esac
    missing="$missing $*"
}
need "$llvm_prefix/bin/llvm-config" llvm-22-dev
need "$llvm_prefix/bin/opt" llvm-22
need clang-22 clang-22
need "$llvm_prefix/lib/clang/22/lib/linux/libclang_rt.tsan-x86_64.a" libclang-rt-22-dev
need autoconf autoconf
need automake automake
need libtoolize libtool
need pkg-config pkg-config
need g++ g++
need gcc gcc
need make make

if ! command -v cargo >/dev/null 2>&1; then
    echo "setup: cargo is not there. Install Rust (stable) with rustup, then run this again." >&2
    exit 1
fi
[ -n "$missing" ] || exit 0

packages=$(printf '%s\n' $missing | sort -u | tr '\n' ' ')
if ! command -v apt-get >/dev/null 2>&1; then
    cat >&2 <<TXT
setup: this system has no apt-get. Please install by your package manager:
  LLVM 22 with headers and shared library (llvm-config under \$LLVM_SYS_221_PREFIX, now $llvm_prefix),
  clang 22 as clang-22, autoconf, automake, libtool, pkg-config, a C and a C++ compiler, make.
  Missing here, by Debian's names: $packages
TXT
    exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null 2>&1; then
        as_root=sudo
    else
        echo "setup: root is needed to install: $packages(no sudo here). Run as root: apt-get install $packages" >&2
        exit 1
    fi
fi
echo "setup: installing Debian packages: $packages" >&2
$as_root apt-get update -qq
if ! apt-cache show clang-22 >/dev/null 2>&1; then
    echo "setup: this system's package lists have no clang-22. It is in Debian 12's security archive; other systems:" >&2
    echo "setup: install LLVM 22 and clang-22 by hand and set LLVM_SYS_221_PREFIX." >&2
    exit 1
fi
# shellcheck disable=SC2086 # a list of packages
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $packages >/dev/null
echo "setup: done" >&2
