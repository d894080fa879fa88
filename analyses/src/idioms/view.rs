//! What idioms look at: one store, the loops around it, and what is stored as a sum of products.

use super::subscripts;
use loop_tree::{
    Affine, ArrayId, BinaryOp, Constant, Green, Intrinsic, Kernel, LoopHeader, LoopKind, Node, OpId, OpKind,
    Path, Privates, Red, ReductionOp, ScalarType, Statement, StmtFlags, StmtId, VarId, occurrences,
};

/// Factors and terms beyond which nothing is an idiom.
const MOST: usize = 16;

/// One store of a statement under some of its loops; those further out do not change.
#[derive(Clone, Debug)]
pub struct View<'k> {
    /// The kernel.
    pub kernel: &'k Kernel,
    /// The statement.
    pub statement: StmtId,
    /// Loops, outermost first.
    pub loops: Vec<Along>,
    /// The element that is written.
    pub written: Element,
    /// The operator with which the element is updated, where that is no sum: `max` of itself and another value.
    pub update: Option<ReductionOp>,
    terms: Option<Vec<Term>>,
}

/// A loop of a view.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Along {
    /// Its variable.
    pub var: VarId,
    /// Its first value.
    pub lower: Vec<Affine>,
    /// One behind its last value.
    pub upper: Vec<Affine>,
    /// From one value to the next.
    pub step: i64,
}

/// An element of an array, over the variables of the loops.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Element {
    /// The array.
    pub array: ArrayId,
    /// Its subscripts. Of a scalar of which each iteration of some loops has its own: their variables.
    pub subscripts: Vec<Affine>,
}

/// A factor of a term.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Factor {
    /// An element that is read.
    Element(Element),
    /// A constant.
    Constant(Constant),
    /// An expression of loops and parameters as a number.
    Affine(Affine),
    /// What is no product: a function or quotient of elements.
    Other(Vec<Element>),
}

/// A product; none of no factors is 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Term {
    /// Whether it is subtracted.
    pub negative: bool,
    /// What is multiplied.
    pub factors: Vec<Factor>,
}

impl Along {
    /// Iterations, where each bound is one expression and no value is left out; not positive where there are none.
    pub fn length(&self) -> Option<Affine> {
        match (&self.lower[..], &self.upper[..], self.step) {
            ([lower], [upper], 1) => Some(upper - lower).filter(Affine::is_exact),
            _ => None,
        }
    }
}

impl Element {
    /// `A[i, j]`
    pub fn text(&self, kernel: &Kernel) -> String {
        format!(
            "{}{}",
            kernel.array(self.array).name,
            match kernel.array(self.array).is_scalar() {
                true => String::new(),
                false => subscripts(kernel, &self.subscripts),
            }
        )
    }

    /// The one subscript that uses a variable, where it is the variable with something that does not change beside it and no other loop of
    /// the view.
    pub fn position(&self, view: &View<'_>, var: VarId) -> Option<usize> {
        let mut at = self.subscripts.iter().enumerate().filter(|(_, e)| e.uses(var)).map(|(n, _)| n);
        let (position, None) = (at.next()?, at.next()) else { return None };
        let e = &self.subscripts[position];
        let alone = !e.has_divisions() && view.loops.iter().all(|l| l.var == var || !e.uses(l.var));
        (alone && e.coefficient(var) == 1).then_some(position)
    }

    /// Whether some subscript uses the variable.
    pub fn uses(&self, var: VarId) -> bool {
        self.subscripts.iter().any(|e| e.uses(var))
    }
}

impl Factor {
    /// The element, if it is one.
    pub fn element(&self) -> Option<&Element> {
        match self {
            Factor::Element(e) => Some(e),
            _ => None,
        }
    }

    /// As in a formula.
    pub fn text(&self, kernel: &Kernel) -> String {
        match self {
            Factor::Element(e) => e.text(kernel),
            Factor::Constant(c) => match c.ty {
                ScalarType::F64 => format!("{:?}", f64::from_bits(c.bits)),
                ScalarType::F32 => format!("{:?}", f32::from_bits(c.bits as u32)),
                _ => c.signed().to_string(),
            },
            Factor::Affine(e) => format!("({})", loop_tree::text::print_affine(kernel, e)),
            Factor::Other(elements) => {
                let list: Vec<String> = elements.iter().map(|e| e.text(kernel)).collect();
                format!("f({})", list.join(", "))
            }
        }
    }
}

