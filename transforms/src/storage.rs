//! What transformations of storage have in common: the array that a step names, and the buffer around a node.

use crate::loop_ref::Listed;
use crate::{Arguments, Context, LoopRef, RecipeError, Refusal};
use loop_tree::{ArrayId, Buffer, BufferDim, Green, Home, Node, Path, Storage};
use std::fmt;
use std::sync::Arc;

/// Bytes that a buffer on the stack takes at most.
const MOST_ON_STACK: i64 = 32 << 10;

/// A cache line, and a vector of the widest, in bytes.
const ALIGNMENT: u32 = 64;

/// The array of that name.
pub(crate) fn array(cx: &Context<'_>, name: &str, at: &Path) -> Result<ArrayId, Refusal> {
    cx.kernel.find_array(name).ok_or_else(|| {
        let names: Vec<&str> = cx.kernel.arrays.iter().map(|a| &*a.name).collect();
        Refusal::new("unknown-array", at, format!("there is no array `{name}`"))
            .help(format!("arrays are {}", names.join(", ")))
    })
}

/// Without dimensions of a single place.
pub(crate) fn small(mut dims: Vec<BufferDim>) -> Vec<BufferDim> {
    dims.retain(|d| d.extent.as_constant() != Some(1));
    dims
}

/// A buffer of these dimensions, neither filled nor written back: a single element in registers, few on the stack, else on the
/// heap.
pub(crate) fn buffer(cx: &Context<'_>, array: ArrayId, instance_dims: usize, dims: Vec<BufferDim>) -> Buffer {
    let scalar = Buffer { instance_dims, ..Buffer::scalar(array) };
    if dims.is_empty() {
        return scalar;
    }
    let size = i64::from(cx.kernel.array(array).element.size());
    let bytes = dims.iter().try_fold(size, |bytes, d| bytes.checked_mul(d.extent.as_constant()?));
    let home = if bytes.is_some_and(|bytes| bytes <= MOST_ON_STACK) { Home::Stack } else { Home::Heap };
    Buffer { dims, home, alignment: ALIGNMENT, ..scalar }
}

/// The tree with the node at a path inside of a buffer.
pub(crate) fn around(cx: &Context<'_>, at: &Path, buffer: Buffer) -> Result<Green, Refusal> {
    cx.replace(at, Green::alloc(buffer, cx.node(at)?.clone()))
}

/// Reads `node; array`.
pub(crate) fn parse(arguments: &mut Arguments) -> Result<(LoopRef, Arc<str>), RecipeError> {
    let target = arguments.one_loop()?;
    match arguments.next_argument() {
        Some(name) if name.key.is_none() => Ok((target, name.value.as_str().into())),
        _ => Err(arguments.error(format!("`{}` needs the name of an array after the node", arguments.name))),
    }
}

/// Reads `node; array` and perhaps `; number`.
pub(crate) fn parse_with_number(
    arguments: &mut Arguments,
    what: &str,
) -> Result<(LoopRef, Arc<str>, Option<i64>), RecipeError> {
    let (target, array) = parse(arguments)?;
    let number = match arguments.integers().as_deref() {
        None => None,
        Some([number]) => Some(*number),
        Some(_) => return Err(arguments.error(format!("{what} is one number"))),
    };
    Ok((target, array, number))
}

/// Reads an order of dimensions, if one is next.
pub(crate) fn parse_order(arguments: &mut Arguments) -> Result<Vec<usize>, RecipeError> {
    let order = arguments.integers().unwrap_or_default();
    let order: Result<_, _> = order.into_iter().map(usize::try_from).collect();
    order.map_err(|_| arguments.error("an order is numbers of dimensions, from 0"))
}

/// Writes an order of dimensions, if there is one.
pub(crate) fn write_order(f: &mut fmt::Formatter<'_>, order: &[usize]) -> fmt::Result {
    match order {
        [] => Ok(()),
        _ => write!(f, "; {}", Listed(order)),
    }
}

/// Dimensions in another order.
pub(crate) fn in_order(
    dims: &[BufferDim],
    order: &[usize],
    name: &str,
    at: &Path,
) -> Result<Vec<BufferDim>, Refusal> {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..dims.len()) {
        let message = format!("the order is not one of the {} dimensions of {name}", dims.len());
        return Err(Refusal::new("order", at, message));
    }
    Ok(order.iter().map(|k| dims[*k].clone()).collect())
}

/// Temporary arrays that are in no buffer, each with the innermost node that holds all that touches it.
pub(crate) fn temporaries(cx: &Context<'_>) -> Vec<(ArrayId, Path)> {
    let mut result = Vec::new();
    for (index, array) in cx.kernel.arrays.iter().enumerate() {
        if array.storage != Storage::Local || array.is_scalar() {
            continue;
        }
        let id = ArrayId::new(index);
        let touches = |s| cx.kernel.statement(s).accesses.iter().any(|a| a.array == id);
        let mut common: Option<Path> = None;
        let mut in_buffer = false;
        let mut walk = cx.root.walk();
        while let Some(node) = walk.next() {
            match node.node() {
                Node::Alloc(buffer, _) => in_buffer |= buffer.array == id,
                Node::Stmt(s, _) if touches(*s) => {
                    let parent = walk.path().split_last().map_or_else(Path::root, |(parent, _)| parent);
                    common = Some(common.map_or(parent.clone(), |other| other.shared(&parent)));
                }
                _ => {}
            }
        }
        result.extend(common.filter(|_| !in_buffer).map(|common| (id, common)));
    }
    result
}
