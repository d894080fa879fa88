//! Transpose: an array lies in another order of dimensions, so that the loop that walks it innermost walks it contiguously.
//! Elsewhere: data layout change, `transform_layout` (TVM), `rearrange_dim` (Exo), `reorder_storage` (Halide).
//!
//! ```lt before
//! array A: f64[N, M]
//! array B: f64[N]
//! array T: f64[N, M] local
//! for i in 0..N { for j in 0..M { S: T[i, j] = A[i, j] } }
//! for k in 0..M { for l in 0..N { R: B[l] = B[l] + T[l, k] } }
//! ```
//! ```recipe
//! transpose(@; T)
//! ```
//! ```lt after
//! alloc T[x0, x1] in [x1 : M, x0 : N] on heap align 64 {
//!   for i in 0..N { for j in 0..M { S } }
//!   for k in 0..M { for l in 0..N { R } }
//! }
//! ```
//! Keeps the statement instances and their order.
//! Changes the buffer that holds the array at the node: the node itself, or the next one around. Where there is none, what the node
//! touches moves into one: what is read is copied in, what is written out, and of temporaries nothing. Without an order the
//! dimensions are reversed; else it gives them as they are now, outermost first.

use crate::footprint::Footprint;
use crate::{Arguments, BuiltIn, Context, LoopRef, MoveOptions, RecipeError, Refusal, Transform, storage};
use loop_tree::{ArrayId, Buffer, Green, Node, Path, Storage};
use std::fmt;
use std::sync::Arc;

/// Gives the buffer of `array` at the node another order of dimensions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transpose {
    /// The node.
    pub target: LoopRef,
    /// Name of the array.
    pub array: Arc<str>,
    /// The dimensions as they are, in their new order, outermost first; empty: reversed.
    pub order: Vec<usize>,
}

impl Transform for Transpose {
    fn name(&self) -> &'static str {
        "transpose"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let at = self.target.resolve(cx)?;
        let array = storage::array(cx, &self.array, &at)?;
        cx.node(&at)?;
        let found = holder(cx, &at, array);
        let buffer = match &found {
            Some((_, buffer, _)) => Buffer::clone(buffer),
            None => {
                let footprint = Footprint::of(cx, &at, array, 0)?;
                let dims = footprint.dims(&at, &cx.kernel.array(array).extents)?;
                let plain = storage::buffer(cx, array, 0, dims);
                match cx.kernel.array(array).storage {
                    Storage::Local => plain,
                    _ => Buffer { fill: footprint.read, write_back: footprint.written, ..plain },
                }
            }
        };
        let reversed: Vec<usize> = (0..buffer.dims.len()).rev().collect();
        let order = if self.order.is_empty() { &reversed } else { &self.order };
        if order.iter().copied().eq(0..buffer.dims.len()) {
            return Err(Refusal::new(
                "order",
                &at,
                format!("the dimensions of {} are so already", self.array),
            ));
        }
        let dims = storage::in_order(&buffer.dims, order, &self.array, &at)?;
        let buffer = Buffer { dims, ..buffer };
        match found {
            Some((path, _, body)) => cx.replace(&path, Green::alloc(buffer, body.clone())),
            None => storage::around(cx, &at, buffer),
        }
    }
}

/// The innermost buffer of the array that is the node, or around it.
fn holder<'a>(cx: &Context<'a>, at: &Path, array: ArrayId) -> Option<(Path, &'a Buffer, &'a Green)> {
    (0..=at.0.len()).rev().find_map(|depth| {
        let path = Path(at.0[..depth].into());
        match cx.root.at(&path)?.node() {
            Node::Alloc(buffer, body) if buffer.array == array => Some((path, &**buffer, body)),
            _ => None,
        }
    })
}

impl BuiltIn for Transpose {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let (target, array) = storage::parse(arguments)?;
        let order = storage::parse_order(arguments)?;
        Ok(Transpose { target, array, order })
    }

    /// Buffers, and temporaries that are in none, with any two neighbouring dimensions in turn.
    fn moves(cx: &Context<'_>, _: &MoveOptions) -> Vec<Self> {
        let mut result = Vec::new();
        let mut swaps = |path: Path, array: ArrayId, rank: usize| {
            for k in 1..rank {
                let mut order: Vec<usize> = if rank == 2 { Vec::new() } else { (0..rank).collect() };
                if rank > 2 {
                    order.swap(k - 1, k);
                }
                let array = cx.kernel.array(array).name.clone();
                result.push(Transpose { target: LoopRef::Path(path.clone()), array, order });
            }
        };
        let mut walk = cx.root.walk();
        while let Some(node) = walk.next() {
            if !node.summary().has_storage_or_versions {
                walk.prune();
            } else if let Node::Alloc(buffer, _) = node.node() {
                swaps(walk.path(), buffer.array, buffer.dims.len());
            }
        }
        for (array, at) in storage::temporaries(cx) {
            swaps(at, array, cx.kernel.array(array).rank());
        }
        result
    }
}

impl fmt::Display for Transpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "transpose({}; {}", self.target, self.array)?;
        storage::write_order(f, &self.order)?;
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tree;
    use crate::{Registry, moves};
    use loop_tree::text;

    #[test]
    fn buffers_and_temporaries_are_tried() {
        let program = "nest @t[N] {
            array A: f64[N, N, N]
            array B: f64[N]
            array T: f64[N, N] local
            for i in 0..N { for j in 0..N { S: T[i, j] = A[i, j, 0] } }
            for k in 0..N { for l in 0..N { R: B[l] = T[l, k] } }
        }";
        let kernel = text::parse(program).expect("it parses").kernel;
        let options = MoveOptions { only: vec!["transpose".into()], ..MoveOptions::default() };
        let tried = |text: &str| -> Vec<String> {
            let root = tree(&kernel, text);
            let cx = Context { kernel: &kernel, root: &root };
            let list = moves(&cx, &Registry::standard(), &options);
            list.iter().for_each(|step| drop(step.apply(&cx).expect("it applies")));
            list.iter().map(ToString::to_string).collect()
        };
        let nests = "for i in 0..N { for j in 0..N { S } } for k in 0..N { for l in 0..N { R } }";
        assert_eq!(tried(nests), ["transpose(@; T)"]);
        let own = format!("alloc T[x, y] in [x : N, y : N] on heap {{ {nests} }}");
        assert_eq!(tried(&own), ["transpose(@; T)"]);
        let deep =
            format!("alloc A[x, y, z] in [x : N, y : N, z : 1] on heap fill [0..N, 0..N, 0..1] {{ {own} }}");
        let expected = ["transpose(@; A; 1, 0, 2)", "transpose(@; A; 0, 2, 1)", "transpose(@0; T)"];
        assert_eq!(tried(&deep), expected);
    }
}
