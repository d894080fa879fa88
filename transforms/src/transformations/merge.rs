//! Merge: what a block without loops loads or computes several times is loaded and computed once.
//! Elsewhere: local common subexpression elimination; the local block of fused With-loops (SAC).
//!
//! ```lt before
//! array A: f64[N]
//! array B: f64[N]
//! array C: f64[N]
//! array T: f64[N] local
//! for i in 0..N { S: T[i] = A[i] * 2.0 }
//! for j in 1..N {
//!   R: B[j] = T[j - 1] + T[j]
//!   Q: C[j] = T[j] - A[j]
//! }
//! ```
//! ```recipe
//! forward(@; T); merge(j)
//! ```
//! ```lt after
//! for j in 1..N {
//!   alloc A[x] in [x - j + 1 : 2] on registers fill [j - 1..j + 1] {
//!     alloc T[x] in [x - j + 1 : 2] on registers align 64 {
//!       let i = j - 1 { S } let i = j { S } R Q
//!     }
//!   }
//! }
//! ```
//! Buffers of one array that stand side by side become one, in which equal instances of a statement execute once; an array that the
//! block only reads, and of which it reads an element twice, is read into registers first.
//! Applies to a node without loops inside, or to the body of a loop that is one; elements must differ by constants, and fill a box
//! where they are loaded.

use crate::footprint::Footprint;
use crate::{Arguments, BuiltIn, Context, LoopRef, MoveOptions, RecipeError, Refusal, Transform, storage};
use loop_tree::{
    AccessKind, Affine, ArrayId, Buffer, Green, Home, Node, Occurrence, OpKind, Path, Statement, StmtFlags,
    occurrences,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Loads and computes once what a block does several times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Merge {
    /// The block, or the loop whose body it is.
    pub target: LoopRef,
}

/// Elements of one array in registers at most.
const MOST: i64 = 32;

/// What nothing of the kind may be moved past.
const FIXED: StmtFlags = StmtFlags::SIDE_EFFECTS
    .union(StmtFlags::VOLATILE)
    .union(StmtFlags::ATOMIC_RELAXED)
    .union(StmtFlags::ATOMIC_ORDERED)
    .union(StmtFlags::OPAQUE);

impl Transform for Merge {
    fn name(&self) -> &'static str {
        "merge"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let mut at = self.target.resolve(cx)?;
        if cx.node(&at)?.as_loop().is_some() {
            at = at.child(0);
        }
        let block = cx.node(&at)?;
        if block.walk().next_loop().is_some() {
            let message = "there are loops inside of this node";
            return Err(Refusal::new("not-local", &at, message).help("name an inner loop, or unroll"));
        }
        let computed = computed_once(cx, &at, block)?;
        match loaded_once(cx, &at, computed.as_ref().unwrap_or(cx.root))?.or(computed) {
            Some(root) => Ok(root),
            None => Err(Refusal::new("nothing-twice", &at, "nothing is loaded or computed twice here")),
        }
    }
}

/// The tree with one buffer for all those of an array, and without repeated instances; `None` if there are no such arrays.
fn computed_once(cx: &Context<'_>, at: &Path, block: &Green) -> Result<Option<Green>, Refusal> {
    let leaves = occurrences(block);
    let mut buffers: BTreeMap<ArrayId, usize> = BTreeMap::new();
    let mut others = BTreeSet::new();
    for node in block.walk() {
        let Node::Alloc(buffer, _) = node.node() else { continue };
        match buffer.instance_dims == 0 && buffer.windows().next().is_none() {
            true => *buffers.entry(buffer.array).or_default() += 1,
            false => _ = others.insert(buffer.array),
        }
    }
    let within = |array: ArrayId| {
        let once = |o: &Occurrence| o.buffers().filter(|b| b.array == array).count() == 1;
        leaves.iter().all(|o| !touches(cx, o, array) || once(o))
    };
    let shared: BTreeSet<ArrayId> = buffers
        .into_iter()
        .filter(|(array, count)| *count > 1 && !others.contains(array) && within(*array))
        .map(|(array, _)| array)
        .collect();
    if shared.is_empty() {
        return Ok(None);
    }
    let mut seen: Vec<(&Statement, Vec<Affine>)> = Vec::new();
    let mut repeated = BTreeSet::new();
    for leaf in &leaves {
        let statement = &**cx.kernel.statement(leaf.statement);
        let mut written = statement.accesses.iter().filter(|a| a.kind != AccessKind::Read);
        if statement.flags.intersects(FIXED) || !written.all(|a| shared.contains(&a.array)) {
            continue;
        }
        let instance = (statement, statement.dims.iter().map(|v| leaf.resolve(&Affine::var(*v))).collect());
        if seen.contains(&instance) {
            repeated.insert(leaf.path.clone());
        } else if always(leaf) {
            seen.push(instance);
        }
    }
    let mut root = cx.replace(at, without(block, &mut Path::root(), &shared, &repeated))?;
    for array in shared {
        let cx = Context { root: &root, ..*cx };
        let dims = storage::small(Footprint::of(&cx, at, array, 0)?.dims(at, &[])?);
        let mut buffer = storage::buffer(&cx, array, 0, dims);
        if buffer.constant_len().is_some_and(|len| len <= MOST) {
            buffer.home = Home::Registers;
        }
        root = storage::around(&cx, at, buffer)?;
    }
    Ok(Some(root))
}

