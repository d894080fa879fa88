//! Small kernels, and legality by brute force on concrete parameters: no isl, no constraints.
#![allow(dead_code)]

use loop_tree::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Variable as an expression.
pub fn v(var: u32) -> Affine {
    Affine::var(VarId(var))
}

/// Parameter as an expression.
pub fn p(param: u32) -> Affine {
    Affine::param(ParamId(param))
}

pub fn c(value: i64) -> Affine {
    Affine::constant(value)
}

pub fn range(var: u32, lower: Affine, upper: Affine, body: Green) -> Green {
    Green::for_loop(LoopHeader::range(VarId(var), lower, upper), body)
}

pub fn read(array: u32, subscripts: &[Affine]) -> Access {
    Access { array: ArrayId(array), subscripts: Some(subscripts.to_vec()), kind: AccessKind::Read }
}

pub fn write(array: u32, subscripts: &[Affine]) -> Access {
    Access { array: ArrayId(array), subscripts: Some(subscripts.to_vec()), kind: AccessKind::Write }
}

pub fn statement(name: &str, dims: &[u32], accesses: Vec<Access>) -> Arc<Statement> {
    Arc::new(Statement {
        name: name.into(),
        dims: dims.iter().map(|d| VarId(*d)).collect(),
        ops: vec![],
        accesses,
        reduction: None,
        flags: StmtFlags::empty(),
        location: None,
    })
}

pub fn leaf(id: u32, dims: &[u32]) -> Green {
    Green::stmt(StmtId(id), dims.iter().map(|d| VarId(*d)).collect())
}

/// Arrays of the given ranks, each in an alias class of its own; `0 <= p <= 6` for all parameters.
pub fn kernel(
    params: u32,
    vars: u32,
    ranks: &[usize],
    statements: Vec<Arc<Statement>>,
    original: Green,
) -> Kernel {
    let mut context = Vec::new();
    for k in 0..params {
        context.push(Constraint::ge(p(k), c(0)));
        context.push(Constraint::ge(c(6), p(k)));
    }
    Kernel {
        name: "test".into(),
        params: (0..params).map(|k| Param { name: format!("N{k}").into(), ty: ScalarType::I64 }).collect(),
        variables: (0..vars).map(|k| Variable { name: format!("i{k}").into(), kept: None }).collect(),
        arrays: (ranks.iter().enumerate())
            .map(|(k, rank)| Array {
                name: format!("A{k}").into(),
                element: ScalarType::F64,
                extents: vec![None; *rank],
                storage: Storage::Memory,
                alias: AliasClass::new(k as u32),
            })
            .collect(),
        statements,
        context,
        assumptions: vec![],
        no_calls: vec![],
        original,
    }
}

/// One execution of a statement.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Instance {
    pub statement: StmtId,
    pub dims: Vec<i64>,
    pub predicates: BTreeSet<(ArrayId, bool)>,
}

/// What a tree executes, in order, by the reference interpreter. Whether predicates hold is not known, so they are taken out, and
/// each leaf becomes a statement of its own that says which were around it.
pub fn run(kernel: &Kernel, tree: &Green, params: &[i64]) -> Vec<Instance> {
    let mut leaves = Vec::new();
    let plain = without_predicates(tree, &mut BTreeSet::new(), &mut leaves);
    let statements = (leaves.iter().enumerate())
        .map(|(n, (_, dims, _))| {
            let dims: Vec<u32> = dims.iter().map(|d| d.0).collect();
            statement(&format!("S{n}"), &dims, vec![])
        })
        .collect();
    let kernel =
        Kernel { statements, arrays: vec![], assumptions: vec![], original: plain.clone(), ..kernel.clone() };
    let instances = interp::instances(&kernel, &plain, params, 1 << 20).unwrap_or_else(|e| panic!("{e}"));
    let found = instances.into_iter().map(|i| {
        let (statement, _, predicates) = &leaves[i.statement.index()];
        Instance { statement: *statement, dims: i.dims, predicates: predicates.clone() }
    });
    found.collect()
}

type Leaf = (StmtId, Arc<[VarId]>, BTreeSet<(ArrayId, bool)>);

