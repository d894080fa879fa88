//! The oracle against brute force, on random kernels and random changes of their trees, right and wrong ones.

use crate::common::*;
use analyses::legality::CoverageProblem;
use analyses::{
    DependenceKind, Dependences, Oracle, OracleOptions, Verdict, Witness, dependences::Polyhedral,
};
use loop_tree::arbitrary::Choices;
use loop_tree::*;
use proptest::prelude::*;
use std::sync::Arc;

fn between(draw: &mut Choices, low: i64, high: i64) -> i64 {
    low + i64::from(draw.below((high - low + 1) as u32))
}

/// Makes kernels whose order is all that matters, small enough for every pair of instances to be compared at all sizes: subscripts
/// that meet often, few iterations, no values. Trees that compute something come from [`loop_tree::arbitrary`].
struct Maker<'d> {
    draw: &'d mut Choices,
    vars: u32,
    statements: Vec<Arc<Statement>>,
}

impl Maker<'_> {
    fn expression(&mut self, scope: &[u32]) -> Affine {
        let mut e = c(between(self.draw, -1, 1));
        if !scope.is_empty() {
            let var = scope[self.draw.below(scope.len() as u32) as usize];
            e = e + v(var).scale([1, 1, 1, -1, 2][self.draw.below(5) as usize]);
            if self.draw.one_in(4) {
                let var = scope[self.draw.below(scope.len() as u32) as usize];
                e = e + v(var);
            }
            if self.draw.one_in(6) {
                e = e.floor_div(2);
            }
        }
        e
    }

    fn node(&mut self, scope: &mut Vec<u32>, depth: u32) -> Green {
        if depth < 3 && (scope.is_empty() || self.draw.below(5) < 3) {
            let var = self.vars;
            self.vars += 1;
            let lower = match self.draw.below(4) {
                0 if !scope.is_empty() => v(scope[self.draw.below(scope.len() as u32) as usize]),
                1 => c(1),
                _ => c(0),
            };
            let upper = match self.draw.below(4) {
                0 => p(0).offset(-1),
                1 => c(3),
                _ => p(0),
            };
            scope.push(var);
            let body = self.sequence(scope, depth + 1);
            scope.pop();
            let mut header = LoopHeader::range(VarId(var), lower, upper);
            if self.draw.one_in(8) {
                header.step = 2;
            }
            return Green::for_loop(header, body);
        }
        let id = self.statements.len() as u32;
        let mut accesses = Vec::new();
        let array = self.draw.below(3);
        let subscripts: Vec<Affine> =
            (0..[1, 2, 0][array as usize]).map(|_| self.expression(scope)).collect();
        accesses.push(write(array, &subscripts));
        for _ in 0..self.draw.below(3) {
            let array = self.draw.below(3);
            let subscripts: Vec<Affine> =
                (0..[1, 2, 0][array as usize]).map(|_| self.expression(scope)).collect();
            accesses.push(read(array, &subscripts));
        }
        if self.draw.one_in(12) {
            accesses[0].subscripts = None;
            accesses[0].kind = AccessKind::MayWrite;
        }
        let mut s = statement(&format!("S{id}"), scope, accesses);
        if self.draw.one_in(15)
            && let Some(s) = Arc::get_mut(&mut s)
        {
            s.flags = [StmtFlags::VOLATILE, StmtFlags::SIDE_EFFECTS][self.draw.below(2) as usize];
        }
        self.statements.push(s);
        let mut node = leaf(id, scope);
        if self.draw.one_in(6) && !scope.is_empty() {
            let e = self.expression(scope);
            node = Green::guard(Condition::all(vec![Constraint::ge(e, c(0))]), node);
        }
        if self.draw.one_in(12) {
            // Array 3 is a predicate that nothing under it writes.
            node =
                Green::guarded(Arc::new(GuardCondition::Predicate { array: ArrayId(3), value: true }), node);
        }
        node
    }

    fn sequence(&mut self, scope: &mut Vec<u32>, depth: u32) -> Green {
        let n = if self.statements.len() > 3 { 1 } else { 1 + self.draw.below(2) };
        Green::seq((0..n).map(|_| self.node(scope, depth)).collect::<Vec<_>>())
    }
}

