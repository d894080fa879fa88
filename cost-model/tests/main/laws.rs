//! Laws of every model, and how fast they are.

use cost_model::{AnalyticModel, CostModel, InstructionCount, targets};
use loop_tree::text::{parse, parse_tree};
use proptest::prelude::*;

const TWO: &str = "nest @two[N, M] {
  assume N >= 1, M >= 1
  array A: f64[N, M]
  array B: f64[N, M]
  for r in 0..10 {
    for i in 1..N { for j in 1..M {
      S: A[i, j] = A[i, j] + B[i, j] * 2.0
      if j < i { T: B[i, j] = A[i, j-1] / 3.0 }
    } }
  }
}";

fn models() -> Vec<Box<dyn CostModel>> {
    let mut all: Vec<Box<dyn CostModel>> = vec![Box::new(InstructionCount)];
    for name in targets::NAMES {
        all.push(Box::new(AnalyticModel::new(targets::by_name(name).unwrap())));
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn costs_are_finite_and_repeatable(n in any::<i64>(), m in any::<i64>()) {
        let program = parse(TWO).unwrap();
        for model in models() {
            let cost = model.cost(&program.kernel, program.tree(), &[n, m]);
            prop_assert!(cost.cycles.is_finite() && cost.cycles >= 0.0, "{n} {m}: {}", cost.cycles);
            prop_assert_eq!(&cost, &model.cost(&program.kernel, program.tree(), &[n, m]));
            let sum: f64 = cost.terms.iter().map(|t| t.cycles).sum();
            prop_assert!((sum - cost.cycles).abs() <= 1e-6 * cost.cycles);
        }
    }

    #[test]
    fn more_rows_cost_more(n in 2i64..3000, m in 2i64..3000) {
        let program = parse(TWO).unwrap();
        for model in models() {
            let small = model.cost(&program.kernel, program.tree(), &[n, m]).cycles;
            let large = model.cost(&program.kernel, program.tree(), &[3 * n, m]).cycles;
            prop_assert!(large > small, "{n} x {m}: {small} then {large}");
        }
    }
}

#[test]
fn missing_parameters_and_empty_trees_are_no_trouble() {
    let program = parse(TWO).unwrap();
    for model in models() {
        assert!(model.cost(&program.kernel, program.tree(), &[]).cycles.is_finite());
        assert_eq!(model.cost(&program.kernel, &loop_tree::Green::empty(), &[5, 5]).cycles, 0.0);
    }
}

#[test]
fn aliasing_makes_the_original_dearer() {
    let text = "nest @mv[N] { array P: i32[N, N] alias 1 array x: i32[N] alias 1 require nooverlap(P, x)
        for i in 0..N { for j in 0..N { S: x[i] = x[i] + P[i, j] } } }";
    let program = parse(text).unwrap();
    let model = AnalyticModel::new(targets::x86_64_avx2());
    let emitted = model.cost(&program.kernel, program.tree(), &[500]).cycles;
    assert!(model.cost_of_original(&program.kernel, &[500]).cycles > emitted);
}

/// Unoptimised builds are several times slower than what the figure is for, hence the margin.
#[test]
fn a_three_deep_nest_takes_microseconds() {
    let program = parse(TWO).unwrap();
    let tiled = "for r in 0..10 { for a in 0..32 { for b in 0..32 {
        for i in max(1, 32*a)..32*a + 32 { for j in max(1, 32*b)..32*b + 32 { S if j < i { T } } } } } }";
    let tree = parse_tree(&program.kernel, tiled).unwrap();
    let model = AnalyticModel::new(targets::x86_64_avx512());
    let start = std::time::Instant::now();
    for _ in 0..200 {
        assert!(model.cost(&program.kernel, &tree, &[1024, 1024]).cycles > 0.0);
    }
    let each = start.elapsed().as_micros() / 200;
    println!("{each} us per variant");
    assert!(each < 2000, "{each} us");
}

/// A loop over the few columns that two tiles share is empty in most samples; that makes nothing cheap.
#[test]
fn what_no_sample_meets_is_not_free() {
    let text = "nest @copy[N, M] {
      array A: f64[N, M]
      for i in 0..N { for j in 0..M { S: A[i, j] = A[i, j] + 1.0 } }
      variant {
        for t0 in 0..floor((floor((M + 7)/8) + 63)/64) {
          for t1 in 8*t0..min(8*t0 + 8, floor((M + 63)/64)) {
            for i in 0..N {
              for t2 in 64*t0..min(64*t0 + 64, floor((M + 7)/8)) {
                for j in max(64*t1, 8*t2)..min(64*t1 + 64, 8*t2 + 8, M) { S }
              }
            }
          }
        }
      }
    }";
    let program = parse(text).unwrap();
    let model = AnalyticModel::new(targets::by_name("generic").unwrap());
    let original = model.cost(&program.kernel, &program.kernel.original, &[1000, 1000]);
    let tiled = model.cost(&program.kernel, program.tree(), &[1000, 1000]);
    assert!(tiled.cycles > 0.8 * original.cycles, "{} {}", tiled.explain(), original.explain());
}

