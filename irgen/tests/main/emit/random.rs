//! Random kernels: machine code and the reference interpreter agree on every byte.

use super::harness::{Buffer, Compiled};
use analyses::dependences::Polyhedral;
use analyses::{Oracle, OracleOptions, Verdict};
use loop_tree::arbitrary::{Choices, kernel, same_order};
use loop_tree::interp::{Layout, Memory, RunOptions, run};
use loop_tree::{
    ArrayId, Green, Intrinsic, Kernel, LoopHeader, LoopKind, Node, OpFlags, OpKind, Path, ScalarType,
    Storage, text,
};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// From one array to the next, in bytes. The run-time check compares ranges that may be wider than what is touched, and
/// may say no to arrays that lie close together; those of kernels this small are narrower than this.
const APART: usize = 1 << 20;

/// What lies between arrays.
const CANARY: u8 = 0xa5;

/// Runs one order in the interpreter, and one as machine code, and compares what anybody may see.
pub fn agree(
    kernel: &Kernel,
    interpreted: &Green,
    root: &Green,
    params: &[i64],
    seed: u64,
    (passes, threads): (Option<&str>, u32),
) -> Result<bool, String> {
    let layout = Arc::new(Layout::disjoint(kernel, params, &|_| 8).map_err(|e| e.to_string())?);
    let mut memory = Memory::new(layout.clone());
    memory.fill(seed);
    let ids = || (0..kernel.arrays.len()).map(ArrayId::new);
    let place = |a: ArrayId| a.index() * APART..a.index() * APART + memory.array_bytes(a).len();
    let mut bytes = vec![CANARY; kernel.arrays.len() * APART];
    ids().for_each(|a| bytes[place(a)].copy_from_slice(memory.array_bytes(a)));
    let places: Vec<_> = ids().map(place).collect();
    let mut buffers = [Buffer::new(&bytes)];
    run(kernel, interpreted, &mut memory, &RunOptions::default()).map_err(|e| e.to_string())?;
    let compiled = Compiled::of(kernel, root, &[], &BTreeSet::new(), passes, threads);
    let starts: Vec<_> = places.iter().map(|p| (0, p.start)).collect();
    if !compiled.call_at(params, &mut buffers, &starts) {
        return Ok(false);
    }
    let bytes = buffers[0].content();
    for (a, place) in ids().zip(places) {
        let array = kernel.array(a);
        let behind = &bytes[place.end..(a.index() + 1) * APART];
        if behind.iter().any(|b| *b != CANARY) {
            return Err(format!("out of bounds behind {}\n{}", array.name, text::print_kernel(kernel)));
        }
        let seen = matches!(array.storage, Storage::Memory | Storage::LiveOut);
        if seen && !same(array.element, &bytes[place], memory.array_bytes(a)) {
            return Err(format!("{} differs\n{}", array.name, text::print_kernel(kernel)));
        }
    }
    Ok(true)
}

/// Equal bytes; any two NaNs are equal, as LLVM leaves their sign and payload open.
fn same(element: ScalarType, a: &[u8], b: &[u8]) -> bool {
    let nan = |bytes: &[u8]| match (element, bytes) {
        (ScalarType::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).is_nan(),
        (ScalarType::F64, bytes) => <[u8; 8]>::try_from(bytes).is_ok_and(|b| f64::from_le_bytes(b).is_nan()),
        _ => false,
    };
    let size = element.size() as usize;
    a.len() == b.len() && a.chunks(size).zip(b.chunks(size)).all(|(x, y)| x == y || nan(x) && nan(y))
}

/// The kernel without what LLVM leaves open: which zero `maxnum` returns of two, and what is contracted to fused
/// multiply-adds.
fn determined(mut kernel: Kernel) -> Kernel {
    for op in kernel.statements.iter_mut().flat_map(|s| &mut Arc::make_mut(s).ops) {
        op.flags.remove(OpFlags::CONTRACT);
        if let OpKind::Call(f @ Intrinsic::MaxNum, _) = &mut op.kind {
            *f = Intrinsic::Maximum;
        }
    }
    kernel
}

/// The tree with those marks only that are proved, as emission takes marks for true.
fn rightly_marked(kernel: &Kernel, root: &Green) -> Green {
    let without = marked(root, &Path::root(), &|_, _| false);
    let oracle = Oracle::new(Arc::new(kernel.clone()), &Polyhedral::default(), OracleOptions::default());
    let Ok(oracle) = oracle else { return without };
    if oracle.judge(&without) != Verdict::Always {
        return without;
    }
    let facts = oracle.loop_facts(&without);
    let independent = |path: &Path| facts.get(path).is_some_and(|f| f.parallel);
    let vectors = marked(root, &Path::root(), &|path, kind| kind == LoopKind::Vector || independent(path));
    match oracle.judge(&vectors) {
        Verdict::Always => vectors,
        _ => marked(root, &Path::root(), &|path, kind| kind == LoopKind::Parallel && independent(path)),
    }
}

