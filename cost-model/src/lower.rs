//! A tree at concrete parameter values, flattened: loops with mean trip counts, leaves with linear addresses.

use crate::facts::Facts;
use crate::linear::{Binding, Linear, Scope};
use crate::storage::{Copy, Frame};
use crate::trip_counts::Samples;
use crate::unroll::{Unrolled, is_peeled};
use loop_tree::{
    Access, Affine, Buffer, Condition, Derived, Green, GuardCondition, Kernel, LoopHeader, Node, Op, OpId,
    OpKind, Settled, Statement, StmtFlags, StmtId, VarId,
};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

pub(crate) struct Loop {
    pub header: Arc<LoopHeader>,
    pub parent: Option<usize>,
    pub depth: usize,
    /// Mean iterations per execution.
    pub trip: f64,
    /// The trip count if it is the same always and known to the compiler.
    pub constant: Option<f64>,
    /// Whether the trip count is the same in all executions that have an iteration.
    pub exact: bool,
    /// By how much it is not: its standard deviation, of its mean.
    pub spread: f64,
    /// Whether it is the same in all iterations of the loop around.
    pub steady: bool,
    /// Iterations, over those of the loops around, where they have such a form.
    pub extent: Option<Linear>,
    /// Numbers that iterations stay below, likewise: one for each upper bound.
    pub below: SmallVec<[Linear; 1]>,
    /// Executions that have an iteration, in all.
    pub runs: f64,
    /// Executions that have none.
    pub skipped: f64,
    /// Mean number of the iteration.
    pub middle: f64,
    /// The variable's first value where those of the loops around are 0, in steps.
    pub begins: f64,
    pub leaves: Vec<usize>,
    pub inner: Vec<usize>,
    /// Guards directly inside, not counting those inside inner loops.
    pub guards: usize,
    /// Of these, affine ones that hold in some iterations only.
    pub varying_guards: usize,
    /// The condition for each of whose values there is a loop.
    pub settled: Option<Condition>,
    /// Whether loops inside are unrolled by the compiler, and not by the tree.
    pub unrolled_inside: bool,
}

pub(crate) struct Touch {
    /// Buffers count from the number of arrays on.
    pub array: usize,
    /// Bytes from the start of the array, over iteration numbers; `None`: anywhere.
    pub address: Option<Linear>,
    pub write: bool,
    pub bytes: f64,
    /// Of a private scalar, or a buffer in registers: one for each element.
    pub private: bool,
    /// A load that no instruction of the program stands for: what it carries in a register there.
    pub carried: bool,
}

pub(crate) struct Leaf<'k> {
    pub statement: &'k Statement,
    pub id: StmtId,
    /// Whether it stands for a copy in or out of a buffer.
    pub copy: bool,
    pub parent: Option<usize>,
    /// Executions in all.
    pub runs: f64,
    /// Probability in an iteration of the loop around it.
    pub probability: f64,
    /// Whether a guard stands between the innermost loop and the leaf, for which the loop is not written twice.
    pub guarded: bool,
    /// The innermost of these, by number; zero where there is none.
    pub under: usize,
    /// Whether one of these varies in that loop.
    pub varying_guard: bool,
    /// Operations whose values buffers keep, and their operands, each with the load of it.
    pub kept: SmallVec<[(OpId, OpId); 1]>,
    /// By access.
    pub touches: SmallVec<[Touch; 4]>,
}

pub(crate) struct Lowered<'k> {
    pub facts: &'k Facts<'k>,
    /// Array and bytes of each buffer.
    pub buffers: Vec<(usize, f64)>,
    /// Parents before children, in order of the tree.
    pub loops: Vec<Loop>,
    pub leaves: Vec<Leaf<'k>>,
    /// Guards outside of any loop, and leaves there.
    pub top_leaves: Vec<usize>,
}

/// Flattens a tree of the kernel.
pub(crate) fn lower<'k>(facts: &'k Facts<'k>, root: &Unrolled) -> Lowered<'k> {
    let mut walk = Walk {
        facts,
        scope: Scope { params: facts.params, vars: vec![] },
        trips: vec![],
        frames: vec![],
        copying: None,
        around: root.around.clone(),
        guards: 0,
        innermost: None,
        out: Lowered { facts, buffers: vec![], loops: vec![], leaves: vec![], top_leaves: vec![] },
    };
    walk.node(&root.tree, None, &Samples::once(), Around::NOTHING);
    walk.out
}