fn without_predicates(node: &Green, around: &mut BTreeSet<(ArrayId, bool)>, leaves: &mut Vec<Leaf>) -> Green {
    match node.node() {
        Node::Stmt(id, dims) => {
            leaves.push((*id, dims.clone(), around.clone()));
            Green::stmt(StmtId::new(leaves.len() - 1), dims.clone())
        }
        Node::Guard(condition, body) if let GuardCondition::Predicate { array, value } = **condition => {
            let new = around.insert((array, value));
            let body = without_predicates(body, around, leaves);
            if new {
                around.remove(&(array, value));
            }
            body
        }
        _ => node.map_children(|child| without_predicates(child, around, leaves)),
    }
}

fn value(e: &Affine, params: &[i64], env: &BTreeMap<VarId, i64>) -> i64 {
    e.eval(&|v| env.get(&v).copied(), &|p| params.get(p.index()).copied()).expect("bound")
}

type Touched = (ArrayId, Option<Vec<i64>>, bool);

fn touched(kernel: &Kernel, instance: &Instance, params: &[i64]) -> Vec<Touched> {
    let statement = kernel.statement(instance.statement);
    let env: BTreeMap<VarId, i64> =
        statement.dims.iter().copied().zip(instance.dims.iter().copied()).collect();
    let mut list: Vec<Touched> = (statement.accesses.iter())
        .map(|a| {
            let element = a.subscripts.as_ref().map(|s| s.iter().map(|e| value(e, params, &env)).collect());
            (a.array, element, a.kind != AccessKind::Read)
        })
        .collect();
    list.extend(instance.predicates.iter().map(|(a, _)| (*a, Some(vec![]), false)));
    list
}

/// Whether two instances must keep their order. Reductions' own dependences are left out.
pub fn conflict(kernel: &Kernel, a: &Instance, b: &Instance, params: &[i64]) -> bool {
    let (s, t) = (kernel.statement(a.statement), kernel.statement(b.statement));
    if analyses::dependences::rules::ordered(s, t) {
        return true;
    }
    let one = s.reduction.zip(t.reduction).is_some_and(|(x, y)| x.op == y.op);
    let own = |s: &Statement, k: usize| {
        one && s.reduction.is_some_and(|r| r.read.index() == k || r.write.index() == k)
    };
    touched(kernel, a, params).iter().enumerate().any(|(i, x)| {
        touched(kernel, b, params).iter().enumerate().any(|(j, y)| {
            (x.2 || y.2)
                && kernel.may_overlap(x.0, y.0)
                && (x.0 != y.0 || x.1.is_none() || y.1.is_none() || x.1 == y.1)
                && !(x.0 == y.0 && own(s, i) && own(t, j))
        })
    })
}

/// Whether the tree executes the same instances and keeps the order of all that conflict; else why not.
pub fn compare(kernel: &Kernel, tree: &Green, params: &[i64]) -> Result<(), String> {
    let before = run(kernel, &kernel.original, params);
    let after = run(kernel, tree, params);
    let sorted = |list: &[Instance]| {
        let mut list = list.to_vec();
        list.sort();
        list
    };
    if sorted(&before) != sorted(&after) {
        return Err(format!("params {params:?}: other instances"));
    }
    let position: BTreeMap<&Instance, usize> = after.iter().enumerate().map(|(i, x)| (x, i)).collect();
    for (i, a) in before.iter().enumerate() {
        for b in &before[i + 1..] {
            if position[a] > position[b] && conflict(kernel, a, b, params) {
                return Err(format!("params {params:?}: {a:?} no longer before {b:?}"));
            }
        }
    }
    Ok(())
}

/// Whether the tree is legal for all parameter values of the context that [`kernel`] gives.
pub fn legal(kernel: &Kernel, tree: &Green) -> Result<(), String> {
    let mut all = vec![vec![]];
    for _ in &kernel.params {
        all = all.into_iter().flat_map(|l: Vec<i64>| (0..=6).map(move |x| [&l[..], &[x]].concat())).collect();
    }
    all.iter().try_for_each(|params| compare(kernel, tree, params))
}
