#!/bin/sh
# Installs HyperQueue's command `hq` into target/hyperqueue, where the tests of `looptree tune --engine hq` look for it, from
# its sources: its packages on PyPI hold the Python interface only. HYPERQUEUE=DIR takes the sources from a copy that is there,
# for machines that reach no repository. Takes a few minutes of processor time.
set -eu
cd "$(dirname "$0")/.."
version=0.26.2
if [ -x target/hyperqueue/bin/hq ]; then
    exit 0
fi
if [ -n "${HYPERQUEUE:-}" ]; then
    set -- --path "$HYPERQUEUE/crates/hyperqueue"
else
    set -- --git https://github.com/It4innovations/hyperqueue --tag "v$version" hyperqueue
fi
cargo install "$@" --locked --root target/hyperqueue --no-default-features --features microlp
