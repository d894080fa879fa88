//! What can be said on the command line.

use super::recipes;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// A loop optimizer: finds, proves, ranks and emits variants of loop nests.
#[derive(Parser, Debug)]
#[command(name = "looptree", version = version(), about, max_term_width = 110)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Say on standard error where the time went, by phase; a phase inside of another counts in both, and threads add up.
    #[arg(long, global = true)]
    pub timings: bool,
}

/// Ours, and those of what results depend on.
fn version() -> &'static str {
    let (llvm, isl) = (looptree::irgen::llvm::version(), looptree::analyses::isl_version());
    // Asked for once.
    format!("{}\nLLVM {llvm}, isl {isl}", env!("CARGO_PKG_VERSION")).leak()
}

/// A factor that makes sense.
fn gain(text: &str) -> Result<f64, String> {
    let gain = text.parse().ok().filter(|g: &f64| g.is_finite() && *g > 0.0);
    gain.ok_or_else(|| "a factor is wanted, such as 1.5".to_string())
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Enumerate variants of loop nests, prove them, rank them, and measure them on request.
    Explore(ExploreArguments),
    /// Optimize LLVM IR: every function, or one.
    Opt(OptArguments),
    /// Apply a recipe and print the result with the oracle's verdict.
    Apply(ApplyArguments),
    /// Execute a `.lt` program, or the nests of C or IR, with the reference interpreter.
    Run(RunArguments),
    /// Print the loop tree, its accesses and its dependences.
    Show(ShowArguments),
    /// Say why a loop is not faster: what it is bound by, what was tried, what forbids more, what to change in the source.
    Why(WhyArguments),
    /// Fuse neighbouring loops, and nothing else; say of each pair what became of it, and why.
    Fuse(FuseArguments),
    /// Say which temporary arrays need no memory when nests are fused, how, and what that saves.
    Memory(MemoryArguments),
    /// Print how recipes are written, and the manual of their transformations, each with an example.
    #[command(after_long_help = recipes::page())]
    Recipes(RecipesArguments),
    /// Print completions for a shell: `looptree completions bash > /etc/bash_completion.d/looptree`.
    Completions(CompletionsArguments),
    /// Write manual pages, one for each command, into a directory.
    Man(ManArguments),
    /// Measure this machine's numbers, for predictions that fit it; `--target native` then uses them.
    Calibrate(CalibrateArguments),
    /// Search by measuring, over many files, sizes and machines; keep all samples in a database, which `opt --tuned` uses.
    #[command(after_long_help = TUNE_EXAMPLES)]
    Tune(TuneArguments),
    /// Measure one work item of `tune --emit-work` and print the report as a line of JSON.
    Measure(MeasureArguments),
    /// Compile C as clang-22 does, with the plugin: `CC='looptree cc' make`. All flags are clang's.
    Cc(CompilerArguments),
    /// Compile C++ likewise.
    #[command(name = "c++")]
    Cxx(CompilerArguments),
}

/// `looptree cc`, `looptree c++`. Options of the plugin are in the environment variable LOOPTREE, such as `min-gain=2,remarks`.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
pub struct CompilerArguments {
    /// As for clang. Where the first one names a compiler, it is that clang: `CMAKE_C_COMPILER_LAUNCHER='looptree;cc'`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<std::ffi::OsString>,
}

/// Input shared by the commands.
#[derive(Args, Debug, Clone)]
pub struct InputArguments {
    /// A file of C or C++ (`.c`, `.h`, `.cpp`, `.cc`, ...), of LLVM IR (`.ll`, `.bc`, and what has no known name) or a loop tree
    /// (`.lt`); `-` reads LLVM IR or a loop tree from standard input.
    pub file: PathBuf,
    /// Only this function: `sum`, `grid::sum(double*, int)`, or its symbol.
    #[arg(long, short = 'f', value_name = "NAME")]
    pub function: Option<String>,
    /// Only this region of the function, counted from 0 in textual order.
    #[arg(long, value_name = "NUMBER")]
    pub region: Option<usize>,
    /// Flags for clang-22 where the input is C or C++: `-- -march=native -DN=100`.
    #[arg(last = true, value_name = "CLANG FLAGS")]
    pub clang_flags: Vec<String>,
}