fn random_kernel(draw: &mut Choices) -> Kernel {
    let mut maker = Maker { draw, vars: 0, statements: vec![] };
    let tree = maker.sequence(&mut Vec::new(), 0);
    let (vars, mut statements) = (maker.vars, maker.statements);
    if maker.draw.one_in(3)
        && let Some(s) = statements.first_mut().and_then(Arc::get_mut)
    {
        s.accesses.push(write(3, &[]));
    }
    let mut kernel = kernel(1, vars, &[1, 2, 0, 0], statements, tree);
    kernel.original = canonical(&kernel, &kernel.original);
    kernel
}

/// A change at one node, sometimes a wrong one.
fn change(kernel: &Kernel, root: &Green, draw: &mut Choices) -> Green {
    let mut nodes: Vec<Red<'_>> = Vec::new();
    let mut walk = root.walk();
    while walk.next().is_some() {
        nodes.push(walk.here().clone());
    }
    let loops: Vec<&Red<'_>> = nodes.iter().filter(|n| n.green().as_loop().is_some()).collect();
    let sequences: Vec<&Red<'_>> = nodes.iter().filter(|n| n.green().child_count() > 1).collect();
    let t = fresh_variable(kernel, root);
    let u = VarId(t.0 + 1);
    let kind = draw.below(14);
    if matches!(kind, 9 | 10) || loops.is_empty() {
        let Some(at) = sequences.get(draw.below(sequences.len() as u32) as usize) else {
            return root.clone();
        };
        let children: Vec<Green> = at.green().children().cloned().collect();
        let i = draw.below(children.len() as u32 - 1) as usize;
        let mut list = children;
        if let (true, Some((a, x)), Some((b, y))) = (kind == 9, list[i].as_loop(), list[i + 1].as_loop()) {
            // Fuse with a shift; iterations of the second that do not fit are guarded away, rightly only by luck.
            let shift = between(draw, -1, 1);
            if let (Some((l, h)), 1, 1) = (a.single_bounds(), a.step, b.step) {
                let second = Green::bind(b.var, Affine::var(t).offset(shift), y.clone());
                let fused = Green::for_loop(
                    LoopHeader { var: t, ..LoopHeader::range(t, l.clone(), h.clone()) },
                    Green::seq([Green::bind(a.var, Affine::var(t), x.clone()), second]),
                );
                list.splice(i..i + 2, [fused]);
                return at.replace_with(Green::seq(list));
            }
        }
        list.swap(i, i + 1);
        return at.replace_with(Green::seq(list));
    }
    let at = loops[draw.below(loops.len() as u32) as usize];
    let Some((h, body)) = at.green().as_loop() else { return root.clone() };
    let Some((l, up)) = h.single_bounds() else { return root.clone() };
    let (l, up) = (l.clone(), up.clone());
    let header = |var: VarId, lower: Affine, upper: Affine, step: i64| LoopHeader {
        step,
        kind: h.kind,
        ..LoopHeader::range(var, lower, upper)
    };
    let new = match kind {
        // Interchange, without projecting bounds: wrong for triangular nests.
        0 | 1 => match body.as_loop() {
            Some((inner, rest)) => {
                let unsound = inner.lower().iter().chain(inner.upper()).any(|e| e.uses(h.var));
                if unsound {
                    return root.clone();
                }
                Green::for_loop(inner.clone(), Green::for_loop(h.clone(), rest.clone()))
            }
            None => return root.clone(),
        },
        // Reverse.
        2 if h.step == 1 => {
            let value = l.clone() + up.offset(-1) - Affine::var(t);
            Green::for_loop(header(t, l.clone(), up, 1), Green::bind(h.var, value, body.clone()))
        }
        // Strip-mine, exactly or with a tile missing or too many.
        3 | 4 if h.step == 1 => {
            let extent = up.clone() - l.clone();
            let tiles = extent.offset([0, 0, 0, -2][draw.below(4) as usize]).ceil_div(2);
            let start = l.clone() + Affine::var(t).scale(2);
            let inner = LoopHeader {
                bounds: Bounds::Affine {
                    lower: vec![start.clone()],
                    upper: vec![start.offset([2, 2, 2, 3][draw.below(4) as usize]), up],
                },
                ..(**h).clone()
            };
            Green::for_loop(header(t, c(0), tiles, 1), Green::for_loop(inner, body.clone()))
        }
        // Tiles by a step.
        5 if h.step == 1 => {
            let inner = LoopHeader {
                bounds: Bounds::Affine {
                    lower: vec![Affine::var(t)],
                    upper: vec![Affine::var(t).offset(3), up.clone()],
                },
                ..(**h).clone()
            };
            Green::for_loop(header(t, l, up, 3), Green::for_loop(inner, body.clone()))
        }
        // Peel the first iteration, guarded or not.
        6 if h.step == 1 => {
            let first = Green::bind(h.var, l.clone(), body.clone());
            let first = if draw.one_in(3) {
                first
            } else {
                Green::guard(Condition::all(vec![Constraint::lt(l.clone(), up.clone())]), first)
            };
            Green::seq([first, Green::for_loop(header(h.var, l.offset(1), up, 1), body.clone())])
        }
        // Unroll by two, with the rest apart.
        7 if h.step == 1 => {
            let half = (up.clone() - l.clone()).floor_div(2);
            let at = |k: i64| Green::bind(h.var, l.clone() + Affine::var(t).scale(2).offset(k), body.clone());
            let main = Green::for_loop(header(t, c(0), half.clone(), 1), Green::seq([at(0), at(1)]));
            let from = l.clone() + half.scale(2);
            Green::seq([main, Green::for_loop(header(h.var, from, up, 1), body.clone())])
        }
        // Unroll by three; sometimes a copy is missing, twice, or in another order.
        11 if h.step == 1 => {
            let groups = (up.clone() - l.clone()).floor_div(3);
            let copies =
                [vec![0, 1, 2], vec![0, 1, 2], vec![0, 1], vec![0, 1, 1], vec![2, 1, 0], vec![0, 2, 1]];
            let copies = &copies[draw.below(6) as usize];
            unrolled(h, body, &l, &up, t, groups, 3, &|body: &Green, first: &Affine| {
                Green::seq(copies.iter().map(|k| Green::bind(h.var, first.offset(*k), body.clone())))
            })
        }
        // Unroll and jam by two.
        12 if h.step == 1 => {
            let groups = (up.clone() - l.clone()).floor_div(2);
            unrolled(h, body, &l, &up, t, groups, 2, &|body: &Green, first: &Affine| jam(h.var, body, first))
        }
        // Split at a value, with an iteration missing or twice.
        13 if h.step == 1 => {
            let at = c(between(draw, 0, 4));
            let second = at.offset([0, 0, 0, 1, -1][draw.below(5) as usize]);
            let piece = |lower: Vec<Affine>, upper: Vec<Affine>| {
                let bounds = Bounds::Affine { lower, upper };
                Green::for_loop(LoopHeader { bounds, ..(**h).clone() }, body.clone())
            };
            Green::seq([piece(vec![l.clone()], vec![up.clone(), at]), piece(vec![l, second], vec![up])])
        }
        // Distribute, or skew.
        _ => match (body.node(), body.as_loop()) {
            (Node::Seq(children), _) => {
                Green::seq(children.iter().map(|c| Green::for_loop(h.clone(), c.clone())).collect::<Vec<_>>())
            }
            (_, Some((inner, rest))) if inner.step == 1 => {
                let Some((a, b)) = inner.single_bounds() else { return root.clone() };
                let i = Affine::var(h.var);
                let skewed = LoopHeader::range(u, a + &i, b + &i);
                let value = Affine::var(u) - i;
                Green::for_loop(
                    h.clone(),
                    Green::for_loop(skewed, Green::bind(inner.var, value, rest.clone())),
                )
            }
            _ => return root.clone(),
        },
    };
    at.replace_with(new)
}

