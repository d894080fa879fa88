//! Legality by enumeration, for given values of the parameters and given places of the arrays. No sets, no isl, nothing
//! shared with the oracle but the description of the kernel.
//!
//! [`enumerate`] lists what a tree does in order: statement instances, with the places in buffers that they touch, and the
//! copies of buffers that are filled and written back. [`violation`] says whether another tree does the same: without
//! buffers whether it keeps the order of the instances that touch the same byte (what is under a predicate is taken to
//! run), with buffers whether each read gets the value of the same producer.

mod order;
mod values;
mod walk;

pub use order::{carried, condition_holds, order_violation};
pub use values::{reads_unset, value_violation};
pub use walk::{Copy, Execution, Instance, Route, Step, Test, enumerate};

use loop_tree::{ArrayId, Kernel, Path, StmtId};
use std::hash::{Hash, Hasher};

/// Instances and copied elements listed, at most.
pub const MAX_INSTANCES: usize = 20_000;

/// What cannot be enumerated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Beyond {
    /// Too many instances.
    #[error("more than {MAX_INSTANCES} instances")]
    TooMany,
    /// An expression has no value.
    #[error("an expression has no value")]
    NoValue,
    /// A loop without bounds, an access without subscripts, or a version.
    #[error("something is unbounded")]
    Unbounded,
    /// A subscript is outside of its array's extent.
    #[error("a subscript is outside of the array")]
    Outside,
}

/// Where arrays lie: the address of the element with all subscripts zero. Scalars are apart from all memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Addresses(pub Vec<i64>);

/// Bytes that lie between arrays of different [`Addresses::apart`].
const DISTANCE: i64 = 1 << 32;

impl Addresses {
    /// All arrays apart.
    pub fn apart(kernel: &Kernel) -> Addresses {
        Addresses((0..kernel.arrays.len() as i64).map(|a| a * DISTANCE).collect())
    }

    /// Array `moved` at `delta` bytes from array `fixed`; only where they may overlap.
    pub fn overlapping(kernel: &Kernel, fixed: ArrayId, moved: ArrayId, delta: i64) -> Option<Addresses> {
        let memory = |a| !kernel.array(a).is_scalar();
        if fixed == moved || !kernel.may_overlap(fixed, moved) || !memory(fixed) || !memory(moved) {
            return None;
        }
        let mut places = Self::apart(kernel);
        places.0[moved.index()] = places.0[fixed.index()] + delta;
        Some(places)
    }
}

/// Address of a value of a private scalar: one for each iteration of the loops that it belongs to.
fn private_address(array: ArrayId, element: &[i64]) -> i64 {
    let mut hasher = std::hash::DefaultHasher::new();
    (array, element).hash(&mut hasher);
    (1 << 61) | (hasher.finish() >> 4) as i64
}

/// First byte and length of an element.
fn element_bytes(
    kernel: &Kernel,
    array: ArrayId,
    subscripts: &[i64],
    params: &[i64],
    places: &Addresses,
) -> Result<(i64, i64), Beyond> {
    let declared = kernel.array(array);
    let param = |p: loop_tree::ParamId| params.get(p.index()).copied();
    let mut linear = 0i64;
    for (dim, value) in subscripts.iter().enumerate() {
        if dim > 0 {
            let extent = declared.extents[dim].as_ref().ok_or(Beyond::Unbounded)?;
            let extent = extent.eval(&|_| None, &param).ok_or(Beyond::NoValue)?;
            if !(0..extent).contains(value) {
                return Err(Beyond::Outside);
            }
            linear = linear.checked_mul(extent).ok_or(Beyond::NoValue)?;
        }
        linear = linear.checked_add(*value).ok_or(Beyond::NoValue)?;
    }
    let size = i64::from(declared.element.size());
    Ok((places.0[array.index()] + linear * size, size))
}

/// First byte and length of what an access touches in memory.
fn access_bytes(
    kernel: &Kernel,
    instance: &Instance,
    access: &loop_tree::Access,
    params: &[i64],
    places: &Addresses,
) -> Result<(i64, i64), Beyond> {
    let statement = kernel.statement(instance.statement);
    let var = |v| statement.dims.iter().position(|d| *d == v).map(|at| instance.dims[at]);
    let param = |p: loop_tree::ParamId| params.get(p.index()).copied();
    let subscripts = access.subscripts.as_ref().ok_or(Beyond::Unbounded)?;
    let values: Option<Vec<i64>> = subscripts.iter().map(|s| s.eval(&var, &param)).collect();
    element_bytes(kernel, access.array, &values.ok_or(Beyond::NoValue)?, params, places)
}

