//! Where statements stand in a tree, in the form that legality is computed from.
//!
//! A [`Place`] is one [`Occurrence`]. Its loops are numbered from the outermost, and everything it holds is expressed over
//! these numbers: `VarId(k)` is the k-th loop around it, all bindings resolved. So scopes, shadowing and names are
//! dealt with once, here.

use crate::system::{Inexact, Row, System};
use loop_tree::{
    AccessKind, Affine, ArrayId, Bounds, Buffer, Condition, Constraint, Green, GuardCondition, Kernel,
    LoopKind, Node, Occurrence, Path, Relation, StmtId, VarId, Walk,
};
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// Conjunctions of conditions around a leaf beyond which it is not analysed.
const MAX_CONJUNCTIONS: usize = 16;

/// Why a tree cannot be described.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// A loop whose number of iterations is not known.
    #[error("{path}: a loop without affine bounds")]
    UnboundedLoop {
        /// The loop.
        path: Path,
    },
    /// A loop with a step that is not positive, or a step and several lower bounds.
    #[error("{path}: a loop with a step that cannot be described")]
    Step {
        /// The loop.
        path: Path,
    },
    /// A buffer that is not understood.
    #[error("{path}: a buffer that cannot be judged: {why}")]
    Buffer {
        /// The node.
        path: Path,
        /// What it does.
        why: &'static str,
    },
    /// A loop that threads cannot share.
    #[error("{path}: marked parallel, around {why}")]
    Threads {
        /// The loop.
        path: Path,
        /// What each thread does for itself.
        why: &'static str,
    },
    /// A loop that no function of a library does.
    #[error("{path}: marked for a library, but {why}")]
    Library {
        /// The loop.
        path: Path,
        /// What stands against it.
        why: &'static str,
    },
    /// Alternatives inside of the tree.
    #[error("{path}: versions inside of the tree")]
    Version {
        /// The node.
        path: Path,
    },
    /// A statement that the kernel does not have, or with other dims.
    #[error("{path}: not a statement of this kernel")]
    Statement {
        /// The leaf.
        path: Path,
    },
    /// An expression that overflows, or uses a variable that is not bound.
    #[error("{path}: {why}")]
    Expression {
        /// The node.
        path: Path,
        /// What is wrong with it.
        why: Inexact,
    },
    /// Conditions with too many alternatives.
    #[error("{path}: conditions with too many alternatives")]
    Conditions {
        /// The leaf.
        path: Path,
    },
    /// A vector loop that cannot be emitted as vectors.
    #[error("{path}: not a vector loop: {why}")]
    Lanes {
        /// The loop.
        path: Path,
        /// What stands against it.
        why: &'static str,
    },
    /// A predicate that is not a scalar of the kernel.
    #[error("{path}: a predicate that is not a scalar")]
    Predicate {
        /// The guard.
        path: Path,
    },
    /// A statement writes the predicate that it is under.
    #[error("{path}: a statement changes the predicate that it is under")]
    PredicateChanged {
        /// The leaf.
        path: Path,
    },
}

/// A loop around a place.
#[derive(Clone, Debug)]
pub struct PlacedLoop {
    /// Lower bounds, over the loops outside of this one.
    pub lower: Vec<Affine>,
    /// Upper bounds, exclusive.
    pub upper: Vec<Affine>,
    /// Distance of consecutive values.
    pub step: i64,
    /// How its iterations are executed.
    pub kind: LoopKind,
    /// Length of the loop node's path.
    pub depth: usize,
}

/// A buffer around a place.
#[derive(Clone, Debug)]
pub struct PlacedBuffer {
    /// Its data, over the loops around it.
    pub buffer: Buffer,
    /// The node.
    pub path: Path,
    /// Number of loops around it.
    pub loops: usize,
    /// Affine conditions around it, as those of a [`Place`].
    pub conditions: Vec<Vec<Constraint>>,
}

/// A predicate that is read around a place.
#[derive(Clone, Debug)]
pub struct Test {
    /// The predicate.
    pub array: ArrayId,
    /// Length of the path of its guard.
    pub depth: usize,
}

/// An occurrence with everything around it resolved.
#[derive(Clone, Debug)]
pub struct Place {
    /// The leaf, in the names of the tree.
    pub occurrence: Occurrence,
    /// Loops around it, outermost first.
    pub loops: Vec<Arc<PlacedLoop>>,
    /// Affine conditions around it, as alternatives that are conjunctions.
    pub conditions: Vec<Vec<Constraint>>,
    /// Predicates around it, with the values they must have.
    pub predicates: BTreeSet<(ArrayId, bool)>,
    /// The predicates that are read around it.
    pub tests: Vec<Test>,
    /// The statement's dims.
    pub dims: Vec<Affine>,
    /// Buffers around it, outermost first.
    pub buffers: Vec<Arc<PlacedBuffer>>,
    /// Hash of loops (but for their kinds), conditions and dims: equal places execute the same instances in the same
    /// order.
    pub shape: u128,
    /// The same, but of whatever statement, and whatever predicates decide.
    pub domain: u128,
    /// See [`Place::bound_constraints`].
    pub(crate) bounds: OnceLock<Vec<Constraint>>,
}