/// Elements of a private scalar along each loop, as far as they are told apart.
const ELEMENTS: f64 = 251.0;

#[derive(Clone, std::marker::Copy)]
pub(crate) struct Around {
    probability: f64,
    guarded: bool,
    under: usize,
    varying: bool,
}

impl Around {
    const NOTHING: Around = Around { probability: 1.0, guarded: false, under: 0, varying: false };
}

pub(crate) struct Walk<'k> {
    pub facts: &'k Facts<'k>,
    pub scope: Scope<'k>,
    trips: Vec<f64>,
    /// Buffers in effect, outermost first.
    pub frames: Vec<Frame>,
    /// What the leaf at hand copies.
    pub copying: Option<Copy>,
    /// Loops that the compiler has made innermost ones.
    around: Vec<Green>,
    /// How many guards there were so far.
    guards: usize,
    /// The loop at hand if it has none inside, with its body.
    innermost: Option<(Arc<LoopHeader>, Green)>,
    pub out: Lowered<'k>,
}

/// Whether how often anything in a tree runs depends on the iterations of loops.
fn tells_apart(node: &Green) -> bool {
    match node.node() {
        Node::Guard(condition, _) if matches!(**condition, GuardCondition::Affine(_)) => true,
        // Copies are loops over windows.
        Node::Alloc(..) => true,
        Node::Loop(header, _) if !header.lower().iter().chain(header.upper()).all(|e| e.is_invariant()) => {
            true
        }
        _ => node.children().any(tells_apart),
    }
}