fn marked(node: &Green, path: &Path, keep: &dyn Fn(&Path, LoopKind) -> bool) -> Green {
    let mut new = node.clone();
    for (index, child) in node.children().enumerate() {
        new = new.with_child(index, marked(child, &path.child(index), keep));
    }
    match new.node() {
        Node::Loop(h, body) if h.kind != LoopKind::Sequential && !keep(path, h.kind) => {
            Green::for_loop(LoopHeader { kind: LoopKind::Sequential, ..(**h).clone() }, body.clone())
        }
        _ => new,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_kernels_compute_what_the_interpreter_does(
        tape in prop::collection::vec(any::<u16>(), 0..200), n in 1_i64..7, m in 1_i64..7, seed: u64,
    ) {
        let mut choices = Choices::new(tape);
        let kernel = determined(kernel(&mut choices));
        let other = rightly_marked(&kernel, &same_order(&kernel, &mut choices));
        let usual = Some("default<O3>");
        for (root, passes, threads) in [
            (&kernel.original, None, 1), (&kernel.original, usual, 1), (&other, usual, 1), (&other, None, 2), (&other, usual, 4),
        ] {
            let result = agree(&kernel, root, root, &[n, m], seed, (passes, threads));
            prop_assert_eq!(result.map_err(TestCaseError::fail)?, true);
        }
    }
}

#[test]
fn ranges_that_are_too_wide_do_not_keep_arrays_far_apart_from_the_new_code() {
    // The range of B begins before B, as i1 is taken to be as low as -2*M.
    let program = text::parse(
        "nest @t[N, M] {
          assume N >= 1, M >= 1
          array A: f32[M + 8] alias 0
          array B: f32[4*M + 5, 4*M + 7] alias 0
          for i0 in 0..M {
            let i1 = 2*i0 - 4*floor(i0/2) + 2 {
              for i2 in 0..i1 + 2 { S0: A[i0 + i2 + 2] += 0.3 }
              for i2 in 0..2*i0 { S1: B[i1 + i2 + 1, 3] += A[i0] }
            }
          }
        }",
    )
    .unwrap();
    let kernel = &program.kernel;
    assert_eq!(
        agree(kernel, &kernel.original, &kernel.original, &[6, 6], 1, (Some("default<O3>"), 1)),
        Ok(true)
    );
    // The end of A is the beginning of B here.
    let compiled = Compiled::of(kernel, &kernel.original, &[], &BTreeSet::new(), None, 1);
    assert!(!compiled.call_at(&[6, 6], &mut [Buffer::zeroed(APART)], &[(0, 0), (0, 14 * 4)]));
}

#[test]
fn marks_that_are_not_proved_go() {
    let text = |kind: &str, read: &str| {
        format!(
            "nest @t[N, M] {{
              assume N >= 1, M >= 1
              array A: i64[N + 2*M + 2]
              array B: i64[N + 2*M + 2]
              for i0 in max(0, N - 3)..M {{
                for i1 in 0..i0 + 2 {{
                  {kind} for i2 in 0..N {{ S0: A[i1 + i2 + 2] += {read}[2*i0 + 1] }}
                }}
              }}
            }}"
        )
    };
    for (read, holds) in [("A", false), ("B", true)] {
        let original = text::parse(&text("", read)).unwrap().kernel;
        let parallel = &text::parse(&text("parallel", read)).unwrap().kernel.original;
        let root = rightly_marked(&original, parallel);
        assert_eq!(root, if holds { parallel.clone() } else { original.original.clone() });
        assert_eq!(agree(&original, &root, &root, &[5, 6], 1, (Some("default<O3>"), 1)), Ok(true));
    }
}

#[test]
fn what_llvm_leaves_open_is_not_compared() {
    let bodies = [
        // One rounding or two.
        "S0: A[0] = fmul.contract(A[i + 1], x)
         S1: B[i] = fadd.contract(A[0], 0.3)
         S2: A[0] = x",
        // Of two zeros.
        "S0: B[i] = maxnum(-0.3 * f32(i), 0.0)",
    ];
    for body in bodies {
        let text = format!(
            "nest @t[N, M] {{
              array A: f32[N + 1]
              array B: f32[N]
              scalar x: f32 in
              for i in 0..N {{ {body} }}
            }}"
        );
        let kernel = determined((*text::parse(&text).unwrap().kernel).clone());
        for passes in [None, Some("default<O3>")] {
            assert_eq!(
                agree(&kernel, &kernel.original, &kernel.original, &[6, 6], 1, (passes, 1)),
                Ok(true),
                "{text}"
            );
        }
    }
}

#[test]
fn maxnum_of_what_is_not_two_zeros() {
    let program = text::parse(
        "nest @t[N, M] {
          array A: f64[N]
          array B: f64[N]
          array C: f64[N]
          for i in 0..N {
            S0: A[i] = maxnum(A[i] - 4.0, B[i])
            S1: C[i] = maxnum(B[i], 0.0 / 0.0)
          }
        }",
    )
    .unwrap();
    for passes in [None, Some("default<O3>")] {
        assert_eq!(
            agree(
                &program.kernel,
                &program.kernel.original,
                &program.kernel.original,
                &[30, 1],
                1,
                (passes, 1)
            ),
            Ok(true)
        );
    }
}
