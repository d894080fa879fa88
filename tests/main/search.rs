//! When a search ends, and for which sizes it ranks.

use looptree::driver::{Optimizer, Settings};
use looptree::explore::{Exploration, StopReason};
use looptree::tree::text;

fn explore(source: &str, questions: usize) -> Exploration {
    let kernel = text::parse(source).expect("it parses").kernel;
    let mut settings = Settings { target: "x86_64_avx512".into(), ..Settings::default() };
    settings.limits.questions = questions;
    let optimizer = Optimizer::new(settings).expect("models that exist");
    optimizer.explore("test", &kernel, &[], None).expect("it has dependences").1
}

/// Chains of divisions, which no order shortens.
const CHAINS: &str = "nest @chains[N] {
  array A: f64[N]
  array B: f64[N] alias 1
  for t in 0..N {
    for i in 1..N {
      S: A[i] = B[i] / A[i - 1]
      T: B[i] = A[i] / B[i - 1]
    }
    for j in 1..N { U: B[N - j] = A[j] / B[N - j + 1] }
  }
}";

#[test]
fn a_search_without_any_gain_ends_when_it_has_asked_enough() {
    let (patient, impatient) = (explore(CHAINS, usize::MAX), explore(CHAINS, 1));
    assert_eq!((patient.stop, impatient.stop), (StopReason::Exhausted, StopReason::Hopeless));
    let judged = [patient, impatient].map(|e| e.statistics.judged);
    assert!(judged[1] < judged[0], "{judged:?}");
}

#[test]
fn a_search_that_has_found_a_gain_goes_on() {
    let product = "nest @product[N] {
      array A: f64[N, N]
      array B: f64[N, N] alias 1
      array C: f64[N, N] alias 2
      for i in 0..N { for j in 0..N { for k in 0..N { S: C[i, j] = C[i, j] + A[i, k] * B[k, j] } } }
    }";
    let all = [usize::MAX, 40].map(|questions| {
        let found = explore(product, questions);
        let best = &found.variants[0];
        (found.stop, best.recipe.to_string())
    });
    assert_eq!(all[0], all[1]);
}

#[test]
fn panels_whose_size_makes_no_difference_yet_are_small() {
    // Panels of 8, 16 and 32 rows take the same until their rows are side by side. Cholesky's factor takes 2.35 ms of order 400 on Zen 3 with
    // 8 rows, 3.0 with what was found where 16 were followed.
    let source = "nest @cholesky[N] {
      array A: f64[N, N]
      for i in 0..N {
        for j in 0..i {
          for k in 0..j { S: A[i, j] = fmuladd(-A[i, k], A[j, k], A[i, j]) }
          D: A[i, j] = A[i, j] / A[j, j]
        }
        for l in 0..i { T: A[i, i] = fmuladd(-A[i, l], A[i, l], A[i, i]) }
        Q: A[i, i] = sqrt(A[i, i])
      }
    }";
    let kernel = text::parse(source).expect("it parses").kernel;
    let settings = Settings { target: "znver3".into(), default_param: 400, ..Settings::default() };
    let optimizer = Optimizer::new(settings).expect("models that exist");
    let found = optimizer.explore("test", &kernel, &[], None).expect("it has dependences").1;
    let recipe = found.variants[0].recipe.to_string();
    assert!(recipe.starts_with("tile(@; 8; full); split(@0.0.0.1; 8*t0)"), "{recipe}");
}

#[test]
fn what_makes_loops_shorter_is_taken_for_nothing() {
    let values = |bounds: &str| {
        let source = format!(
            "nest @between[lo, hi] {{
              array A: f64[hi + 9]
              for i in {bounds} {{ S: A[i] = 0.0 }}
            }}"
        );
        let kernel = text::parse(&source).expect("it parses").kernel;
        Settings::default().parameter_values(&kernel, &[])
    };
    let default = Settings::default().default_param;
    assert_eq!(values("lo..hi"), [0, default]);
    assert_eq!(values("0..hi - lo + 5"), [0, default]);
    // Here both make it longer.
    assert_eq!(values("0..hi + lo"), [default, default]);
}

#[test]
fn filters_of_unknown_size_are_small() {
    let values = |bounds: &str, window: &str| {
        let source = format!(
            "nest @filter[n, r] {{
              array A: f64[n]
              array W: f64[?]
              for i in {bounds} {{ for k in {window} {{ S: A[i] = A[i] + W[k] }} }}
            }}"
        );
        let kernel = text::parse(&source).expect("it parses").kernel;
        Settings::default().parameter_values(&kernel, &[])
    };
    let default = Settings::default().default_param;
    assert_eq!(values("r..n - r", "0..2*r + 1"), [default, 4]);
    assert_eq!(values("0..n - r", "0..r"), [default, default / 2]);
    assert_eq!(values("0..n", "0..r"), [default, default]);
}