impl Walk<'_> {
    pub fn node(&mut self, node: &Green, parent: Option<usize>, samples: &Samples, around: Around) {
        match node.node() {
            Node::Seq(children) => children.iter().for_each(|c| self.node(c, parent, samples, around)),
            Node::Alloc(buffer, body) => self.buffer(buffer, body, parent, samples, around),
            // The conditions of the first alternative are those that were meant to hold.
            Node::Version(alternatives) => {
                if let Some(first) = alternatives.first() {
                    self.node(&first.body, parent, samples, around);
                }
            }
            Node::Let(var, value, body) => {
                let iteration = self.scope.linear(value);
                let value = self.scope.of_values(value);
                self.scope.vars.push(Binding { var: *var, value, iteration });
                self.node(body, parent, samples, around);
                self.scope.vars.pop();
            }
            Node::Guard(condition, body) => {
                if let Some(parent) = parent {
                    self.out.loops[parent].guards += 1;
                }
                self.guards += 1;
                let twice = parent.and_then(|l| self.out.loops[l].settled.as_ref());
                let peeled = |c| {
                    let innermost = self.innermost.as_ref();
                    innermost.is_some_and(|(header, body)| is_peeled(self.facts.kernel, header, body, c))
                };
                let settled =
                    matches!(&**condition, GuardCondition::Affine(c) if Some(c) == twice || peeled(c));
                let (inside, p, varying) = match &**condition {
                    GuardCondition::Affine(c) => {
                        let (inside, p) = samples.filter(c, &self.scope, &self.trips);
                        let depth = parent.map(|l| self.out.loops[l].depth);
                        let varying = !settled
                            && depth.is_some_and(|d| {
                                c.constraints()
                                    .any(|c| self.scope.linear(&c.expression).coefficient(d) != 0.0)
                            });
                        if let Some(parent) = parent.filter(|_| varying) {
                            self.out.loops[parent].varying_guards += 1;
                        }
                        (inside, p, varying)
                    }
                    GuardCondition::Predicate { .. } => (samples.scaled(0.5), 0.5, true),
                };
                let around = Around {
                    probability: around.probability * p,
                    guarded: around.guarded || !settled,
                    under: if settled { around.under } else { self.guards },
                    varying: around.varying || varying,
                };
                self.node(body, parent, &inside, around);
            }
            Node::Loop(header, body) => {
                let depth = self.trips.len();
                let (inside, trips) = samples.enter(header, depth, &self.scope, tells_apart(body));
                if trips.mean <= 0.0 {
                    return; // Never runs at these parameters.
                }
                let index = self.out.loops.len();
                let first =
                    header.lower().get(trips.lower).map_or(Linear::default(), |e| self.scope.linear(e));
                let step = header.step.max(1) as f64;
                self.out.loops.push(Loop {
                    header: header.clone(),
                    parent,
                    depth,
                    trip: trips.mean,
                    constant: header.constant_trip_count().map(|t| t as f64),
                    exact: trips.exact,
                    spread: trips.spread,
                    steady: depth.checked_sub(1).is_none_or(|around| {
                        let bounds = header.lower().iter().chain(header.upper());
                        let mut slopes = bounds.map(|b| self.scope.linear(b).coefficient(around));
                        slopes.next().is_none_or(|first| slopes.all(|slope| slope == first))
                    }),
                    extent: header
                        .single_bounds()
                        .filter(|_| header.step == 1)
                        .map(|(lower, upper)| self.scope.linear(&(upper - lower))),
                    below: self.below(header, trips.lower),
                    runs: trips.entered,
                    skipped: (samples.total() - trips.entered).max(0.0),
                    middle: trips.middle,
                    begins: first.constant / step,
                    leaves: vec![],
                    inner: vec![],
                    guards: 0,
                    varying_guards: 0,
                    settled: Settled::of(header, body).map(|s| s.condition.clone()),
                    unrolled_inside: self.around.iter().any(|l| l.ptr_eq(node)),
                });
                if let Some(parent) = parent {
                    self.out.loops[parent].inner.push(index);
                }
                self.trips.push(trips.mean);
                let mut iteration = first;
                iteration.add_scaled(&Linear::depth(depth), step);
                self.scope.vars.push(Binding { var: header.var, value: Linear::depth(depth), iteration });
                self.innermost = (body.summary().loop_depth == 0).then(|| (header.clone(), body.clone()));
                self.node(body, Some(index), &inside, Around::NOTHING);
                self.innermost = None;
                self.scope.vars.pop();
                self.trips.pop();
            }
            Node::Stmt(id, _) => {
                let (statement, touches) = match self.copying {
                    Some(copy) => (&self.facts.copies[copy.array], self.copied(copy)),
                    None => {
                        let statement = &**self.facts.kernel.statement(*id);
                        let mut touches: SmallVec<[Touch; 4]> =
                            statement.accesses.iter().map(|a| self.touch(a, &statement.dims)).collect();
                        for op in statement.ops.iter().filter(|op| self.facts.lifted && op.origin.is_none()) {
                            if let OpKind::Load(access) = op.kind {
                                touches[access.index()].carried = true;
                            }
                        }
                        (statement, touches)
                    }
                };
                let index = self.out.leaves.len();
                match parent {
                    Some(parent) => self.out.loops[parent].leaves.push(index),
                    None => self.out.top_leaves.push(index),
                }
                self.out.leaves.push(Leaf {
                    statement,
                    id: *id,
                    copy: self.copying.is_some(),
                    kept: self.kept(*id, statement),
                    parent,
                    runs: samples.total(),
                    probability: around.probability,
                    guarded: around.guarded,
                    under: around.under,
                    varying_guard: around.varying,
                    touches,
                });
            }
        }
    }

    /// What numbers of iterations stay below, counted from one of the lower bounds.
    fn below(&self, header: &LoopHeader, lower: usize) -> SmallVec<[Linear; 1]> {
        let Some(lower) = header.lower().get(lower) else { return SmallVec::new() };
        let from = |upper: &Affine| {
            let mut count = self.scope.linear(&(upper - lower));
            count.scale(1.0 / header.step.max(1) as f64);
            count
        };
        header.upper().iter().map(from).collect()
    }

    /// Operations of a statement whose values buffers keep, and operands of these alone, each with the load of it.
    fn kept(&self, id: StmtId, statement: &Statement) -> SmallVec<[(OpId, OpId); 1]> {
        let mut result = SmallVec::new();
        if self.copying.is_some() || self.frames.iter().all(|f| f.buffer.by.is_none()) {
            return result;
        }
        for access in &statement.accesses {
            let frame = self.frames.iter().rfind(|f| f.buffer.array == access.array);
            let by = frame.and_then(|f| f.buffer.by).filter(|by| *by == id);
            if let Some(derived) = by.and_then(|by| Derived::of(self.facts.kernel, by, access.array)) {
                result.extend(derived.chain.iter().map(|op| (*op, derived.load)));
                // So is what only these need.
                let uses = |o: &Op, op| o.kind.operands().contains(&op) || o.mask.is_some_and(|m| m.op == op);
                let used = |op, by_chain: bool| {
                    let mut users = statement.ops.iter().enumerate().filter(|(_, o)| uses(o, op));
                    users.any(|(n, _)| derived.chain.contains(&OpId::new(n)) == by_chain)
                };
                let others = (0..statement.ops.len()).map(OpId::new).filter(|op| *op != derived.load);
                let others =
                    others.filter(|op| !derived.chain.contains(op) && used(*op, true) && !used(*op, false));
                result.extend(others.map(|op| (op, derived.load)));
            }
        }
        result
    }

    /// The innermost loop around, by depth.
    pub fn innermost(&self) -> Option<usize> {
        self.trips.len().checked_sub(1)
    }

    fn touch(&self, access: &Access, dims: &[VarId]) -> Touch {
        let write = !matches!(access.kind, loop_tree::AccessKind::Read);
        if let Some(frame) = self.frames.iter().rposition(|f| f.buffer.array == access.array) {
            return self.in_buffer(frame, access.subscripts.as_deref(), dims, write);
        }
        self.in_array(access, write)
    }

    pub fn in_array(&self, access: &Access, write: bool) -> Touch {
        let array = access.array.index();
        let bytes = self.facts.kernel.arrays.get(array).map_or(8.0, |a| f64::from(a.element.size()));
        let address = access.subscripts.as_ref().map(|subscripts| {
            let mut sum = Linear::default();
            for (d, s) in subscripts.iter().enumerate() {
                let stride = self.facts.strides.get(array).and_then(|s| s.get(d)).copied().unwrap_or(bytes);
                sum.add_scaled(&self.scope.linear(s), stride);
            }
            sum
        });
        let Some(variables) = self.facts.privates.variables(access.array) else {
            return Touch { array, address, write, bytes, private: false, carried: false };
        };
        // As if it was an array: what tells elements apart.
        let mut element = Linear::default();
        for v in variables.iter().rev() {
            element.add_scaled(&self.scope.linear(&Affine::var(*v)), bytes);
            element.scale(ELEMENTS);
        }
        Touch { array, address: Some(element), write, bytes, private: true, carried: false }
    }
}

