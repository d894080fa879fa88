//! Random kernels and trees for tests: valid, in bounds, and free of undefined behaviour.
//!
//! Everything is decided by a tape of numbers, where zero is the simplest choice: a test framework that shrinks the
//! tape shrinks the kernel. With proptest: `vec(any::<u16>(), 0..200).prop_map(|tape| kernel(&mut Choices::new(tape)))`.

use crate::text::plain_cast;
use crate::{
    Access, AccessId, AccessKind, Affine, AliasClass, Array, ArrayId, BinaryOp, Bounds, ComparePredicate,
    Condition, Constant, Constraint, Green, GuardCondition, Intrinsic, Kernel, LoopHeader, LoopKind, Mask,
    Op, OpFlags, OpId, OpKind, Param, ParamId, Reduction, ReductionOp, RuntimeCondition, ScalarType,
    SourceLocation, Statement, StmtFlags, StmtId, Storage, VarId, Variable, canonical, fresh_variable,
};
use std::sync::Arc;

/// A tape of decisions; zeros follow its end.
#[derive(Clone, Debug)]
pub struct Choices {
    tape: Vec<u16>,
    at: usize,
}

impl Choices {
    /// Decisions from a tape.
    pub fn new(tape: impl Into<Vec<u16>>) -> Self {
        Choices { tape: tape.into(), at: 0 }
    }

    /// A number below `bound`; zero is the simplest.
    pub fn below(&mut self, bound: u32) -> u32 {
        let value = self.tape.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        u32::from(value) % bound.max(1)
    }

    /// True in one of `n` cases, never at the end of the tape.
    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == n - 1
    }
}

/// An expression with bounds that hold wherever the loops around it run, for parameters from 1 on.
#[derive(Clone)]
struct Ranged {
    value: Affine,
    low: Affine,
    high: Affine,
}

struct Generator<'c> {
    choices: &'c mut Choices,
    variables: Vec<Variable>,
    arrays: Vec<Array>,
    /// Least and greatest subscript of each array's dimensions so far; extents and offsets follow from it.
    statements: Vec<Arc<Statement>>,
    scope: Vec<(VarId, Ranged)>,
}

const PARAMS: [&str; 2] = ["N", "M"];

/// A kernel: one to four statements in nests of depth up to four, imperfect, triangular, strided, guarded; arrays,
/// scalars, reductions. Its parameters are `N` and `M`, both at least 1; keep them small when it is run.
pub fn kernel(choices: &mut Choices) -> Kernel {
    let mut g = Generator {
        choices,
        variables: Vec::new(),
        arrays: Vec::new(),
        statements: Vec::new(),
        scope: Vec::new(),
    };
    let ty =
        [ScalarType::F64, ScalarType::I32, ScalarType::F32, ScalarType::I64][g.choices.below(4) as usize];
    let array = |name: &str, rank: usize, ty, storage, class| Array {
        name: name.into(),
        element: ty,
        extents: vec![Some(Affine::constant(1)); rank],
        storage,
        alias: AliasClass::new(class),
    };
    let together = g.choices.one_in(4);
    g.arrays = vec![
        array("A", 1, ty, Storage::Memory, 0),
        array("B", 2, ty, Storage::Memory, u32::from(!together)),
        array("C", 1, ScalarType::F64, Storage::Memory, 2),
        array("s", 0, ty, Storage::LiveOut, 3),
        array("x", 0, ty, Storage::LiveIn, 4),
        array("p", 0, ScalarType::I1, Storage::Memory, 5),
    ];
    let count = 1 + g.choices.below(4) as usize;
    let mut nodes = Vec::new();
    while g.statements.len() < count {
        nodes.push(g.nest(3, count));
    }
    let mut kernel = Kernel {
        name: "random".into(),
        params: PARAMS.iter().map(|n| Param { name: (*n).into(), ty: ScalarType::I64 }).collect(),
        variables: g.variables,
        arrays: g.arrays,
        statements: g.statements,
        context: (0..2).map(|p| Constraint::ge(Affine::param(ParamId(p)), Affine::constant(1))).collect(),
        assumptions: Vec::new(),
        no_calls: Vec::new(),
        original: Green::empty(),
    };
    if g.choices.one_in(4) {
        kernel.assumptions.push(RuntimeCondition::NoOverlap(ArrayId(0), ArrayId(1)));
    }
    kernel.original = canonical(&kernel, &Green::seq(nodes));
    kernel
}