/// A loop over whole groups of iterations, whose body is made of the first value of a group, and a loop over the rest.
#[allow(clippy::too_many_arguments)]
fn unrolled(
    h: &LoopHeader,
    body: &Green,
    lower: &Affine,
    upper: &Affine,
    group: VarId,
    groups: Affine,
    factor: i64,
    copies: &dyn Fn(&Green, &Affine) -> Green,
) -> Green {
    let first = lower + &Affine::var(group).scale(factor);
    let main = LoopHeader { kind: h.kind, ..LoopHeader::range(group, 0, groups.clone()) };
    let bounds = Bounds::Affine {
        lower: vec![lower.clone(), lower + &groups.scale(factor)],
        upper: vec![upper.clone()],
    };
    let rest = LoopHeader { bounds, ..h.clone() };
    Green::seq([Green::for_loop(main, copies(body, &first)), Green::for_loop(rest, body.clone())])
}

/// Two copies, next to each other in each innermost sequence.
fn jam(var: VarId, body: &Green, first: &Affine) -> Green {
    match body.node() {
        Node::Seq(children) => Green::seq(children.iter().map(|c| jam(var, c, first))),
        Node::Loop(h, inner) if !h.lower().iter().chain(h.upper()).any(|e| e.uses(var)) => {
            Green::for_loop(h.clone(), jam(var, inner, first))
        }
        _ => Green::seq([0, 1].map(|k| Green::bind(var, first.offset(k), body.clone()))),
    }
}

