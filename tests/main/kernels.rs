//! Every variant of every kernel in `bench/kernels` computes what the original computes, bit for bit.
//!
//! Each kernel has a test of its own, which takes some of its variants with up to two steps, and one that is ignored and
//! takes all: `cargo test --release --test main kernels -- --ignored`. `LOOPTREE_KERNEL_MODULES=60` lets the others take about
//! so many. Tile sizes, factors and sizes of arrays are small and do not divide each other, so that full and partial
//! tiles, remainders and empty loops all occur. What is run is the new code and not the original behind the check: a
//! mark stands in its place.

use loop_tree::Kernel;
use looptree::driver::{DriverError, ExploredRegion, Optimizer, Session, Settings, compile_source};
use looptree::explore::{Limits, MoveSource, RegistryMoves, StopReason, Strategy, Variant};
use looptree::measure::{ArgumentSpec, CallSetup, MeasureOptions, measure_ir};
use looptree::transforms::{Context, MoveOptions, Step};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// All variants of a kernel, or some.
#[derive(Clone, Copy, PartialEq)]
enum Extent {
    /// At most so many modules at each setting of the sizes.
    Some(usize),
    /// Every variant of depth two.
    All,
}

impl Extent {
    /// Of so many moves on a tree of depth one, one is tried.
    fn every(self) -> usize {
        match self {
            Extent::Some(modules) => (240 / modules.max(1)).max(1),
            Extent::All => 1,
        }
    }
}

/// Kernels that have loops which are not lifted, and the codes of the remarks that say why.
const NOT_LIFTED: &[(&str, &[&str])] = &[
    // Rows of `w / 2` elements, and that `2 * x + 1` is below `w` wherever `x` is below `w / 2`.
    ("downsample", &["subscript", "subscript"]),
    // Between its nests it calls a function of the same file, which is not inlined.
    ("harris", &["opaque"]),
    // `count[label[i]]`: the element is read from memory.
    ("kmeans_assign", &["subscript"]),
];

/// Where the sizes are arguments.
#[derive(Clone, Copy)]
enum Sizes {
    /// Odd, no two of them equal.
    Odd,
    /// All of them.
    Same(i64),
}

fn moves() -> MoveOptions {
    MoveOptions {
        tile_sizes: vec![3],
        strip_sizes: vec![4],
        unroll_factors: vec![3],
        full_unroll: 5,
        jam_factors: vec![2],
        shift: 1,
        skew_factors: vec![1],
        ..MoveOptions::default()
    }
}

/// What lifting asks: `None` is what it asks where nobody chooses.
#[derive(Clone, Copy, PartialEq)]
struct Asked {
    closed_forms: &'static str,
    accesses: &'static str,
    control_flow: &'static str,
}

fn settings(function: &str, sizes: Sizes, names: &BTreeSet<String>, asked: Option<Asked>) -> Settings {
    let value = |index: usize| match sizes {
        Sizes::Odd => 7 + 2 * index as i64,
        Sizes::Same(n) => n,
    };
    let standard = Settings::default();
    let standard = match asked {
        None => standard,
        Some(asked) => Settings {
            closed_forms: asked.closed_forms.to_string(),
            accesses: asked.accesses.to_string(),
            control_flow: asked.control_flow.to_string(),
            ..standard
        },
    };
    Settings {
        params: names.iter().enumerate().map(|(i, n)| (n.clone(), value(i))).collect(),
        default_param: value(0),
        cost_model: "instructions".to_string(),
        function: Some(function.to_string()),
        limits: Limits { depth: 2, variants: 20_000, threads: 1, ..Limits::default() },
        strategy: Strategy::Exhaustive,
        moves: moves(),
        ..standard
    }
}

fn optimizer(settings: Settings) -> Optimizer {
    Optimizer::new(settings).expect("models are known")
}

/// The moves of the registry; of those on trees that are not the original, every so many, other ones on each tree.
struct Sampled<'a> {
    all: RegistryMoves<'a>,
    every: usize,
}

impl MoveSource for Sampled<'_> {
    fn moves(&self, context: &Context<'_>, wanted: &dyn Fn(&str) -> bool) -> Vec<Step> {
        let moves = self.all.moves(context, wanted);
        let original = loop_tree::canonical(context.kernel, &context.kernel.original);
        if self.every == 1 || *context.root == original {
            return moves;
        }
        let first = (context.root.structural_hash() % self.every as u128) as usize;
        moves.into_iter().skip(first).step_by(self.every).collect()
    }
}