/// Which implementation of each analysis, which target, which sizes.
#[derive(Args, Debug, Clone)]
pub struct ModelArguments {
    /// Value of a parameter, for ranking and measuring: `--param n=1000`. Others get what callers in the module pass, else
    /// `--default-param`.
    #[arg(long = "param", short = 'p', value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// Value of parameters that are neither given nor shown by a caller.
    #[arg(long, value_name = "VALUE", default_value_t = 1000)]
    pub default_param: i64,
    /// The machine costs are predicted for: `native`, as calibrated where it was; a file of `looptree calibrate` (`.json`); a
    /// table: `x86_64_avx2`, `x86_64_avx512`, `sapphirerapids`, `znver3`, `znver4`, `znver5`, `generic`; `llvm`: this machine with
    /// the costs of LLVM's TargetTransformInfo, or `llvm:CPU` for a processor such as `llvm:znver4`.
    #[arg(long, default_value = "native")]
    pub target: String,
    /// Threads that may share the iterations of a loop, in the code that is made: with more than one it is linked with an OpenMP
    /// runtime, `-fopenmp` or `-lomp`, and as many threads run as that is told, this number at most.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: u32,
    /// Library whose functions may be called in the place of nests, beside the C library; may be repeated. Its sums are ordered and
    /// rounded in its own way, so that it is called where the flags of operations allow that (`-ffast-math`), or with `--reorder`.
    #[arg(long, value_name = "NAME", value_parser = looptree::analyses::idioms::LIBRARIES)]
    pub library: Vec<String>,
    /// Call libraries also where that changes how numbers are rounded.
    #[arg(long, requires = "library")]
    pub reorder: bool,
    /// How costs are predicted.
    #[arg(long, value_enum, default_value_t = CostModelChoice::Analytic)]
    pub cost_model: CostModelChoice,
    /// Which dependence analysis proves variants: `none`, `flat`, `polyhedral`.
    #[arg(long, default_value = "polyhedral")]
    pub dependences: String,
    /// What finds closed forms of values and trip counts in IR: `none`, `recurrences`, or LLVM's `scalar-evolution`.
    #[arg(long, value_name = "NAME", default_value = "recurrences")]
    pub closed_forms: String,
    /// What finds the elements that accesses touch: `linear` (one dimension), `delinearised` (rows from strides), or
    /// `types` (rows that types spell out).
    #[arg(long, value_name = "NAME", default_value = "delinearised")]
    pub accesses: String,
    /// What knows of branches inside of a body: `cfg` (the graph), or `predicates` (also which conditions are the same).
    #[arg(long, value_name = "NAME", default_value = "cfg")]
    pub control_flow: String,
    /// Operations that isl may spend on one question before the variant is refused.
    #[arg(long, value_name = "OPERATIONS")]
    pub quota: Option<u64>,
}

/// How many variants are tried, and how.
#[derive(Args, Debug, Clone)]
pub struct SearchArguments {
    /// Steps in a recipe at most.
    #[arg(long, short = 'd')]
    pub depth: Option<usize>,
    /// Variants kept from one depth to the next.
    #[arg(long, short = 'b')]
    pub beam: Option<usize>,
    /// How the space is searched.
    #[arg(long, value_enum, default_value_t = StrategyChoice::Guided)]
    pub strategy: StrategyChoice,
    /// Distinct variants at most.
    #[arg(long, value_name = "COUNT")]
    pub max_variants: Option<usize>,
    /// Leave this sketch out; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub without_sketch: Vec<String>,
    /// Threads that search; results do not depend on it. Default: one per core.
    #[arg(long, short = 'j', value_name = "COUNT",
        value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(..=1024))]
    pub jobs: Option<usize>,
}

