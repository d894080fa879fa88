//! Coverage under conditions: that loops run in which instances are now.

use analyses::dependences::Polyhedral;
use analyses::{Oracle, OracleOptions, Verdict, Witness};
use loop_tree::text::{parse, print_runtime_condition};

/// The conditions under which a variant executes what the original does; none if instances get lost.
fn conditions(variant: &str) -> Option<Vec<String>> {
    let text = format!(
        "nest @sweep[T, N, M] {{
           array E: f64[N, M]
           array f: f64[T]
           for i in 0..T {{
             for j in 0..M {{ S0: E[0, j] = f[i] }}
             for j2 in 1..N {{ for k in 0..M {{ S1: E[j2, k] = E[j2, k] + 1.0 }} }}
           }}
           variant {{ {variant} }}
         }}"
    );
    let program = parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
    let oracle = Oracle::new(program.kernel.clone(), &Polyhedral::default(), OracleOptions::default());
    match oracle.expect("it can be analysed").judge(program.tree()) {
        Verdict::Always => Some(vec![]),
        Verdict::Under(list) => {
            Some(list.iter().map(|c| print_runtime_condition(&program.kernel, c)).collect())
        }
        Verdict::Never(Witness::Coverage(_)) => None,
        Verdict::Never(other) => panic!("{variant}: {other}"),
    }
}

const ROWS: &str = "if j2 == 0 { for j in 0..M { S0 } } if j2 >= 1 { for k in 0..M { S1 } }";

#[test]
fn rows_in_a_loop_that_has_an_iteration() {
    let sunk = format!("for i in 0..T {{ for j2 in 0..N {{ {ROWS} }} }}");
    assert_eq!(conditions(&sunk).as_deref(), Some(&["N >= 1".to_string()][..]));
    // Sizes below a number are no conditions: nobody computes with such.
    let few = format!("for i in 0..T {{ if N <= 2 {{ for j2 in 0..N {{ {ROWS} }} }} }}");
    assert_eq!(conditions(&few), None);
}

#[test]
fn rows_in_tiles_of_loops_that_have_iterations() {
    let tiled = format!(
        "for t0 in 0..floor((T + 15)/16) {{ for t1 in t0..t0 + floor((N + 14)/16) + 1 {{
           for i in 16*t0..min(16*t0 + 16, T) {{ for t2 in max(i, 16*t1)..min(i + N, 16*t1 + 16) {{ let j2 = t2 - i {{ {ROWS} }} }} }}
         }} }}"
    );
    assert_eq!(conditions(&tiled).as_deref(), Some(&["N >= 1".to_string()][..]));
}
