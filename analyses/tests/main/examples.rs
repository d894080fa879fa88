//! What the oracle says about known kernels and known changes.

use crate::common::*;
use analyses::dependences::{DEPENDENCES, Polyhedral};
use analyses::legality::CoverageProblem;
use analyses::{
    AnalysisError, Case, DependenceKind, Dependences, Oracle, OracleOptions, Verdict, Witness,
    dependences_by_name,
};
use loop_tree::*;
use std::collections::BTreeSet;
use std::sync::Arc;

fn oracle(kernel: &Kernel) -> Oracle {
    Oracle::new(Arc::new(kernel.clone()), &Polyhedral::default(), OracleOptions::default()).expect("affine")
}

fn n() -> Affine {
    p(0)
}

/// `for i, j, k: C[i,j] += A[i,k] * B[k,j]`, `S0` before it.
fn gemm() -> Kernel {
    let element = [v(0), v(1)];
    let s0 = statement("S0", &[0, 1], vec![read(0, &element), write(0, &element)]);
    let operands =
        vec![read(1, &[v(0), v(2)]), read(2, &[v(2), v(1)]), read(0, &element), write(0, &element)];
    let s1 = statement("S1", &[0, 1, 2], operands);
    let inner = Green::seq([leaf(0, &[0, 1]), range(2, c(0), n(), leaf(1, &[0, 1, 2]))]);
    kernel(1, 3, &[2, 2, 2], vec![s0, s1], range(0, c(0), n(), range(1, c(0), n(), inner)))
}

/// `for i, j: A[i,j] = A[i-1,j+1]`
fn diagonal() -> Kernel {
    let s =
        statement("S", &[0, 1], vec![read(0, &[v(0).offset(-1), v(1).offset(1)]), write(0, &[v(0), v(1)])]);
    kernel(1, 2, &[2], vec![s], range(0, c(1), n(), range(1, c(0), n().offset(-1), leaf(0, &[0, 1]))))
}

/// `for t, i: A[i] = A[i-1] + A[i] + A[i+1]`
fn seidel() -> Kernel {
    let at = |x: i64| read(0, &[v(1).offset(x)]);
    let s = statement("S", &[0, 1], vec![at(-1), at(0), at(1), write(0, &[v(1)])]);
    kernel(1, 2, &[1], vec![s], range(0, c(0), n(), range(1, c(1), n().offset(-1), leaf(0, &[0, 1]))))
}

fn distances(kernel: &Kernel, kind: DependenceKind) -> Vec<String> {
    let set = Polyhedral::default().dependences(kernel).expect("affine");
    let name = |s: StmtId| kernel.statement(s).name.to_string();
    let line =
        |d: &analyses::Dependence| format!("{}->{} {}", name(d.source), name(d.target), d.distance_text());
    let mut list: Vec<String> = set.dependences.iter().filter(|d| d.kind == kind).map(line).collect();
    list.sort();
    list.dedup();
    list
}

#[test]
fn dependences_of_known_kernels() {
    assert_eq!(distances(&gemm(), DependenceKind::Flow), ["S0->S1 (0, 0)", "S1->S1 (0, 0, <)"]);
    assert_eq!(distances(&gemm(), DependenceKind::Output), ["S0->S1 (0, 0)", "S1->S1 (0, 0, <)"]);
    assert_eq!(distances(&diagonal(), DependenceKind::Flow), ["S->S (1, -1)"]);
    assert_eq!(distances(&seidel(), DependenceKind::Flow), ["S->S (<, -1)", "S->S (<, 0)", "S->S (<=, 1)"]);
    // lu: for k { for i>k: A[i,k] /= A[k,k]; for i>k, j>k: A[i,j] -= A[i,k] * A[k,j] }
    let s0 = statement(
        "S0",
        &[0, 1],
        vec![read(0, &[v(0), v(0)]), read(0, &[v(1), v(0)]), write(0, &[v(1), v(0)])],
    );
    let (ik, kj, ij) = ([v(2), v(0)], [v(0), v(3)], [v(2), v(3)]);
    let s1 = statement("S1", &[0, 2, 3], vec![read(0, &ik), read(0, &kj), read(0, &ij), write(0, &ij)]);
    let from = || v(0).offset(1);
    let body = Green::seq([
        range(1, from(), n(), leaf(0, &[0, 1])),
        range(2, from(), n(), range(3, from(), n(), leaf(1, &[0, 2, 3]))),
    ]);
    let lu = kernel(1, 4, &[2], vec![s0, s1], range(0, c(0), n(), body));
    assert_eq!(
        distances(&lu, DependenceKind::Flow),
        ["S0->S1 (0)", "S1->S0 (<)", "S1->S1 (<, 0, 0)", "S1->S1 (<, 0, <)", "S1->S1 (<, <, 0)"]
    );
}

