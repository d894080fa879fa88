//! What a part of a tree touches: boxes over the variables in scope around it.

use crate::{Context, Refusal};
use loop_tree::{
    AccessKind, Affine, ArrayId, Buffer, BufferDim, Occurrence, Path, Red, VarId, Window, WindowRange,
    occurrences,
};

/// The elements of an array, or what tells instances apart, that a part of a tree touches.
pub(crate) struct Footprint {
    /// By what reads; `None`: nothing does.
    pub read: Option<Window>,
    /// By what writes, perhaps or surely.
    pub written: Option<Window>,
    /// By either.
    pub all: Window,
}

/// Bounds kept of one expression.
const MOST_BOUNDS: usize = 8;

impl Footprint {
    /// Of an array below a node: its subscripts, then the first `instance_dims` dims of the instances that touch it.
    pub fn of(
        cx: &Context<'_>,
        at: &Path,
        array: ArrayId,
        instance_dims: usize,
    ) -> Result<Footprint, Refusal> {
        let node = cx.node(at)?;
        let scope: Vec<VarId> = Red::at(cx.root, at).map(|n| n.scope().collect()).unwrap_or_default();
        let rank = cx.kernel.array(array).rank();
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for occurrence in occurrences(node) {
            let statement = cx.kernel.statement(occurrence.statement);
            for access in statement.accesses.iter().filter(|a| a.array == array) {
                let subscripts = access.subscripts.as_ref().filter(|s| s.len() == rank);
                let (Some(subscripts), Some(dims)) = (subscripts, statement.dims.get(..instance_dims)) else {
                    let message = format!(
                        "{} does not say which element of {} it touches",
                        statement.name,
                        cx.kernel.array(array).name
                    );
                    return Err(Refusal::new("any-element", at, message));
                };
                let dims = dims.iter().map(|v| Affine::var(*v));
                let ranges: Option<Vec<WindowRange>> =
                    subscripts.iter().cloned().chain(dims).map(|e| range(&occurrence, &scope, &e)).collect();
                let ranges = ranges.ok_or_else(|| {
                    let message = format!("what {} touches is no box", statement.name);
                    Refusal::new("no-box", at, message)
                })?;
                match access.kind {
                    AccessKind::Read => reads.push(ranges),
                    _ => writes.push(ranges),
                }
            }
        }
        let hull = |list: &[Vec<WindowRange>]| match hull(list) {
            Some(window) => Ok(window),
            None => Err(Refusal::new("no-box", at, "the accesses have no common box")),
        };
        let both = [&reads[..], &writes[..]].concat();
        if both.is_empty() {
            let message = format!("{} is not touched below this node", cx.kernel.array(array).name);
            return Err(Refusal::new("not-touched", at, message));
        }
        let some = |list: &[Vec<WindowRange>]| (!list.is_empty()).then(|| hull(list)).transpose();
        Ok(Footprint { read: some(&reads)?, written: some(&writes)?, all: hull(&both)? })
    }

    /// Dimensions of a buffer in which everything has a place, relative to the footprint where its size is known: one for each
    /// subscript and dim, in that order. `extents` are what is left of an array whose part has no size of its own.
    pub fn dims(&self, at: &Path, extents: &[Option<Affine>]) -> Result<Vec<BufferDim>, Refusal> {
        let dim = |(k, range): (usize, &WindowRange)| {
            let index = Affine::var(Buffer::index(k));
            let known = range
                .constant_len()
                .map(|(l, extent)| (l.clone(), Affine::constant(extent.max(1))))
                .or_else(|| range.lengths().find(|(_, e)| e.is_invariant()).map(|(l, e)| (l.clone(), e)))
                .or_else(|| Some((Affine::constant(0), extents.get(k)?.clone()?)));
            let Some((lower, extent)) = known else {
                return Err(Refusal::new(
                    "size",
                    at,
                    "the size of what is touched changes and has no known limit",
                )
                .help("put the buffer around an outer loop"));
            };
            Ok(BufferDim { subscript: index - lower, extent })
        };
        self.all.0.iter().enumerate().map(dim).collect()
    }
}

/// The least and greatest value of an expression at an occurrence below a node with this scope.
fn range(occurrence: &Occurrence, scope: &[VarId], e: &Affine) -> Option<WindowRange> {
    let e = occurrence.resolve(e);
    let (mut lower, mut upper) = (vec![e.clone()], vec![e]);
    for at in (0..occurrence.around.len()).rev() {
        let Some((var, [first, last])) = occurrence.ends(at) else { continue };
        // An outer variable of that name may be meant.
        if scope.contains(&var) || first.is_empty() || last.is_empty() {
            return None;
        }
        lower = eliminated(&lower, false, var, &first, &last)?;
        upper = eliminated(&upper, true, var, &first, &last)?;
    }
    let upper = upper.into_iter().map(|u| u.offset(1)).collect();
    Some(WindowRange { lower, upper })
}

/// Bounds of expressions where a variable lies between bounds of its own.
fn eliminated(
    list: &[Affine],
    greatest: bool,
    var: VarId,
    first: &[Affine],
    last: &[Affine],
) -> Option<Vec<Affine>> {
    let mut result = Vec::new();
    for e in list {
        for (f, l) in first.iter().flat_map(|f| last.iter().map(move |l| (f, l))) {
            result.push(e.extreme(greatest, &|v| (v == var).then(|| [f.clone(), l.clone()])));
        }
    }
    result.sort();
    result.dedup();
    (result.len() <= MOST_BOUNDS && result.iter().all(Affine::is_exact)).then_some(result)
}

/// The smallest box known to hold all.
fn hull(list: &[Vec<WindowRange>]) -> Option<Window> {
    let (first, rest) = list.split_first()?;
    let range = |k: usize| {
        let others = |bounds: fn(&WindowRange) -> &Vec<Affine>, sign: i64| -> Option<Vec<Affine>> {
            // A bound of one that bounds each of the others.
            let holds = |b: &Affine, of: &WindowRange| {
                bounds(of).iter().any(|o| (o - b).scale(sign).as_constant().is_some_and(|d| d >= 0))
            };
            let all = || std::iter::once(first).chain(rest).map(|ranges| &ranges[k]);
            let mut kept: Vec<Affine> =
                all().flat_map(bounds).filter(|b| all().all(|of| holds(b, of))).cloned().collect();
            kept.sort();
            kept.dedup();
            (!kept.is_empty()).then_some(kept)
        };
        Some(WindowRange { lower: others(|r| &r.lower, 1)?, upper: others(|r| &r.upper, -1)? })
    };
    (0..first.len()).map(range).collect::<Option<Vec<_>>>().map(Window)
}