impl Loop {
    /// The name of its variable.
    pub fn name(&self, kernel: &Kernel) -> String {
        match Buffer::index_of(self.header.var) {
            Some(k) => format!("x{k}"),
            None => kernel.variable_name(self.header.var),
        }
    }
}

impl Lowered<'_> {
    fn buffer(&self, array: usize) -> Option<(usize, f64)> {
        self.buffers.get(array.checked_sub(self.facts.kernel.arrays.len())?).copied()
    }

    /// Bytes of an array or buffer, where they are known.
    pub fn bytes(&self, array: usize) -> Option<f64> {
        self.buffer(array).map(|b| b.1).or_else(|| self.facts.array_bytes.get(array).copied().flatten())
    }

    /// Lines or pages of so many bytes that an array has, at most.
    pub fn most(&self, array: usize, unit: f64) -> f64 {
        self.bytes(array).map_or(f64::MAX, |bytes| (bytes / unit).ceil() + 1.0)
    }

    /// The name of an array, or of what a buffer stands for.
    pub fn array_name(&self, array: usize) -> &str {
        let array = self.buffer(array).map_or(array, |b| b.0);
        self.facts.kernel.arrays.get(array).map_or("", |a| &a.name)
    }

    /// By loop, the leaves in it.
    pub fn leaves_inside(&self) -> Vec<Range<usize>> {
        let mut inside = vec![0..0; self.loops.len()];
        for (at, leaf) in self.leaves.iter().enumerate() {
            for l in self.path(leaf.parent) {
                let first = if inside[l].end == 0 { at } else { inside[l].start };
                inside[l] = first..at + 1;
            }
        }
        inside
    }

    /// The loops around a leaf or loop, innermost first.
    pub fn path(&self, mut at: Option<usize>) -> impl Iterator<Item = usize> {
        std::iter::from_fn(move || {
            let here = at?;
            at = self.loops[here].parent;
            Some(here)
        })
    }
}

/// Whether the compiler cannot look into the statement.
pub(crate) fn is_opaque(statement: &Statement) -> bool {
    let hard = StmtFlags::SIDE_EFFECTS
        | StmtFlags::VOLATILE
        | StmtFlags::ATOMIC_RELAXED
        | StmtFlags::ATOMIC_ORDERED
        | StmtFlags::MAY_THROW
        | StmtFlags::MAY_NOT_RETURN
        | StmtFlags::OPAQUE;
    let unknown = |kind: &OpKind| matches!(kind, OpKind::Pure(..) | OpKind::Opaque(..));
    statement.flags.intersects(hard) || statement.ops.iter().any(|o| unknown(&o.kind))
}