#[test]
fn missing_repeated_and_extra_instances() {
    let kernel = gemm();
    let oracle = oracle(&kernel);
    let s1 = |k: Green| range(0, c(0), n(), range(1, c(0), n(), Green::seq([leaf(0, &[0, 1]), k])));
    let problem = |tree: &Green| match oracle.judge(tree) {
        Verdict::Never(Witness::Coverage(broken)) => Some(broken.problem),
        _ => None,
    };
    let stmt = || leaf(1, &[0, 1, 2]);
    assert_eq!(problem(&s1(range(2, c(1), n(), stmt()))), Some(CoverageProblem::Missing));
    assert_eq!(problem(&s1(range(2, c(0), n().offset(1), stmt()))), Some(CoverageProblem::Extra));
    let first = Green::bind(VarId(2), c(0), stmt());
    // Inside of loops to `n`, the first iteration always exists; before them it does not.
    assert_eq!(oracle.judge(&s1(Green::seq([first.clone(), range(2, c(1), n(), stmt())]))), Verdict::Always);
    let early = Green::bind(VarId(0), c(0), Green::bind(VarId(1), c(0), first.clone()));
    assert_eq!(problem(&Green::seq([early, kernel.original.clone()])), Some(CoverageProblem::Extra));
    let positive = Condition::all(vec![Constraint::ge(n(), c(1))]);
    let guarded = Green::guard(positive, first);
    assert_eq!(
        oracle.judge(&s1(Green::seq([guarded.clone(), range(2, c(1), n(), stmt())]))),
        Verdict::Always
    );
    assert_eq!(
        problem(&s1(Green::seq([guarded, range(2, c(0), n(), stmt())]))),
        Some(CoverageProblem::Repeated)
    );
    assert!(problem(&Green::empty()).is_some());
}

#[test]
fn possible_overlap_becomes_a_condition() {
    // for i { A[i] = 0; B[i] = 0 } with A and B of one class.
    let statements =
        vec![statement("S0", &[0], vec![write(0, &[v(0)])]), statement("S1", &[0], vec![write(1, &[v(0)])])];
    let mut kernel =
        kernel(1, 1, &[1, 1], statements, range(0, c(0), n(), Green::seq([leaf(0, &[0]), leaf(1, &[0])])));
    let split = Green::seq([range(0, c(0), n(), leaf(1, &[0])), range(0, c(0), n(), leaf(0, &[0]))]);
    assert_eq!(oracle(&kernel).judge(&split), Verdict::Always);
    kernel.arrays[1].alias = kernel.arrays[0].alias;
    let condition = RuntimeCondition::NoOverlap(ArrayId(0), ArrayId(1));
    assert_eq!(oracle(&kernel).judge(&split), Verdict::Under(vec![condition.clone()]));
    let facts = oracle(&kernel).loop_facts(&kernel.original);
    let fact = &facts[&Path::root()];
    assert!(!fact.parallel);
    assert_eq!(fact.parallel_if, Some(vec![condition.clone()]));
    assert!(oracle(&kernel).loop_facts(&split).values().all(|f| f.parallel));
    // So says the short question, about what is known to hold.
    let parallel =
        |hold: &dyn Fn(&[RuntimeCondition]) -> bool| oracle(&kernel).parallel(&kernel.original, hold);
    assert_eq!(parallel(&|_| false), BTreeSet::new());
    assert_eq!(parallel(&|needed| needed == [condition.clone()]), BTreeSet::from([Path::root()]));
}

