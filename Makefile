# Two commands to start with: `make explore` and `make test`. Both install what is missing first (scripts/setup.sh).
CARGO ?= cargo
KERNEL ?= bench/kernels/gemm_ijk.c
MINUTES ?= 60

.PHONY: explore test setup build lint package bench compare bless soak fuzz tsan python-test clean

setup:
	@sh scripts/setup.sh

build: setup
	$(CARGO) build --release -p looptree -p looptree-plugin

## Explore a bundled C kernel with measured times: `make explore KERNEL=path.c`.
explore: build
	$(CARGO) run --quiet --release --bin looptree -- explore $(KERNEL) --function kernel_$(basename $(notdir $(KERNEL))) --measure -- -march=native

## All tests.
test: setup
	$(CARGO) test --workspace --exclude benches --no-fail-fast

## Formatting and warnings as errors.
lint: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(CARGO) clippy -p looptree --lib --no-default-features -- -D warnings

## The crates as they would be published, in order of dependence: files, metadata, versions. Without a network as far as that goes.
PUBLISHED = --workspace --exclude bench --exclude benches --exclude proof --exclude looptree-python --no-verify --allow-dirty
package: setup
	$(CARGO) publish --dry-run $(PUBLISHED) || $(CARGO) package --offline $(PUBLISHED)

## Original clang -O3 against our variants, over all kernels: table, JSON and chart.
compare: setup
	$(CARGO) run --release -p bench -- compare --top 10

## Micro-benchmarks, then figures of speed and memory beside what is wanted (target/figures).
bench: setup
	$(CARGO) bench -p benches
	$(CARGO) run --release -p bench -- figures

## Rewrite expected outputs of the file tests; read the diff before committing.
bless: setup
	BLESS=1 TRYCMD=overwrite $(CARGO) test --workspace --exclude benches

## Random programs against the original, and the oracle against enumeration, for so many minutes: `make soak MINUTES=60`.
soak: setup
	$(CARGO) run --release -p proof -- soak --minutes $(MINUTES)

## Coverage-guided fuzzing of everything that reads, each target for so many minutes: `make fuzz MINUTES=10`.
fuzz: setup
	sh scripts/fuzz.sh $(MINUTES)

## The search under ThreadSanitizer, with 1, 2 and 8 threads (nightly Rust).
tsan: setup
	@sh scripts/tsan.sh

## The Python package, installed into a clean virtual environment, and its tests.
python-test: setup
	@sh scripts/python.sh

clean:
	$(CARGO) clean
