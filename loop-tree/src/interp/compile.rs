//! A tree made ready for one layout: variables in slots, parameters folded in, versions chosen.

use super::memory::Layout;
use super::{InterpError, InterpErrorKind, check_parameters};
use crate::{
    AccessId, AccessKind, Affine, ArrayId, Atom, Bounds, Buffer, CastOp, ComparePredicate, Condition,
    Constraint, Derived, Green, GuardCondition, Intrinsic, Kernel, LoopKind, Node, OpFlags, OpId, OpKind,
    Privates, Relation, RuntimeCondition, ScalarType, StmtId, VarId, Window,
};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// An affine expression over slots.
#[derive(Debug)]
pub(super) struct Linear {
    constant: i128,
    terms: Vec<(usize, i128)>,
    divisions: Vec<(Linear, i64, i128)>,
}

impl Linear {
    #[inline]
    fn wide(&self, slots: &[i64]) -> Option<i128> {
        let mut sum = self.constant;
        for (slot, c) in &self.terms {
            sum = sum.checked_add(c.checked_mul(i128::from(slots[*slot]))?)?;
        }
        for (e, d, c) in &self.divisions {
            sum = sum.checked_add(c.checked_mul(e.wide(slots)?.div_euclid(i128::from(*d)))?)?;
        }
        Some(sum)
    }

    #[inline]
    pub fn eval(&self, slots: &[i64]) -> Result<i64, InterpErrorKind> {
        self.wide(slots).and_then(|v| i64::try_from(v).ok()).ok_or(InterpErrorKind::NoValue)
    }
}

pub(super) struct Test {
    pub expression: Linear,
    pub relation: Relation,
}

impl Test {
    pub fn holds(&self, slots: &[i64]) -> Result<bool, InterpErrorKind> {
        Ok(self.relation.accepts(self.expression.eval(slots)?))
    }
}

/// From the greatest of the lower bounds up to, and not including, the least of the upper ones.
pub(super) struct Bounded {
    lower: Vec<Linear>,
    upper: Vec<Linear>,
}

impl Bounded {
    pub fn eval(&self, slots: &[i64]) -> Result<Range<i64>, InterpErrorKind> {
        let mut range = i64::MIN..i64::MAX;
        for e in &self.lower {
            range.start = range.start.max(e.eval(slots)?);
        }
        for e in &self.upper {
            range.end = range.end.min(e.eval(slots)?);
        }
        Ok(range)
    }
}

/// What is in these slots.
pub(super) fn values(of: &[usize], slots: &[i64]) -> Vec<i64> {
    of.iter().map(|slot| slots[*slot]).collect()
}

pub(super) enum Code {
    Seq(Vec<Code>),
    For { slot: usize, range: Bounded, step: i64, ordered: bool, body: Box<Code> },
    Forever { slot: usize, exit: Option<ArrayId>, body: Box<Code> },
    Let { slot: usize, value: Linear, body: Box<Code> },
    If { any_of: Vec<Vec<Test>>, body: Box<Code> },
    IfPredicate { array: ArrayId, private: Option<Vec<usize>>, value: bool, body: Box<Code> },
    Statement { id: StmtId, code: usize },
    Alloc { buffer: Arc<BufferCode>, body: Box<Code> },
}

pub(super) struct BufferCode {
    pub array: ArrayId,
    /// Of the array.
    pub name: Arc<str>,
    /// Slots of the variables that stand for subscripts, then for dims of the instance.
    pub index: Vec<usize>,
    /// Subscripts and extents.
    pub dims: Vec<(Linear, i64)>,
    pub fill: Option<WindowCode>,
    pub by: Option<ByCode>,
    pub write_back: Option<WindowCode>,
}

/// What is computed of each element that is filled in.
pub(super) struct ByCode {
    pub id: StmtId,
    pub derived: Derived,
    pub code: StatementCode,
}

/// By subscript of the array.
pub(super) struct WindowCode(pub Vec<Bounded>);

pub(super) struct Accessed {
    pub id: AccessId,
    pub array: ArrayId,
    pub kind: AccessKind,
    /// `None`: any element.
    pub subscripts: Option<Vec<Linear>>,
    /// Slots that number the elements of a private scalar.
    pub private: Option<Vec<usize>>,
}

pub(super) enum Action {
    Const(u64),
    Affine(Linear),
    Test(Test),
    /// Through an access; of the element that an operand numbers, where one does.
    Load(usize, Option<usize>),
    /// The same of the last operand.
    Store(usize, Option<usize>, usize),
    Binary(crate::BinaryOp, usize, usize),
    Cast(CastOp, ScalarType, usize),
    Compare(ComparePredicate, ScalarType, usize, usize),
    Select(usize, usize, usize),
    Call(Intrinsic, Vec<usize>),
    Opaque,
}