#[test]
fn what_carries_one_dependence_for_sure_is_not_parallel_for_another() {
    // for i for j: A[i, j] = A[i-1, j] + B[j]; B[j] = A[i, j], with A and B of one class: i carries some that vanish, some that stay.
    let element = [v(0), v(1)];
    let above = read(0, &[v(0).offset(-1), v(1)]);
    let s0 = statement("S0", &[0, 1], vec![above, read(1, &[v(1)]), write(0, &element)]);
    let s1 = statement("S1", &[0, 1], vec![read(0, &element), write(1, &[v(1)])]);
    let body = Green::seq([leaf(0, &[0, 1]), leaf(1, &[0, 1])]);
    let mut kernel = kernel(1, 2, &[2, 1], vec![s0, s1], range(0, c(1), n(), range(1, c(0), n(), body)));
    let inner = Path::root().child(0);
    assert_eq!(oracle(&kernel).parallel(&kernel.original, |_| true), BTreeSet::from([inner.clone()]));
    kernel.arrays[1].alias = kernel.arrays[0].alias;
    assert_eq!(oracle(&kernel).parallel(&kernel.original, |_| true), BTreeSet::from([inner]));
    assert_eq!(oracle(&kernel).parallel(&kernel.original, |_| false), BTreeSet::new());
}

#[test]
fn statements_of_one_body_share_relations() {
    // for i: A[i] = A[i-1]; B[i] = B[i-1]; and for i: C[i] = C[i-1] over other iterations.
    let step =
        |name, array| statement(name, &[0], vec![read(array, &[v(0).offset(-1)]), write(array, &[v(0)])]);
    let tree = Green::seq([
        range(0, c(1), n(), Green::seq([leaf(0, &[0]), leaf(1, &[0])])),
        range(0, c(2), n(), leaf(2, &[0])),
    ]);
    let kernel = kernel(1, 1, &[1, 1, 1], vec![step("S0", 0), step("S1", 1), step("S2", 2)], tree);
    let set = Polyhedral::default().dependences(&kernel).expect("affine");
    let flow = |id| {
        let within = |d: &&analyses::Dependence| d.source == id && d.target == id;
        let found = set.dependences.iter().filter(within).find(|d| d.kind == DependenceKind::Flow);
        found.expect("a dependence").relation.clone()
    };
    assert!(Arc::ptr_eq(&flow(StmtId(0)), &flow(StmtId(1))));
    assert_ne!(flow(StmtId(0)), flow(StmtId(2)));
}

#[test]
fn a_reduction_is_reordered_only_against_itself() {
    // for i: s += A[i], as a reduction and not.
    let accesses = vec![read(0, &[]), read(1, &[v(0)]), write(0, &[])];
    let sum = statement("S0", &[0], accesses);
    let last = statement("S1", &[], vec![read(0, &[])]);
    let tree = Green::seq([range(0, c(0), n(), leaf(0, &[0])), leaf(1, &[])]);
    let reversed = Green::seq([
        range(9, c(0), n(), Green::bind(VarId(0), n().offset(-1) - v(9), leaf(0, &[0]))),
        leaf(1, &[]),
    ]);
    let plain = kernel(1, 1, &[0, 1], vec![sum, last], tree);
    assert!(!oracle(&plain).judge(&reversed).is_legal());
    let mut kernel = plain;
    let mut reduction = (*kernel.statements[0]).clone();
    reduction.reduction = Some(Reduction { op: ReductionOp::FAdd, read: AccessId(0), write: AccessId(2) });
    kernel.statements[0] = Arc::new(reduction);
    let oracle = oracle(&kernel);
    assert_eq!(oracle.judge(&reversed), Verdict::Always);
    let before = Green::seq([leaf(1, &[]), range(0, c(0), n(), leaf(0, &[0]))]);
    assert!(!oracle.judge(&before).is_legal());
    let mut header = LoopHeader::range(VarId(0), 0, n());
    header.kind = LoopKind::Parallel;
    let parallel = Green::seq([Green::for_loop(header, leaf(0, &[0])), leaf(1, &[])]);
    assert!(matches!(oracle.judge(&parallel), Verdict::Never(Witness::Carried { .. })));
}