/// `looptree explore`
#[derive(Args, Debug)]
pub struct ExploreArguments {
    /// Input.
    #[command(flatten)]
    pub input: InputArguments,
    /// Model.
    #[command(flatten)]
    pub model: ModelArguments,
    /// Search.
    #[command(flatten)]
    pub search: SearchArguments,
    /// Variants shown, and measured: of those that differ in sizes only, the first.
    #[arg(long, short = 'k', default_value_t = 10)]
    pub top: usize,
    /// Compile the variants shown, run them interleaved with the original on generated inputs, compare results bit
    /// for bit, and report times.
    #[arg(long, short = 'm')]
    pub measure: bool,
    /// Other files of the program, where the function measured needs them: C, LLVM IR or objects (`.o`).
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "measure")]
    pub with: Vec<PathBuf>,
    /// Seconds after which the first call of a function that is measured is given up.
    #[arg(long, value_name = "SECONDS", default_value_t = 300, requires = "measure",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub measure_limit: u32,
    /// Print the terms of the predicted cost of the variants shown.
    #[arg(long)]
    pub explain: bool,
    /// List refused variants with the dependence that forbids them.
    #[arg(long)]
    pub why_not: bool,
    /// Write each variant shown as `.lt`, `.ll`, `.c` and recipe, and a summary, into this directory.
    #[arg(long, value_name = "DIR")]
    pub dump: Option<PathBuf>,
    /// Write a report for a browser: one file, in which all legal variants are compared, drawn and explained. `-` is standard
    /// output.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write single plots into this directory: for each nest, the gains of its variants and its roofline, as SVG.
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// `looptree opt`
#[derive(Args, Debug)]
pub struct OptArguments {
    /// Input.
    #[command(flatten)]
    pub input: InputArguments,
    /// Output; `-` is standard output. `.bc` files get bitcode, all others text.
    #[arg(long, short = 'o', default_value = "-")]
    pub output: PathBuf,
    /// The recipe: text, the name of a file, `'#3'` for the variant of that number in `explore`, or `best` for what the search
    /// finds.
    #[arg(long, default_value = "best")]
    pub recipe: String,
    /// Take what `looptree tune` found fastest for the same nest, on this processor and code for the same vectors; where it found
    /// nothing, the prediction counts. What is taken is proved as ever.
    #[arg(long, value_name = "DB", conflicts_with_all = ["measure", "recipe"])]
    pub tuned: Option<PathBuf>,
    /// Of the variants ranked first, take the one that measures fastest; the original where none is faster. Functions are
    /// called on generated inputs, as by `explore --measure`; where that cannot be, the prediction counts.
    #[arg(long, short = 'm')]
    pub measure: bool,
    /// Variants measured of each region.
    #[arg(long, short = 'k', default_value_t = 10, requires = "measure")]
    pub top: usize,
    /// Other files of the program, where functions measured need them: C, LLVM IR or objects (`.o`).
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "measure")]
    pub with: Vec<PathBuf>,
    /// Seconds after which the first call of a function that is measured is given up.
    #[arg(long, value_name = "SECONDS", default_value_t = 300, requires = "measure",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub measure_limit: u32,
    /// Model.
    #[command(flatten)]
    pub model: ModelArguments,
    /// Search.
    #[command(flatten)]
    pub search: SearchArguments,
    /// Predicted gain below which the original code is kept: 1.5 asks for half as much again.
    #[arg(long, default_value_t = looptree::driver::MIN_GAIN, value_parser = gain)]
    pub min_gain: f64,
    /// Print remarks: what was done, what was not and why.
    #[arg(long)]
    pub remarks: bool,
    /// What is written: the module, or with `c` a function of C for each region that changes, called `FUNCTION_NUMBER`: run-time
    /// check, variant, original order. Of a `.lt` file only `c` can be written.
    #[arg(long, value_enum, value_name = "LANGUAGE", default_value_t = Language::Llvm)]
    pub emit: Language,
}

/// In which language code is written.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// LLVM IR.
    Llvm,
    /// C11, as gcc and clang take it.
    C,
}

/// `looptree apply`
#[derive(Args, Debug)]
pub struct ApplyArguments {
    /// Input.
    #[command(flatten)]
    pub input: InputArguments,
    /// The recipe: text, the name of a file, or `'#3'` for the variant of that number in `explore`.
    #[arg(long)]
    pub recipe: String,
    /// Model.
    #[command(flatten)]
    pub model: ModelArguments,
    /// Search, for variants by number.
    #[command(flatten)]
    pub search: SearchArguments,
    /// Print code instead of the tree: LLVM IR, or with `--emit=c` a function of C.
    #[arg(long, value_enum, value_name = "LANGUAGE", num_args = 0..=1, require_equals = true, default_missing_value = "llvm")]
    pub emit: Option<Language>,
    /// Print the terms of the predicted cost of the original and of the variant, in front of the tree.
    #[arg(long, conflicts_with = "emit")]
    pub explain: bool,
    /// Output; `-` is standard output.
    #[arg(long, short = 'o', default_value = "-")]
    pub output: PathBuf,
}

