//! Ranges of affine expressions: what is exact in 64 bits, and which instructions do not wrap.
//!
//! The run-time check lets the new code run only for parameters of limited magnitude. [`Limits::of`] picks the widest limit
//! under which every bound, condition and binding of the tree is exact in 64 bits and every address range in 128.

use crate::Inexact;
use crate::extent::footprints;
use loop_tree::{
    Affine, ArrayId, Atom, Bounds, Buffer, Constraint, Green, GuardCondition, Kernel, Node, OpKind, ParamId,
    Relation, RuntimeCondition, VarId, Window,
};

pub use loop_tree::Interval as Range;

type Scope = crate::scope::Scope<Range, ()>;

/// The values of an expression; see [`Affine::interval`].
pub fn range(e: &Affine, params: &[Range], scope: &dyn Fn(VarId) -> Option<Range>) -> Option<Range> {
    e.interval(scope, &|p| params.get(p.index()).copied())
}

/// What the run-time check establishes about parameters.
pub struct Limits {
    /// Parameters are at least `-2^bits` and below `2^bits`.
    pub bits: u32,
    /// Ranges from that and from their types: what the check itself computes with.
    pub checked: Vec<Range>,
    /// Ranges from the constraints in context and check too: what holds in the new code.
    pub inside: Vec<Range>,
}

/// Whether a condition holds for parameters of any magnitude that the check lets pass, and is not exact in 64 bits: that
/// `n + 1` does not wrap, for one. It needs no test.
pub fn is_implied(kernel: &Kernel, condition: &RuntimeCondition) -> bool {
    let RuntimeCondition::Parameter(Constraint { expression, relation: Relation::NonNegative }) = condition
    else {
        return false;
    };
    let widest = Limits::with_bits(kernel, &[], BITS[0]).checked;
    range(expression, &widest, &|_| None).is_some_and(|r| r.low >= 0 && !r.fits())
}

/// Elements of a window that are named one by one, at most.
pub const MOST_UNROLLED: i64 = 256;

/// Tried in this order; the first is beyond every array of a real machine, the last still has room for products of five.
const BITS: [u32; 5] = [40, 31, 24, 20, 16];

impl Limits {
    /// The widest limits that suffice.
    ///
    /// # Errors
    /// Where even small parameters could make an expression overflow.
    pub fn of(kernel: &Kernel, root: &Green, conditions: &[RuntimeCondition]) -> Result<Limits, Inexact> {
        BITS.into_iter()
            .map(|bits| Limits::with_bits(kernel, conditions, bits))
            .find(|limits| limits.suffice(kernel, root, conditions).is_some())
            .ok_or(Inexact)
    }

    fn with_bits(kernel: &Kernel, conditions: &[RuntimeCondition], bits: u32) -> Limits {
        let limit = |width: u32| Range { low: -(1 << width), high: (1 << width) - 1 };
        let of_type = |p: &loop_tree::Param| limit(bits.min(p.ty.bits().saturating_sub(1)));
        let checked: Vec<Range> = kernel.params.iter().map(of_type).collect();
        let mut inside = checked.clone();
        let tested = conditions.iter().filter_map(RuntimeCondition::parameter);
        for constraint in kernel.context.iter().chain(tested) {
            tighten(&mut inside, constraint);
        }
        Limits { bits, checked, inside }
    }

    fn suffice(&self, kernel: &Kernel, root: &Green, conditions: &[RuntimeCondition]) -> Option<()> {
        self.conditions(kernel, conditions)?;
        self.tree(kernel, root, &mut Scope::default())
    }

    fn conditions(&self, kernel: &Kernel, conditions: &[RuntimeCondition]) -> Option<()> {
        for condition in conditions.iter().filter(|c| !is_implied(kernel, c)) {
            match condition {
                RuntimeCondition::Parameter(c) => {
                    range(&c.expression, &self.checked, &|_| None).filter(|r| r.fits())?;
                }
                RuntimeCondition::NoOverlap(a, b) => {
                    self.address_range(kernel, *a)?;
                    self.address_range(kernel, *b)?;
                }
            }
        }
        Some(())
    }