impl<'k> View<'k> {
    /// What is stored, as a sum; `None` where it is none, or too long. An update by another operator has the other value as
    /// its only term.
    pub fn terms(&self) -> Option<&[Term]> {
        self.terms.as_deref()
    }

    /// The statement.
    pub fn statement(&self) -> &'k Statement {
        self.kernel.statement(self.statement)
    }

    /// The same without its outermost loops.
    pub fn inside(&self, outside: usize) -> View<'k> {
        View { loops: self.loops[outside..].to_vec(), ..self.clone() }
    }

    /// Whether a factor changes with the loops.
    pub fn moves(&self, factor: &Factor) -> bool {
        let moves = |e: &Element| e.array == self.written.array || self.loops.iter().any(|l| e.uses(l.var));
        match factor {
            Factor::Element(e) => moves(e),
            Factor::Constant(_) => false,
            Factor::Affine(e) => self.loops.iter().any(|l| e.uses(l.var)),
            Factor::Other(elements) => elements.iter().any(moves),
        }
    }

    /// The other terms, where what is written is a sum of itself and these.
    pub fn added(&self) -> Option<Vec<&Term>> {
        let terms = self.terms.as_ref().filter(|_| self.update.is_none())?;
        let itself = |t: &&Term| matches!(&t.factors[..], [f] if f.element() == Some(&self.written));
        let own: Vec<&Term> = terms.iter().filter(itself).collect();
        let [Term { negative: false, .. }] = own[..] else { return None };
        Some(terms.iter().filter(|t| !itself(t)).collect())
    }

    /// Whether bounds depend on other loops of the view.
    pub fn is_rectangular(&self) -> bool {
        let bounds = |l: &Along| l.lower.iter().chain(&l.upper).cloned().collect::<Vec<_>>();
        self.loops.iter().all(|l| bounds(l).iter().all(|b| self.loops.iter().all(|o| !b.uses(o.var))))
    }

    /// What to note of the range.
    pub fn range(&self) -> Option<String> {
        (!self.is_rectangular()).then(|| "over a part of the rectangle".to_string())
    }
}

/// The views of all stores of a kernel whose statements do nothing beside, with all their loops.
pub(super) fn of_kernel(kernel: &Kernel) -> Vec<View<'_>> {
    let privates = Privates::of(kernel);
    let mut views = Vec::new();
    for occurrence in occurrences(&kernel.original) {
        let statement = kernel.statement(occurrence.statement);
        let headers: Vec<&LoopHeader> = occurrence.loops().map(|h| &**h).collect();
        // A statement under a condition is none of these.
        let plain = statement.flags == StmtFlags::empty()
            && statement.ops.iter().all(|op| op.mask.is_none())
            && !occurrence.around.iter().any(|a| matches!(a.node(), Node::Guard(..)))
            && headers.iter().all(|h| !h.lower().is_empty());
        if !plain || headers.is_empty() {
            continue;
        }
        let loops = headers.iter().map(|h| Along {
            var: h.var,
            lower: h.lower().to_vec(),
            upper: h.upper().to_vec(),
            step: h.step,
        });
        let reader = Reader { privates: &privates, statement, resolve: &Affine::clone };
        let loops: Vec<Along> = loops.collect();
        for op in &statement.ops {
            let OpKind::Store(access, value) = op.kind else { continue };
            let Some(written) = reader.element(access.index()) else { continue };
            let (update, terms) = reader.stored(&written, value);
            let id = occurrence.statement;
            views.push(View { kernel, statement: id, loops: loops.clone(), written, update, terms });
        }
    }
    views
}

