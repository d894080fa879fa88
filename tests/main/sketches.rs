//! Every sketch draws what it is for, and what is drawn computes what the original does.

use looptree::driver::{Optimizer, Settings};
use looptree::explore::{Desk, Exploration, Region, Sketch, Sketches, Stage, Variant};
use looptree::transforms::{Context, Interchange, Refusal, Registration, Registry, Step, Transform};
use looptree::tree::interp::{self, Layout, Memory, RunOptions};
use looptree::tree::{Green, Kernel, Path, text};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Variants of a nest as the default search finds them, for sizes that are worth it, where so many threads may share loops.
fn explore_for(
    threads: u32,
    source: &str,
    registry: &Registry,
    sketches: Sketches,
    moves: &[&str],
) -> (Arc<Kernel>, Exploration) {
    let kernel = text::parse(source).expect("it parses").kernel;
    let settings = Settings { target: "x86_64_avx512".into(), threads, ..Settings::default() };
    let mut optimizer = Optimizer::new(settings).expect("models that exist");
    optimizer.registry = registry.clone();
    optimizer.settings.sketches = sketches;
    optimizer.settings.moves.only = moves.iter().map(|m| m.to_string()).collect();
    let (_, found) = optimizer.explore("test", &kernel, &[], None).expect("it has dependences");
    (kernel, found)
}

fn explore(
    source: &str,
    registry: &Registry,
    sketches: Sketches,
    moves: &[&str],
) -> (Arc<Kernel>, Exploration) {
    explore_for(1, source, registry, sketches, moves)
}

/// What all sketches draw, without moves, cheapest first.
fn drawn_by_all(source: &str) -> Vec<Variant> {
    explore(source, &Registry::standard(), Sketches::standard(), &["none"]).1.variants
}

/// What memory holds after a tree was run on small sizes.
fn outcome(kernel: &Kernel, tree: &Green, size: i64) -> u128 {
    let params = vec![size; kernel.params.len()];
    let layout = Layout::disjoint(kernel, &params, &|_| 2 * size + 2).expect("a layout");
    let mut memory = Memory::new(layout);
    memory.fill(1);
    interp::run(kernel, tree, &mut memory, &RunOptions::default()).expect("it runs");
    memory.bits()
}

#[track_caller]
fn draws(name: &str, source: &str) {
    draws_for(1, name, source);
}

#[track_caller]
fn draws_for(threads: u32, name: &str, source: &str) {
    let (kernel, found) =
        explore_for(threads, source, &Registry::standard(), Sketches::standard(), &["none"]);
    let drawn: Vec<&Variant> =
        found.variants.iter().filter(|v| v.sketch.as_deref() == Some(name)).take(8).collect();
    let all: BTreeMap<&str, usize> = found.variants.iter().fold(BTreeMap::new(), |mut counts, v| {
        *counts.entry(v.sketch.as_deref().unwrap_or("-")).or_default() += 1;
        counts
    });
    assert!(!drawn.is_empty(), "{name} has drawn nothing: {all:?}");
    for size in [3, 19] {
        let original = outcome(&kernel, &kernel.original, size);
        for variant in &drawn {
            assert!(original == outcome(&kernel, &variant.root, size), "{name}: {}", variant.recipe);
        }
    }
    // Without it nothing of its name is left.
    let mut others = Sketches::standard();
    assert!(others.remove(name));
    let (_, without) = explore_for(threads, source, &Registry::standard(), others, &["none"]);
    assert!(without.variants.iter().all(|v| v.sketch.as_deref() != Some(name)));
}

const PRODUCT: &str = "nest @product[N] {
  array C: f64[N, N]
  array A: f64[N, N] alias 1
  array B: f64[N, N] alias 2
  for i in 0..N { for j in 0..N {
    Z: C[i, j] = 0.0
    for k in 0..N { S: C[i, j] = C[i, j] + A[i, k] * B[k, j] }
  } }
}";

#[test]
fn column_sweep() {
    draws(
        "column sweep",
        "nest @recurrence[N] {
          array A: i32[N, N]
          array B: i32[N, N] alias 1
          for i in 0..N { for j in 1..N {
            S [reduction smax]: A[i, j] = smax(A[i, j], A[i, j - 1])
            for k in 1..j { T [reduction smax]: A[i, j] = smax(A[i, j], A[i, k] + B[k, j]) }
          } }
        }",
    );
}

#[test]
fn distribution() {
    draws(
        "distribution",
        "nest @apart[N] {
          array A: f64[N, N]
          array B: f64[N, N] alias 1
          array C: f64[N, N] alias 2
          for i in 0..N { for j in 1..N {
            R: A[i, j] = A[i, j-1] * 0.5 + 1.0
            V: B[i, j] = C[i, j] * 2.0
          } }
        }",
    );
}

