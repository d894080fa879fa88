//! Forward: what one statement puts into a temporary array is computed where it is read, as often as it is read.
//! Elsewhere: forward substitution, `compute_inline` (Halide, TVM), producer-consumer fusion with recomputation.
//!
//! ```lt before
//! array A: f64[N]
//! array B: f64[N]
//! array T: f64[N] local
//! for i in 0..N { S: T[i] = A[i] }
//! for j in 1..N { R: B[j] = T[j - 1] + T[j] }
//! ```
//! ```recipe
//! forward(@; T)
//! ```
//! ```lt after
//! for j in 1..N {
//!   alloc T[x] in [x - j + 1 : 2] on registers align 64 { let i = j - 1 { S } let i = j { S } R }
//! }
//! ```
//! Executes instances of the producer once for each read of what they put down, in buffers of a few elements; those that
//! nobody reads are gone.
//! Applies to arrays written by one statement, one element for each instance, and read at elements that differ by constants.

use crate::{Arguments, BuiltIn, Context, LoopRef, MoveOptions, RecipeError, Refusal, Transform, storage};
use loop_tree::{
    AccessKind, Affine, ArrayId, Buffer, BufferDim, Green, GuardCondition, Home, Node, Occurrence, Path,
    Statement, StmtId, Storage, VarId, occurrences,
};
use std::fmt;
use std::sync::Arc;

/// Computes what the node puts into `array` where it is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Forward {
    /// The node that holds the producer and all that reads.
    pub target: LoopRef,
    /// Name of the array.
    pub array: Arc<str>,
}

/// Instances computed for one reader at most.
const MOST: usize = 16;

/// Elements of a buffer in registers at most.
const MOST_IN_REGISTERS: i64 = 32;

/// The statement that writes the array.
struct Producer {
    id: StmtId,
    dims: Arc<[VarId]>,
    /// By subscript of the array: which dim it is, and what is added.
    subscripts: Vec<(usize, i64)>,
}

impl Transform for Forward {
    fn name(&self) -> &'static str {
        "forward"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let at = self.target.resolve(cx)?;
        let array = storage::array(cx, &self.array, &at)?;
        let node = cx.node(&at)?;
        let leaves = occurrences(node);
        let producer = producer(cx, &at, array, &leaves)?;
        let reads = |s: &Statement| s.accesses.iter().any(|a| a.array == array && a.kind == AccessKind::Read);
        if !leaves.iter().any(|o| reads(cx.kernel.statement(o.statement))) {
            return Err(Refusal::new(
                "not-read",
                &at,
                format!("nothing reads {} below this node", self.array),
            ));
        }
        cx.replace(&at, forwarded(cx, &at, node, array, &producer)?)
    }
}

/// The only statement below the node that writes the array.
fn producer(cx: &Context<'_>, at: &Path, array: ArrayId, leaves: &[Occurrence]) -> Result<Producer, Refusal> {
    let name = &cx.kernel.array(array).name;
    let writes = |a: &&loop_tree::Access| a.array == array && a.kind != AccessKind::Read;
    let writers: Vec<&Occurrence> = leaves
        .iter()
        .filter(|o| cx.kernel.statement(o.statement).accesses.iter().any(|a| writes(&a)))
        .collect();
    let [leaf] = writers[..] else {
        let message = format!("{name} is not written by exactly one statement below this node");
        return Err(Refusal::new("several-producers", at, message));
    };
    let statement = cx.kernel.statement(leaf.statement);
    let refuse = |message: String| Err(Refusal::new("producer", at, message));
    let stands = |around: &Green| match around.node() {
        Node::Guard(c, _) => matches!(**c, GuardCondition::Affine(_)),
        Node::Alloc(b, _) => b.array != array,
        _ => true,
    };
    if !leaf.around.iter().all(stands) {
        return refuse(format!("{} is under a predicate, or {name} is in a buffer already", statement.name));
    }
    let mut accesses = statement.accesses.iter().filter(|a| a.array == array);
    let (Some(access), None) = (accesses.next(), accesses.next()) else {
        return refuse(format!("{} touches {name} more than once", statement.name));
    };
    // One subscript for each dim, which it is but for a constant.
    let subscript = |e: &Affine| {
        let dim = statement.dims.iter().rposition(|v| e.coefficient(*v) == 1)?;
        Some((dim, (e - &Affine::var(statement.dims[dim])).as_constant()?))
    };
    let subscripts: Option<Vec<(usize, i64)>> =
        access.subscripts.as_ref().and_then(|s| s.iter().map(subscript).collect());
    let mut found: Vec<usize> = subscripts.iter().flatten().map(|(dim, _)| *dim).collect();
    found.sort_unstable();
    match subscripts {
        Some(subscripts) if found.iter().copied().eq(0..statement.dims.len()) => {
            Ok(Producer { id: leaf.statement, dims: statement.dims.clone(), subscripts })
        }
        _ => refuse(format!(
            "the element of {name} does not say which instance of {} wrote it",
            statement.name
        )),
    }
}

