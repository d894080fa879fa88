#!/bin/sh
# Installs HyperQueue's command `hq` into target/hyperqueue, where the tests of `looptree tune --engine hq` look for it, from
# its sources: its packages on PyPI hold the Python interface only. Takes a few minutes of processor time.
set -eu
cd "$(dirname "$0")/.."
version=0.26.2
if [ -x target/hyperqueue/bin/hq ]; then
    exit 0
fi
cargo install --git https://github.com/It4innovations/hyperqueue --tag "v$version" --locked --root target/hyperqueue \
    --no-default-features --features microlp hyperqueue