/// The tree with arrays in registers of which the block loads an element twice; `None` if there are no such arrays.
fn loaded_once(cx: &Context<'_>, at: &Path, root: &Green) -> Result<Option<Green>, Refusal> {
    let cx = Context { root, ..*cx };
    let leaves = occurrences(cx.node(at)?);
    let statement = |o: &Occurrence| cx.kernel.statement(o.statement);
    if leaves.iter().any(|o| statement(o).flags.intersects(FIXED)) {
        return Ok(None);
    }
    let mut elements: BTreeMap<ArrayId, Vec<Vec<Affine>>> = BTreeMap::new();
    let mut left: BTreeSet<ArrayId> = BTreeSet::new();
    for leaf in &leaves {
        left.extend(leaf.buffers().map(|b| b.array));
        for (id, access) in statement(leaf).accesses() {
            let loads =
                |op: &loop_tree::Op| op.mask.is_none() && matches!(op.kind, OpKind::Load(a) if a == id);
            match &access.subscripts {
                Some(s) if always(leaf) && !s.is_empty() && statement(leaf).ops.iter().any(loads) => {
                    let element = s.iter().map(|e| leaf.resolve(e)).collect();
                    elements.entry(access.array).or_default().push(element);
                }
                _ => _ = left.insert(access.array),
            }
        }
    }
    let mut root = None;
    for (array, mut list) in elements.into_iter().filter(|(array, _)| !left.contains(array)) {
        let loads = list.len();
        list.sort();
        list.dedup();
        if list.len() == loads {
            continue;
        }
        let cx = Context { root: root.as_ref().unwrap_or(cx.root), ..cx };
        let footprint = Footprint::of(&cx, at, array, 0);
        let Ok((fill, dims)) = footprint.and_then(|f| Ok((f.read.clone(), f.dims(at, &[])?))) else {
            continue;
        };
        let buffer =
            Buffer { dims: storage::small(dims), fill, home: Home::Registers, ..Buffer::scalar(array) };
        if buffer.constant_len().is_some_and(|len| len <= MOST && len == list.len() as i64) {
            root = Some(storage::around(&cx, at, buffer)?);
        }
    }
    Ok(root)
}

fn touches(cx: &Context<'_>, leaf: &Occurrence, array: ArrayId) -> bool {
    cx.kernel.statement(leaf.statement).accesses.iter().any(|a| a.array == array)
}

/// Whether no condition stands around a leaf.
fn always(leaf: &Occurrence) -> bool {
    !leaf.around.iter().any(|a| matches!(a.node(), Node::Guard(..) | Node::Version(_)))
}

/// A node without the buffers of some arrays, and without some leaves.
fn without(node: &Green, path: &mut Path, shared: &BTreeSet<ArrayId>, repeated: &BTreeSet<Path>) -> Green {
    if repeated.contains(path) {
        return Green::empty();
    }
    let mut result = node.clone();
    for (index, child) in node.children().enumerate() {
        path.0.push(index as u32);
        result = result.with_child(index, without(child, path, shared, repeated));
        path.0.pop();
    }
    match result.node() {
        Node::Alloc(buffer, body) if shared.contains(&buffer.array) => body.clone(),
        _ => result,
    }
}

impl BuiltIn for Merge {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let target = arguments.one_loop()?;
        Ok(Merge { target })
    }

    /// Loop bodies that compute something twice: equal loads of one body LLVM merges by itself.
    fn moves(cx: &Context<'_>, _: &MoveOptions) -> Vec<Self> {
        if !cx.root.summary().has_storage_or_versions {
            return Vec::new();
        }
        let merges = |path: &Path| {
            let block = cx.node(path).ok().filter(|block| block.walk().next_loop().is_none())?;
            computed_once(cx, path, block).ok()?
        };
        let sites = cx.sites().into_iter().filter(|site| merges(&site.path.child(0)).is_some());
        sites.map(|site| Merge { target: LoopRef::Path(site.path) }).collect()
    }
}

impl fmt::Display for Merge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "merge({})", self.target)
    }
}