/// The tree without the producer, and with copies of it in front of all that reads.
fn forwarded(
    cx: &Context<'_>,
    at: &Path,
    node: &Green,
    array: ArrayId,
    producer: &Producer,
) -> Result<Green, Refusal> {
    match node.node() {
        Node::Stmt(id, _) if *id == producer.id => Ok(Green::empty()),
        Node::Stmt(id, _) => consumer(cx, at, node, *id, array, producer),
        _ => node.children().enumerate().try_fold(node.clone(), |tree, (index, child)| {
            Ok(tree.with_child(index, forwarded(cx, at, child, array, producer)?))
        }),
    }
}

fn consumer(
    cx: &Context<'_>,
    at: &Path,
    leaf: &Green,
    id: StmtId,
    array: ArrayId,
    producer: &Producer,
) -> Result<Green, Refusal> {
    let statement = cx.kernel.statement(id);
    let refuse = |message: &str| Err(Refusal::new("consumer", at, format!("{}: {message}", statement.name)));
    let mut elements: Vec<&[Affine]> = Vec::new();
    for access in statement.accesses.iter().filter(|a| a.array == array) {
        match access.subscripts.as_deref() {
            Some(s) if s.len() == producer.subscripts.len() => elements.push(s),
            _ => return refuse("it does not say which element it reads"),
        }
    }
    let Some(first) = elements.first().copied() else { return Ok(leaf.clone()) };
    // By how much each element is beyond the first one.
    let offset = |e: &&[Affine]| -> Option<Vec<i64>> {
        e.iter().zip(first).map(|(x, y)| (x - y).as_constant()).collect()
    };
    let offsets: Option<Vec<Vec<i64>>> = elements.iter().map(offset).collect();
    let Some(mut offsets) = offsets else {
        return refuse("the elements that it reads differ by more than constants");
    };
    offsets.sort();
    offsets.dedup();
    if offsets.len() > MOST {
        return refuse("it reads too many elements");
    }
    let mut dims = Vec::new();
    for (k, e) in first.iter().enumerate() {
        let own = || offsets.iter().map(|o| o[k]);
        let (least, most) = (own().min().unwrap_or(0), own().max().unwrap_or(0));
        let subscript = Affine::var(Buffer::index(k)) - e.offset(least);
        dims.push(BufferDim { subscript, extent: Affine::constant(most - least + 1) });
    }
    let mut buffer = storage::buffer(cx, array, 0, storage::small(dims));
    if buffer.constant_len().is_some_and(|len| len <= MOST_IN_REGISTERS) {
        buffer.home = Home::Registers;
    }
    let mut body = Vec::with_capacity(offsets.len() + 1);
    for offset in &offsets {
        let mut values = vec![Affine::default(); producer.dims.len()];
        for ((e, o), (dim, added)) in first.iter().zip(offset).zip(&producer.subscripts) {
            values[*dim] = e.offset(o - added);
        }
        match bound(producer, &values) {
            Some(copy) => body.push(copy),
            None => return refuse("its variables and those of the producer have the same names"),
        }
    }
    body.push(leaf.clone());
    Ok(Green::alloc(buffer, Green::seq(body)))
}

/// The producer's instance of these dims, bound one after the other; `None` if each would hide a variable that the next ones use.
fn bound(producer: &Producer, values: &[Affine]) -> Option<Green> {
    let mut left: Vec<usize> = (0..values.len()).collect();
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let free = |d: &usize| left.iter().all(|other| other == d || !values[*other].uses(producer.dims[*d]));
        let next = left.iter().position(free)?;
        order.push(left.remove(next));
    }
    let leaf = Green::stmt(producer.id, producer.dims.clone());
    Some(order.iter().rev().fold(leaf, |tree, d| Green::bind(producer.dims[*d], values[*d].clone(), tree)))
}

impl BuiltIn for Forward {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let (target, array) = storage::parse(arguments)?;
        Ok(Forward { target, array })
    }

    /// Temporaries that this is possible for.
    fn moves(cx: &Context<'_>, _: &MoveOptions) -> Vec<Self> {
        let temporary = |a: &&loop_tree::Array| a.storage == Storage::Local && !a.is_scalar();
        let arrays = cx.kernel.arrays.iter().filter(temporary);
        arrays
            .map(|a| Forward { target: LoopRef::Path(Path::root()), array: a.name.clone() })
            .filter(|step| step.rewrite(cx).is_ok())
            .collect()
    }
}

impl fmt::Display for Forward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "forward({}; {})", self.target, self.array)
    }
}