/// The example in a refusal is one: brute force finds it in the same place.
fn confirm(kernel: &Kernel, tree: &Green, witness: &Witness) -> Result<(), TestCaseError> {
    let values = |params: &[(Arc<str>, i64)]| params.iter().map(|(_, v)| *v).collect::<Vec<i64>>();
    match witness {
        Witness::Order(broken) => {
            let params = values(&broken.params);
            let (before, after) = (run(kernel, &kernel.original, &params), run(kernel, tree, &params));
            let position = |list: &[Instance], id: StmtId, dims: &[i64]| {
                list.iter().position(|i| i.statement == id && i.dims == dims)
            };
            let pair = |list: &[Instance]| {
                position(list, broken.source.id, &broken.source_instance).zip(position(
                    list,
                    broken.target.id,
                    &broken.target_instance,
                ))
            };
            let (old, new) = (pair(&before), pair(&after));
            prop_assert!(old.is_some_and(|(a, b)| a < b) && new.is_some_and(|(a, b)| a > b), "{witness}");
            let conflicts = old.is_some_and(|(a, b)| conflict(kernel, &before[a], &before[b], &params));
            prop_assert!(conflicts, "{witness}");
        }
        Witness::Coverage(broken) => {
            let params = values(&broken.params);
            let count = |list: Vec<Instance>| {
                list.iter()
                    .filter(|i| i.statement == broken.statement.id && i.dims == broken.instance)
                    .count()
            };
            let (old, new) =
                (count(run(kernel, &kernel.original, &params)), count(run(kernel, tree, &params)));
            let wrong = match broken.problem {
                CoverageProblem::Missing => old == 1 && new == 0,
                CoverageProblem::Extra => old == 0 && new > 0,
                CoverageProblem::Repeated => new > 1,
                CoverageProblem::Predicates => true,
            };
            prop_assert!(wrong, "{witness}: {old} became {new}\n{kernel:#?}\n{tree:#?}");
        }
        other => return Err(TestCaseError::fail(format!("no example: {other}\n{kernel:#?}\n{tree:#?}"))),
    }
    Ok(())
}