/// Searches one region to depth two.
fn explore(
    session: &Session<'_>,
    function: Arc<str>,
    number: usize,
    kernel: Arc<Kernel>,
    extent: Extent,
) -> ExploredRegion {
    let optimizer = session.optimizer;
    let problem = optimizer.problem(&function, &kernel, &[]).expect("it has dependences");
    let moves = Sampled { all: optimizer.moves(), every: extent.every() };
    let exploration = optimizer.explorer(problem.clone(), &moves).explore();
    assert_eq!(exploration.stop, StopReason::Exhausted, "{function}#{number}");
    ExploredRegion {
        function,
        vectors: None,
        number,
        location: None,
        kernel,
        params: problem.params,
        dependences: problem.dependences,
        exploration,
        if_short: None,
        instead: None,
    }
}

/// The variants to run, shortest recipe first; all of depth one, and every so many of depth two.
fn selected(region: &ExploredRegion, extent: Extent) -> Vec<&Variant> {
    let mut all: Vec<&Variant> = region.exploration.variants.iter().collect();
    all.sort_by_cached_key(|v| (v.recipe.0.len(), v.recipe.to_string()));
    let Extent::Some(most) = extent else { return all };
    let step = all.len().div_ceil(most).max(1);
    all.into_iter().step_by(step).collect()
}

/// The text of a module in which the original code of each region is replaced by a mark and the function's end, which
/// also spares compiling it.
fn marked(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 1000);
    let (mut marks, mut nothing_returned) = (0, false);
    for line in text.lines() {
        if line.starts_with("define ") {
            nothing_returned = line.split('@').next().is_some_and(|before| before.ends_with(" void "));
        }
        let branch = line.trim_start().starts_with("br i1 ") && line.contains("label %looptree.new");
        match line.rsplit_once("label %").filter(|_| branch) {
            Some((front, rest)) => {
                let end = rest.find(',').unwrap_or(rest.len());
                let next =
                    if nothing_returned { "ret void".into() } else { format!("br label %{}", &rest[..end]) };
                out += &format!("{front}label %mark.{marks}{}\n", &rest[end..]);
                out += &format!("mark.{marks}:\n  store i32 1, ptr @original_ran\n  {next}\n");
                marks += 1;
            }
            None => {
                out += line;
                out.push('\n');
            }
        }
    }
    assert!(marks > 0, "there is no check in\n{text}");
    out
}

struct Outcome {
    variants: usize,
    mismatches: Vec<String>,
}

fn check(name: &str, extent: Extent, asked: Option<Asked>) {
    let modules = std::env::var("LOOPTREE_KERNEL_MODULES").ok().and_then(|n| n.parse().ok());
    let extent = match (extent, modules) {
        (Extent::Some(_), Some(n)) => Extent::Some(n),
        (extent, _) => extent,
    };
    let mut outcome = Outcome { variants: 0, mismatches: Vec::new() };
    let bitcode = compiled(name);
    let small = [Sizes::Same(1), Sizes::Same(0), Sizes::Same(2)];
    // Where loops hardly run, variants hardly differ: of some, one such size in turn.
    let small = match extent {
        Extent::Some(_) => &small[name.len() % 3..][..1],
        Extent::All => &small[..],
    };
    for sizes in [Sizes::Odd].iter().chain(small).copied() {
        let extent = match (extent, sizes) {
            (extent, Sizes::Odd) => extent,
            (Extent::Some(n), Sizes::Same(_)) => Extent::Some(n.div_ceil(3)),
            (Extent::All, Sizes::Same(_)) => Extent::Some(60),
        };
        let has_sizes = check_at(name, &bitcode, extent, sizes, asked, &mut outcome);
        if !has_sizes {
            break;
        }
    }
    println!("{name}: {} variants, {} mismatches", outcome.variants, outcome.mismatches.len());
    assert!(outcome.mismatches.is_empty(), "{name}:\n{}", outcome.mismatches.join("\n"));
}