#[test]
fn flags_keep_their_order() {
    let make = |a: StmtFlags, b: StmtFlags| {
        let mut statements = Vec::new();
        for (name, array, flags) in [("S0", 0, a), ("S1", 1, b)] {
            let mut s = (*statement(name, &[0], vec![write(array, &[v(0)])])).clone();
            s.flags = flags;
            statements.push(Arc::new(s));
        }
        kernel(1, 1, &[1, 1], statements, range(0, c(0), n(), Green::seq([leaf(0, &[0]), leaf(1, &[0])])))
    };
    let swapped = range(0, c(0), n(), Green::seq([leaf(1, &[0]), leaf(0, &[0])]));
    let none = StmtFlags::empty();
    for (a, b, legal) in [
        (none, none, true),
        (StmtFlags::VOLATILE, none, true),
        (StmtFlags::VOLATILE, StmtFlags::VOLATILE, false),
        (StmtFlags::VOLATILE, StmtFlags::ATOMIC_RELAXED, false),
        (StmtFlags::ATOMIC_RELAXED, none, true),
        (StmtFlags::ATOMIC_RELAXED, StmtFlags::ATOMIC_RELAXED, true),
        (StmtFlags::SIDE_EFFECTS, none, false),
        (none, StmtFlags::MAY_THROW, false),
        (StmtFlags::MAY_TRAP, StmtFlags::MAY_NOT_RETURN, false),
        (StmtFlags::MAY_TRAP, none, true),
        (StmtFlags::ATOMIC_ORDERED, none, false),
        (none, StmtFlags::OPAQUE, false),
    ] {
        assert_eq!(oracle(&make(a, b)).judge(&swapped).is_legal(), legal, "{a:?} {b:?}");
    }
}

#[test]
fn atomic_reads_of_one_element_keep_their_order() {
    let judge = |flags: StmtFlags, by: i64| {
        let mut statements = Vec::new();
        for (name, array, shift) in [("S0", 0, 0), ("S1", 1, by)] {
            let accesses = vec![read(2, &[v(0).offset(shift)]), write(array, &[v(0)])];
            let mut s = (*statement(name, &[0], accesses)).clone();
            s.flags = flags;
            statements.push(Arc::new(s));
        }
        let loops = |body: [Green; 2]| range(0, c(0), n(), Green::seq(body));
        let kernel = kernel(1, 1, &[1, 1, 1], statements, loops([leaf(0, &[0]), leaf(1, &[0])]));
        oracle(&kernel).judge(&loops([leaf(1, &[0]), leaf(0, &[0])])).is_legal()
    };
    assert!(judge(StmtFlags::empty(), 0));
    assert!(!judge(StmtFlags::ATOMIC_RELAXED, 0));
    // What S1 reads is read by S0 in another iteration, whose order stays.
    assert!(judge(StmtFlags::ATOMIC_RELAXED, 1));
}

#[test]
fn what_cannot_be_described_is_refused() {
    let kernel = gemm();
    let oracle = oracle(&kernel);
    let refused = |tree: Green| matches!(oracle.judge(&tree), Verdict::Never(Witness::Unsupported(_)));
    assert!(refused(leaf(1, &[0, 1, 2])));
    assert!(refused(leaf(7, &[])));
    let endless =
        LoopHeader { bounds: Bounds::Unbounded { exit: None }, ..LoopHeader::range(VarId(9), 0, 0) };
    assert!(refused(Green::for_loop(endless, kernel.original.clone())));
    let big = range(0, c(0), v(0).scale(i64::MAX).scale(4), leaf(0, &[0, 1]));
    assert!(refused(big));
    // A statement that executes twice with the same dims has no instances to speak of.
    let mut repeated = kernel.clone();
    repeated.original = range(9, c(0), c(2), kernel.original.clone());
    assert!(matches!(Polyhedral::default().dependences(&repeated), Err(AnalysisError::Repeated { .. })));
}

#[test]
fn a_tiny_quota_refuses_and_never_accepts() {
    let kernel = Arc::new(diagonal());
    let set = Arc::new(Polyhedral::default().dependences(&kernel).expect("affine"));
    let oracle = |options| Oracle::with_dependences(kernel.clone(), set.clone(), options).expect("affine");
    let swapped = range(1, c(0), n().offset(-1), range(0, c(1), n(), leaf(0, &[0, 1])));
    // Points that are easily found take none of it.
    let of_isl = oracle(OracleOptions { quota: 1, ..OracleOptions::default() });
    assert!(!of_isl.judge(&swapped).is_legal());
    let of_all = oracle(OracleOptions { quota: 1, work: 1 });
    assert_eq!(of_all.judge(&swapped), Verdict::Never(Witness::Quota));
}