#[test]
fn border_split() {
    draws(
        "border split",
        "nest @border[N] {
          array A: f64[N, N]
          array B: f64[N, N] alias 1
          for i in 0..N { for j in 0..N {
            if i == 0 || i == N - 1 && i >= 1 { S: A[i, j] = 0.0 }
            if i >= 1 && i <= N - 2 && j == 0 { T: A[i, j] = 1.0 }
            if i >= 1 && i <= N - 2 && j >= 1 { U: A[i, j] = B[i, j - 1] + B[i, j] }
          } }
        }",
    );
}

#[test]
fn register_tile() {
    draws("register tile", PRODUCT);
}

#[test]
fn each_of_two_nests_in_a_loop_is_jammed() {
    // The loop around them draws each by itself first.
    let source = "nest @sweeps[N] {
        array A: f64[N, N]
        array B: f64[N, N] alias 1
        for t in 0..N {
          for i in 0..N { Z: A[i, 0] = 1.0 for j in 1..N { S: A[i, j] = B[i, j] / (A[i, j - 1] + 3.0) } }
          for k in 0..N { Y: B[k, 0] = 1.0 for l in 1..N { T: B[k, l] = A[k, l] / (B[k, l - 1] + 2.0) } }
        }
    }";
    let recipe = &drawn_by_all(source)[0].recipe.to_string();
    assert!(
        recipe.starts_with("unroll_and_jam(@0.1; ") && recipe.contains("; unroll_and_jam(@0.0; "),
        "{recipe}"
    );
}

#[test]
fn loops_around_the_middle_of_a_nest_have_other_orders() {
    let source = "nest @symmetric[N] {
        array A: f64[N, N]
        array B: f64[N, N] alias 1
        array C: f64[N, N] alias 2
        for i in 0..N { for j in 0..N {
          for k in 0..i { S: C[k, j] = C[k, j] + A[i, k] * B[i, j] }
          T: C[i, j] = C[i, j] * 0.5 + B[i, j]
        } }
    }";
    draws("register tile", source);
    let recipe = &drawn_by_all(source)[0].recipe.to_string();
    assert!(recipe.starts_with("interchange(@); unroll_and_jam(@;"), "{recipe}");
}

/// A product with a transposed factor over a triangle.
const TRIANGLE: &str = "nest @rank_update[N] {
  array C: f64[N, N]
  array A: f64[N, N] alias 1
  array B: f64[N, N] alias 2
  for i in 0..N { for k in 0..N { for j in 0..i + 1 { S: C[i, j] = C[i, j] + A[j, k] * B[i, k] } } }
}";

#[test]
fn transposed_copy() {
    draws("transposed copy", TRIANGLE);
    let recipe = &drawn_by_all(TRIANGLE)[0].recipe.to_string();
    assert!(recipe.contains("transpose(@; A; 1, 0)") && recipe.contains("unroll_and_jam"), "{recipe}");
}

#[test]
fn parts_of_structures_that_are_summed_are_copied_apart() {
    // What is written, too, goes back.
    draws(
        "transposed copy",
        "nest @parts[N] {
          array A: f64[N, N]
          array B: f64[N, N, 2] alias 1
          array C: f64[N, N, 2] alias 2
          for i in 0..N { for k in 0..N { for j in 0..N {
            S: C[i, j, 0] = C[i, j, 0] + A[i, k] * B[k, j, 0] - B[k, j, 1]
          } } }
        }",
    );
}

#[test]
fn what_is_walked_once_is_not_copied() {
    let source = "nest @add[N] {
      array C: f64[N, N]
      array A: f64[N, N] alias 1
      for i in 0..N { for j in 0..N { S: C[i, j] = C[i, j] + A[j, i] } }
    }";
    assert!(drawn_by_all(source).iter().all(|v| v.sketch.as_deref() != Some("transposed copy")));
}

#[test]
fn short_loops_are_jammed_whole() {
    let source = "nest @filter[N] {
      array C: f32[N, N]
      array A: f32[N, N] alias 1
      array W: f32[3] alias 2
      for i in 0..N { for k in 0..3 { for j in 0..N - 3 { S: C[i, j] = C[i, j] + A[i, j + k] * W[k] } } }
    }";
    let recipes: Vec<String> = drawn_by_all(source).iter().map(|v| v.recipe.to_string()).collect();
    assert!(recipes.iter().any(|r| r.contains("unroll_and_jam(@0.0; 3)")), "{recipes:#?}");
}

#[test]
fn blocked_product() {
    draws("blocked product", PRODUCT);
}