/// `looptree run`
#[derive(Args, Debug)]
pub struct RunArguments {
    /// A `.lt` file, or C, C++ or LLVM IR, of which each nest runs by itself; `-` reads LLVM IR or a loop tree from standard input.
    pub file: PathBuf,
    /// Only this function: `sum`, `grid::sum(double*, int)`, or its symbol.
    #[arg(long, short = 'f', value_name = "NAME")]
    pub function: Option<String>,
    /// Only this region of the function, counted from 0 in textual order.
    #[arg(long, value_name = "NUMBER")]
    pub region: Option<usize>,
    /// Value of a parameter: `--param n=10`.
    #[arg(long = "param", short = 'p', value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// Value of parameters that are not given.
    #[arg(long, value_name = "VALUE", default_value_t = 8)]
    pub default_param: i64,
    /// Statement instances at most.
    #[arg(long, default_value_t = 100_000_000)]
    pub fuel: u64,
    /// Print the statement instances in order.
    #[arg(long)]
    pub trace: bool,
    /// Run the variant of the file, where it has one, and compare with the original.
    #[arg(long)]
    pub compare: bool,
    /// Flags for clang-22 where the input is C or C++: `-- -march=native -DN=100`.
    #[arg(last = true, value_name = "CLANG FLAGS")]
    pub clang_flags: Vec<String>,
}

/// `looptree show`
#[derive(Args, Debug)]
pub struct ShowArguments {
    /// Input.
    #[command(flatten)]
    pub input: InputArguments,
    /// Model.
    #[command(flatten)]
    pub model: ModelArguments,
    /// What to print; several may be given. Default: the tree.
    #[arg(long, value_enum)]
    pub what: Vec<Part>,
}

/// `looptree recipes`
#[derive(Args, Debug)]
pub struct RecipesArguments {
    /// Only this transformation.
    pub name: Option<String>,
}

/// `looptree completions`
#[derive(Args, Debug)]
pub struct CompletionsArguments {
    /// For which shell.
    pub shell: clap_complete::Shell,
}

/// `looptree man`
#[derive(Args, Debug)]
pub struct ManArguments {
    /// The directory; it is made where it is not there.
    pub directory: PathBuf,
}

/// `looptree why`
#[derive(Args, Debug)]
pub struct WhyArguments {
    /// A file as for the other commands, or `FILE:LINE` for the nests around that line; a column behind it is no matter.
    pub file: PathBuf,
    /// Only this function: `sum`, `grid::sum(double*, int)`, or its symbol.
    #[arg(long, short = 'f', value_name = "NAME")]
    pub function: Option<String>,
    /// Model.
    #[command(flatten)]
    pub model: ModelArguments,
    /// Search.
    #[command(flatten)]
    pub search: SearchArguments,
    /// Flags for clang-22 where the input is C or C++: `-- -march=native -DN=100`.
    #[arg(last = true, value_name = "CLANG FLAGS")]
    pub clang_flags: Vec<String>,
}

/// `looptree fuse`
#[derive(Args, Debug)]
pub struct FuseArguments {
    /// Input.
    #[command(flatten)]
    pub input: InputArguments,
    /// Output: IR where the input is C or IR, the tree where it is one; `-` is standard output. Default: none with --explain, else
    /// standard output.
    #[arg(long, short = 'o')]
    pub output: Option<PathBuf>,
    /// Say of each pair of neighbouring loops what became of it: fused how, and under which conditions; or what forbids it.
    #[arg(long)]
    pub explain: bool,
    /// Also where the fused loop is predicted to be slower, as LLVM's pass does.
    #[arg(long)]
    pub always: bool,
    /// Write remarks in LLVM's format of optimisation records (YAML), which opt-viewer reads.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Model.
    #[command(flatten)]
    pub model: ModelArguments,
}

/// `looptree memory`
#[derive(Args, Debug)]
pub struct MemoryArguments {
    /// Input.
    #[command(flatten)]
    pub input: InputArguments,
    /// Model: sizes count, and which analyses prove.
    #[command(flatten)]
    pub model: ModelArguments,
}

/// `looptree calibrate`
#[derive(Args, Debug)]
pub struct CalibrateArguments {
    /// The target file, for `--target FILE`. Default: where `--target native` looks, by processor in the user's cache, or what
    /// LOOPTREE_TARGET names; `-` is standard output.
    #[arg(long, short = 'o', value_name = "FILE.json")]
    pub output: Option<PathBuf>,
}

const TUNE_EXAMPLES: &str = "\
Examples:
  looptree tune gemm.c syrk.c --size n=500 --size n=2000 -- -march=native
      measure here; the same again goes on where it was interrupted
  looptree tune --db other.db                           what a database holds
  looptree tune --merge node1.db node2.db               take in what others have found
  looptree opt gemm.ll --tuned looptree.db -o out.ll    use it