impl Generator<'_> {
    fn param(&mut self) -> Affine {
        Affine::param(ParamId(self.choices.below(2)))
    }

    /// A sequence of loops, guards and statements; `depth` further loops may be inside.
    fn nest(&mut self, depth: u32, count: usize) -> Green {
        let mut children = Vec::new();
        let wanted = 1 + self.choices.below(2);
        for _ in 0..wanted {
            if self.statements.len() >= count && !children.is_empty() {
                break;
            }
            children.push(if depth == 0 || self.choices.one_in(4) {
                self.statement()
            } else {
                match self.choices.below(8) {
                    6 => self.guard(depth, count),
                    7 => self.binding(depth, count),
                    _ => self.counted(depth, count),
                }
            });
        }
        Green::seq(children)
    }

    fn variable(&mut self) -> VarId {
        // Names are used again in nests side by side.
        let reuse = self.scope.len();
        if reuse < self.variables.len() && self.choices.one_in(3) {
            let v = VarId::new(reuse);
            if self.scope.iter().all(|(s, _)| *s != v) {
                return v;
            }
        }
        let v = VarId::new(self.variables.len());
        self.variables.push(Variable { name: format!("i{}", v.0).into(), kept: None });
        v
    }

    fn outer(&mut self) -> Option<Ranged> {
        let n = self.scope.len() as u32;
        if n == 0 {
            return None;
        }
        let at = self.choices.below(n) as usize;
        Some(self.scope[at].1.clone())
    }

    fn counted(&mut self, depth: u32, count: usize) -> Green {
        let n = self.param();
        let constant = |c: i64| Ranged { value: c.into(), low: c.into(), high: c.into() };
        let mut low = constant(0);
        let mut high = Ranged { value: n.clone(), low: n.clone(), high: n };
        let shift = |r: Ranged, by: i64| Ranged {
            value: r.value.offset(by),
            low: r.low.offset(by),
            high: r.high.offset(by),
        };
        match (self.choices.below(7), self.outer()) {
            (1, Some(v)) => low = shift(v, i64::from(self.choices.below(3)) - 1),
            (2, Some(v)) => high = shift(v, i64::from(self.choices.below(3))),
            (3, _) => low = constant(i64::from(self.choices.below(3))),
            (4, _) => high = constant(i64::from(self.choices.below(6))),
            (5, _) => high = shift(high, -i64::from(self.choices.below(3))),
            (6, Some(v)) => {
                high = Ranged { value: v.value.scale(2), low: v.low.scale(2), high: v.high.scale(2) };
            }
            _ => {}
        }
        let mut lower = vec![low.value.clone()];
        let mut upper = vec![high.value.clone()];
        let step = if self.choices.one_in(5) { 2 + i64::from(self.choices.below(2)) } else { 1 };
        if step == 1 && self.choices.one_in(6) {
            lower.push(self.param().offset(-3));
        }
        if self.choices.one_in(6) {
            upper.push(self.param().offset(5).floor_div(2));
        }
        let var = self.variable();
        let range = Ranged { value: var.into(), low: low.low, high: high.high.offset(-1) };
        self.scope.push((var, range));
        let body = self.nest(depth - 1, count);
        self.scope.pop();
        let header =
            LoopHeader { var, bounds: Bounds::Affine { lower, upper }, step, kind: LoopKind::Sequential };
        Green::for_loop(header, body)
    }

    fn binding(&mut self, depth: u32, count: usize) -> Green {
        let value = self.subscript();
        let var = self.variable();
        self.scope
            .push((var, Ranged { value: var.into(), low: value.low.clone(), high: value.high.clone() }));
        let body = self.nest(depth - 1, count);
        self.scope.pop();
        Green::bind(var, value.value, body)
    }

    fn guard(&mut self, depth: u32, count: usize) -> Green {
        let mut disjuncts = Vec::new();
        for _ in 0..1 + self.choices.below(2) {
            let left = self.subscript().value;
            let right = match self.choices.below(3) {
                0 => Affine::constant(i64::from(self.choices.below(4))),
                1 => self.param().offset(-1),
                _ => self.subscript().value,
            };
            let c = match self.choices.below(4) {
                0 => Constraint::ge(left, right),
                1 => Constraint::lt(left, right),
                2 => Constraint::eq(left.modulo(3), Affine::constant(1)),
                _ => Constraint::eq(left, right),
            };
            disjuncts.push(vec![c]);
        }
        let body = self.nest(depth - 1, count);
        Green::guard(Condition { disjuncts }.simplified(), body)
    }

    /// An affine expression of the variables around.
    fn subscript(&mut self) -> Ranged {
        let zero = Affine::constant(0);
        let mut r = Ranged { value: zero.clone(), low: zero.clone(), high: zero };
        for _ in 0..1 + self.choices.below(2) {
            let Some(v) = self.outer() else { break };
            let factor = [1, 1, 1, -1, 2][self.choices.below(5) as usize];
            let (low, high) = if factor < 0 { (v.high, v.low) } else { (v.low, v.high) };
            r = Ranged {
                value: r.value + v.value.scale(factor),
                low: r.low + low.scale(factor),
                high: r.high + high.scale(factor),
            };
        }
        if self.choices.one_in(8) {
            r = Ranged { value: r.value.modulo(4), low: 0.into(), high: 3.into() };
        }
        let k = i64::from(self.choices.below(4));
        Ranged { value: r.value.offset(k), low: r.low.offset(k), high: r.high.offset(k) }
    }

    /// Subscripts in bounds: the array grows to what its accesses need.
    fn element(&mut self, array: ArrayId) -> Vec<Affine> {
        (0..self.arrays[array.index()].rank())
            .map(|dimension| {
                let r = self.subscript();
                // Make the least value nonnegative: parameters are at least 1, so a negative coefficient is what
                // must be added back, times the parameter; a positive one is dropped from the bound.
                let mut lift = Affine::constant((-r.low.constant_term()).max(0));
                let mut extent = Affine::constant(1);
                for p in [ParamId(0), ParamId(1)] {
                    let needed = (-r.low.param_coefficient(p)).max(0);
                    lift = lift + Affine::param(p).scale(needed);
                }
                let high = r.high + lift.clone();
                for p in [ParamId(0), ParamId(1)] {
                    extent = extent + Affine::param(p).scale(high.param_coefficient(p).max(0));
                }
                extent = extent.offset(high.constant_term().max(0));
                let old = self.arrays[array.index()].extents[dimension].clone().unwrap_or_default();
                let mut both = Affine::constant(old.constant_term().max(extent.constant_term()));
                for p in [ParamId(0), ParamId(1)] {
                    let c = old.param_coefficient(p).max(extent.param_coefficient(p));
                    both = both + Affine::param(p).scale(c);
                }
                self.arrays[array.index()].extents[dimension] = Some(both);
                r.value + lift
            })
            .collect()
    }

    fn statement(&mut self) -> Green {
        let id = StmtId::new(self.statements.len());
        let mut s = Ops { ops: Vec::new(), accesses: Vec::new() };
        let kind = self.choices.below(8);
        let target = match kind {
            6 => ArrayId(3),
            7 => ArrayId(2),
            k => ArrayId(k % 2),
        };
        let ty = self.arrays[target.index()].element;
        let written = self.element(target);
        let mut reduction = None;
        let mut mask = None;
        let value = match kind {
            // An accumulation.
            2 | 3 | 6 => {
                let read = s.access(target, written.clone(), AccessKind::Read);
                let old = s.push(OpKind::Load(read), ty);
                let new = self.operand(&mut s, ty);
                let (op, name) = if ty.is_float() {
                    (BinaryOp::FAdd, ReductionOp::FAdd)
                } else {
                    (BinaryOp::Add, ReductionOp::Add)
                };
                if !ty.is_float() {
                    reduction = Some((name, read));
                }
                s.push(OpKind::Binary(op, old, new), ty)
            }
            // A masked store.
            4 => {
                let a = self.operand(&mut s, ty);
                let b = self.operand(&mut s, ty);
                let p = if ty.is_float() { ComparePredicate::FOlt } else { ComparePredicate::Slt };
                let c = s.push(OpKind::Compare(p, a, b), ScalarType::I1);
                mask = Some(Mask { op: c, value: !self.choices.one_in(3) });
                s.push_masked(OpKind::Select(c, a, b), ty, None)
            }
            _ => {
                let a = self.operand(&mut s, ty);
                let b = self.operand(&mut s, ty);
                self.combine(&mut s, ty, a, b)
            }
        };
        let kind = if mask.is_some() { AccessKind::MayWrite } else { AccessKind::Write };
        let write = s.access(target, written, kind);
        s.push_masked(OpKind::Store(write, value), ty, mask);
        let location = self.choices.one_in(4).then(|| SourceLocation {
            file: "random.c".into(),
            line: 1 + id.0,
            column: self.choices.below(3),
        });
        let dims: Arc<[VarId]> = self.scope.iter().map(|(v, _)| *v).collect();
        self.statements.push(Arc::new(Statement {
            name: format!("S{}", id.0).into(),
            dims: dims.clone(),
            ops: s.ops,
            accesses: s.accesses,
            reduction: reduction.map(|(op, read)| Reduction { op, read, write }),
            flags: StmtFlags::empty(),
            location,
        }));
        Green::stmt(id, dims)
    }

    fn combine(&mut self, s: &mut Ops, ty: ScalarType, a: OpId, b: OpId) -> OpId {
        let which = self.choices.below(5) as usize;
        let kind = if ty.is_float() {
            match which {
                4 => OpKind::Call(Intrinsic::MaxNum, vec![a, b]),
                n => {
                    OpKind::Binary([BinaryOp::FAdd, BinaryOp::FMul, BinaryOp::FSub, BinaryOp::FDiv][n], a, b)
                }
            }
        } else {
            match which {
                4 => OpKind::Call(Intrinsic::SMax, vec![a, b]),
                n => OpKind::Binary([BinaryOp::Add, BinaryOp::Mul, BinaryOp::Sub, BinaryOp::Xor][n], a, b),
            }
        };
        let op = s.push(kind, ty);
        if ty.is_float() && self.choices.one_in(6) {
            s.ops[op.index()].flags = OpFlags::CONTRACT;
        }
        op
    }

    fn operand(&mut self, s: &mut Ops, ty: ScalarType) -> OpId {
        match self.choices.below(7) {
            0..=2 => {
                let array = ArrayId(self.choices.below(2));
                let subscripts = self.element(array);
                let loaded = self.arrays[array.index()].element;
                let read = s.access(array, subscripts, AccessKind::Read);
                let value = s.push(OpKind::Load(read), loaded);
                self.converted(s, value, loaded, ty)
            }
            3 => {
                let loaded = self.arrays[4].element;
                let read = s.access(ArrayId(4), vec![], AccessKind::Read);
                let value = s.push(OpKind::Load(read), loaded);
                self.converted(s, value, loaded, ty)
            }
            4 => {
                let index = self.subscript().value;
                let value = s.push(OpKind::Affine(index), ScalarType::I64);
                self.converted(s, value, ScalarType::I64, ty)
            }
            5 => {
                let a = self.operand_shallow(s, ty);
                let b = self.operand_shallow(s, ty);
                self.combine(s, ty, a, b)
            }
            _ => self.operand_shallow(s, ty),
        }
    }

    fn operand_shallow(&mut self, s: &mut Ops, ty: ScalarType) -> OpId {
        let n = i64::from(self.choices.below(9)) - 3;
        let bits = match ty {
            ScalarType::F64 => (n as f64 * 0.3).to_bits(),
            ScalarType::F32 => u64::from((n as f32 * 0.3).to_bits()),
            ScalarType::I32 => u64::from(n as u32),
            _ => n as u64,
        };
        s.push(OpKind::Const(Constant { ty, bits }), ty)
    }

    /// A conversion that is defined for all values (there is none from float to integer).
    fn converted(&mut self, s: &mut Ops, value: OpId, from: ScalarType, to: ScalarType) -> OpId {
        match (from.is_float(), to.is_float()) {
            _ if from == to => value,
            (true, false) => self.operand_shallow(s, to),
            _ => s.push(OpKind::Cast(plain_cast(from, to), value), to),
        }
    }
}