/// All leaves of a tree, in textual order.
pub fn places(kernel: &Kernel, root: &Green) -> Result<Vec<Place>, Unsupported> {
    let (mut result, mut around) = (Vec::new(), Vec::new());
    let mut walk = root.walk();
    while let Some(node) = walk.next() {
        around.truncate(walk.here().around().len());
        let here = Surroundings { kernel, walk: &walk, around: &around };
        match node.node() {
            Node::Stmt(id, names) => result.push(here.leaf(*id, names)?),
            _ => {
                let described = here.node(node)?;
                around.push(described);
            }
        }
    }
    Ok(result)
}

impl Deref for Place {
    type Target = Occurrence;

    fn deref(&self) -> &Occurrence {
        &self.occurrence
    }
}

impl Place {
    /// Loops shared with another place of the same tree, and how the two are ordered where the values of those are equal.
    pub fn shared(&self, other: &Place) -> (usize, std::cmp::Ordering) {
        let common = self.path.shared_len(&other.path);
        let loops =
            self.loops.iter().take_while(|l| l.depth <= common && l.depth < self.path.0.len()).count();
        (loops.min(other.loops.len()), self.path.0[common..].cmp(&other.path.0[common..]))
    }

    /// The cases of a system in which this place, with its loops at `time`, is executed before another one: one for each shared loop in
    /// which it is earlier, outermost first, and one for equal values of these where it stands in front of the other.
    pub fn before(
        &self,
        other: &Place,
        base: &System,
        time: &[Row],
        later: &[Row],
    ) -> Result<Vec<System>, Inexact> {
        let (shared, order) = self.shared(other);
        let mut cases = Vec::with_capacity(shared + 1);
        let mut equal = base.clone();
        for (x, y) in time.iter().zip(later).take(shared) {
            let difference = y.clone().minus(x)?;
            let mut case = equal.clone();
            case.require_nonnegative(difference.clone().offset(-1)?);
            cases.push(case);
            equal.require_zero(difference);
        }
        if order == std::cmp::Ordering::Less {
            cases.push(equal);
        }
        Ok(cases)
    }

    /// One system per alternative of the conditions: bounds, steps and conditions with the loops at `columns`.
    pub fn domains(&self, base: &System, columns: &[Row]) -> Result<Vec<System>, Inexact> {
        let mut bounds = base.clone();
        for c in self.bound_constraints() {
            bounds.require(c, columns)?;
        }
        let with = |mut system: System, conjunction: &[Constraint]| {
            for c in conjunction {
                system.require(c, columns)?;
            }
            Ok(system)
        };
        let Some((last, others)) = self.conditions.split_last() else { return Ok(Vec::new()) };
        let mut list = Vec::with_capacity(self.conditions.len());
        for conjunction in others {
            list.push(with(bounds.clone(), conjunction)?);
        }
        list.push(with(bounds, last)?);
        Ok(list)
    }

    /// The same instances as places with one conjunction each, no two of which hold together; `None` if that takes more
    /// than `most`.
    pub fn pieces(&self, most: usize) -> Option<Vec<Place>> {
        let mut pieces: Vec<Vec<Constraint>> = Vec::new();
        for (n, conjunction) in self.conditions.iter().enumerate() {
            // This one, and none of those before.
            let mut rest = vec![conjunction.clone()];
            for earlier in &self.conditions[..n] {
                let mut apart = Vec::new();
                for mut part in rest {
                    for c in earlier {
                        apart.extend(
                            c.negated().into_iter().map(|negation| [&part[..], &[negation]].concat()),
                        );
                        part.push(c.clone());
                    }
                }
                rest = apart;
                if rest.len() > most {
                    return None;
                }
            }
            pieces.extend(rest);
        }
        let piece =
            |conjunction: Vec<Constraint>| Place { conditions: vec![conjunction], ..self.clone() }.hashed();
        (pieces.len() <= most).then(|| pieces.into_iter().map(piece).collect())
    }

    /// Bounds and steps as constraints over the loops.
    pub fn bound_constraints(&self) -> &[Constraint] {
        self.bounds.get_or_init(|| self.bounds_of(self.loops.len()))
    }

