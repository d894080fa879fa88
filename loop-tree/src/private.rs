//! Scalars of which each iteration of the outer loops has its own.
//!
//! A local scalar is *private* where all that touches it stands in one sequence, of which the first such child is a statement
//! that sets it, without condition, and does not read it:
//!
//! ```text
//! for i { for j { s = 0; for k { s = s + A[i, k] * B[k, j] }; C[i, j] = s } }
//! ```
//!
//! Then no value passes from one execution of that sequence to another, and there are as many scalars as executions: `s` is
//! an array over `i` and `j`, its *elements*, of which the storage is only thought. What a tree needs of it is one slot for
//! each [`PrivateElement`], provided that all that touches an element happens in one execution of the element's home;
//! `analyses` proves that.

use crate::{
    AccessKind, Affine, ArrayId, Bounds, Green, GuardCondition, Kernel, LoopHeader, LoopKind, Node,
    Occurrence, Path, VarId, occurrences,
};
use std::sync::Arc;

/// For each array of a kernel: the variables that number the elements, outermost first, if it is a private scalar.
///
/// ```
/// let program = loop_tree::text::parse(
///     "nest @rows[N] {
///        array A: f64[N, N]
///        array B: f64[N]
///        scalar s: f64 local
///        for i in 0..N { Z: s = 0.0 for k in 0..N { S: s = s + A[i, k] } E: B[i] = s }
///      }",
/// )?;
/// let privates = loop_tree::Privates::of(&program.kernel);
/// let variables: Vec<_> = privates.iter().map(|p| p.map(<[_]>::len)).collect();
/// assert_eq!(variables, [None, None, Some(1)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Privates(Vec<Option<Arc<[VarId]>>>);

/// An element of a private scalar as one place in a tree touches it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PrivateElement {
    /// The scalar.
    pub array: ArrayId,
    /// The innermost loop body, or the root, in an execution of which the element stays the same.
    pub home: Path,
    /// Which element, over the loops around, numbered from the outermost.
    pub element: Vec<Affine>,
}

impl Privates {
    /// What the original order of a kernel shows. Cost: a few walks of its tree, where it has local scalars at all.
    pub fn of(kernel: &Kernel) -> Privates {
        let local = |id: usize| kernel.arrays[id].is_local_scalar();
        if !(0..kernel.arrays.len()).any(local) {
            return Privates(vec![None; kernel.arrays.len()]);
        }
        let all = occurrences(&kernel.original);
        // The scalars that end loops: they are read where no statement stands.
        let exit = |node: &Green| match node.as_loop()?.0.bounds {
            Bounds::Unbounded { exit } => exit,
            Bounds::Affine { .. } => None,
        };
        let exits: Vec<ArrayId> = kernel.original.walk().filter_map(exit).collect();
        let variables = |id: usize| {
            let array = ArrayId::new(id);
            let touching: Vec<&Occurrence> = all.iter().filter(|o| touches(kernel, o, array)).collect();
            (local(id) && !exits.contains(&array)).then(|| variables(kernel, &touching, array)).flatten()
        };
        Privates((0..kernel.arrays.len()).map(variables).collect())
    }

    /// The variables that number a scalar's elements; `None` if it is not private.
    pub fn variables(&self, array: ArrayId) -> Option<&[VarId]> {
        self.0.get(array.index())?.as_deref()
    }

    /// The same of all arrays.
    pub fn iter(&self) -> impl Iterator<Item = Option<&[VarId]>> {
        self.0.iter().map(Option::as_deref)
    }

    /// The elements that an occurrence touches where they are in no buffer, each with the position, in what is around it, of the
    /// guard that reads it; with the number of positions where the statement itself does. `None` where a predicate is read at
    /// a place that does not say whose it is.
    pub fn touched(&self, kernel: &Kernel, occurrence: &Occurrence) -> Option<Vec<(usize, PrivateElement)>> {
        let leaf = occurrence.around.len();
        let accesses = kernel.statement(occurrence.statement).accesses.iter().map(|a| (leaf, a.array));
        let guards = occurrence.around.iter().enumerate().filter_map(|(at, a)| Some((at, predicate(a)?)));
        let mut result = Vec::new();
        for (at, array) in accesses.chain(guards) {
            let Some(variables) = self.variables(array) else { continue };
            let element = PrivateElement::at(occurrence, leaf, array, variables)?;
            if at < leaf && PrivateElement::at(occurrence, at, array, variables)? != element {
                return None;
            }
            if !occurrence.is_buffered(array, at) {
                result.push((at, element));
            }
        }
        Some(result)
    }

