//! Buffers: the interpreter executes trees that have them beside the original, and their text is read back.

use loop_tree::interp::{InterpError, InterpErrorKind, Layout, Memory, RunOptions, run};
use loop_tree::text::{Program, parse, print};
use loop_tree::{Green, Kernel, canonical};

/// The nest, with a variant in place of `VARIANT`; its text survives a round trip.
fn program(nest: &str, variant: &str) -> Program {
    let text = nest.replace("VARIANT", &format!("variant {{ {variant} }}"));
    let program = parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
    let canonical = Program {
        variant: program.variant.as_ref().map(|v| canonical(&program.kernel, v)),
        kernel: program.kernel.clone(),
    };
    let printed = print(&canonical);
    assert_eq!(print(&parse(&printed).unwrap_or_else(|e| panic!("{printed}: {e}"))), printed);
    program
}

/// What a tree leaves in memory.
pub fn written(kernel: &Kernel, tree: &Green, params: &[i64]) -> Result<u128, InterpError> {
    let mut memory = Memory::new(Layout::disjoint(kernel, params, &|_| 0).expect("it fits"));
    memory.fill(7);
    run(kernel, tree, &mut memory, &RunOptions::default()).map(|_| memory.bits())
}

/// Both orders write the same.
fn agree(nest: &str, params: &[i64], variant: &str) {
    let p = program(nest, variant);
    let execute = |tree| written(&p.kernel, tree, params);
    let (original, changed) = (execute(&p.kernel.original), execute(p.tree()));
    assert_eq!(original.expect("it runs"), changed.unwrap_or_else(|e| panic!("{variant}: {e}")), "{variant}");
}

const GEMM: &str = "nest @gemm[N] {
    array A: f64[N, N]
    array B: f64[N, N]
    array C: f64[N, N]
    for i in 0..N { for j in 0..N { for k in 0..N { S: C[i, j] = C[i, j] + A[i, k] * B[k, j] } } }
    VARIANT
}";

#[test]
fn packed_panels_and_a_register_tile() {
    let panel = "alloc B[x, y] in [x : 9, y - 4*t0 : 4] on stack align 64
                   fill [0..N, 4*t0..min(N, 4*t0 + 4)] {
                   for i in 0..N { for k in 0..N { for j in 4*t0..min(N, 4*t0 + 4) { S } } }
                 }";
    agree(GEMM, &[9], &format!("for t0 in 0..(N + 3)/4 {{ {panel} }}"));
    let tile = "alloc C[x, y] in [x - 3*t0 : 3, y - 2*t1 : 2] on registers
                  fill [3*t0..min(N, 3*t0 + 3), 2*t1..min(N, 2*t1 + 2)]
                  write [3*t0..min(N, 3*t0 + 3), 2*t1..min(N, 2*t1 + 2)] {
                  for k in 0..N { for i in 3*t0..min(N, 3*t0 + 3) { for j in 2*t1..min(N, 2*t1 + 2) { S } } }
                }";
    agree(GEMM, &[7], &format!("for t0 in 0..(N + 2)/3 {{ for t1 in 0..(N + 1)/2 {{ {tile} }} }}"));
    // The panel of a panel: the inner one is filled from the outer one.
    let inner = "alloc B[x, y] in [y : N, x - k : 1] on heap fill [k..k + 1, 0..N] { for j in 0..N { S } }";
    let both = format!(
        "alloc B[x, y] in [y : N + 3, x : N] on heap fill [0..N, 0..N] {{ for i in 0..N {{ for k in 0..N {{ {inner} }} }} }}"
    );
    agree(GEMM, &[6], &both);
}