    /// The same of the outermost `count` loops.
    pub fn bounds_of(&self, count: usize) -> Vec<Constraint> {
        let mut list = Vec::with_capacity(count * 2);
        for (k, l) in self.loops.iter().enumerate().take(count) {
            let value = Affine::var(VarId::new(k));
            let bound = |expression| Constraint { expression, relation: Relation::NonNegative };
            list.extend(l.lower.iter().map(|b| bound(&value - b)));
            list.extend(l.upper.iter().map(|b| bound((b - &value).offset(-1))));
            if l.step > 1
                && let [lower] = &l.lower[..]
            {
                let expression = (&value - lower).modulo(l.step);
                list.push(Constraint { expression, relation: Relation::Zero });
            }
        }
        list
    }

    /// Whether dim `k` is just loop `k`, for all of them.
    pub fn is_identity(&self) -> bool {
        self.dims.len() == self.loops.len()
            && self.dims.iter().enumerate().all(|(k, d)| d.as_var() == Some(VarId::new(k)))
    }

    /// With the hashes of what it has become.
    fn hashed(mut self) -> Place {
        self.domain = loop_tree::hash128(&Domain(&self));
        self.shape = loop_tree::hash128(&(self.statement, &self.predicates, self.domain));
        self
    }
}

/// What decides which instances a place executes, and when.
struct Domain<'p>(&'p Place);

impl Hash for Domain<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Place { loops, conditions, dims, .. } = self.0;
        loops.len().hash(state);
        for l in loops {
            (&l.lower, &l.upper, l.step).hash(state);
        }
        (conditions, dims).hash(state);
    }
}

/// A node around a leaf, over the loops around it.
struct Around {
    /// The variable that it binds, and its value.
    binds: Option<(VarId, Affine)>,
    what: What,
}

enum What {
    Loop(Arc<PlacedLoop>),
    Condition(Condition),
    Predicate(ArrayId, bool),
    Buffer(Arc<PlacedBuffer>),
    Nothing,
}

/// The nodes around the one that a walk has come to, outermost first.
struct Surroundings<'w, 't> {
    kernel: &'w Kernel,
    walk: &'w Walk<'t>,
    around: &'w [Around],
}

impl Surroundings<'_, '_> {
    fn value(&self, var: VarId) -> Option<&Affine> {
        let mut bound = self.around.iter().rev().filter_map(|a| a.binds.as_ref());
        bound.find(|(v, _)| *v == var).map(|(_, value)| value)
    }

    fn resolve(&self, e: &Affine) -> Result<Affine, Unsupported> {
        let mut unbound = false;
        e.for_each_var(&mut |v| unbound |= self.value(v).is_none() && Buffer::index_of(v).is_none());
        if unbound {
            return Err(self.expression(Inexact::Unbound));
        }
        let resolved = if e.is_invariant() { e.clone() } else { e.substitute(&|v| self.value(v).cloned()) };
        if resolved.is_exact() { Ok(resolved) } else { Err(self.expression(Inexact::Overflow)) }
    }

    fn loops(&self) -> impl Iterator<Item = &Arc<PlacedLoop>> {
        self.around.iter().filter_map(|a| match &a.what {
            What::Loop(l) => Some(l),
            _ => None,
        })
    }

    /// A node with children.
    fn node(&self, node: &Green) -> Result<Around, Unsupported> {
        let path = || self.walk.path();
        let mut binds = None;
        let what = match node.node() {
            Node::Seq(_) | Node::Stmt(..) => What::Nothing,
            Node::Loop(header, _) => {
                let Bounds::Affine { lower, upper } = &header.bounds else {
                    return Err(Unsupported::UnboundedLoop { path: path() });
                };
                if header.step < 1
                    || (header.step > 1 && lower.len() != 1)
                    || lower.is_empty()
                    || upper.is_empty()
                {
                    return Err(Unsupported::Step { path: path() });
                }
                let resolve = |list: &[Affine]| list.iter().map(|e| self.resolve(e)).collect();
                let (lower, upper): (Result<_, _>, Result<_, _>) = (resolve(lower), resolve(upper));
                binds = Some((header.var, Affine::var(VarId::new(self.loops().count()))));
                What::Loop(Arc::new(PlacedLoop {
                    lower: lower?,
                    upper: upper?,
                    step: header.step,
                    kind: header.kind,
                    depth: self.around.len(),
                }))
            }
            Node::Let(var, value, _) => {
                binds = Some((*var, self.resolve(value)?));
                What::Nothing
            }
            Node::Guard(condition, _) => match &**condition {
                GuardCondition::Affine(condition) => {
                    let mut resolved = Condition::never();
                    for conjunction in &condition.disjuncts {
                        let list = conjunction.iter().map(|c| {
                            Ok(Constraint { expression: self.resolve(&c.expression)?, relation: c.relation })
                        });
                        resolved.disjuncts.push(list.collect::<Result<_, Unsupported>>()?);
                    }
                    What::Condition(resolved)
                }
                GuardCondition::Predicate { array, value } => {
                    if !self.kernel.arrays.get(array.index()).is_some_and(|a| a.is_scalar()) {
                        return Err(Unsupported::Predicate { path: path() });
                    }
                    What::Predicate(*array, *value)
                }
            },
            Node::Alloc(buffer, _) => {
                let why = std::cell::Cell::new(None);
                let buffer = buffer.map(&|e| {
                    self.resolve(e).unwrap_or_else(|found| {
                        why.set(Some(found));
                        e.clone()
                    })
                });
                if let Some(why) = why.take() {
                    return Err(why);
                }
                let (loops, conditions) = (self.loops().count(), self.condition()?.disjuncts);
                What::Buffer(Arc::new(PlacedBuffer { buffer, path: path(), loops, conditions }))
            }
            Node::Version(_) => return Err(Unsupported::Version { path: path() }),
        };
        Ok(Around { binds, what })
    }