fn check(kernel: &Arc<Kernel>, oracle: &Oracle, tree: &Green) -> Result<bool, TestCaseError> {
    let verdict = oracle.judge(tree);
    let truth = legal(kernel, tree);
    match (&verdict, &truth) {
        (Verdict::Always, Err(why)) => {
            return Err(TestCaseError::fail(format!("unsound: {why}\n{kernel:#?}\n{tree:#?}")));
        }
        (Verdict::Never(witness), Ok(())) => {
            return Err(TestCaseError::fail(format!("imprecise: {witness}\n{kernel:#?}\n{tree:#?}")));
        }
        (Verdict::Never(witness), Err(_)) => confirm(kernel, tree, witness)?,
        _ => {}
    }
    // The verdict does not depend on what was judged before.
    let fresh =
        Oracle::with_dependences(kernel.clone(), oracle.dependences().clone(), OracleOptions::default());
    prop_assert_eq!(fresh.expect("as before").judge(tree), verdict);
    Ok(truth.is_ok())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_oracle_agrees_with_brute_force(
        program in proptest::collection::vec(any::<u16>(), 0..60),
        changes in proptest::collection::vec(proptest::collection::vec(any::<u16>(), 1..8), 1..4),
    ) {
        let kernel = Arc::new(random_kernel(&mut Choices::new(program)));
        let Ok(oracle) = Oracle::new(kernel.clone(), &Polyhedral::default(), OracleOptions::default()) else {
            // Statements under a predicate that they write.
            return Ok(());
        };
        prop_assert_eq!(oracle.judge(&kernel.original), Verdict::Always);
        let mut tree = kernel.original.clone();
        for bytes in changes {
            tree = canonical(&kernel, &change(&kernel, &tree, &mut Choices::new(bytes)));
            check(&kernel, &oracle, &tree)?;
        }
    }

    #[test]
    fn coarser_dependences_are_sound(
        program in proptest::collection::vec(any::<u16>(), 0..50),
        bytes in proptest::collection::vec(any::<u16>(), 1..8),
    ) {
        let kernel = Arc::new(random_kernel(&mut Choices::new(program)));
        let tree = canonical(&kernel, &change(&kernel, &kernel.original, &mut Choices::new(bytes)));
        let mut legal_before = true;
        for name in ["polyhedral", "flat", "none"] {
            let analysis = analyses::dependences_by_name(name).expect("it exists");
            let Ok(oracle) = Oracle::new(kernel.clone(), &*analysis, OracleOptions::default()) else { return Ok(()) };
            let legal = oracle.judge(&tree).is_legal();
            prop_assert!(legal_before || !legal, "{} accepts what a finer analysis refuses", name);
            legal_before = legal;
        }
    }

    #[test]
    fn listed_dependences_are_the_conflicting_pairs(program in proptest::collection::vec(any::<u16>(), 0..40)) {
        let kernel = random_kernel(&mut Choices::new(program));
        let Ok(set) = Polyhedral::default().dependences(&kernel) else { return Ok(()) };
        for n in 0..5 {
            let order = run(&kernel, &kernel.original, &[n]);
            for (i, a) in order.iter().enumerate() {
                for b in &order[i + 1..] {
                    let point = [&[n], &a.dims[..], &b.dims[..]].concat();
                    let listed = set.dependences.iter().any(|d| {
                        (d.source, d.target) == (a.statement, b.statement) && d.relation.disjuncts.iter().any(|r| {
                            // Floors have columns of their own: only complete points can be tested.
                            r.system.columns() != point.len() || r.system.accepts(&point)
                        })
                    });
                    if conflict(&kernel, a, b, &[n]) {
                        prop_assert!(listed, "{:?} -> {:?} is missing\n{:#?}", a, b, kernel);
                    }
                }
            }
        }
        prop_assert!(set.dependences.iter().all(|d| d.kind == DependenceKind::Order || d.array.is_some()));
    }
}

/// Decisions from a linear congruence: the same on every run.
fn decisions(seed: &mut u64, count: usize) -> Choices {
    let mut next = || {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u16::from((*seed >> 40) as u8)
    };
    Choices::new((0..count).map(|_| next()).collect::<Vec<_>>())
}

/// Long run: `ORACLE_KERNELS=20000 cargo test -p looptree-analyses --test main many`.
#[test]
fn many_kernels_and_both_answers() {
    let kernels = std::env::var("ORACLE_KERNELS").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let seed = std::env::var("ORACLE_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut seed: u64 = seed;
    let (mut legal, mut illegal) = (0, 0);
    for _ in 0..kernels {
        let kernel = Arc::new(random_kernel(&mut decisions(&mut seed, 60)));
        let Ok(oracle) = Oracle::new(kernel.clone(), &Polyhedral::default(), OracleOptions::default()) else {
            continue;
        };
        for _ in 0..4 {
            let mut tree = kernel.original.clone();
            for _ in 0..3 {
                tree = canonical(&kernel, &change(&kernel, &tree, &mut decisions(&mut seed, 8)));
                if tree == kernel.original {
                    continue;
                }
                match check(&kernel, &oracle, &tree) {
                    Ok(true) => legal += 1,
                    Ok(false) => illegal += 1,
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
    println!("{kernels} kernels: {legal} legal trees, {illegal} illegal ones, all judged right");
    assert!(legal * 10 > kernels && illegal * 10 > kernels, "{legal} legal, {illegal} illegal");
}