/// Nor does what fits into a budget.
#[test]
fn verdicts_do_not_depend_on_what_other_oracles_of_a_case_were_asked() {
    let kernel = Arc::new(diagonal());
    let set = Arc::new(Polyhedral::default().dependences(&kernel).expect("affine"));
    let row = |outer, inner, from: i64| {
        let inside = range(inner, c(from), n().offset(-from), leaf(0, &[0, 1]));
        range(outer, c(1), n(), inside)
    };
    let trees = [row(0, 1, 0), row(1, 0, 0), row(1, 0, 1), row(0, 1, 1), kernel.original.clone()];
    let mut kinds = std::collections::BTreeSet::new();
    for work in (0..400).step_by(7) {
        let options = OracleOptions { work, ..OracleOptions::default() };
        let alone = |tree| {
            let oracle = Oracle::with_dependences(kernel.clone(), set.clone(), options);
            oracle.expect("affine").judge(tree)
        };
        let expected: Vec<Verdict> = trees.iter().map(alone).collect();
        let case = Arc::new(Case::new(kernel.clone(), set.clone(), options).expect("affine"));
        std::thread::scope(|scope| {
            for first in 0..trees.len() {
                let (case, trees, expected) = (case.clone(), &trees, &expected);
                scope.spawn(move || {
                    let oracle = Oracle::of(case);
                    for at in (0..trees.len()).map(|k| (first + k) % trees.len()) {
                        assert_eq!(oracle.judge(&trees[at]), expected[at], "tree {at}, work {work}");
                    }
                });
            }
        });
        kinds.extend(expected.iter().map(|v| match v {
            Verdict::Never(Witness::Quota) => "undecided",
            Verdict::Never(_) => "illegal",
            _ => "legal",
        }));
    }
    assert_eq!(kinds.len(), 3, "{kinds:?}");
}

#[test]
fn implementations_have_names() {
    for name in DEPENDENCES {
        assert!(dependences_by_name(name).is_some());
    }
    assert!(dependences_by_name("guess").is_none());
    fn shared<T: Send + Sync>() {}
    shared::<analyses::DependenceSet>();
    shared::<Case>();
}

#[test]
fn tiles_of_remainders_and_backwards_are_covered_without_isl() {
    let program = text::parse(
        "nest @copy[N, M] {
           array A: f64[N, M]
           array B: f64[N, M]
           for i in 0..N { for j in 0..M { S: A[i, j] = B[i, j] } }
         }",
    )
    .expect("a kernel");
    let oracle = oracle(&program.kernel);
    let full = "for t0 in 0..floor(M/32) { for j in 32*t0..32*t0 + 32 { S } }";
    let rows = [
        // Tiles, or what is in them, backwards.
        "for t0 in 0..floor((M + 31)/32) { for t1 in max(-32*t0 - 31, 1 - M)..1 - 32*t0 { let j = -t1 { S } } }",
        "for t0 in 0..floor(M/4) { for t1 in 4*t0..4*t0 + 4 { let j = 8*t0 - t1 + 3 { S } } }
         for j in max(0, 4*floor(M/4))..M { S }",
        "for t0 in 0..floor(M/4) { for t1 in 0..4 { let j = 4*floor(M/4) - 4*t0 - 4 + t1 { S } } }
         for j in max(0, 4*floor(M/4))..M { S }",
        // Tiles of what is left over by tiles.
        &format!(
            "{full} for t0 in max(0, floor(M/32))..floor((M + 31)/32) {{
               for t1 in 0..floor((224*t0 + M + 255)/256) - t0 {{ for j in 32*t0 + 256*t1..M {{ S }} }} }}"
        ),
        &format!(
            "{full} for t0 in max(0, floor(M/4096))..floor((M + 4095)/4096) {{
               for t1 in 32*t0..floor((M + 127)/128) {{ for t2 in floor(M/32)..floor((M + 31)/32) {{
                 for j in 32*t2..min(128*t1 + 128, M) {{ S }} }} }} }}"
        ),
    ];
    for row in rows {
        let root = text::parse_tree(&program.kernel, &format!("for i in 0..N {{ {row} }}")).expect("a tree");
        assert_eq!(oracle.judge(&root), Verdict::Always, "{row}");
    }
    assert_eq!(oracle.isl_calls(), 0);
    // One too few, and one twice.
    for row in [
        "for t0 in 0..floor(M/4) { for t1 in 4*t0..4*t0 + 4 { let j = 8*t0 - t1 + 3 { S } } }",
        "for t0 in 0..floor((M + 31)/32) { for t1 in max(-32*t0 - 32, 1 - M)..1 - 32*t0 { let j = -t1 { S } } }",
    ] {
        let root = text::parse_tree(&program.kernel, &format!("for i in 0..N {{ {row} }}")).expect("a tree");
        assert!(matches!(oracle.judge(&root), Verdict::Never(Witness::Coverage(_))), "{row}");
    }
}