    fn leaf(&self, id: StmtId, names: &[VarId]) -> Result<Place, Unsupported> {
        let path = || self.walk.path();
        let statement = match self.kernel.statements.get(id.index()) {
            Some(s) if *s.dims == *names => s,
            _ => return Err(Unsupported::Statement { path: path() }),
        };
        let dims: Option<Vec<Affine>> = names.iter().map(|v| self.value(*v).cloned()).collect();
        let dims = dims.ok_or_else(|| self.expression(Inexact::Unbound))?;
        let conditions = self.condition()?.disjuncts;
        let (mut predicates, mut tests, mut buffers) = (BTreeSet::new(), Vec::new(), Vec::new());
        for (depth, around) in self.around.iter().enumerate() {
            match &around.what {
                What::Buffer(b) => buffers.push(b.clone()),
                What::Predicate(array, value) => {
                    predicates.insert((*array, *value));
                    tests.push(Test { array: *array, depth });
                }
                What::Loop(_) | What::Condition(_) | What::Nothing => {}
            }
        }
        let writes = |a: ArrayId| {
            statement
                .accesses
                .iter()
                .any(|x| x.kind != AccessKind::Read && self.kernel.may_overlap(x.array, a))
        };
        if predicates.iter().any(|(a, _)| writes(*a)) {
            return Err(Unsupported::PredicateChanged { path: path() });
        }
        let occurrence = Occurrence::new(id, self.walk.here());
        let loops = self.loops().cloned().collect();
        let bounds = OnceLock::new();
        let (shape, domain) = (0, 0);
        let place =
            Place { occurrence, loops, conditions, predicates, tests, dims, buffers, shape, domain, bounds };
        Ok(place.hashed())
    }

    /// All affine conditions around.
    fn condition(&self) -> Result<Condition, Unsupported> {
        let mut condition = Condition::always();
        for around in self.around {
            if let What::Condition(c) = &around.what {
                condition = condition.and(c);
                if condition.disjuncts.len() > MAX_CONJUNCTIONS {
                    return Err(Unsupported::Conditions { path: self.walk.path() });
                }
            }
        }
        Ok(condition)
    }

    fn expression(&self, why: Inexact) -> Unsupported {
        Unsupported::Expression { path: self.walk.path(), why }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loop_tree::Red;

    #[test]
    fn pieces_are_the_alternatives_one_by_one() {
        let (i, j) = (Affine::var(VarId(0)), Affine::var(VarId(1)));
        let ge = |e: &Affine, k: i64| Constraint::ge(e.clone(), Affine::constant(k));
        let leaf = Green::stmt(StmtId(0), [].into());
        let place = Place {
            occurrence: Occurrence::new(StmtId(0), &Red::root(&leaf)),
            loops: Vec::new(),
            conditions: vec![
                vec![ge(&i, 2), ge(&j, 1)],
                vec![Constraint::eq(i.clone(), j.clone())],
                vec![ge(&(&j - &i), 0), ge(&i, -1)],
            ],
            predicates: BTreeSet::new(),
            tests: Vec::new(),
            dims: Vec::new(),
            buffers: Vec::new(),
            shape: 0,
            domain: 0,
            bounds: OnceLock::new(),
        };
        let pieces = place.pieces(32).expect("few");
        let hold = |conjunction: &[Constraint], x: i64, y: i64| {
            conjunction.iter().all(|c| {
                let value = c.expression.eval(&|v| Some(if v.0 == 0 { x } else { y }), &|_| None);
                value.is_some_and(|v| c.accepts(v))
            })
        };
        for (x, y) in (-4..5).flat_map(|x| (-4..5).map(move |y| (x, y))) {
            let any = place.conditions.iter().any(|c| hold(c, x, y));
            let number = pieces.iter().filter(|p| hold(&p.conditions[0], x, y)).count();
            assert_eq!(number, usize::from(any), "at {x}, {y}");
        }
        assert!(pieces.iter().any(|p| p.shape != pieces[0].shape));
        assert!(place.pieces(2).is_none());
    }
}