/// The view of the only store in the loop at a path, under that loop and those inside; why there is none. Scalars are what they are: places
/// of the program, or the nest's own.
pub(super) fn at<'k>(kernel: &'k Kernel, root: &Green, path: &Path) -> Result<View<'k>, &'static str> {
    let node = root.at(path).ok_or("nothing is there")?;
    if node.summary().leaves != 1 {
        return Err("it does not hold just one statement");
    }
    if let Some(why) = in_the_way(root, path) {
        return Err(why);
    }
    let all = occurrences(root);
    let occurrence = all.iter().find(|o| path.contains(&o.path)).ok_or("it holds no statement")?;
    let statement = kernel.statement(occurrence.statement);
    let mut loops = Vec::new();
    for (at, around) in occurrence.around.iter().enumerate().skip(path.0.len()) {
        match around.node() {
            Node::Loop(h, _) if !h.lower().is_empty() => {
                let resolved = |list: &[Affine]| list.iter().map(|e| occurrence.resolve_at(e, at)).collect();
                let (lower, upper) = (resolved(h.lower()), resolved(h.upper()));
                loops.push(Along { var: h.var, lower, upper, step: h.step });
            }
            Node::Let(..) => {}
            _ => return Err("it holds more than loops around a statement"),
        }
    }
    let plain = statement.flags == StmtFlags::empty() && statement.ops.iter().all(|op| op.mask.is_none());
    let mut stores = statement.ops.iter().filter(|op| op.kind.is_store());
    let (Some(op), None) = (stores.next(), stores.next()) else {
        return Err("it does not store one element");
    };
    let OpKind::Store(access, value) = op.kind else { return Err("data names what it stores") };
    if !plain {
        return Err("it does more than load, compute and store");
    }
    let resolve = |e: &Affine| occurrence.resolve(e);
    let reader = Reader { privates: &Privates::default(), statement, resolve: &resolve };
    let written = reader.element(access.index()).ok_or("it is not known what it stores")?;
    let (update, terms) = reader.stored(&written, value);
    let loads = statement.ops.iter().all(|op| match op.kind.access() {
        Some(a) => op.ty == kernel.array(statement.access(a).array).element,
        None => true,
    });
    match loads {
        true => Ok(View { kernel, statement: occurrence.statement, loops, written, update, terms }),
        false => Err("it reads elements as of another type"),
    }
}

/// Whether something around a path keeps a call from standing there.
fn in_the_way(root: &Green, path: &Path) -> Option<&'static str> {
    let here = Red::at(root, path)?;
    here.around().iter().find_map(|(node, _)| match node.node() {
        Node::Alloc(..) => Some("a buffer is around it"),
        Node::Loop(header, _) if header.kind != LoopKind::Sequential => {
            Some("a loop around it is marked, too")
        }
        _ => None,
    })
}

/// Reads operations of one statement as sums of products.
struct Reader<'a> {
    privates: &'a Privates,
    statement: &'a Statement,
    /// Subscripts of instances in variables of the tree.
    resolve: &'a dyn Fn(&Affine) -> Affine,
}