/// What a variant does wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Violation {
    /// An instance runs more or less often.
    Coverage {
        /// Which.
        statement: StmtId,
        /// Values of its dims.
        dims: Vec<i64>,
    },
    /// The second ran after the first and no longer does.
    Order {
        /// First in the original.
        first: (StmtId, Vec<i64>),
        /// Second in the original.
        second: (StmtId, Vec<i64>),
    },
    /// A private scalar's slot is used for another iteration in between, or one iteration has two slots.
    Storage {
        /// The scalar.
        array: ArrayId,
        /// Values of the variables of the iteration.
        element: Vec<i64>,
    },
    /// Two iterations of a loop that carries no dependence touch the same byte.
    Parallel {
        /// The loop.
        path: Path,
        /// One instance, or a copy of a buffer.
        first: Option<(StmtId, Vec<i64>)>,
        /// The other one.
        second: Option<(StmtId, Vec<i64>)>,
    },
    /// A read gets the value of another producer.
    Value {
        /// Who reads.
        reader: (StmtId, Vec<i64>),
        /// Through which of its accesses; behind them come the predicates around it.
        access: usize,
    },
    /// At the end memory holds the value of another producer.
    Live {
        /// Where.
        address: i64,
    },
    /// A buffer has no place for an element.
    Place {
        /// The array that it stands for.
        array: ArrayId,
        /// Who needs it; `None`: a copy.
        instance: Option<(StmtId, Vec<i64>)>,
    },
    /// A copy touches an element that the original does not touch so.
    Window {
        /// The array.
        array: ArrayId,
        /// The element.
        element: Vec<i64>,
        /// Whether it is filled; else it is written back.
        fill: bool,
    },
    /// What others observe happens in another order, or with another memory.
    Observed {
        /// Which instance.
        instance: (StmtId, Vec<i64>),
    },
}

fn name(instance: &Instance) -> (StmtId, Vec<i64>) {
    (instance.statement, instance.dims.clone())
}