On other machines, which need the same files under the same names:
  looptree tune gemm.c --emit-work work.jsonl -- -march=native
  parallel -j 1 looptree measure --item {} < work.jsonl > reports.jsonl
  sbatch --array 1-$(wc -l < work.jsonl) --wrap \\
      'sed -n ${SLURM_ARRAY_TASK_ID}p work.jsonl | looptree measure --item - -o report.$SLURM_ARRAY_TASK_ID'
  looptree tune --collect reports.jsonl report.*

With a HyperQueue server and workers running:
  looptree tune gemm.c --engine hq -- -march=native";

/// `looptree tune`
#[derive(Args, Debug)]
pub struct TuneArguments {
    /// Files, as for the other commands; without any, what the database holds is printed.
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The database; it is made where it is not there.
    #[arg(long, value_name = "DB", default_value = "looptree.db")]
    pub db: PathBuf,
    /// Only this function: `sum`, `grid::sum(double*, int)`, or its symbol.
    #[arg(long, short = 'f', value_name = "NAME")]
    pub function: Option<String>,
    /// Values of parameters to measure at: `--size n=500,m=20`; may be repeated, and each is measured.
    #[arg(long, short = 's', value_name = "NAME=VALUE,...")]
    pub size: Vec<String>,
    /// Value of parameters that no size gives and no caller shows.
    #[arg(long, value_name = "VALUE", default_value_t = 1000)]
    pub default_param: i64,
    /// The machine that variants are ranked for before they are measured, as for `explore`.
    #[arg(long, default_value = "native")]
    pub target: String,
    /// Search for what is worth being measured.
    #[command(flatten)]
    pub search: SearchArguments,
    /// Variants measured of each nest, those ranked first.
    #[arg(long, short = 'k', value_name = "COUNT", default_value_t = 10)]
    pub top: usize,
    /// Other files of the program, where functions need them: C, LLVM IR or objects (`.o`).
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub with: Vec<PathBuf>,
    /// What runs the measurements.
    #[arg(long, value_enum, default_value_t = Engine::Local)]
    pub engine: Engine,
    /// Measurements at once here. They disturb one another.
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    pub at_once: usize,
    /// Seconds after which a measurement is given up.
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub limit: u64,
    /// Measure again what was measured: samples add up.
    #[arg(long)]
    pub again: bool,
    /// Write what is to be measured, and was not on any machine, as lines of JSON, instead of measuring; `-` is standard output.
    #[arg(long, value_name = "FILE", conflicts_with = "engine")]
    pub emit_work: Option<PathBuf>,
    /// Take in reports of `looptree measure`, lines of JSON; `-` is standard input.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub collect: Vec<PathBuf>,
    /// Take in all of other databases.
    #[arg(long, value_name = "DB", num_args = 1..)]
    pub merge: Vec<PathBuf>,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Flags for clang-22 where the input is C or C++: `-- -march=native`.
    #[arg(last = true, value_name = "CLANG FLAGS")]
    pub clang_flags: Vec<String>,
}

/// What runs measurements.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// This machine, in processes of their own.
    Local,
    /// HyperQueue: a task for each, which `hq` submits to the server that it finds.
    Hq,
}

/// `looptree measure`
#[derive(Args, Debug)]
pub struct MeasureArguments {
    /// The item, a line of JSON; `-` reads items from standard input, one a line.
    #[arg(long, value_name = "ITEM")]
    pub item: String,
    /// Where the report goes; `-` is standard output.
    #[arg(long, short = 'o', value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
}

/// What `show` prints.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The loop tree, as `.lt` text.
    Tree,
    /// Regions found, with what each needs at run time.
    Regions,
    /// Accesses of each statement.
    Accesses,
    /// Dependences with distance vectors.
    Dependences,
    /// Natural loops in LLVM's terms (header, latch, exits, forms, trip counts), and which of those described carry no
    /// dependence.
    Loops,
    /// What statements are known as: matrix products, copies, scans.
    Idioms,
    /// The predicted cost and its terms.
    Cost,
    /// The moves that could be tried.
    Moves,
    /// What could not be lifted, and why.
    Remarks,
}

/// Form of a result.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Table,
    /// For programs.
    Json,
}

/// Choice of the search strategy.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrategyChoice {
    /// Every sequence of moves up to a depth.
    Exhaustive,
    /// The best few of each depth go on.
    Beam,
    /// Sketches of which loops there are, then of each nest by itself, refined by moves.
    Guided,
}

/// Choice of the cost model.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostModelChoice {
    /// Throughput, vectorisation, loop overhead and cache traffic.
    Analytic,
    /// Executed operations only.
    Instructions,
}