/// Products at the width of vectors, and lines from memory, are what no order saves; loops that gain nothing are known by that.
#[test]
fn what_any_order_costs_at_least() {
    let model = AnalyticModel::new(targets::by_name("znver5").unwrap());
    let possible = |text: &str| {
        let program = parse(text).unwrap();
        let prepared = model.prepare(&program.kernel, &[]);
        assert!(prepared.least() <= prepared.cost(program.tree()).cycles);
        // Without words it costs the same.
        assert_eq!(prepared.cycles(program.tree()), prepared.cost(program.tree()).cycles);
        prepared.cost_of_original().cycles / prepared.least()
    };
    let copy = "nest @copy[] { array A: f64[10000000] array B: f64[10000000]
        for i in 0..10000000 { S: A[i] = B[i] * 2.0 } }";
    assert!(possible(copy) < 1.3, "{}", possible(copy));
    let columns = "nest @columns[] { array A: f64[3000, 3000] array B: f64[3000, 3000]
        for j in 0..3000 { for i in 0..3000 { S: A[i, j] = B[i, j] * 2.0 } }
        variant { for i in 0..3000 { for j in 0..3000 { S } } } }";
    assert!(possible(columns) > 3.0, "{}", possible(columns));
    let product = "nest @product[] { array A: f64[900, 900] array B: f64[900, 900] array C: f64[900, 900]
        for i in 0..900 { for j in 0..900 { for k in 0..900 { S: C[i, j] = C[i, j] + A[i, k] * B[k, j] } } }
        variant { for i in 0..900 { for k in 0..900 { for j in 0..900 { S } } } } }";
    assert!(possible(product) > 10.0, "{}", possible(product));
}

#[test]
fn what_was_priced_before_is_no_matter() {
    let text = "nest @three[N] { array A: f64[N, N] array B: f64[N, N] array C: f64[N, N]
        for i in 0..N { for j in 0..N { S: A[i, j] = A[i, j] + B[j, i] } }
        for k in 0..N { for l in 0..N { T: B[k, l] = A[k, l] * 2.0 } }
        for m in 0..N { for n in 0..N { U: C[m, n] = C[m, n] + B[n, m] } } }";
    let kernel = parse(text).unwrap().kernel;
    let (s, t, u) = (
        "for j in 0..N { for i in 0..N { S } }",
        "for k in 0..N { for l in 0..N { T } }",
        "for m in 0..N { for n in 0..N { U } }",
    );
    let tiled = "for a in 0..N step 32 { for m in a..min(a + 32, N) { for n in 0..N { U } } }";
    for model in models() {
        let prepared = model.prepare(&kernel, &[300]);
        for order in [[s, t, u], [s, t, tiled], [tiled, s, t], [t, u, s], [s, t, u]] {
            let tree = parse_tree(&kernel, &order.concat()).unwrap();
            assert_eq!(prepared.cycles(&tree), model.cost(&kernel, &tree, &[300]).cycles, "{order:?}");
        }
    }
}

/// Nor of what stands around loops: what these write is not known behind them.
#[test]
fn what_was_priced_before_around_other_loops_is_no_matter() {
    let text = "nest @around[N] { array A: f64[N] array B: f64[N] array C: f64[N]
        for i in 0..N { S: A[i] = C[i] * 2.0 for j in 0..N { T: A[j] = A[j] + 1.0 } U: C[i] = A[i] * 3.0
            for k in 0..N { V: B[k] = B[k] + 1.0 } } }";
    let kernel = parse(text).unwrap().kernel;
    let (t, v) = ("for j in 0..N { T }", "for k in 0..N { V }");
    let nest = |first: &str, second: &str| format!("for i in 0..N {{ S {first} U {second} }}");
    let together = format!("for i in 0..N {{ S U {t} {v} }}");
    for model in models() {
        let prepared = model.prepare(&kernel, &[300]);
        let trees = [nest(t, v), nest(v, t), together.clone(), nest("", &[t, v].concat())];
        for text in trees {
            let tree = parse_tree(&kernel, &text).unwrap();
            assert_eq!(prepared.cycles(&tree), model.cost(&kernel, &tree, &[300]).cycles, "{text}");
        }
    }
}
