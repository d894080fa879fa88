//! Laws of all transformations, over random trees.

use crate::testing::{instances, kernel, sorted};
use crate::{Context, LoopRef, MoveOptions, Recipe, Registry, Step, moves};
use loop_tree::arbitrary::{Choices, rename};
use loop_tree::{
    Affine, Bounds, Condition, Constraint, Green, Kernel, LoopHeader, LoopKind, ParamId, Path, StmtId, VarId,
    canonical,
};
use proptest::prelude::*;
use std::sync::Arc;

const VARIABLES: u32 = 6;

/// Makes orders for transformations to change: bounds of any form, so that ranges are often empty, which a program that is to compute
/// something ([`loop_tree::arbitrary`]) could not have. Statements do nothing.
struct Builder<'a> {
    draw: &'a mut Choices,
    dims: Vec<Vec<VarId>>,
    next: u32,
}

impl Builder<'_> {
    fn affine(&mut self, scope: &[VarId]) -> Affine {
        let mut e = Affine::constant(i64::from(self.draw.below(5)) - 1);
        if self.draw.below(2) == 0 {
            e = e + Affine::param(ParamId(self.draw.below(2)));
        }
        if !scope.is_empty() && self.draw.below(2) == 0 {
            let v = scope[self.draw.below(scope.len() as u32) as usize];
            e = e + Affine::var(v).scale([1, 1, -1, 2][self.draw.below(4) as usize]);
        }
        if self.draw.below(8) == 0 { e.floor_div(2) } else { e }
    }

    fn leaf(&mut self, scope: &[VarId]) -> Green {
        self.dims.push(scope.to_vec());
        Green::stmt(StmtId::new(self.dims.len() - 1), scope.into())
    }

    fn node(&mut self, scope: &mut Vec<VarId>, depth: u8) -> Green {
        match self.draw.below(8) {
            0..=4 if depth > 0 && self.next < VARIABLES => {
                let var = VarId(self.next);
                self.next += 1;
                let step = if self.draw.below(6) == 0 { 3 } else { 1 };
                let several = |b: &mut Self, most: u32| if b.draw.below(4) == 0 { most } else { 1 };
                let lower = if step == 1 { several(self, 2) } else { 1 };
                let lower = (0..lower)
                    .map(|_| if self.draw.below(2) == 0 { Affine::constant(0) } else { self.affine(scope) });
                let lower = lower.collect();
                let upper = several(self, 2);
                let upper = (0..upper).map(|_| self.affine(scope).offset(2)).collect();
                scope.push(var);
                let body = self.sequence(scope, depth - 1);
                scope.pop();
                let header = LoopHeader {
                    var,
                    bounds: Bounds::Affine { lower, upper },
                    step,
                    kind: LoopKind::Sequential,
                };
                Green::for_loop(header, body)
            }
            5 if depth > 0 => {
                let constraint = Constraint::ge(self.affine(scope), Affine::constant(0));
                Green::guard(Condition::all(vec![constraint]), self.sequence(scope, depth - 1))
            }
            _ => self.leaf(scope),
        }
    }

    fn sequence(&mut self, scope: &mut Vec<VarId>, depth: u8) -> Green {
        let count = if self.draw.below(3) == 0 { 2 } else { 1 };
        Green::seq((0..count).map(|_| self.node(scope, depth)).collect::<Vec<_>>())
    }
}

fn random(tape: Vec<u16>) -> (Kernel, Green) {
    let mut choices = Choices::new(tape);
    let mut builder = Builder { draw: &mut choices, dims: vec![], next: 0 };
    let nodes: Vec<Green> = (0..2).map(|_| builder.node(&mut vec![], 3)).collect();
    let names = ["i", "j", "k", "l", "m", "n"];
    // One statement declares all variables, so that they are original.
    let texts: Vec<(String, String)> = builder
        .dims
        .iter()
        .enumerate()
        .map(|(n, dims)| {
            (format!("S{n}"), dims.iter().map(|v| names[v.index()]).collect::<Vec<_>>().join(" "))
        })
        .collect();
    let mut list = vec![("all", "i j k l m n")];
    list.extend(texts.iter().map(|(n, d)| (&n[..], &d[..])));
    let mut kernel = kernel(&list);
    kernel.statements.remove(0);
    rename(&mut kernel, &mut choices);
    let root = canonical(&kernel, &Green::seq(nodes));
    kernel.original = root.clone();
    (kernel, root)
}