fn compiled(name: &str) -> Vec<u8> {
    let mut file = tempfile::Builder::new().suffix(".c").tempfile().expect("a temporary file");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("bench/kernels/{name}.c"));
    // Without `main`, only what the kernel needs is left.
    let text = format!(
        "int original_ran;\n#define main(...) static unused(__VA_ARGS__)\n#include \"{}\"\n",
        source.display()
    );
    std::io::Write::write_all(&mut file, text.as_bytes()).expect("it is written");
    let flags = ["-DSMALL", "-march=native", "-ffp-contract=off", "-fno-math-errno"].map(String::from);
    compile_source(file.path(), &flags).expect("it compiles")
}

/// Returns whether the kernel takes sizes.
fn check_at(
    name: &str,
    bitcode: &[u8],
    extent: Extent,
    sizes: Sizes,
    asked: Option<Asked>,
    outcome: &mut Outcome,
) -> bool {
    let function = format!("kernel_{name}");
    let none = optimizer(settings(&function, sizes, &BTreeSet::new(), asked));
    let session = Session::new(bitcode, name, &none);
    let lifted = session.kernels().expect("it is lifted");
    let names: BTreeSet<String> = lifted
        .iter()
        .flat_map(|f| &f.regions)
        .flat_map(|r| r.kernel.params.iter().map(|p| p.name.to_string()))
        .collect();
    let codes: Vec<&str> = lifted.iter().flat_map(|f| &f.remarks).map(|r| r.code).collect();
    let expected = NOT_LIFTED.iter().find(|(k, _)| *k == name).map_or(&[][..], |(_, codes)| codes);
    assert!(
        asked.is_some() || codes == expected,
        "{name}: {:?}",
        lifted.iter().flat_map(|f| &f.remarks).collect::<Vec<_>>()
    );

    let optimizer = optimizer(settings(&function, sizes, &names, asked));
    let session = Session::new(bitcode, name, &optimizer);
    let regions: Vec<ExploredRegion> = lifted
        .into_iter()
        .flat_map(|f| f.regions.into_iter().enumerate().map(move |(n, r)| (f.name.clone(), n, r.kernel)))
        .map(|(function, number, kernel)| explore(&session, function, number, kernel, extent))
        .collect();
    for region in &regions {
        let original = loop_tree::canonical(&region.kernel, &region.kernel.original);
        let changed = region.exploration.variants.iter().any(|v| v.root != original);
        assert!(changed || asked.is_some(), "{}: nothing can be done", region.label());
    }
    run(&session, bitcode, &function, &regions, extent, sizes, outcome).expect("variants are emitted");
    !names.is_empty()
}

/// What stands outside of the regions touches memory that is not known from them, such as the last element behind a loop.
fn with_room(argument: ArgumentSpec) -> ArgumentSpec {
    const ROOM: usize = 4096;
    match argument {
        ArgumentSpec::Pointer { name, element, before, after, observed } => {
            ArgumentSpec::Pointer { name, element, before: before + ROOM, after: after + ROOM, observed }
        }
        other => other,
    }
}

/// Emits modules that hold one variant of each region, and compares what they compute.
fn run(
    session: &Session<'_>,
    bitcode: &[u8],
    function: &str,
    regions: &[ExploredRegion],
    extent: Extent,
    sizes: Sizes,
    outcome: &mut Outcome,
) -> Result<(), DriverError> {
    let lists: Vec<Vec<&Variant>> = regions.iter().map(|r| selected(r, extent)).collect();
    let modules = lists.iter().map(Vec::len).max().unwrap_or(0);
    let arguments = match regions.first() {
        Some(region) => session.argument_specs(&region.function)?.expect("it can be called"),
        None => return Ok(()),
    };
    let arguments = arguments.into_iter().map(with_room).collect();
    let setup = CallSetup { arguments, seed: 7, others: Vec::new() };
    let options = MeasureOptions { timed: false, ..MeasureOptions::default() };
    // The original is compiled once for several modules.
    for first in (0..modules).step_by(16) {
        let mut texts = Vec::new();
        for module in first..modules.min(first + 16) {
            let mut choices = BTreeMap::new();
            let mut label = String::new();
            for (region, list) in regions.iter().zip(&lists) {
                // A shorter list begins anew: other pairs of variants.
                let variant = list[module % list.len()];
                outcome.variants += usize::from(module < list.len());
                label += &format!("[{}] {}; ", region.number, variant.recipe);
                let chosen = session.optimizer.choose(region, variant)?;
                choices.insert((region.function.clone(), region.number), chosen);
            }
            match session.emit(&choices, |m| m.to_string()) {
                Ok(emitted) => texts.push((
                    label,
                    match sizes {
                        Sizes::Odd => marked(&emitted),
                        Sizes::Same(_) => emitted,
                    },
                )),
                Err(error) => outcome.mismatches.push(format!("{label}: {error}")),
            }
        }
        let modules: Vec<(&str, &[u8])> = texts.iter().map(|(l, t)| (&**l, t.as_bytes())).collect();
        if measure_ir(bitcode, function, &modules, &setup, &options).is_ok() {
            continue;
        }
        // The first one that differs ends a comparison.
        for module in modules {
            if let Err(error) = measure_ir(bitcode, function, &[module], &setup, &options) {
                outcome.mismatches.push(format!("{}: {error}", module.0));
            }
        }
    }
    Ok(())
}