struct Ops {
    ops: Vec<Op>,
    accesses: Vec<Access>,
}

impl Ops {
    fn push(&mut self, kind: OpKind, ty: ScalarType) -> OpId {
        self.push_masked(kind, ty, None)
    }

    fn push_masked(&mut self, kind: OpKind, ty: ScalarType, mask: Option<Mask>) -> OpId {
        self.ops.push(Op { kind, ty, mask, flags: OpFlags::empty(), origin: None });
        OpId::new(self.ops.len() - 1)
    }

    fn access(&mut self, array: ArrayId, subscripts: Vec<Affine>, kind: AccessKind) -> AccessId {
        self.accesses.push(Access { array, subscripts: Some(subscripts), kind });
        AccessId::new(self.accesses.len() - 1)
    }
}

/// Gives what the kernel names, statements included, other names: words that text uses itself, names like generated ones, what is
/// no word at all.
pub fn rename(kernel: &mut Kernel, choices: &mut Choices) {
    const NAMES: [&str; 14] =
        ["for", "t0", "_t1", "x0", "t", "f64", "x y", "i.j", "a=\"b;\\", "@0", "é", "min", "# (", ""];
    let mut left: Vec<&str> = NAMES.to_vec();
    let mut other = |name: &mut Arc<str>| {
        if choices.one_in(2) && !left.is_empty() {
            *name = left.swap_remove(choices.below(left.len() as u32) as usize).into();
        }
    };
    kernel.params.iter_mut().for_each(|p| other(&mut p.name));
    kernel.variables.iter_mut().for_each(|v| other(&mut v.name));
    kernel.arrays.iter_mut().for_each(|a| other(&mut a.name));
    kernel.statements.iter_mut().for_each(|s| other(&mut Arc::make_mut(s).name));
}

