#!/bin/sh
# Coverage-guided fuzzing of everything that reads: `scripts/fuzz.sh MINUTES [TARGET...]`. Each target starts from its
# corpus in fuzz/corpus and from the files of the tests; what it finds on top lies in target/fuzz, and what fails in
# fuzz/artifacts. Fails if a target crashes, needs more than 2 GiB, leaks (LLVM's readers may), or takes more than 30
# seconds for an input.
set -eu
cd "$(dirname "$0")/.."
minutes=${1:?usage: scripts/fuzz.sh MINUTES [TARGET...]}
shift
[ $# -gt 0 ] || set -- lt recipe explore ir optimize

if ! cargo fuzz --version >/dev/null 2>&1; then
    echo "fuzz: installing cargo-fuzz" >&2
    cargo install cargo-fuzz --locked
fi
# The sanitizer's flags are not stable.
export RUSTC_BOOTSTRAP=1
made=$PWD/target/fuzz/made
mkdir -p "$made/recipe" "$made/ir"
sed -n 's/^; test apply //p' tests/lt/*.lt | sort -u | split -l 1 - "$made/recipe/"
for file in proof/cases/*.ll tests/loopfuse/*.ll; do
    # Not all of them are meant to parse.
    "${LLVM_SYS_221_PREFIX:-/usr/lib/llvm-22}/bin/llvm-as" "$file" -o "$made/ir/$(basename "$file" .ll).bc" 2>/dev/null || true
done

for target in "$@"; do
    leaks=1
    case $target in
    lt | explore) seeds="fuzz/corpus/lt tests/lt proof/cases" ;;
    ir | optimize)
        seeds="fuzz/corpus/ir proof/cases tests/loopfuse $made/ir"
        # LLVM's readers leak where input is malformed; tests/leaks.rs looks after modules that are not.
        leaks=0
        ;;
    recipe) seeds="fuzz/corpus/recipe $made/recipe" ;;
    *)
        echo "fuzz: there is no target $target" >&2
        exit 2
        ;;
    esac
    grown=$PWD/target/fuzz/grown/$target
    mkdir -p "$grown"
    # shellcheck disable=SC2086 # a list of directories
    ASAN_OPTIONS=detect_leaks=$leaks cargo fuzz run "$target" "$grown" $seeds -- -detect_leaks=$leaks \
        -max_total_time=$((minutes * 60)) -max_len=16384 -timeout=30 -rss_limit_mb=2048 -dict=fuzz/words.dict
done