fn options() -> MoveOptions {
    MoveOptions {
        tile_sizes: vec![2, 3],
        two_level_tiles: vec![(4, 2)],
        strip_sizes: vec![3],
        unroll_factors: vec![2, 3],
        jam_factors: vec![2, 3],
        shift: 1,
        peel: vec![1, 3],
        ..MoveOptions::default()
    }
}

const PARAMS: [[i64; 2]; 7] = [[0, 0], [-3, 4], [1, 2], [5, 1], [3, -2], [6, 7], [9, 4]];

fn keeps_order(step: &Step) -> bool {
    matches!(step.name(), "strip_mine" | "peel" | "split" | "unroll" | "skew" | "mark")
}

/// Everything that must hold of one step; the new tree.
fn laws(kernel: &Kernel, root: &Green, step: &Step) -> Result<Option<Green>, TestCaseError> {
    let cx = Context { kernel, root };
    let rewrite = match step.apply(&cx) {
        Ok(rewrite) => rewrite.root,
        Err(refusal) => {
            prop_assert!(!refusal.loops.is_empty(), "{step}: {refusal}");
            return Ok(None);
        }
    };
    prop_assert_eq!(&canonical(kernel, &rewrite), &rewrite, "{} is not canonical", step);
    let whole = step.rewrite(&cx).map(|new| canonical(kernel, &new));
    prop_assert_eq!(whole.as_ref().ok(), Some(&rewrite), "{}: what was taken over is not canonical", step);
    let text = step.to_string();
    let read = Recipe::parse(&text, &Registry::standard());
    prop_assert!(read.is_ok(), "{text}: {read:?}");
    let again = read.ok().and_then(|r| r.replay(kernel, root).ok());
    prop_assert_eq!(again.as_ref(), Some(&rewrite), "replay of {}", text);
    if step.name() == "sink" {
        return Ok(Some(rewrite)); // loses instances of loops that do not run
    }
    for params in PARAMS {
        if keeps_order(step) {
            prop_assert_eq!(
                instances(kernel, root, &params),
                instances(kernel, &rewrite, &params),
                "{} {:?}\n{:?}\n{:?}",
                step,
                params,
                root,
                rewrite
            );
        } else {
            prop_assert_eq!(
                sorted(kernel, root, &params),
                sorted(kernel, &rewrite, &params),
                "{} {:?}\n{:?}\n{:?}",
                step,
                params,
                root,
                rewrite
            );
        }
    }
    Ok(Some(rewrite))
}