    /// Whether the bounds of the array's footprint, in bytes and relative to any address, are exact in 128 bits.
    fn address_range(&self, kernel: &Kernel, array: ArrayId) -> Option<()> {
        let description = kernel.array(array);
        // Unknown footprints are an error of their own.
        for footprint in footprints(kernel, array).unwrap_or_default() {
            for subscripts in [&footprint.least, &footprint.greatest] {
                let mut index = Range::point(0);
                for (dimension, subscript) in subscripts.iter().enumerate() {
                    if let Some(extent) = description.extents[dimension].as_ref().filter(|_| dimension > 0) {
                        index = index.times(range(extent, &self.checked, &|_| None)?)?;
                    }
                    index = index.plus(range(subscript, &self.checked, &|_| None)?)?;
                }
                let end =
                    index.plus(Range::point(1))?.times(Range::point(description.element.size().into()))?;
                (end.low.unsigned_abs().max(end.high.unsigned_abs()) < 1 << 125).then_some(())?;
            }
        }
        Some(())
    }

    fn exact(&self, e: &Affine, scope: &Scope) -> Option<Range> {
        range(e, &self.inside, &|v| scope.value(v)).filter(|r| r.fits())
    }

    /// The range of a counter between these bounds.
    fn counter(&self, lower: &[Affine], upper: &[Affine], step: i64, scope: &Scope) -> Option<Range> {
        let all = |list: &[Affine]| list.iter().map(|e| self.exact(e, scope)).collect::<Option<Vec<_>>>();
        let counter = Range::counter(&all(lower)?, &all(upper)?)?;
        counter.plus(Range::point(step)).filter(|r| r.fits())?;
        Some(counter)
    }

    /// Whether the bytes of a buffer, and the places of its windows, are exact.
    fn buffer(&self, kernel: &Kernel, buffer: &Buffer, scope: &mut Scope) -> Option<()> {
        let mut bytes = Range::point(kernel.array(buffer.array).element.size().into());
        for dim in &buffer.dims {
            let extent = range(&dim.extent, &self.checked, &|_| None).filter(|r| r.fits())?;
            bytes = bytes.times(Range { low: extent.low.max(0), high: extent.high.max(0) })?;
        }
        (bytes.high < 1 << 125).then_some(())?;
        for Window(ranges) in buffer.windows() {
            let mut entered = 0;
            let exact = ranges.iter().enumerate().try_for_each(|(k, r)| {
                let counter = self.counter(&r.lower, &r.upper, 1, scope)?;
                // Unrolled, all elements of the widest range are named.
                let most = Range { low: 0, high: MOST_UNROLLED.into() };
                let named = r.lower.iter().map(|e| self.exact(e, scope)?.plus(most).filter(|r| r.fits()));
                named.collect::<Option<Vec<_>>>()?;
                scope.enter_loop(Buffer::index(k), counter);
                entered += 1;
                Some(())
            });
            let index: Vec<Affine> = (0..ranges.len()).map(|k| Affine::var(Buffer::index(k))).collect();
            let places = exact.and_then(|()| {
                scope
                    .buffer_of(buffer.array, scope.frames().len() - 1)
                    .map_or(Some(()), |outer| self.element(outer, &index, &[], scope))?;
                self.element(scope.frames().len() - 1, &index, &[], scope)
            });
            (0..entered).for_each(|_| scope.leave());
            places?;
        }
        Some(())
    }

    /// Whether the place in a buffer is exact. It may wrap as addresses do; only divisions have to be exact.
    fn element(&self, frame: usize, subscripts: &[Affine], dims: &[VarId], scope: &Scope) -> Option<()> {
        let place = scope.element(frame, subscripts, dims)?;
        place.iter().try_for_each(|e| range(e, &self.inside, &|v| scope.value(v)).map(|_| ()))
    }