/// Three loops around one statement on matrices.
fn product(of: &str) -> String {
    format!(
        "nest @product[N, M] {{
          array C: f64[N, N]
          array A: f64[N, M] alias 1
          array B: f64[M, N] alias 2
          scalar alpha: f64 in
          for i in 0..N {{ for k in 0..M {{ for j in 0..N {{ S: {of} }} }} }}
        }}"
    )
}

#[test]
fn packed_product() {
    draws("packed product", &product("C[i, j] = C[i, j] + alpha * A[i, k] * B[k, j]"));
}

#[test]
fn packed_products_are_of_two_factors_and_vectors_along_the_result() {
    let drawn = |of: &str| {
        let (_, found) = explore(&product(of), &Registry::standard(), Sketches::standard(), &["none"]);
        found.variants.iter().any(|v| v.sketch.as_deref() == Some("packed product"))
    };
    assert!(drawn("C[i, j] = C[i, j] + A[i, k] * B[k, j]"));
    // All that the vectors take is the result; nothing is added up; what is added differs in each element of the result.
    assert!(!drawn("C[i, j] = C[i, j] + A[i, k]"));
    assert!(!drawn("C[i, j] = A[i, k] * B[k, j] + C[k, j]"));
    assert!(!drawn("C[i, j] = C[i, j] + A[i, k] * B[k, j + i]"));
}

#[test]
fn sizes_that_no_sketch_draws_are_found_one_after_the_other() {
    // Factors of 4 and blocks of 32 are drawn.
    let (kernel, found) = explore(PRODUCT, &Registry::standard(), Sketches::standard(), &["none"]);
    let best = &found.variants[0];
    let sizes: Vec<i64> = best.recipe.0.iter().flat_map(|step| step.sizes()).collect();
    assert!(sizes.iter().any(|size| ![4, 32].contains(size)), "{}", best.recipe);
    for size in [3, 19, 37] {
        assert!(outcome(&kernel, &kernel.original, size) == outcome(&kernel, &best.root, size));
    }
}

#[test]
fn passes() {
    draws(
        "passes",
        "nest @passes[N] {
          array A: f64[N, N]
          array x: f64[N] alias 1
          array y: f64[N] alias 2
          array u: f64[N] alias 3
          array v: f64[N] alias 4
          for i in 0..N { for j in 0..N { S: x[i] = x[i] + A[i, j] * u[j] } }
          for i2 in 0..N { for j2 in 0..N { T: y[i2] = y[i2] + A[j2, i2] * v[j2] } }
        }",
    );
}

/// The last element is set between the loops, behind which the fold would have to go.
#[test]
fn passes_put_code_between_in_front() {
    draws(
        "passes",
        "nest @periodic[N] {
          array A: f64[N + 2]
          array B: f64[N + 2]
          scalar most: f64 out
          for i in 1..N { S: A[i] = B[i - 1] + B[i + 1] }
          L: A[N] = B[N - 1] + B[0]
          for j in 1..N + 1 { T: most = most * 0.5 + A[j] }
        }",
    );
}

#[test]
fn time_tile() {
    draws(
        "time tile",
        "nest @sweeps[N] {
          array A: f64[N, N]
          array B: f64[N, N] alias 1
          for t in 0..N {
            for i in 1..N-1 { for j in 1..N-1 { S: B[i, j] = A[i, j] + A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1] } }
            for i2 in 1..N-1 { for j2 in 1..N-1 { T: A[i2, j2] = B[i2, j2] + B[i2-1, j2] + B[i2+1, j2] } }
          }
        }",
    );
}

#[test]
fn time_tile_with_rows_that_a_boundary_sets() {
    draws(
        "time tile",
        "nest @waves[T, N] {
          array E: f64[N, N]
          array H: f64[N, N] alias 1
          array f: f64[T] alias 2
          for t in 0..T {
            for j in 0..N { R: E[0, j] = f[t] }
            for i in 1..N { for k in 0..N { S: E[i, k] = E[i, k] - H[i, k] + H[i-1, k] } }
            for i2 in 0..N-1 { for k2 in 0..N { U: H[i2, k2] = H[i2, k2] - E[i2 + 1, k2] + E[i2, k2] } }
          }
        }",
    );
}

#[test]
fn skewed_jam() {
    draws(
        "skewed jam",
        "nest @gauss_seidel[N] {
          array A: f64[N, N]
          for i in 1..N-1 { for j in 1..N-1 {
            S: A[i, j] = A[i-1, j-1] + A[i-1, j+1] + A[i, j-1] + A[i, j] + A[i, j+1] + A[i+1, j]
          } }
        }",
    );
}

