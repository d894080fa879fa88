//! The rules that kernels and trees keep, checked.
//!
//! Everything that comes from outside (text, a library user's own tree) is validated once; the other parts then rely on
//! the rules. All problems are listed, not only the first.

use crate::{
    Access, AccessKind, Affine, ArrayId, Bounds, Buffer, CastOp, Constraint, Derived, Green, GuardCondition,
    Home, Kernel, Node, Op, OpId, OpKind, Path, RuntimeCondition, ScalarType, Statement, StmtFlags, StmtId,
    VarId,
};
use rustc_hash::FxHashSet;

/// Where a rule is broken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    /// The kernel as a whole: parameters, context, assumptions.
    Kernel,
    /// An array.
    Array(ArrayId),
    /// A statement.
    Statement(StmtId),
    /// An operation of a statement.
    Operation(StmtId, OpId),
    /// A node of the tree.
    Node(Path),
}

/// Which rule is broken.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidKind {
    /// Two parameters, arrays or variables of one name, or two statements.
    #[error("the name `{0}` occurs twice")]
    DuplicateName(String),
    /// A parameter that is not an integer.
    #[error("the parameter `{0}` is not an integer")]
    ParameterType(String),
    /// An extent or run-time condition that uses variables.
    #[error("an extent or condition on entry uses a variable")]
    NotInvariant,
    /// An expression with a coefficient that overflowed.
    #[error("a coefficient does not fit in 64 bits")]
    Inexact,
    /// An extent other than the outermost is unknown.
    #[error("only the outermost extent may be unknown")]
    UnknownExtent,
    /// An id that is in no table.
    #[error("{0} does not exist")]
    Dangling(String),
    /// A variable that nothing around binds.
    #[error("the variable {0} is not bound")]
    Unbound(String),
    /// A number of subscripts that is not the array's rank.
    #[error("{given} subscripts for {rank} dimensions")]
    Rank {
        /// Dimensions of the array.
        rank: usize,
        /// Subscripts of the access.
        given: usize,
    },
    /// An operand or mask that is not an earlier operation.
    #[error("operand {0:?} is not an earlier operation")]
    Operand(OpId),
    /// Types that do not fit the operator.
    #[error("{0}")]
    Type(String),
    /// A mask that is not a boolean.
    #[error("the mask {0:?} is not of type i1")]
    Mask(OpId),
    /// A load through a write access or the reverse.
    #[error("the access does not fit the operation: {0}")]
    AccessKind(&'static str),
    /// A reduction whose accesses are not one read and one write of the same element.
    #[error("a reduction needs one read and one write of the same element")]
    Reduction,
    /// An opaque operation in a statement that is not marked so.
    #[error("a statement with an opaque operation must have the flag `opaque`")]
    NotMarkedOpaque,
    /// A step below one, or a step with several lower bounds, or a loop without bounds.
    #[error("{0}")]
    Loop(&'static str),
    /// A predicate or exit that is not a boolean scalar.
    #[error("`{0}` is not a scalar of type i1")]
    Predicate(String),
    /// Dims of a leaf that are not those of its statement, or twice the same.
    #[error("the dims are not those of the statement, or one occurs twice")]
    Dims,
    /// A buffer that cannot be.
    #[error("{0}")]
    Buffer(&'static str),
    /// Alternatives in which not exactly the last one has no conditions.
    #[error("the last alternative of a version, and only that, has no conditions")]
    Version,
}

/// A broken rule.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place:?}: {kind}")]
pub struct Invalid {
    /// Where.
    pub place: Item,
    /// Which rule.
    pub kind: InvalidKind,
}

impl Invalid {
    /// The statement concerned.
    pub fn statement(&self) -> Option<StmtId> {
        match self.place {
            Item::Statement(s) | Item::Operation(s, _) => Some(s),
            _ => None,
        }
    }

    /// The problem, with names in place of numbers.
    pub fn describe(&self, kernel: &Kernel) -> String {
        let statement =
            |s: &StmtId| kernel.statements.get(s.index()).map_or(format!("{s:?}"), |s| s.name.to_string());
        match &self.place {
            Item::Kernel => self.kind.to_string(),
            Item::Array(a) => {
                let name = kernel.arrays.get(a.index()).map_or(format!("{a:?}"), |a| a.name.to_string());
                format!("array `{name}`: {}", self.kind)
            }
            Item::Statement(s) => format!("statement `{}`: {}", statement(s), self.kind),
            Item::Operation(s, op) => format!("statement `{}`, {op:?}: {}", statement(s), self.kind),
            Item::Node(path) => format!("node {path}: {}", self.kind),
        }
    }
}

/// All problems of the kernel's tables, and of a tree of it.
pub fn validate(kernel: &Kernel, tree: &Green) -> Vec<Invalid> {
    let mut problems = validate_kernel(kernel);
    problems.extend(validate_tree(kernel, tree));
    problems
}

/// All problems of the kernel's tables, without those of its original tree.
pub fn validate_kernel(kernel: &Kernel) -> Vec<Invalid> {
    let mut check = Check { kernel, problems: Vec::new(), by_instance: Vec::new() };
    check.tables();
    for (id, s) in kernel.statements() {
        check.statement(id, s);
    }
    check.problems
}

/// All problems of a tree.
pub fn validate_tree(kernel: &Kernel, tree: &Green) -> Vec<Invalid> {
    let mut check = Check { kernel, problems: Vec::new(), by_instance: Vec::new() };
    check.node(tree, &mut Path::root(), &mut Vec::new());
    check.problems
}

struct Check<'k> {
    kernel: &'k Kernel,
    problems: Vec<Invalid>,
    /// The arrays in buffers around whose elements instances tell apart.
    by_instance: Vec<ArrayId>,
}

impl Check<'_> {
    fn report(&mut self, place: Item, kind: InvalidKind) {
        self.problems.push(Invalid { place, kind });
    }

    fn tables(&mut self) {
        let k = self.kernel;
        let mut names = FxHashSet::default();
        let all = (k.params.iter().map(|p| &p.name))
            .chain(k.variables.iter().map(|v| &v.name))
            .chain(k.arrays.iter().map(|a| &a.name));
        for name in all {
            if !names.insert(name) {
                self.report(Item::Kernel, InvalidKind::DuplicateName(name.to_string()));
            }
        }
        let mut names = FxHashSet::default();
        for (id, s) in k.statements() {
            if !names.insert(&s.name) {
                self.report(Item::Statement(id), InvalidKind::DuplicateName(s.name.to_string()));
            }
        }
        for p in &k.params {
            if p.ty.is_float() {
                self.report(Item::Kernel, InvalidKind::ParameterType(p.name.to_string()));
            }
        }
        for (i, a) in k.arrays.iter().enumerate() {
            let place = Item::Array(ArrayId::new(i));
            for (dim, extent) in a.extents.iter().enumerate() {
                match extent {
                    None if dim > 0 => self.report(place.clone(), InvalidKind::UnknownExtent),
                    None => {}
                    Some(e) => self.affine(e, &[], &place),
                }
            }
        }
        for c in &k.context {
            self.affine(&c.expression, &[], &Item::Kernel);
        }
        for c in &k.assumptions {
            self.runtime(c, &Item::Kernel);
        }
    }

    /// `scope`: the variables that may be used.
    fn affine(&mut self, e: &Affine, scope: &[VarId], place: &Item) {
        if !e.is_exact() {
            return self.report(place.clone(), InvalidKind::Inexact);
        }
        let mut unbound = Vec::new();
        e.for_each_var(&mut |v| {
            if !scope.contains(&v) && !unbound.contains(&v) {
                unbound.push(v);
            }
        });
        for v in unbound {
            let kind = match scope {
                [] => InvalidKind::NotInvariant,
                _ => InvalidKind::Unbound(self.kernel.variable_name(v)),
            };
            self.report(place.clone(), kind);
        }
        if let Some(p) = bad_param(e, self.kernel.params.len()) {
            self.report(place.clone(), InvalidKind::Dangling(format!("parameter p{p}")));
        }
    }

    fn runtime(&mut self, c: &RuntimeCondition, place: &Item) {
        match c {
            RuntimeCondition::Parameter(Constraint { expression, .. }) => {
                self.affine(expression, &[], place);
            }
            RuntimeCondition::NoOverlap(a, b) => {
                for a in [a, b] {
                    self.array(*a, place);
                }
            }
        }
    }

    fn array(&mut self, a: ArrayId, place: &Item) -> bool {
        let ok = a.index() < self.kernel.arrays.len();
        if !ok {
            self.report(place.clone(), InvalidKind::Dangling(format!("array {a:?}")));
        }
        ok
    }

    fn statement(&mut self, id: StmtId, s: &Statement) {
        let place = Item::Statement(id);
        let distinct: FxHashSet<_> = s.dims.iter().collect();
        if distinct.len() != s.dims.len() {
            self.report(place.clone(), InvalidKind::Dims);
        }
        for v in s.dims.iter().filter(|v| !self.kernel.is_original(**v)) {
            self.report(place.clone(), InvalidKind::Dangling(format!("original variable {v:?}")));
        }
        // An empty scope is told apart from "no variables allowed here" only in the message.
        for a in &s.accesses {
            if self.array(a.array, &place) {
                self.access(a, s, &place);
            }
        }
        for (op_id, op) in s.ops() {
            self.operation(id, s, op_id, op);
        }
        if let Some(r) = &s.reduction {
            let get = |a: crate::AccessId| s.accesses.get(a.index());
            let ok = match (get(r.read), get(r.write)) {
                (Some(read), Some(write)) => {
                    read.kind == AccessKind::Read
                        && write.kind != AccessKind::Read
                        && read.array == write.array
                        && read.subscripts == write.subscripts
                }
                _ => false,
            };
            if !ok {
                self.report(place.clone(), InvalidKind::Reduction);
            }
        }
        let opaque = s.ops.iter().any(|op| matches!(op.kind, OpKind::Opaque(..)));
        if opaque && !s.flags.contains(StmtFlags::OPAQUE) {
            self.report(place, InvalidKind::NotMarkedOpaque);
        }
    }

    fn access(&mut self, a: &Access, s: &Statement, place: &Item) {
        let rank = self.kernel.array(a.array).rank();
        if let Some(list) = &a.subscripts {
            if list.len() != rank {
                self.report(place.clone(), InvalidKind::Rank { rank, given: list.len() });
            }
            for e in list {
                self.affine(e, &s.dims, place);
            }
        }
    }

    fn operation(&mut self, statement: StmtId, s: &Statement, id: OpId, op: &Op) {
        let place = Item::Operation(statement, id);
        let mut operands = op.kind.operands();
        operands.extend(op.mask.map(|m| m.op));
        if let Some(bad) = operands.iter().find(|o| o.0 >= id.0) {
            return self.report(place, InvalidKind::Operand(*bad));
        }
        let ty = |o: &OpId| s.ops[o.index()].ty;
        if let Some(bad) = operands.iter().find(|o| s.ops[o.index()].kind.is_store()) {
            self.report(place.clone(), InvalidKind::Type(format!("{bad:?} is a store and has no value")));
        }
        if let Some(m) = op.mask
            && ty(&m.op) != ScalarType::I1
        {
            self.report(place.clone(), InvalidKind::Mask(m.op));
        }
        let mut fits = |ok: bool, what: &str| {
            if !ok {
                self.problems
                    .push(Invalid { place: place.clone(), kind: InvalidKind::Type(what.to_string()) });
            }
        };
        let float = op.ty.is_float();
        match &op.kind {
            OpKind::Const(c) => {
                let wide = c.ty.bits() < 64 && c.bits >> c.ty.bits() != 0;
                fits(c.ty == op.ty && !wide, "the constant is not of the operation's type");
            }
            OpKind::Affine(e) => {
                fits(!float, "an affine value is an integer");
                self.affine(e, &s.dims, &place);
            }
            OpKind::Test(c) => {
                fits(op.ty == ScalarType::I1, "a test has type i1");
                self.affine(&c.expression, &s.dims, &place);
            }
            OpKind::Load(a) | OpKind::LoadAt(a, _) | OpKind::Store(a, _) | OpKind::StoreAt(a, ..) => {
                let store = op.kind.is_store();
                let numbered = matches!(op.kind, OpKind::LoadAt(..) | OpKind::StoreAt(..));
                if let OpKind::Store(_, v) | OpKind::StoreAt(_, _, v) = &op.kind {
                    fits(ty(v) == op.ty, "the type of a store is that of the stored value");
                }
                if let OpKind::LoadAt(_, at) | OpKind::StoreAt(_, at, _) = &op.kind {
                    fits(ty(at) == ScalarType::I64, "the number of an element has type i64");
                }
                let Some(access) = s.accesses.get(a.index()) else {
                    return self.report(place, InvalidKind::Dangling(format!("access {a:?}")));
                };
                if let Some(array) = self.kernel.arrays.get(access.array.index()) {
                    fits(array.element == op.ty, "a load or store has the type of the array's elements");
                }
                if store == (access.kind == AccessKind::Read) {
                    self.report(place, InvalidKind::AccessKind("loads read, stores write"));
                } else if access.kind == AccessKind::Write && op.mask.is_some() {
                    self.report(place, InvalidKind::AccessKind("a store under a mask may write"));
                } else if access.subscripts.is_none() != numbered {
                    self.report(place, InvalidKind::AccessKind("a load or store needs its subscripts"));
                } else if numbered && access.kind == AccessKind::Write {
                    self.report(place, InvalidKind::AccessKind("a store somewhere may write"));
                }
            }
            OpKind::Binary(b, x, y) => {
                fits(ty(x) == op.ty && ty(y) == op.ty, "operands and result differ in type");
                fits(b.is_float() == float, "the operator is not for this type");
            }
            OpKind::Cast(c, x) => {
                fits(cast_fits(*c, ty(x), op.ty), "the conversion is not between these types")
            }
            OpKind::Compare(p, x, y) => {
                fits(op.ty == ScalarType::I1, "a comparison has type i1");
                fits(ty(x) == ty(y), "the operands differ in type");
                fits(p.is_float() == ty(x).is_float(), "the comparison is not for this type");
            }
            OpKind::Select(c, x, y) => {
                fits(ty(c) == ScalarType::I1, "the condition of a select has type i1");
                fits(ty(x) == op.ty && ty(y) == op.ty, "operands and result differ in type");
            }
            OpKind::Call(f, list) => {
                fits(list.len() == f.arity(), "the number of operands is not the function's");
                fits(f.is_float() == float, "the function is not for this type");
                fits(list.iter().all(|o| ty(o) == op.ty), "operands and result differ in type");
            }
            OpKind::Pure(..) | OpKind::Opaque(..) => {}
        }
    }

    fn predicate(&mut self, a: ArrayId, place: &Item) {
        if self.array(a, place) {
            let array = self.kernel.array(a);
            if !array.is_scalar() || array.element != ScalarType::I1 {
                self.report(place.clone(), InvalidKind::Predicate(array.name.to_string()));
            }
            if self.by_instance.contains(&a) {
                let what = "a predicate stands between instances: its buffer cannot tell them apart";
                self.report(place.clone(), InvalidKind::Buffer(what));
            }
        }
    }

    fn node(&mut self, node: &Green, path: &mut Path, scope: &mut Vec<VarId>) {
        let place = |path: &Path| Item::Node(path.clone());
        let mut bound = None;
        match node.node() {
            Node::Seq(_) => {}
            Node::Loop(h, _) => {
                let here = place(path);
                if h.step < 1 {
                    self.report(here.clone(), InvalidKind::Loop("a step is at least 1"));
                } else if h.step > 1 && h.lower().len() > 1 {
                    self.report(here.clone(), InvalidKind::Loop("a step needs a single lower bound"));
                }
                match &h.bounds {
                    Bounds::Affine { lower, upper } if lower.is_empty() || upper.is_empty() => {
                        self.report(here.clone(), InvalidKind::Loop("a loop has a lower and an upper bound"));
                    }
                    Bounds::Affine { lower, upper } => {
                        lower.iter().chain(upper).for_each(|e| self.affine(e, scope, &here));
                    }
                    Bounds::Unbounded { exit } => exit.iter().for_each(|a| self.predicate(*a, &here)),
                }
                bound = Some(h.var);
            }
            Node::Let(v, e, _) => {
                self.affine(e, scope, &place(path));
                bound = Some(*v);
            }
            Node::Guard(c, _) => match &**c {
                GuardCondition::Affine(c) => {
                    let here = place(path);
                    c.constraints().for_each(|c| self.affine(&c.expression, scope, &here));
                }
                GuardCondition::Predicate { array, .. } => self.predicate(*array, &place(path)),
            },
            Node::Stmt(id, dims) => {
                match self.kernel.statements.get(id.index()) {
                    None => self.report(place(path), InvalidKind::Dangling(format!("statement {id:?}"))),
                    Some(s) if s.dims != *dims => self.report(place(path), InvalidKind::Dims),
                    Some(_) => {}
                }
                for v in dims.iter().filter(|v| !scope.contains(v)) {
                    self.report(place(path), InvalidKind::Unbound(self.kernel.variable_name(*v)));
                }
            }
            Node::Alloc(buffer, _) => self.buffer(buffer, scope, &place(path)),
            Node::Version(alternatives) => {
                let bare = alternatives.iter().position(|a| a.conditions.is_empty());
                if bare.map(|at| at + 1) != Some(alternatives.len()) {
                    self.report(place(path), InvalidKind::Version);
                }
                let here = place(path);
                alternatives.iter().flat_map(|a| &a.conditions).for_each(|c| self.runtime(c, &here));
            }
        }
        let by_instance = match node.node() {
            Node::Alloc(buffer, _) => (buffer.instance_dims > 0).then_some(buffer.array),
            _ => None,
        };
        self.by_instance.extend(by_instance);
        scope.extend(bound);
        for (index, child) in node.children().enumerate() {
            path.0.push(index as u32);
            self.node(child, path, scope);
            path.0.pop();
        }
        if bound.is_some() {
            scope.pop();
        }
        if by_instance.is_some() {
            self.by_instance.pop();
        }
    }

    fn buffer(&mut self, buffer: &Buffer, scope: &[VarId], place: &Item) {
        if !self.array(buffer.array, place) {
            return;
        }
        let rank = self.kernel.array(buffer.array).rank();
        let mut broken: Vec<&'static str> = Vec::new();
        if !buffer.alignment.is_power_of_two() {
            broken.push("the alignment of a buffer is a power of two");
        }
        if buffer.home != Home::Heap && buffer.constant_len().is_none() {
            broken.push("only a buffer on the heap has extents that are not constant");
        }
        if buffer.dims.iter().any(|d| d.extent.as_constant().is_some_and(|e| e < 1)) {
            broken.push("an extent of a buffer is at least 1");
        }
        if buffer.instance_dims > 0 && buffer.windows().next().is_some() {
            broken.push("elements that are told apart by instances are neither filled nor written back");
        }
        if let Some(by) = buffer.by {
            if buffer.fill.is_none() || buffer.write_back.is_some() {
                broken.push("a buffer of what is computed of elements is filled, and not written back");
            }
            if Derived::of(self.kernel, by, buffer.array).is_none() {
                broken.push("a buffer is of what no statement computes of one element");
            }
        }
        for window in buffer.windows() {
            if window.0.len() != rank {
                broken.push("a window has one range for each subscript");
            }
            if window.0.iter().any(|r| r.lower.is_empty() || r.upper.is_empty()) {
                broken.push("a range has a lower and an upper bound");
            }
            for e in window.0.iter().flat_map(|r| r.lower.iter().chain(&r.upper)) {
                self.affine(e, scope, place);
            }
        }
        broken.into_iter().for_each(|what| self.report(place.clone(), InvalidKind::Buffer(what)));
        let index = (0..buffer.index_count(self.kernel)).map(Buffer::index);
        let inner: Vec<VarId> = scope.iter().copied().chain(index).collect();
        for dim in &buffer.dims {
            self.affine(&dim.subscript, &inner, place);
            self.affine(&dim.extent, &[], place);
        }
    }
}

/// A parameter that is in no table.
fn bad_param(e: &Affine, count: usize) -> Option<u32> {
    e.terms().iter().find_map(|(atom, _)| match atom {
        crate::Atom::Param(p) if p.index() >= count => Some(p.0),
        crate::Atom::Div(d) => bad_param(&d.numerator, count),
        _ => None,
    })
}

fn cast_fits(cast: CastOp, from: ScalarType, to: ScalarType) -> bool {
    let (f, t) = (from.is_float(), to.is_float());
    match cast {
        CastOp::Trunc => !f && !t && to.bits() < from.bits(),
        CastOp::ZExt | CastOp::SExt => !f && !t && to.bits() > from.bits(),
        CastOp::FpTrunc => f && t && to.bits() < from.bits(),
        CastOp::FpExt => f && t && to.bits() > from.bits(),
        CastOp::FpToSi | CastOp::FpToUi | CastOp::FpToSiSat | CastOp::FpToUiSat => f && !t,
        CastOp::SiToFp | CastOp::UiToFp => !f && t,
        CastOp::Bitcast => from.bits() == to.bits(),
    }
}