    fn tree(&self, kernel: &Kernel, node: &Green, scope: &mut Scope) -> Option<()> {
        match node.node() {
            Node::Seq(children) => children.iter().try_for_each(|c| self.tree(kernel, c, scope)),
            Node::Loop(header, body) => {
                let Bounds::Affine { lower, upper } = &header.bounds else { return Some(()) };
                let counter = self.counter(lower, upper, header.step, scope)?;
                scope.enter_loop(header.var, counter);
                let result = self.tree(kernel, body, scope);
                scope.leave();
                result
            }
            Node::Let(var, value, body) => {
                let known = self.exact(value, scope)?;
                scope.enter_let(*var, value, known);
                let result = self.tree(kernel, body, scope);
                scope.leave();
                result
            }
            Node::Guard(condition, body) => {
                if let GuardCondition::Affine(c) = &**condition {
                    c.constraints().try_for_each(|c| self.exact(&c.expression, scope).map(|_| ()))?;
                }
                self.tree(kernel, body, scope)
            }
            Node::Stmt(id, _) => {
                let statement = kernel.statement(*id);
                // These wrap as addresses and integers of their type do; only divisions have to be exact.
                let known = |e: &Affine| range(e, &self.inside, &|v| scope.value(v)).map(|_| ());
                for access in &statement.accesses {
                    access.subscripts.iter().flatten().try_for_each(known)?;
                    let frame = scope.innermost(access.array);
                    if let (Some(frame), Some(subscripts)) = (frame, &access.subscripts) {
                        self.element(frame, subscripts, &statement.dims, scope)?;
                    }
                }
                for op in &statement.ops {
                    match &op.kind {
                        OpKind::Affine(e) => known(e)?,
                        OpKind::Test(c) => self.exact(&c.expression, scope).map(|_| ())?,
                        _ => {}
                    }
                }
                Some(())
            }
            Node::Alloc(buffer, body) => {
                scope.enter_buffer(buffer, ());
                let result = self.buffer(kernel, buffer, scope).and_then(|()| self.tree(kernel, body, scope));
                scope.leave_buffer();
                result
            }
            Node::Version(alternatives) => {
                let one = |a: &loop_tree::Alternative| {
                    self.conditions(kernel, &a.conditions)?;
                    self.tree(kernel, &a.body, scope)
                };
                alternatives.iter().try_for_each(one)
            }
        }
    }
}

/// Intersects with what a constraint on a single parameter says.
fn tighten(ranges: &mut [Range], constraint: &Constraint) {
    let [(Atom::Param(param), coefficient)] = constraint.expression.terms() else { return };
    let (coefficient, constant) =
        (i128::from(*coefficient), i128::from(constraint.expression.constant_term()));
    let (param, equal): (ParamId, bool) = (*param, constraint.relation == Relation::Zero);
    let Some(range) = ranges.get_mut(param.index()) else { return };
    // coefficient * p + constant >= 0
    let mut at_least = |coefficient: i128, constant: i128| {
        if coefficient > 0 {
            range.low = range.low.max(-constant.div_euclid(coefficient));
        } else {
            range.high = range.high.min(constant.div_euclid(-coefficient));
        }
    };
    at_least(coefficient, constant);
    if equal {
        at_least(-coefficient, -constant);
    }
    // Contradictory constraints: the code never runs.
    range.high = range.high.max(range.low);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constraint(coefficient: i64, constant: i64, relation: Relation) -> Constraint {
        let expression = Affine::param(ParamId(0)).scale(coefficient).offset(constant);
        Constraint { expression, relation }
    }

    #[test]
    fn constraints_round_inwards() {
        let wide = Range { low: -100, high: 100 };
        let tightened = |c, k, relation| {
            let mut ranges = [wide];
            tighten(&mut ranges, &constraint(c, k, relation));
            (ranges[0].low, ranges[0].high)
        };
        assert_eq!(tightened(1, -3, Relation::NonNegative), (3, 100)); // p >= 3
        assert_eq!(tightened(2, -3, Relation::NonNegative), (2, 100)); // 2p >= 3
        assert_eq!(tightened(-2, 7, Relation::NonNegative), (-100, 3)); // 2p <= 7
        assert_eq!(tightened(2, 7, Relation::NonNegative), (-3, 100)); // 2p >= -7
        assert_eq!(tightened(1, -5, Relation::Zero), (5, 5));
    }

    #[test]
    fn what_the_limits_imply_needs_no_test() {
        let kernel = loop_tree::text::parse("nest @f[n] { array A: f64[n] for i in 0..n { S: A[i] = 1.0 } }");
        let kernel = kernel.expect("a kernel").kernel;
        let implied = |coefficient, constant, relation| {
            is_implied(&kernel, &RuntimeCondition::Parameter(constraint(coefficient, constant, relation)))
        };
        // n <= 2^63 - 2, and n >= -(2^63 - 2): beyond any limit, and not exact for a negative n, or a positive one.
        assert!(implied(-1, i64::MAX - 1, Relation::NonNegative));
        assert!(implied(1, i64::MAX - 1, Relation::NonNegative));
        assert!(!implied(-1, i64::MAX - 1, Relation::Zero));
        // What is exact is tested, as it may be what bounds a parameter; what does not hold of all is, too.
        assert!(!implied(-1, (1 << 40) - 1, Relation::NonNegative));
        assert!(!implied(-1, 1000, Relation::NonNegative));
        assert!(!implied(i64::MAX, i64::MAX, Relation::NonNegative));
    }
}
