//! Which scalars each iteration of outer loops has for itself, and what the interpreter makes of that.

use super::buffers::written;
use loop_tree::interp::{Layout, Memory, RunOptions, run};
use loop_tree::text::{parse, parse_tree};
use loop_tree::{ArrayId, PrivateElement, Privates, occurrences};

/// Number of variables that number the elements of `s`, if it is private, in a nest with these loops.
fn depth(loops: &str) -> Option<usize> {
    let program = parse(&format!(
        "nest @f[N] {{
           array A: f64[N, N]
           array B: f64[N, N]
           scalar s: f64 local
           scalar p: i1 local
           {loops}
         }}"
    ))
    .expect("it parses");
    let s = program.kernel.arrays.iter().position(|a| &*a.name == "s").expect("there is a scalar");
    Privates::of(&program.kernel).variables(ArrayId::new(s)).map(<[_]>::len)
}

#[test]
fn what_is_set_first_in_each_iteration_belongs_to_it() {
    let two =
        "for i in 0..N { for j in 0..N { Z: s = 0.0 for k in 0..N { S: s = s + A[i, k] } E: B[i, j] = s } }";
    assert_eq!(depth(two), Some(2));
    // The loop around is not one of those that number it.
    let one =
        "for i in 0..N { Z: s = 0.0 for k in 0..N { S: s = s + A[i, k] } for j in 0..N { E: B[i, j] = s } }";
    assert_eq!(depth(one), Some(1));
    assert_eq!(depth("for i in 0..N { for j in 0..N { Z: s = A[i, j] E: B[i, j] = s } }"), Some(2));
    // Under a condition that all of it is under.
    let guarded =
        "for i in 0..N { if i >= 3 { Z: s = 0.0 for k in 0..N { S: s = s + A[i, k] } E: B[i, i] = s } }";
    assert_eq!(depth(guarded), Some(1));
}

#[test]
fn a_value_that_passes_on_is_nobodys_own() {
    // From one iteration to the next.
    assert_eq!(depth("for i in 0..N { for k in 0..N { S: s = s + A[i, k] } E: B[i, i] = s }"), None);
    // Set in some iterations only.
    let sometimes =
        "for i in 0..N { if i >= 3 { Z: s = 0.0 } for k in 0..N { S: s = s + A[i, k] } E: B[i, i] = s }";
    assert_eq!(depth(sometimes), None);
    let perhaps = "for i in 0..N { P: p = A[i, i] > 0.0 if p { Z: s = 0.0 } E: B[i, i] = s }";
    assert_eq!(depth(perhaps), None);
    // Set in a loop that may be empty, and after it is read.
    let looped = "for i in 0..N { for k in 1..N { Z: s = A[i, k] } E: B[i, i] = s }";
    assert_eq!(depth(looped), None);
    assert_eq!(depth("for i in 0..N { E: B[i, i] = s Z: s = A[i, i] }"), None);
    assert_eq!(depth("for i in 0..N { Z: s = s + A[i, i] E: B[i, i] = s }"), None);
}

#[test]
fn what_ends_a_loop_is_read_where_no_statement_stands() {
    let program = parse(
        "nest @f[N] {
           array A: i64[N]
           scalar done: i1 local
           loop w until done { S0: A[0] += 1  S1: done = A[0] >= 5 }
         }",
    )
    .expect("it parses");
    assert!(Privates::of(&program.kernel).is_empty());
    let mut memory = Memory::new(Layout::disjoint(&program.kernel, &[1], &|_| 0).expect("it fits"));
    run(&program.kernel, &program.kernel.original, &mut memory, &RunOptions::default()).expect("it ends");
    assert_eq!(memory.get(ArrayId::new(0), &[0]), Some(5));
}

const SUMS: &str = "nest @f[N] {
  array A: f64[N, N]
  array B: f64[N, N]
  scalar s: f64 local
  for i in 0..N { for j in 0..N { Z: s = 0.0 for k in 0..N { S: s = s + A[i, k] * A[j, k] } E: B[i, j] = s } }
}";

#[test]
fn values_of_different_iterations_do_not_meet() {
    let program = parse(SUMS).expect("it parses");
    let kernel = &program.kernel;
    let jammed = "for i in 0..N { for t in 0..floor(N/2) {
        let j = 2*t { Z } let j = 2*t + 1 { Z }
        for k in 0..N { let j = 2*t { S } let j = 2*t + 1 { S } }
        let j = 2*t { E } let j = 2*t + 1 { E } } }";
    let jammed = parse_tree(kernel, jammed).expect("it parses");
    let result = |tree| written(kernel, tree, &[6]).expect("it runs");
    assert_eq!(result(&kernel.original), result(&jammed));

    // Each copy has an element of its own, in the body of the loop over `t`.
    let s = ArrayId::new(2);
    let privates = Privates::of(kernel);
    let variables = privates.variables(s).expect("it is private");
    let mut elements: Vec<PrivateElement> = occurrences(&jammed)
        .iter()
        .map(|o| PrivateElement::at(o, o.around.len(), s, variables).expect("all is bound"))
        .collect();
    elements.sort();
    elements.dedup();
    assert_eq!(elements.len(), 2);
    assert_eq!(elements[0].home, elements[1].home);
    assert_eq!(elements[0].home.0.len(), 2);
}
