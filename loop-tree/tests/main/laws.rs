//! Laws of the text form, the canonical form and the interpreter, on random kernels and trees.

use loop_tree::arbitrary::{Choices, kernel, rename, same_order};
use loop_tree::interp::{Layout, Memory, RunOptions, accesses, instances, run};
use loop_tree::text::{Program, check_affine, parse, parse_affine, print, print_affine, quoted, unquoted};
use loop_tree::{
    AccessKind, Affine, Green, Interner, Kernel, LoopHeader, Node, StmtId, VarId, canonical, validate,
};
use proptest::prelude::*;
use std::sync::Arc;

fn tape() -> impl Strategy<Value = Choices> {
    proptest::collection::vec(any::<u16>(), 0..220).prop_map(Choices::new)
}

/// Every variable that does not belong to the kernel gets another number.
fn renamed(kernel: &Kernel, tree: &Green, by: u32) -> Green {
    let new = |v: VarId| if kernel.is_original(v) { v } else { VarId(v.0 + by) };
    let expression = |e: &loop_tree::Affine| e.substitute(&|v| Some(new(v).into()));
    match tree.node() {
        Node::Loop(h, body) => {
            let bounds = loop_tree::Bounds::Affine {
                lower: h.lower().iter().map(expression).collect(),
                upper: h.upper().iter().map(expression).collect(),
            };
            let header = loop_tree::LoopHeader { var: new(h.var), bounds, ..(**h).clone() };
            Green::for_loop(header, renamed(kernel, body, by))
        }
        Node::Let(v, e, body) => Green::bind(new(*v), expression(e), renamed(kernel, body, by)),
        Node::Guard(c, body) => match &**c {
            loop_tree::GuardCondition::Affine(c) => {
                Green::guard(c.substitute(&|v| Some(new(v).into())), renamed(kernel, body, by))
            }
            _ => Green::guarded(c.clone(), renamed(kernel, body, by)),
        },
        _ => tree.map_children(|child| renamed(kernel, child, by)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn random_kernels_are_valid_and_run(mut choices in tape(), n in 1i64..6, m in 1i64..6) {
        let k = kernel(&mut choices);
        prop_assert_eq!(validate(&k, &k.original), vec![]);
        let layout = Layout::disjoint(&k, &[n, m], &|_| 1).unwrap();
        let mut memory = Memory::new(layout);
        memory.fill(1);
        let result = run(&k, &k.original, &mut memory, &RunOptions::default());
        prop_assert!(result.is_ok(), "{} {:?}", loop_tree::text::print_kernel(&k), result);
    }

    #[test]
    fn what_is_printed_is_read_back(mut choices in tape()) {
        let mut k = kernel(&mut choices);
        rename(&mut k, &mut choices);
        let variant = canonical(&k, &same_order(&k, &mut choices));
        let program = Program { kernel: Arc::new(k), variant: Some(variant) };
        let text = print(&program);
        let read = parse(&text);
        prop_assert!(read.is_ok(), "{text}\n{read:?}");
        let read = read.unwrap();
        prop_assert_eq!(&read, &program, "{}", text);
        prop_assert_eq!(print(&read), text);
        // The same of expressions, in the scope that they stand in.
        let mut walk = program.tree().walk();
        while let Some((header, _)) = walk.next_counted() {
            let scope: Vec<VarId> = walk.here().scope().collect();
            for e in header.lower().iter().chain(header.upper()) {
                let text = print_affine(&program.kernel, e);
                let read = parse_affine(&program.kernel, &scope, &text);
                prop_assert_eq!(read.as_ref(), Ok(e), "{}", text);
                prop_assert!(check_affine(&text).is_ok());
            }
            let name = program.kernel.variable_name(header.var);
            prop_assert_eq!(unquoted(&quoted(&name)), Some(name));
        }
    }

    #[test]
    fn canonical_form_is_a_fixpoint_and_keeps_instances(mut choices in tape(), n in 1i64..7, m in 1i64..5) {
        let k = kernel(&mut choices);
        let tree = same_order(&k, &mut choices);
        let once = canonical(&k, &tree);
        prop_assert_eq!(canonical(&k, &once), once.clone());
        let original = instances(&k, &k.original, &[n, m], 1 << 20).unwrap();
        prop_assert_eq!(&instances(&k, &tree, &[n, m], 1 << 20).unwrap(), &original);
        prop_assert_eq!(&instances(&k, &once, &[n, m], 1 << 20).unwrap(), &original);
    }

    #[test]
    fn canonical_form_does_not_see_names(mut choices in tape(), by in 1u32..50) {
        let k = kernel(&mut choices);
        let tree = same_order(&k, &mut choices);
        prop_assert_eq!(canonical(&k, &renamed(&k, &tree, by)), canonical(&k, &tree));
    }

    #[test]
    fn the_same_order_computes_the_same_bits(mut choices in tape(), n in 1i64..6, m in 1i64..5, overlap in -24i64..24) {
        let k = kernel(&mut choices);
        let tree = same_order(&k, &mut choices);
        let mut layout = Layout::disjoint(&k, &[n, m], &|_| 1).unwrap();
        if k.may_overlap(loop_tree::ArrayId(0), loop_tree::ArrayId(1)) {
            layout = layout.clone().placed(loop_tree::ArrayId(1), loop_tree::ArrayId(0), overlap * 8).unwrap_or(layout);
        }
        let start = { let mut m = Memory::new(layout); m.fill(7); m };
        let result = |tree: &Green| {
            let mut memory = start.clone();
            run(&k, tree, &mut memory, &RunOptions::default()).map(|_| memory.bits())
        };
        prop_assert_eq!(result(&tree).unwrap(), result(&k.original).unwrap());
    }

    /// The listing agrees with what a run touches.
    #[test]
    fn listed_accesses_are_those_of_a_run(mut choices in tape(), n in 1i64..5, m in 1i64..5) {
        #[derive(Default)]
        struct Log(Vec<(usize, bool)>);
        impl loop_tree::interp::Observer for Log {
            fn access(&mut self, e: loop_tree::interp::AccessEvent) {
                self.0.push((e.address, e.write));
            }
        }
        let k = kernel(&mut choices);
        let layout = Layout::disjoint(&k, &[n, m], &|_| 1).unwrap();
        let (_, touches) = accesses(&k, &k.original, &layout, 1 << 20).unwrap();
        let mut memory = Memory::new(layout.clone());
        memory.fill(3);
        let mut log = Log::default();
        let machine = loop_tree::interp::Machine::new(&k, &k.original, layout).unwrap();
        machine.run_observed(&mut memory, &RunOptions::default(), &mut log).unwrap();
        let all: Vec<_> = touches.iter().map(|t| (t.address, t.kind != AccessKind::Read)).collect();
        let mut rest = all.iter();
        // In order; what is under a mask may be missing.
        prop_assert!(log.0.iter().all(|e| rest.any(|t| t == e)));
        if touches.iter().all(|t| t.kind != AccessKind::MayWrite) {
            prop_assert_eq!(log.0.len(), all.len());
        }
    }
}

/// What a search keeps of each variant: nodes are small, and an interner shares what is equal in different trees.
#[test]
fn kept_trees_share_heads() {
    assert!(size_of::<Node>() <= 24);
    let tree = |leaf: u32| {
        let at = Affine::var(VarId(1)).scale(4).offset(3);
        let body = Green::bind(VarId(0), at, Green::stmt(StmtId(leaf), [VarId(0)].into()));
        Green::for_loop(LoopHeader::range(VarId(1), 0, 9), body)
    };
    let mut interner = Interner::default();
    let [a, b] = [0, 1].map(|leaf| interner.intern(&tree(leaf)));
    assert_eq!([&a, &b], [&tree(0), &tree(1)]);
    assert_eq!((a.summary(), a.has_free(VarId(0))), (tree(0).summary(), false));
    let (Some((h, x)), Some((g, y))) = (a.as_loop(), b.as_loop()) else { panic!("loops") };
    assert!(Arc::ptr_eq(h, g));
    let (Node::Let(_, e, _), Node::Let(_, f, _)) = (x.node(), y.node()) else { panic!("bindings") };
    assert!(Arc::ptr_eq(e, f));
    assert!(interner.intern(&tree(0)).ptr_eq(&a));
}