/// Whether the variant does what the original does, with arrays at these places.
pub fn violation(
    kernel: &Kernel,
    original: &Execution,
    variant: &Execution,
    params: &[i64],
    places: &Addresses,
) -> Result<Option<Violation>, Beyond> {
    if !variant.buffered && !original.buffered {
        return order_violation(kernel, original, variant, params, places);
    }
    if let Some(v) = order::marks(kernel, variant, params, places)? {
        return Ok(Some(v));
    }
    value_violation(kernel, original, variant, params, places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use loop_tree::text;

    /// What the variant does wrong for these parameters.
    fn wrong(nest: &str, params: &[i64], variant: &str) -> Option<Violation> {
        let program = text::parse(&nest.replace("VARIANT", &format!("variant {{ {variant} }}")));
        let program = program.unwrap_or_else(|e| panic!("{variant}: {e}"));
        let kernel = &program.kernel;
        let original = enumerate(kernel, &kernel.original, params).expect("the original is small");
        let changed = enumerate(kernel, program.tree(), params).expect("the variant is small");
        violation(kernel, &original, &changed, params, &Addresses::apart(kernel)).expect("it can be followed")
    }

    const CHAIN: &str = "nest @chain[N] {
        array A: f64[N]
        array T: f64[N] local
        array B: f64[N]
        for i in 0..N { S: T[i] = A[i] * 2.0 }
        for j in 0..N { R: B[j] = T[j] + 1.0 }
        VARIANT
    }";

    #[test]
    fn temporaries() {
        let fused = "for t0 in 0..N { alloc T[x] in [] on registers { let i = t0 { S } let j = t0 { R } } }";
        assert_eq!(wrong(CHAIN, &[5], fused), None);
        let window = |places: usize| {
            format!(
                "alloc T[x] in [x mod {places} : {places}] on stack {{
                   for t0 in 0..N + 3 {{
                     if t0 < N {{ let i = t0 {{ S }} }}
                     if t0 >= 3 {{ let j = t0 - 3 {{ R }} }}
                   }}
                 }}"
            )
        };
        assert_eq!(wrong(CHAIN, &[9], &window(4)), None);
        assert!(matches!(wrong(CHAIN, &[9], &window(3)), Some(Violation::Value { .. })));
        let apart = "alloc T[x] in [x : N] on heap { for i in 0..N { S } } for j in 0..N { R }";
        assert!(matches!(wrong(CHAIN, &[2], apart), Some(Violation::Value { .. })));
        let again = "for j in 0..N { alloc T[x] in [] on registers { let i = j { S } R } }
                     for i in 0..N { alloc T[x] in [] on registers { S } }";
        assert_eq!(wrong(CHAIN, &[4], again), None);
        let twice = "for i in 0..N { S } for j in 0..N { R } for j in 0..N { R }";
        assert!(matches!(wrong(CHAIN, &[4], twice), Some(Violation::Coverage { .. })));
    }

    const GEMM: &str = "nest @gemm[N] {
        array A: f64[N, N]
        array B: f64[N, N]
        array C: f64[N, N]
        for i in 0..N { for j in 0..N { for k in 0..N { S: C[i, j] = C[i, j] + A[i, k] * B[k, j] } } }
        VARIANT
    }";

    #[test]
    fn panels_and_tiles() {
        let panel = |extent: usize, fill: &str| {
            format!(
                "for t0 in 0..(N + 3)/4 {{
                   alloc B[x, y] in [x : N, y - 4*t0 : {extent}] on heap {fill} {{
                     for i in 0..N {{ for k in 0..N {{ for j in 4*t0..min(N, 4*t0 + 4) {{ S }} }} }}
                   }}
                 }}"
            )
        };
        let fill = "fill [0..N, 4*t0..min(N, 4*t0 + 4)]";
        assert_eq!(wrong(GEMM, &[5], &panel(4, fill)), None);
        assert!(matches!(wrong(GEMM, &[5], &panel(3, fill)), Some(Violation::Place { .. })));
        assert!(matches!(wrong(GEMM, &[5], &panel(4, "")), Some(Violation::Value { .. })));
        let beyond = panel(4, "fill [0..N, 4*t0..4*t0 + 4]");
        assert!(matches!(wrong(GEMM, &[5], &beyond), Some(Violation::Window { fill: true, .. })));
        let tile = |fill: &str, write: &str| {
            format!(
                "for i in 0..N {{
                   for j in 0..N {{ alloc C[x, y] in [] on registers {fill} {write} {{ for k in 0..N {{ S }} }} }}
                 }}"
            )
        };
        let (fill, write) = ("fill [i..i + 1, j..j + 1]", "write [i..i + 1, j..j + 1]");
        assert_eq!(wrong(GEMM, &[3], &tile(fill, write)), None);
        assert!(matches!(wrong(GEMM, &[3], &tile(fill, "")), Some(Violation::Live { .. })));
        assert!(matches!(wrong(GEMM, &[3], &tile("", write)), Some(Violation::Value { .. })));
        // A is not written by the original.
        let foreign = "alloc A[x, y] in [x : N, y : N] on heap fill [0..N, 0..N] write [0..N, 0..N] {
                         for i in 0..N { for j in 0..N { for k in 0..N { S } } } }";
        assert!(matches!(wrong(GEMM, &[3], foreign), Some(Violation::Window { fill: false, .. })));
    }

    #[test]
    fn iterations_share_what_is_bound_around_them() {
        let inside =
            "parallel for t0 in 0..N { alloc T[x] in [] on registers { let i = t0 { S } let j = t0 { R } } }";
        assert_eq!(wrong(CHAIN, &[5], inside), None);
        let outside =
            "alloc T[x] in [] on registers { parallel for t0 in 0..N { let i = t0 { S } let j = t0 { R } } }";
        assert!(matches!(wrong(CHAIN, &[5], outside), Some(Violation::Parallel { .. })));
    }

    #[test]
    fn overlap_and_predicates() {
        let nest = "nest @f[N] {
            array A: f64[N] alias 1
            array B: f64[N] alias 1
            scalar p: i1 local
            for i in 0..N {
              P: p = A[i] > 0.0
              if p { S: B[i] = A[i] }
            }
            VARIANT
        }";
        let own = "for i in 0..N { alloc p { P if p { S } } }";
        assert_eq!(wrong(nest, &[4], own), None);
        let all = "for i in 0..N {
            P alloc B[x] in [] on registers write [i..i + 1] { if p { S } } }";
        // Where the predicate is false, nothing was written.
        assert!(matches!(wrong(nest, &[6], all), Some(Violation::Window { .. } | Violation::Live { .. })));
        let inside = "for i in 0..N { P if p { alloc B[x] in [] on registers write [i..i + 1] { S } } }";
        assert_eq!(wrong(nest, &[6], inside), None);
    }
}