impl Action {
    /// Whether it does nothing but compute a value of others.
    pub fn is_pure(&self) -> bool {
        matches!(
            self,
            Action::Binary(..)
                | Action::Cast(..)
                | Action::Compare(..)
                | Action::Select(..)
                | Action::Call(..)
        )
    }
}

pub(super) struct Step {
    pub action: Action,
    pub ty: ScalarType,
    pub flags: OpFlags,
    pub mask: Option<(usize, bool)>,
    pub id: OpId,
}

pub(super) struct StatementCode {
    pub name: std::sync::Arc<str>,
    pub dims: Vec<usize>,
    pub accesses: Vec<Accessed>,
    pub steps: Vec<Step>,
}

/// A tree for one layout. Statements are compiled once.
pub(super) struct Compiled {
    pub root: Code,
    pub statements: Vec<StatementCode>,
    pub slots: usize,
}

pub(super) fn compile(
    kernel: &Kernel,
    tree: &Green,
    params: &[i64],
    layout: Option<&Layout>,
) -> Result<Compiled, InterpError> {
    check_parameters(kernel, params)?;
    if let Some(problem) = crate::validate(kernel, tree).into_iter().next() {
        return Err(InterpErrorKind::Invalid(Box::new(problem)).into());
    }
    let mut c = Compiler {
        kernel,
        privates: Privates::of(kernel),
        params,
        layout,
        slots: FxHashMap::default(),
        statements: Vec::new(),
        known: FxHashMap::default(),
    };
    let root = c.node(tree)?;
    Ok(Compiled { root, statements: c.statements, slots: c.slots.len() })
}

struct Compiler<'a> {
    kernel: &'a Kernel,
    privates: Privates,
    params: &'a [i64],
    layout: Option<&'a Layout>,
    slots: FxHashMap<VarId, usize>,
    statements: Vec<StatementCode>,
    known: FxHashMap<StmtId, usize>,
}