#[test]
fn temporaries_contracted_and_expanded() {
    let chain = "nest @chain[N] {
        array A: f64[N]
        array T: f64[N] local
        array B: f64[N]
        for i in 0..N { S: T[i] = A[i] * 2.0 }
        for j in 0..N { R: B[j] = T[j] + 1.0 }
        VARIANT
    }";
    agree(
        chain,
        &[9],
        "for t0 in 0..N { alloc T[x] in [] on registers { let i = t0 { S } let j = t0 { R } } }",
    );
    let window = "alloc T[x] in [x mod 4 : 4] on stack {
        for t0 in 0..N + 3 { if t0 < N { let i = t0 { S } } if t0 >= 3 { let j = t0 - 3 { R } } }
    }";
    agree(chain, &[9], window);
    let sums = "nest @rows[N] {
        array A: f64[N, N]
        array B: f64[N]
        scalar s: f64 local
        for i in 0..N { Z: s = 0.0 for j in 0..N { S: s = s + A[i, j] } E: B[i] = s }
        VARIANT
    }";
    let expanded = "alloc s(x) in [x : N] on heap {
        for i in 0..N { Z } for j in 0..N { for i in 0..N { S } } for i in 0..N { E }
    }";
    agree(sums, &[8], expanded);
    agree(sums, &[8], "for i in 0..N { alloc s { Z for j in 0..N { S } E } }");
}

#[test]
fn what_a_buffer_does_not_hold_is_an_error_or_garbage() {
    let unfilled = program(
        GEMM,
        "alloc B[x, y] in [x : N, y : N] on heap { for i in 0..N { for j in 0..N { for k in 0..N { S } } } }",
    );
    let execute = |tree| written(&unfilled.kernel, tree, &[3]).expect("it runs");
    assert_ne!(execute(&unfilled.kernel.original), execute(unfilled.tree()));

    let outside = "alloc B[x, y] in [x : 4, y : 9] on stack fill [0..4, 0..N] {
                     for i in 0..N { for k in 0..N { for j in 0..N { S } } } }";
    let p = program(GEMM, outside);
    let mut memory = Memory::new(Layout::disjoint(&p.kernel, &[9], &|_| 0).expect("it fits"));
    let error =
        run(&p.kernel, p.tree(), &mut memory, &RunOptions::default()).expect_err("B[4, 0] has no place");
    assert!(matches!(error.kind, InterpErrorKind::OutOfBounds { subscript: 4, extent: 4, .. }), "{error}");
}

/// A buffer that is not filled holds nothing, whatever the array holds, and stays until its end.
#[test]
fn what_is_not_filled_is_written_all_the_same() {
    let tile = "alloc A[x, y] in [x : 9, y : 9] on stack fill [0..N, 0..N] {
                  alloc C[x, y] in [x : 9, y : 9] on stack WRITE {
                    for i in 0..N { for j in 0..N { for k in 0..N { S } } } } }";
    let nest = GEMM.replace("C[i, j] + A", "A");
    agree(&nest, &[9], &tile.replace("WRITE", "write [0..N, 0..N]"));
    let p = program(&nest, &tile.replace("WRITE", ""));
    let mut memory = Memory::new(Layout::disjoint(&p.kernel, &[9], &|_| 0).expect("it fits"));
    memory.fill(7);
    let before = memory.bits();
    run(&p.kernel, p.tree(), &mut memory, &RunOptions::default()).expect("it runs");
    assert_eq!(memory.bits(), before);
}

#[test]
fn impossible_buffers_are_named() {
    let broken = |head: &str, what: &str| {
        let variant =
            format!("alloc B{head} {{ for i in 0..N {{ for j in 0..N {{ for k in 0..N {{ S }} }} }} }}");
        let text = GEMM.replace("VARIANT", &format!("variant {{ {variant} }}"));
        let error = parse(&text).expect_err(&variant);
        assert!(error.message.contains(what), "{variant}: {error}");
    };
    broken("[x, y] in [x : N, y : 4] on stack", "only a buffer on the heap");
    broken("[x, y] in [x : 4, y : 0] on stack", "at least 1");
    broken("[x, y] in [x : 4] on stack align 3", "power of two");
    broken("[x, y] in [x : 4] on stack fill [0..4]", "one range for each subscript");
    broken("[x, y](z) in [x + z : 4] on stack fill [0..4, 0..4]", "told apart by instances");
}