/// Another tree with the same instances in the same order, mostly not in canonical form: loops strip-mined, peeled and
/// renamed, sequences nested, bindings, guards that hold, versions of equal alternatives, and loop kinds, whether or not the
/// loops carry dependences.
pub fn same_order(kernel: &Kernel, choices: &mut Choices) -> Green {
    let mut next = fresh_variable(kernel, &kernel.original).0;
    rewrite(&kernel.original, choices, &mut next)
}

fn rewrite(node: &Green, choices: &mut Choices, next: &mut u32) -> Green {
    if let Some((header, body)) = node.as_loop() {
        let body = rewrite(body, choices, next);
        return rewrite_loop(header, body, choices, next);
    }
    let mut new = node.map_children(|child| rewrite(child, choices, next));
    match choices.below(9) {
        5 => new = Green::seq([Green::seq([new]), Green::empty()]),
        6 => new = Green::guarded(Arc::new(GuardCondition::Affine(Condition::always())), new),
        7 => {
            let conditions = vec![RuntimeCondition::Parameter(Constraint::ge(
                Affine::param(ParamId(0)),
                Affine::constant(3),
            ))];
            new = Green::version(vec![
                crate::Alternative { conditions, body: new.clone() },
                crate::Alternative { conditions: Vec::new(), body: new },
            ]);
        }
        8 => {
            let unused = VarId(*next);
            *next += 1;
            new = Green::bind(unused, Affine::constant(7), new);
        }
        _ => {}
    }
    new
}

