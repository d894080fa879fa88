#!/bin/sh
# The search under ThreadSanitizer, on kernels of tests/lt and of bench/kernels: fails where a race is reported, or where a
# result depends on the number of threads. Needs nightly Rust with rust-src.
#
# Instrumented are all Rust code with its standard library, isl, and the shim over LLVM; LLVM and the C++ library are not:
# what goes on inside of them is not seen. Trees need no LLVM; C does, on one thread.
set -eu
cd "$(dirname "$0")/.."
target=x86_64-unknown-linux-gnu
# A place of its own: isl is built with other flags here.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/tsan"
# isl's programs are linked when it is built, so clang links them with the runtime that the objects ask for.
ISL_CFLAGS="-fsanitize=thread -gline-tables-only" CC=clang-22 CXX=clang++-22 CXXFLAGS=-fsanitize=thread \
    RUSTFLAGS=-Zsanitizer=thread \
    cargo +nightly build -Zbuild-std --target $target --release --bin looptree
looptree=$CARGO_TARGET_DIR/$target/release/looptree

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
# Every report ends the run with this code.
export TSAN_OPTIONS="exitcode=66 halt_on_error=0${TSAN_OPTIONS:+ $TSAN_OPTIONS}"
failed=0
explore() { # explore FILE ARGUMENT...
    for threads in 1 2 8; do
        # The quota is such that some questions exceed it.
        if ! "$looptree" explore "$@" --target x86_64_avx2 --quota 300 --top 100000 --why-not --format json --jobs $threads \
            >"$results/$threads" 2>"$results/report"; then
            echo "FAILED: $* with $threads threads" >&2
            head -n 60 "$results/report" >&2
            failed=1
        elif ! cmp -s "$results/1" "$results/$threads"; then
            echo "FAILED: $* differs between 1 thread and $threads" >&2
            diff "$results/1" "$results/$threads" | head -n 20 >&2 || true
            failed=1
        fi
    done
    echo "$1: $(wc -c <"$results/8") bytes of results"
}
for kernel in tile fuse stencil aliases predicates reductions permute; do
    explore tests/lt/$kernel.lt
done
explore tests/lt/distribute.lt --strategy exhaustive --depth 3
explore tests/lt/unroll_and_jam.lt --strategy beam
for kernel in trmm mvt; do
    explore bench/kernels/$kernel.c --max-variants 250
done
exit $failed
