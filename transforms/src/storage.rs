//! What transformations of storage have in common: the array that a step names, and the buffer around a node.

use crate::{Arguments, Context, LoopRef, RecipeError, Refusal};
use loop_tree::{ArrayId, Buffer, BufferDim, Green, Home, Path};
use std::sync::Arc;

/// Bytes that a buffer on the stack takes at most.
const MOST_ON_STACK: i64 = 32 << 10;

/// The array of that name.
pub(crate) fn array(cx: &Context<'_>, name: &str, at: &Path) -> Result<ArrayId, Refusal> {
    cx.kernel.find_array(name).ok_or_else(|| {
        let names: Vec<&str> = cx.kernel.arrays.iter().map(|a| &*a.name).collect();
        Refusal::new("unknown-array", at, format!("there is no array `{name}`"))
            .help(format!("arrays are {}", names.join(", ")))
    })
}

/// Where a buffer of these dimensions lives.
pub(crate) fn home(cx: &Context<'_>, array: ArrayId, dims: &[BufferDim]) -> Home {
    let size = i64::from(cx.kernel.array(array).element.size());
    let bytes = dims.iter().try_fold(size, |bytes, d| bytes.checked_mul(d.extent.as_constant()?));
    match bytes {
        _ if dims.is_empty() => Home::Registers,
        Some(bytes) if bytes <= MOST_ON_STACK => Home::Stack,
        _ => Home::Heap,
    }
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
