//! A compiler writer's view: a kernel built in Rust; a transformation, a cost model and an analysis of one's own, which the
//! default search uses beside the standard ones.
//!
//! `cargo run --example own_transformation`

use looptree::analyses::dependences::{Dependences, Polyhedral};
use looptree::analyses::{AnalysisError, DependenceSet};
use looptree::cost_model::{Cost, CostModel, Term};
use looptree::driver::{Optimizer, Settings};
use looptree::transforms::{Context, LoopRef, Refusal, Registration, Step, Transform};
use looptree::tree::{
    Access, AccessId, AccessKind, Affine, AliasClass, Array, BinaryOp, Bounds, Green, Kernel, LoopHeader,
    LoopKind, Node, Op, OpFlags, OpId, OpKind, Param, ParamId, ScalarType, Statement, StmtFlags, StmtId,
    Storage, VarId, Variable, text,
};
use std::fmt;
use std::sync::Arc;

/// `for i in 0..N { for j in 0..M { S: B[j, i] = A[j, i] + A[j, i] } }`: both arrays are walked down their columns.
fn kernel() -> Kernel {
    let (i, j) = (VarId(0), VarId(1));
    let (n, m) = (Affine::param(ParamId(0)), Affine::param(ParamId(1)));
    let array = |name: &str, class| Array {
        name: name.into(),
        element: ScalarType::F64,
        extents: vec![None, Some(n.clone())],
        storage: Storage::Memory,
        alias: AliasClass::new(class),
    };
    let access = |array, kind| Access {
        array: looptree::tree::ArrayId(array),
        subscripts: Some(vec![Affine::var(j), Affine::var(i)]),
        kind,
    };
    let op = |kind| Op { kind, ty: ScalarType::F64, mask: None, flags: OpFlags::empty(), origin: None };
    let statement = Statement {
        name: "S".into(),
        dims: [i, j].into(),
        ops: vec![
            op(OpKind::Load(AccessId(0))),
            op(OpKind::Binary(BinaryOp::FAdd, OpId(0), OpId(0))),
            op(OpKind::Store(AccessId(1), OpId(1))),
        ],
        accesses: vec![access(0, AccessKind::Read), access(1, AccessKind::Write)],
        reduction: None,
        flags: StmtFlags::empty(),
        location: None,
    };
    let leaf = Green::stmt(StmtId(0), statement.dims.clone());
    let inner = Green::for_loop(LoopHeader::range(j, 0, m.clone()), leaf);
    Kernel {
        name: "columns".into(),
        params: ["N", "M"].map(|name| Param { name: name.into(), ty: ScalarType::I64 }).into(),
        variables: ["i", "j"].map(|name| Variable { name: name.into(), kept: None }).into(),
        arrays: vec![array("A", 0), array("B", 1)],
        statements: vec![Arc::new(statement)],
        context: vec![],
        assumptions: vec![],
        no_calls: vec![],
        original: Green::for_loop(LoopHeader::range(i, 0, n.clone()), inner),
    }
}

/// Two iterations per step, the odd one behind: `for t in 0..N/2 { i = 2t {B}; i = 2t+1 {B} }`.
#[derive(Debug)]
struct Pair {
    target: LoopRef,
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pair({})", self.target)
    }
}

impl Transform for Pair {
    fn name(&self) -> &'static str {
        "pair"
    }

    // No legality here: the oracle looks at what comes out, also at whether every iteration is executed once.
    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let site = cx.site(&self.target)?;
        let Some((lower, upper)) = site.header.single_bounds() else {
            return Err(Refusal::new("bounds", &site.path, "the loop has several bounds"));
        };
        let t = cx.fresh(0);
        let half = (upper - lower).floor_div(2);
        let at = |k: i64| lower + &Affine::var(t).scale(2).offset(k);
        let copy = |k| Green::bind(site.header.var, at(k), site.body.clone());
        let pairs = Green::for_loop(LoopHeader::range(t, 0, half.clone()), Green::seq([copy(0), copy(1)]));
        // From the greater of both: without `lower` the oracle refuses, with N = -1 as witness, where the rest would run.
        let start = vec![lower.clone(), lower + &half.scale(2)];
        let bounds = Bounds::Affine { lower: start, upper: vec![upper.clone()] };
        let header = LoopHeader { var: site.header.var, bounds, step: 1, kind: LoopKind::Sequential };
        let rest = Green::for_loop(header, site.body.clone());
        cx.replace(&site.path, Green::seq([pairs, rest]))
    }
}

/// How many subscripts of a statement jump from one innermost iteration to the next: a model of ten lines is a model.
#[derive(Debug)]
struct Jumps;

impl CostModel for Jumps {
    fn cost(&self, kernel: &Kernel, root: &Green, _: &[i64]) -> Cost {
        fn walk(kernel: &Kernel, node: &Green, innermost: Option<VarId>) -> f64 {
            match node.node() {
                Node::Loop(header, body) => walk(kernel, body, Some(header.var)),
                Node::Stmt(id, _) => {
                    let jumps = kernel.statement(*id).accesses.iter().filter(|a| {
                        let last = a.subscripts.as_ref().and_then(|s| s.last());
                        !last.is_some_and(|s| innermost.is_some_and(|v| s.uses(v)))
                    });
                    1.0 + jumps.count() as f64
                }
                _ => node.children().map(|c| walk(kernel, c, innermost)).fold(0.0, f64::max),
            }
        }
        Cost::of(vec![Term::new("jumps", walk(kernel, root, None), "subscripts that jump")])
    }
}

/// Dependences as they are, and a line about them; an analysis that knows more than the kernel would say less depends.
#[derive(Debug)]
struct Told;

impl Dependences for Told {
    fn dependences(&self, kernel: &Kernel) -> Result<DependenceSet, AnalysisError> {
        let found = Polyhedral::default().dependences(kernel)?;
        println!("{}: {} dependences", kernel.name, found.dependences.len());
        Ok(found)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let kernel = Arc::new(kernel());
    let mut optimizer = Optimizer::new(Settings { target: "generic".into(), ..Settings::default() })?;
    optimizer.registry.register(Registration::new(
        "pair",
        |mut arguments| {
            let target = arguments.one_loop()?;
            arguments.finish()?;
            Ok(Step::new(Pair { target }))
        },
        |cx, _| cx.sites().into_iter().map(|s| Step::new(Pair { target: s.path.into() })).collect(),
    ));
    optimizer.models.cost = Arc::new(Jumps);
    optimizer.models.dependences = Arc::new(Told);
    let (_, found) = optimizer.explore("columns", &kernel, &[], None)?;
    for variant in found.variants.iter().take(5) {
        println!("{:4} {}", variant.cycles, variant.recipe);
    }
    println!("{}", text::print_tree(&kernel, &found.best().root));
    assert!(found.best().recipe.0.iter().any(|s| s.name() == "interchange"));
    assert!(found.variants.iter().any(|v| v.recipe.0.iter().any(|s| s.name() == "pair")));
    Ok(())
}