fn rewrite_loop(h: &Arc<LoopHeader>, body: Green, choices: &mut Choices, next: &mut u32) -> Green {
    let mut fresh = || {
        *next += 1;
        VarId(*next - 1)
    };
    let affine = |lower: Vec<Affine>, upper: Vec<Affine>| Bounds::Affine { lower, upper };
    match choices.below(6) {
        // Renamed.
        1 => {
            let t = fresh();
            let header = LoopHeader { var: t, ..(**h).clone() };
            Green::for_loop(header, Green::bind(h.var, Affine::var(t), body))
        }
        // Strip-mined.
        2 if h.step == 1 && h.single_bounds().is_some() => {
            let t = fresh();
            let outer = LoopHeader { var: t, step: 3, ..(**h).clone() };
            let upper = vec![Affine::var(t).offset(3), h.upper()[0].clone()];
            let inner = LoopHeader { bounds: affine(vec![Affine::var(t)], upper), ..(**h).clone() };
            Green::for_loop(outer, Green::for_loop(inner, body))
        }
        // Shifted.
        3 if h.single_bounds().is_some() => {
            let t = fresh();
            let bounds = affine(vec![h.lower()[0].offset(2)], vec![h.upper()[0].offset(2)]);
            let header = LoopHeader { var: t, bounds, ..(**h).clone() };
            Green::for_loop(header, Green::bind(h.var, Affine::var(t).offset(-2), body))
        }
        // The first iteration apart.
        4 if h.single_bounds().is_some() => {
            let (low, high) = (h.lower()[0].clone(), h.upper()[0].clone());
            let first = Green::guard(
                Condition::all(vec![Constraint::lt(low.clone(), high.clone())]),
                Green::bind(h.var, low.clone(), body.clone()),
            );
            let rest = LoopHeader { bounds: affine(vec![low.offset(h.step)], vec![high]), ..(**h).clone() };
            Green::seq([first, Green::for_loop(rest, body)])
        }
        5 => {
            let few = h.constant_trip_count().is_some_and(|count| count <= 64);
            let kind = if few && choices.one_in(2) { LoopKind::Vector } else { LoopKind::Parallel };
            Green::for_loop(LoopHeader { kind, ..(**h).clone() }, body)
        }
        _ => Green::for_loop(h.clone(), body),
    }
}