    /// Whether a buffer around an occurrence is copied from or to a private scalar. Which iteration's that would be, nothing says.
    pub fn are_copied(&self, occurrence: &Occurrence) -> bool {
        occurrence.around.iter().any(|node| match node.node() {
            Node::Alloc(b, _) => b.windows().next().is_some() && self.variables(b.array).is_some(),
            _ => false,
        })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

impl PrivateElement {
    /// The element that an occurrence touches, or that is read at an outer position `at` of what is around it; `None` if
    /// a variable is not bound there.
    pub fn at(
        occurrence: &Occurrence,
        at: usize,
        array: ArrayId,
        variables: &[VarId],
    ) -> Option<PrivateElement> {
        let element: Option<Vec<Affine>> = variables.iter().map(|v| occurrence.numbered(*v, at)).collect();
        let mut element = PrivateElement { array, home: Path::root(), element: element? };
        if let Some(last) = element.loops().checked_sub(1) {
            let position = occurrence.around.iter().enumerate().filter(|(_, node)| node.as_loop().is_some());
            element.home = Path(occurrence.path.0[..=position.map(|(at, _)| at).nth(last)?].into());
        }
        Some(element)
    }

    /// How many loops are around its home.
    pub fn loops(&self) -> usize {
        let mut loops = 0;
        self.element.iter().for_each(|e| e.for_each_var(&mut |v| loops = loops.max(v.index() + 1)));
        loops
    }

    /// The vector loop around an occurrence by whose lanes elements differ.
    pub fn vector_loop<'o>(&self, occurrence: &'o Occurrence) -> Option<&'o LoopHeader> {
        let differ = |number| self.element.iter().any(|e| e.uses(VarId::new(number)));
        let mut loops = occurrence.loops().enumerate();
        loops.find(|(number, h)| h.kind == LoopKind::Vector && differ(*number)).map(|(_, h)| &**h)
    }
}

/// Whether a statement touches the scalar, or stands under a predicate that it is.
fn touches(kernel: &Kernel, occurrence: &Occurrence, array: ArrayId) -> bool {
    let statement = kernel.statement(occurrence.statement);
    statement.accesses.iter().any(|a| a.array == array)
        || occurrence.around.iter().any(|a| predicate(a) == Some(array))
}

/// The predicate that is read there.
fn predicate(around: &Green) -> Option<ArrayId> {
    match around.node() {
        Node::Guard(c, _) => match &**c {
            GuardCondition::Predicate { array, .. } => Some(*array),
            GuardCondition::Affine(_) => None,
        },
        _ => None,
    }
}

/// The variables of the loops around the sequence that all of them stand in, if it begins with setting the scalar.
fn variables(kernel: &Kernel, touching: &[&Occurrence], array: ArrayId) -> Option<Arc<[VarId]>> {
    let first = touching.first()?;
    let common = touching.iter().map(|other| first.path.shared_len(&other.path)).min()?;
    // Where one statement is all, it may stand anywhere; else nothing but bindings stands between it and the sequence.
    let conditional = first.around[common.min(first.around.len())..]
        .iter()
        .any(|a| matches!(a.node(), Node::Loop(..) | Node::Guard(..) | Node::Version(_)));
    let accesses = || kernel.statement(first.statement).accesses.iter().filter(|a| a.array == array);
    let sets =
        accesses().any(|a| a.kind == AccessKind::Write) && accesses().all(|a| a.kind != AccessKind::Read);
    let read_before = first.around.iter().any(|a| predicate(a) == Some(array));
    if conditional || !sets || read_before {
        return None;
    }
    let around = &first.around[..common];
    let variables: Vec<VarId> = around.iter().filter_map(|a| Some(a.as_loop()?.0.var)).collect();
    // Each statement is numbered by these loops, first of all.
    let numbered = |o: &&Occurrence| {
        let dims = &kernel.statement(o.statement).dims;
        dims.starts_with(&variables)
            && variables
                .iter()
                .enumerate()
                .all(|(k, v)| o.numbered(*v, o.around.len()) == Some(Affine::var(VarId::new(k))))
    };
    touching.iter().all(numbered).then(|| variables.into())
}