macro_rules! kernels {
    ($($name:ident)*) => {
        const KERNELS: &[&str] = &[$(stringify!($name)),*];
        mod some {
            $(#[test]
            fn $name() {
                super::check(stringify!($name), super::Extent::Some(4), None);
            })*
        }
        mod all {
            $(#[test]
            #[ignore = "all variants: hours in the dev profile"]
            fn $name() {
                super::check(stringify!($name), super::Extent::All, None);
            })*
        }
    };
}

kernels! {
 adi atax bicg blur_chain cholesky color_tonemap column_normalize column_scan complex_matmul complex_rotate
conv2d_layer correlation covariance doitgen downsample durbin edit_distance fdtd_2d floyd_warshall gemm_at
gemm_colmajor gemm_f32 gemm_ijk gemm_ikj gemver gesummv gramschmidt harris heat_3d integral_image jacobi_1d
jacobi_2d kmeans_assign lcs life lu ludcmp matmul_i32 matrix_chain mesh_relax mvt nbody nussinov
pairwise_distance sad seidel_2d sobel_clamp symm syr2k syrk tensor_contraction three_mm transpose trisolv
trmm trsm two_mm unsharp vector_chain
}

/// Each analysis that lifting asks computes the same; with which some loops are not lifted.
mod analyses {
    use super::{Asked, Extent, check};

    const STANDARD: Asked =
        Asked { closed_forms: "recurrences", accesses: "delinearised", control_flow: "cfg" };

    fn each(asked: Asked, kernels: &[&str]) {
        for kernel in kernels {
            check(kernel, Extent::Some(4), Some(asked));
        }
    }

    #[test]
    fn scalar_evolution() {
        let asked = Asked { closed_forms: "scalar-evolution", ..STANDARD };
        each(asked, &["gemm_ikj", "trisolv", "jacobi_2d", "life", "nussinov", "complex_rotate"]);
    }

    #[test]
    fn linear() {
        each(Asked { accesses: "linear", ..STANDARD }, &["gemver", "jacobi_1d", "trisolv", "gemm_ijk"]);
    }

    #[test]
    fn types() {
        each(Asked { accesses: "types", ..STANDARD }, &["gemm_ijk", "jacobi_2d", "seidel_2d", "fdtd_2d"]);
    }

    #[test]
    fn predicates() {
        let asked = Asked { control_flow: "predicates", ..STANDARD };
        each(asked, &["life", "floyd_warshall", "sobel_clamp", "edit_distance"]);
    }
}

#[test]
fn square_roots_end_no_regions() {
    for name in KERNELS {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("bench/kernels/{name}.c"));
        let flags = ["-DSMALL", "-ffp-contract=off"].map(String::from);
        let bitcode = compile_source(&file, &flags).expect("it compiles");
        let settings = Settings { function: Some(format!("kernel_{name}")), ..Settings::default() };
        let optimizer = optimizer(settings);
        let session = Session::new(&bitcode, name, &optimizer);
        let lifted = session.kernels().expect("it is lifted");
        let ended = lifted.iter().flat_map(|f| &f.remarks).any(|r| r.code == "errno");
        assert!(!ended, "{name}");
    }
}

#[test]
fn every_kernel_has_a_test() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/kernels");
    let files = std::fs::read_dir(folder).expect("the folder is there").map(|e| e.expect("readable").path());
    let mut names: Vec<String> = files
        .filter(|p| p.extension().is_some_and(|e| e == "c"))
        .filter_map(|p| Some(p.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    assert_eq!(names, KERNELS);
}