/// Statements forward to copies of themselves, and every leaf of the new tree is one.
fn forwards(kernel: &Kernel, root: &Green, step: &Step, new: &Green) -> Result<(), TestCaseError> {
    let forwarding =
        step.forwarding(&Context { kernel, root }).map_err(|e| TestCaseError::fail(e.to_string()))?;
    let statement = |root: &Green, path: &Path| root.at(path)?.leaves().next();
    let mut reached = Vec::new();
    for leaf in loop_tree::occurrences(root) {
        for path in forwarding.forward(&leaf.path) {
            prop_assert_eq!(statement(new, &path), Some(leaf.statement), "{}", step);
            reached.push(path);
        }
    }
    reached.sort();
    let mut all: Vec<Path> = loop_tree::occurrences(new).into_iter().map(|o| o.path).collect();
    all.sort();
    prop_assert_eq!(reached, all, "{}", step);
    for site in (Context { kernel, root }).sites() {
        for path in forwarding.forward(&site.path) {
            prop_assert!(new.at(&path).is_some());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn instances_are_preserved(tape in proptest::collection::vec(any::<u16>(), 100), pick in any::<u32>()) {
        let (kernel, root) = random(tape);
        let registry = Registry::standard();
        let steps = moves(&Context { kernel: &kernel, root: &root }, &registry, &options());
        let mut results = vec![];
        for step in &steps {
            if let Some(new) = laws(&kernel, &root, step)? {
                forwards(&kernel, &root, step, &new)?;
                results.push((step.clone(), new));
            }
        }
        // One more step after some of them: what a step makes is input for the others.
        results.retain(|(step, new)| step.name() != "sink" && new.summary().nodes < 60);
        let mut pick = pick as usize;
        for _ in 0..2 {
            if results.is_empty() { break; }
            pick = pick.wrapping_mul(7919).wrapping_add(13);
            let (first, new) = results[pick % results.len()].clone();
            let steps = moves(&Context { kernel: &kernel, root: &new }, &registry, &options());
            for step in steps.iter().step_by(1 + steps.len() / 40) {
                laws(&kernel, &new, step).map_err(|e| TestCaseError::fail(format!("after {first}: {e}")))?;
            }
        }
    }

    #[test]
    fn inverses_restore_the_tree(tape in proptest::collection::vec(any::<u16>(), 100)) {
        let (kernel, root) = random(tape);
        let cx = Context { kernel: &kernel, root: &root };
        let apply = |root: &Green, text: String| {
            Recipe::parse(&text, &Registry::standard()).ok().and_then(|r| r.replay(&kernel, root).ok())
        };
        // What is known of one loop may leave out bounds of another, wherever it stands, so that trees need not be equal.
        let same = |twice: &Green, what: String| -> Result<(), TestCaseError> {
            for params in PARAMS {
                prop_assert_eq!(instances(&kernel, twice, &params), instances(&kernel, &root, &params), "{}", what);
            }
            Ok(())
        };
        for site in cx.sites() {
            let path = &site.path;
            if let Some(twice) = apply(&root, format!("reverse({path}); reverse({path})")) {
                same(&twice, format!("reverse {path}"))?;
            }
            if let Ok((_, inner)) = crate::nest::inner(&site)
                && !inner.header.lower().iter().chain(inner.header.upper()).any(|e| e.uses(site.header.var))
                && inner.path.0.len() == path.0.len() + 1
                && let [a, b] = [&site, &inner].map(|s| LoopRef::Name(kernel.variable_name(s.header.var).into()))
                // By name: a loop that runs once may be gone, and others stand in its place.
                && let Some(twice) = apply(&root, format!("interchange({path}); interchange({b}, {a})"))
            {
                same(&twice, format!("interchange {path}"))?;
            }
        }
    }

    #[test]
    fn moves_are_deterministic(tape in proptest::collection::vec(any::<u16>(), 100)) {
        let (kernel, root) = random(tape);
        let cx = Context { kernel: &kernel, root: &root };
        let list = || moves(&cx, &Registry::standard(), &options());
        let (a, b) = (list(), list());
        prop_assert_eq!(&a, &b);
        let mut texts: Vec<String> = a.iter().map(Step::to_string).collect();
        texts.sort();
        let count = texts.len();
        texts.dedup();
        prop_assert_eq!(texts.len(), count, "a move is listed twice");
    }
}

/// A transformation of the user's own.
#[test]
fn users_register_their_own() {
    #[derive(Debug)]
    struct Nothing;
    impl std::fmt::Display for Nothing {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("nothing()")
        }
    }
    impl crate::Transform for Nothing {
        fn name(&self) -> &'static str {
            "nothing"
        }
        fn rewrite(&self, cx: &Context<'_>) -> Result<Green, crate::Refusal> {
            Ok(cx.root.clone())
        }
    }
    let mut registry = Registry::standard();
    let registration = crate::Registration::new(
        "nothing",
        |arguments| arguments.finish().map(|()| Step::new(Nothing)),
        |_, _| vec![Step::new(Nothing)],
    );
    registry.register(registration);
    let kernel = kernel(&[("S", "i")]);
    let root = crate::testing::tree(&kernel, "for i in 0..N { S }");
    let recipe = Recipe::parse("nothing()", &registry).unwrap();
    assert_eq!(recipe.replay(&kernel, &root).unwrap(), root);
    let options = MoveOptions { only: vec!["nothing".into()], ..MoveOptions::default() };
    assert_eq!(moves(&Context { kernel: &kernel, root: &root }, &registry, &options), recipe.0);
    let _: Arc<dyn Send> = Arc::new(registry);
}