/// Sweeps of Gauss-Seidel.
const SWEEPS: &str = "nest @gauss_seidel[T, N] {
  array A: f64[N, N]
  for t in 0..T { for i in 1..N-1 { for j in 1..N-1 {
    S: A[i, j] = A[i-1, j-1] + A[i-1, j+1] + A[i, j-1] + A[i, j] + A[i, j+1] + A[i+1, j]
  } } }
}";

#[test]
fn row_wavefront() {
    draws_for(2, "row wavefront", SWEEPS);
    let (_, found) = explore(SWEEPS, &Registry::standard(), Sketches::standard(), &["none"]);
    assert!(found.variants.iter().all(|v| v.recipe.0.iter().all(|step| step.name() != "mark")));
}

const PIVOTS: &str = "nest @pivots[N] {
  array A: f64[N, N]
  for k in 0..N { for i in 0..N { for j in 0..N { S: A[i, j] = A[i, j] + A[i, k] * A[k, j] } } }
}";

#[test]
fn pivot_split() {
    draws("pivot split", PIVOTS);
}

/// The best variant for two threads, with the same results.
#[track_caller]
fn shared(source: &str) -> String {
    let (kernel, found) = explore_for(2, source, &Registry::standard(), Sketches::standard(), &["none"]);
    let best = &found.variants[0];
    for size in [3, 19] {
        assert!(
            outcome(&kernel, &kernel.original, size) == outcome(&kernel, &best.root, size),
            "{}",
            best.recipe
        );
    }
    best.recipe.to_string()
}

#[test]
fn rows_before_and_behind_a_pivot_are_shared() {
    let recipe = shared(PIVOTS);
    assert_eq!(recipe.matches("parallel").count(), 2, "{recipe}");
}

#[test]
fn tiles_of_time_are_shared_as_a_wavefront() {
    let recipe = shared(
        "nest @sweeps[N] {
          array A: f64[N, N]
          array B: f64[N, N] alias 1
          for t in 0..N {
            for i in 1..N-1 { for j in 1..N-1 { S: B[i, j] = A[i, j] + A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1] } }
            for i2 in 1..N-1 { for j2 in 1..N-1 { T: A[i2, j2] = B[i2, j2] + B[i2-1, j2] + B[i2+1, j2] } }
          }
        }",
    );
    assert!(recipe.contains("tile") && recipe.contains("skew") && recipe.contains("parallel"), "{recipe}");
}

#[test]
fn panel() {
    draws(
        "panel",
        "nest @solve[N] {
          array L: f64[N, N]
          array x: f64[N] alias 1
          array b: f64[N] alias 2
          for i in 0..N {
            Z: x[i] = b[i]
            for j in 0..i { S: x[i] = x[i] - L[i, j] * x[j] }
            D: x[i] = x[i] / L[i, i]
          }
        }",
    );
}

/// Interchanges the outermost loops, by itself.
struct Own;

impl Sketch for Own {
    fn name(&self) -> &str {
        "own"
    }
    fn stage(&self) -> Stage {
        Stage::Nest
    }
    fn draw(&self, desk: &mut Desk<'_, '_, '_>, start: &Variant, region: &Region) -> Vec<Variant> {
        let Some(outer) = region.outermost(&start.root) else { return vec![] };
        desk.try_step(start, Interchange { outer: outer.into(), inner: None }).into_iter().collect()
    }
}

const COLUMNS: &str = "nest @columns[N] {
  array A: f64[N, N]
  for i in 0..N { for j in 0..N { S: A[j, i] = A[j, i] + 1.0 } }
}";

#[test]
fn a_sketch_of_ones_own() {
    let mut sketches = Sketches::empty();
    sketches.register(Own);
    assert_eq!(sketches.names().collect::<Vec<_>>(), ["own"]);
    let (_, found) = explore(COLUMNS, &Registry::standard(), sketches, &["none"]);
    assert_eq!(found.best().sketch.as_deref(), Some("own"), "{}", found.best().recipe);
}

/// The same as a transformation that the crate does not know.
#[derive(Debug)]
struct Rows;

impl std::fmt::Display for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("rows()")
    }
}

impl Transform for Rows {
    fn name(&self) -> &'static str {
        "rows"
    }
    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        Interchange { outer: Path::root().into(), inner: None }.rewrite(cx)
    }
}

#[test]
fn a_transformation_of_ones_own_is_tried_by_default() {
    let mut registry = Registry::standard();
    registry.register(Registration::new(
        "rows",
        |arguments| arguments.finish().map(|()| Step::new(Rows)),
        |_, _| vec![Step::new(Rows)],
    ));
    let (_, found) = explore(COLUMNS, &registry, Sketches::empty(), &["rows"]);
    assert_eq!(found.best().recipe.to_string(), "rows()");
}