impl Compiler<'_> {
    fn slot(&mut self, var: VarId) -> usize {
        let next = self.slots.len();
        *self.slots.entry(var).or_insert(next)
    }

    fn private(&mut self, array: ArrayId) -> Option<Vec<usize>> {
        let variables = self.privates.variables(array)?.to_vec();
        Some(variables.into_iter().map(|v| self.slot(v)).collect())
    }

    fn linear(&mut self, e: &Affine) -> Result<Linear, InterpErrorKind> {
        let mut out =
            Linear { constant: i128::from(e.constant_term()), terms: Vec::new(), divisions: Vec::new() };
        for (atom, c) in e.terms() {
            let c = i128::from(*c);
            match atom {
                Atom::Var(v) => out.terms.push((self.slot(*v), c)),
                Atom::Param(p) => {
                    let value = self.params.get(p.index()).copied().ok_or(InterpErrorKind::NoValue)?;
                    let product = c.checked_mul(i128::from(value)).ok_or(InterpErrorKind::NoValue)?;
                    out.constant = out.constant.checked_add(product).ok_or(InterpErrorKind::NoValue)?;
                }
                Atom::Div(d) => out.divisions.push((self.linear(&d.numerator)?, d.denominator, c)),
            }
        }
        Ok(out)
    }

    fn linears(&mut self, list: &[Affine]) -> Result<Vec<Linear>, InterpErrorKind> {
        list.iter().map(|e| self.linear(e)).collect()
    }

    fn bounded(&mut self, lower: &[Affine], upper: &[Affine]) -> Result<Bounded, InterpErrorKind> {
        Ok(Bounded { lower: self.linears(lower)?, upper: self.linears(upper)? })
    }

    fn test(&mut self, c: &Constraint) -> Result<Test, InterpErrorKind> {
        Ok(Test { expression: self.linear(&c.expression)?, relation: c.relation })
    }

    fn tests(&mut self, c: &Condition) -> Result<Vec<Vec<Test>>, InterpErrorKind> {
        c.disjuncts.iter().map(|d| d.iter().map(|c| self.test(c)).collect()).collect()
    }

    fn boxed(&mut self, tree: &Green) -> Result<Box<Code>, InterpErrorKind> {
        Ok(Box::new(self.node(tree)?))
    }

    fn node(&mut self, tree: &Green) -> Result<Code, InterpErrorKind> {
        Ok(match tree.node() {
            Node::Seq(children) => {
                Code::Seq(children.iter().map(|c| self.node(c)).collect::<Result<_, _>>()?)
            }
            Node::Loop(h, body) => {
                let slot = self.slot(h.var);
                match &h.bounds {
                    Bounds::Affine { lower, upper } => Code::For {
                        slot,
                        range: self.bounded(lower, upper)?,
                        step: h.step,
                        ordered: h.kind != LoopKind::Parallel,
                        body: self.boxed(body)?,
                    },
                    Bounds::Unbounded { exit } => {
                        Code::Forever { slot, exit: *exit, body: self.boxed(body)? }
                    }
                }
            }
            Node::Let(v, e, body) => {
                Code::Let { slot: self.slot(*v), value: self.linear(e)?, body: self.boxed(body)? }
            }
            Node::Guard(c, body) => match &**c {
                GuardCondition::Affine(c) => Code::If { any_of: self.tests(c)?, body: self.boxed(body)? },
                GuardCondition::Predicate { array, value } => {
                    let private = self.private(*array);
                    Code::IfPredicate { array: *array, private, value: *value, body: self.boxed(body)? }
                }
            },
            Node::Stmt(id, _) => {
                let code = match self.known.get(id) {
                    Some(code) => *code,
                    None => {
                        let code = self.statement(*id)?;
                        self.statements.push(code);
                        self.known.insert(*id, self.statements.len() - 1);
                        self.statements.len() - 1
                    }
                };
                Code::Statement { id: *id, code }
            }
            Node::Alloc(buffer, body) => {
                Code::Alloc { buffer: Arc::new(self.buffer(buffer)?), body: self.boxed(body)? }
            }
            Node::Version(alternatives) => {
                for a in alternatives.iter() {
                    if self.all_hold(&a.conditions)? {
                        return self.node(&a.body);
                    }
                }
                Code::Seq(Vec::new())
            }
        })
    }

    fn buffer(&mut self, buffer: &Buffer) -> Result<BufferCode, InterpErrorKind> {
        let index = (0..buffer.index_count(self.kernel)).map(|k| self.slot(Buffer::index(k))).collect();
        let name = self.kernel.array(buffer.array).name.clone();
        let mut dims = Vec::with_capacity(buffer.dims.len());
        for d in &buffer.dims {
            let extent = self.linear(&d.extent)?.eval(&[])?.max(0);
            dims.push((self.linear(&d.subscript)?, extent));
        }
        let mut window = |w: &Window| {
            let ranges: Result<_, _> = w.0.iter().map(|r| self.bounded(&r.lower, &r.upper)).collect();
            ranges.map(WindowCode)
        };
        let fill = buffer.fill.as_ref().map(&mut window).transpose()?;
        let write_back = buffer.write_back.as_ref().map(window).transpose()?;
        let by = match buffer.by.and_then(|id| Some((id, Derived::of(self.kernel, id, buffer.array)?))) {
            Some((id, derived)) => Some(ByCode { id, derived, code: self.statement(id)? }),
            None => None,
        };
        Ok(BufferCode { array: buffer.array, name, index, dims, fill, by, write_back })
    }

    fn all_hold(&mut self, conditions: &[RuntimeCondition]) -> Result<bool, InterpErrorKind> {
        for c in conditions {
            let holds = match c {
                RuntimeCondition::Parameter(c) => self.test(c)?.holds(&[])?,
                RuntimeCondition::NoOverlap(a, b) => self.layout.is_none_or(|l| !l.overlaps(*a, *b)),
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn statement(&mut self, id: StmtId) -> Result<StatementCode, InterpErrorKind> {
        let kernel = self.kernel;
        let s = kernel.statement(id);
        let dims = s.dims.iter().map(|v| self.slot(*v)).collect();
        let mut accesses = Vec::with_capacity(s.accesses.len());
        for (id, a) in s.accesses() {
            let subscripts = a.subscripts.as_ref().map(|list| self.linears(list)).transpose()?;
            let private = self.private(a.array);
            accesses.push(Accessed { id, array: a.array, kind: a.kind, subscripts, private });
        }
        let mut steps = Vec::with_capacity(s.ops.len());
        for (id, op) in s.ops() {
            let ty = |o: &OpId| s.op(*o).ty;
            let action = match &op.kind {
                OpKind::Const(c) => Action::Const(c.bits),
                OpKind::Affine(e) => Action::Affine(self.linear(e)?),
                OpKind::Test(c) => Action::Test(self.test(c)?),
                OpKind::Load(a) => Action::Load(a.index(), None),
                OpKind::Store(a, v) => Action::Store(a.index(), None, v.index()),
                OpKind::LoadAt(a, at) => Action::Load(a.index(), Some(at.index())),
                OpKind::StoreAt(a, at, v) => Action::Store(a.index(), Some(at.index()), v.index()),
                OpKind::Binary(b, x, y) => Action::Binary(*b, x.index(), y.index()),
                OpKind::Cast(c, x) => Action::Cast(*c, ty(x), x.index()),
                OpKind::Compare(p, x, y) => Action::Compare(*p, ty(x), x.index(), y.index()),
                OpKind::Select(c, x, y) => Action::Select(c.index(), x.index(), y.index()),
                OpKind::Call(f, list) => Action::Call(*f, list.iter().map(|o| o.index()).collect()),
                OpKind::Pure(..) | OpKind::Opaque(..) => Action::Opaque,
            };
            let mask = op.mask.map(|m| (m.op.index(), m.value));
            steps.push(Step { action, ty: op.ty, flags: op.flags, mask, id });
        }
        Ok(StatementCode { name: s.name.clone(), dims, accesses, steps })
    }
}

/// What happens at the leaves, and where values decide.
pub(super) trait Visitor {
    fn statement(&mut self, id: StmtId, code: &StatementCode, slots: &[i64]) -> Result<(), InterpErrorKind>;
    /// `element` numbers the elements of a private scalar.
    fn predicate(&mut self, array: ArrayId, element: Option<&[i64]>) -> Result<bool, InterpErrorKind>;
    /// A buffer comes into effect.
    fn enter(&mut self, _buffer: &Arc<BufferCode>, _slots: &[i64]) -> Result<(), InterpErrorKind> {
        Ok(())
    }
    /// The buffer entered last is over.
    fn leave(&mut self, _buffer: &BufferCode, _slots: &[i64]) -> Result<(), InterpErrorKind> {
        Ok(())
    }
    /// One iteration or instance.
    fn tick(&mut self) -> Result<(), InterpErrorKind>;
    /// Whether loops that are not sequential run from the end.
    fn backwards(&self) -> bool {
        false
    }
}

impl Compiled {
    pub fn walk(&self, visitor: &mut impl Visitor) -> Result<(), InterpError> {
        let mut walk = Walk { compiled: self, slots: vec![0; self.slots], visitor, at: None };
        let result = walk.code(&self.root);
        result.map_err(|kind| {
            let at = walk.at.map(|code| {
                let s = &self.statements[code];
                (s.name.to_string(), values(&s.dims, &walk.slots))
            });
            InterpError { kind, at }
        })
    }
}

struct Walk<'a, V> {
    compiled: &'a Compiled,
    slots: Vec<i64>,
    visitor: &'a mut V,
    /// The statement that failed.
    at: Option<usize>,
}

impl<V: Visitor> Walk<'_, V> {
    fn code(&mut self, code: &Code) -> Result<(), InterpErrorKind> {
        match code {
            Code::Seq(list) => list.iter().try_for_each(|c| self.code(c)),
            Code::For { slot, range, step, ordered, body } => {
                let Range { start: low, end: high } = range.eval(&self.slots)?;
                if low >= high {
                    return Ok(());
                }
                let saved = self.slots[*slot];
                let backwards = !*ordered && self.visitor.backwards();
                let extent = i128::from(high) - i128::from(low);
                let last = low + ((extent - 1) / i128::from(*step) * i128::from(*step)) as i64;
                let mut value = if backwards { last } else { low };
                loop {
                    self.visitor.tick()?;
                    self.slots[*slot] = value;
                    self.code(body)?;
                    if value == if backwards { low } else { last } {
                        break;
                    }
                    value += if backwards { -*step } else { *step };
                }
                self.slots[*slot] = saved;
                Ok(())
            }
            Code::Forever { slot, exit, body } => {
                let saved = self.slots[*slot];
                let Some(exit) = exit else { return Err(InterpErrorKind::UnknownExit) };
                let mut value = 0i64;
                loop {
                    self.visitor.tick()?;
                    self.slots[*slot] = value;
                    self.code(body)?;
                    if self.visitor.predicate(*exit, None)? {
                        break;
                    }
                    value = value.checked_add(1).ok_or(InterpErrorKind::NoValue)?;
                }
                self.slots[*slot] = saved;
                Ok(())
            }
            Code::Let { slot, value, body } => {
                let value = value.eval(&self.slots)?;
                let saved = std::mem::replace(&mut self.slots[*slot], value);
                self.code(body)?;
                self.slots[*slot] = saved;
                Ok(())
            }
            Code::If { any_of, body } => {
                for conjunction in any_of {
                    let mut holds = true;
                    for test in conjunction {
                        holds = holds && test.holds(&self.slots)?;
                    }
                    if holds {
                        return self.code(body);
                    }
                }
                Ok(())
            }
            Code::IfPredicate { array, private, value, body } => {
                let element = private.as_ref().map(|p| values(p, &self.slots));
                if self.visitor.predicate(*array, element.as_deref())? == *value {
                    self.code(body)?;
                }
                Ok(())
            }
            Code::Statement { id, code } => {
                let statement = &self.compiled.statements[*code];
                let result =
                    self.visitor.tick().and_then(|()| self.visitor.statement(*id, statement, &self.slots));
                if result.is_err() {
                    self.at = Some(*code);
                }
                result
            }
            Code::Alloc { buffer, body } => {
                self.visitor.enter(buffer, &self.slots)?;
                self.code(body)?;
                self.visitor.leave(buffer, &self.slots)
            }
        }
    }
}