impl Reader<'_> {
    fn element(&self, access: usize) -> Option<Element> {
        let access = &self.statement.accesses[access];
        let own =
            self.privates.variables(access.array).map(|list| list.iter().map(|v| Affine::var(*v)).collect());
        let resolved = || Some(access.subscripts.as_ref()?.iter().map(self.resolve).collect());
        Some(Element { array: access.array, subscripts: own.or_else(resolved)? })
    }

    /// The operator of an update that is no sum, and the terms.
    fn stored(&self, written: &Element, value: OpId) -> (Option<ReductionOp>, Option<Vec<Term>>) {
        let op = self.statement.op(value);
        let (a, b, by) = match &op.kind {
            OpKind::Call(f, list) if list.len() == 2 => (list[0], list[1], minimum_or_maximum(*f)),
            OpKind::Binary(f, a, b) => (*a, *b, other_reduction(*f)),
            _ => (value, value, None),
        };
        let itself = |id: OpId| self.read(id).as_ref() == Some(written);
        if let Some(by) = by {
            for (own, other) in [(a, b), (b, a)] {
                if itself(own) && !itself(other) {
                    return (Some(by), self.terms(other));
                }
            }
        }
        (None, self.terms(value))
    }

    fn terms(&self, value: OpId) -> Option<Vec<Term>> {
        let mut terms = Vec::new();
        self.add(value, false, &mut terms)?;
        Some(terms)
    }

    fn read(&self, id: OpId) -> Option<Element> {
        match self.statement.op(id).kind {
            OpKind::Load(access) => self.element(access.index()),
            _ => None,
        }
    }

    fn add(&self, id: OpId, negative: bool, terms: &mut Vec<Term>) -> Option<()> {
        if terms.len() >= MOST {
            return None;
        }
        let op = self.statement.op(id);
        match &op.kind {
            OpKind::Binary(BinaryOp::FAdd | BinaryOp::Add, a, b) => {
                self.add(*a, negative, terms)?;
                self.add(*b, negative, terms)
            }
            OpKind::Binary(BinaryOp::FSub | BinaryOp::Sub, a, b) => {
                self.add(*a, negative, terms)?;
                self.add(*b, !negative, terms)
            }
            OpKind::Call(Intrinsic::FNeg, list) => self.add(list[0], !negative, terms),
            OpKind::Call(Intrinsic::Fma | Intrinsic::FMulAdd, list) => {
                let mut term = Term { negative, factors: Vec::new() };
                self.multiply(list[0], &mut term)?;
                self.multiply(list[1], &mut term)?;
                terms.push(term);
                self.add(list[2], negative, terms)
            }
            _ => {
                let mut term = Term { negative, factors: Vec::new() };
                self.multiply(id, &mut term)?;
                terms.push(term);
                Some(())
            }
        }
    }

    fn multiply(&self, id: OpId, term: &mut Term) -> Option<()> {
        if term.factors.len() >= MOST {
            return None;
        }
        let op = self.statement.op(id);
        match &op.kind {
            OpKind::Binary(BinaryOp::FMul | BinaryOp::Mul, a, b) => {
                self.multiply(*a, term)?;
                return self.multiply(*b, term);
            }
            OpKind::Call(Intrinsic::FNeg, list) => {
                term.negative = !term.negative;
                return self.multiply(list[0], term);
            }
            OpKind::Const(c) => term.factors.push(Factor::Constant(*c)),
            OpKind::Affine(e) => term.factors.push(Factor::Affine((self.resolve)(e))),
            OpKind::Load(access) => term.factors.push(Factor::Element(self.element(access.index())?)),
            _ => {
                let mut elements = Vec::new();
                self.elements(id, &mut elements)?;
                term.factors.push(Factor::Other(elements));
            }
        }
        Some(())
    }

    /// All elements that a value is computed from.
    fn elements(&self, id: OpId, elements: &mut Vec<Element>) -> Option<()> {
        if elements.len() >= MOST {
            return None;
        }
        match &self.statement.op(id).kind {
            OpKind::Load(access) => elements.push(self.element(access.index())?),
            OpKind::LoadAt(..) | OpKind::Opaque(..) => return None,
            other => {
                for operand in other.operands() {
                    self.elements(operand, elements)?;
                }
            }
        }
        Some(())
    }
}

fn minimum_or_maximum(f: Intrinsic) -> Option<ReductionOp> {
    Some(match f {
        Intrinsic::SMin | Intrinsic::MinNum | Intrinsic::Minimum => ReductionOp::SMin,
        Intrinsic::UMin => ReductionOp::UMin,
        Intrinsic::SMax | Intrinsic::MaxNum | Intrinsic::Maximum => ReductionOp::SMax,
        Intrinsic::UMax => ReductionOp::UMax,
        _ => return None,
    })
}

fn other_reduction(f: BinaryOp) -> Option<ReductionOp> {
    Some(match f {
        BinaryOp::Mul => ReductionOp::Mul,
        BinaryOp::FMul => ReductionOp::FMul,
        BinaryOp::And => ReductionOp::And,
        BinaryOp::Or => ReductionOp::Or,
        BinaryOp::Xor => ReductionOp::Xor,
        _ => return None,
    })
}
