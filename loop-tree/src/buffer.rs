//! Buffers: where an array lives inside of a subtree.
//!
//! [`Node::Alloc`](crate::Node::Alloc) binds an array to a buffer as `Let` binds a variable to an expression: statements stay as they
//! are, and inside of the child each access of the array goes to the buffer. What a buffer holds lives for one execution of the
//! child.
//!
//! | use | subscripts of the buffer | filled | written back |
//! |---|---|---|---|
//! | packing, transposition | relative to the tile, in another order | yes | where written |
//! | packing of what is [computed](crate::Derived) of elements | the same | yes | no |
//! | register tile, scalar replacement | the same, of constant extent | where read | where written |
//! | expansion | one more for each loop, by the instance's dims | no | no |
//! | contraction | fewer, or `mod` a window | no | no |
//! | a local scalar of the program | none | no | no |

use crate::types::names;
use crate::{Affine, ArrayId, Kernel, StmtId, VarId};

/// The storage of one array in a subtree.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Buffer {
    /// The array that it stands for.
    pub array: ArrayId,
    /// How many of the first dims of the accessing instance tell elements apart, beside the array's subscripts.
    pub instance_dims: usize,
    /// Its dimensions, outermost first; none: a single element.
    pub dims: Vec<BufferDim>,
    /// The elements that are read from the array when the child is entered.
    pub fill: Option<Window>,
    /// The statement that computes what is kept in the place of each element: inside it takes the value from here
    /// ([`Derived`](crate::Derived)). `None`: the element itself is kept.
    pub by: Option<StmtId>,
    /// The elements that are written to the array when the child is left.
    pub write_back: Option<Window>,
    /// Where it lives.
    pub home: Home,
    /// Alignment of its first element in bytes, a power of two; at least the element's own is kept.
    pub alignment: u32,
}

/// One dimension of a buffer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BufferDim {
    /// Where an element lies, from 0: over [`Buffer::index`], variables in scope around the buffer, and parameters.
    pub subscript: Affine,
    /// Number of places, over parameters; more than are used is padding, and less than one is none.
    pub extent: Affine,
}

/// A box of elements: a range for each subscript of the array, over variables in scope and parameters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Window(pub Vec<WindowRange>);

/// From the maximum of `lower` up to, and not including, the minimum of `upper`. Neither list is empty.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WindowRange {
    /// Lower bounds.
    pub lower: Vec<Affine>,
    /// Upper bounds, exclusive.
    pub upper: Vec<Affine>,
}

names!(
    /// Where a buffer lives.
    Home {
        /// Registers: constant extents, and subscripts that are constant once loops are unrolled.
        Registers = "registers",
        /// The stack: constant extents.
        Stack = "stack",
        /// Allocated once for the whole region; where that fails, the original runs.
        Heap = "heap",
    }
);

/// Variables from here on stand for subscripts in buffers, and are bound nowhere in a tree.
const FIRST_INDEX: u32 = 1 << 31;

impl Buffer {
    /// A single element for one execution of the child.
    pub fn scalar(array: ArrayId) -> Buffer {
        Buffer {
            array,
            instance_dims: 0,
            dims: Vec::new(),
            fill: None,
            by: None,
            write_back: None,
            home: Home::Registers,
            alignment: 1,
        }
    }

    /// The variable that stands for the array's subscript number `k`, or from the rank on for a dim of the accessing instance.
    pub const fn index(k: usize) -> VarId {
        VarId(FIRST_INDEX + k as u32)
    }

    /// Which subscript or dim a variable stands for.
    pub const fn index_of(var: VarId) -> Option<usize> {
        match var.0.checked_sub(FIRST_INDEX) {
            Some(k) => Some(k as usize),
            None => None,
        }
    }

    /// How many variables its subscripts may use beside those in scope.
    pub fn index_count(&self, kernel: &Kernel) -> usize {
        kernel.arrays.get(self.array.index()).map_or(0, |a| a.rank()) + self.instance_dims
    }

    /// Both windows.
    pub fn windows(&self) -> impl Iterator<Item = &Window> {
        self.fill.iter().chain(&self.write_back)
    }

    /// All its expressions but the extents.
    pub fn expressions(&self) -> impl Iterator<Item = &Affine> {
        let bounds = self.windows().flat_map(|w| &w.0).flat_map(|r| r.lower.iter().chain(&r.upper));
        self.dims.iter().map(|d| &d.subscript).chain(bounds)
    }

    /// The same with each expression but the extents changed; variables that stand for subscripts must stay.
    pub fn map(&self, f: &dyn Fn(&Affine) -> Affine) -> Buffer {
        let list = |list: &[Affine]| list.iter().map(f).collect();
        let window = |w: &Window| {
            Window(w.0.iter().map(|r| WindowRange { lower: list(&r.lower), upper: list(&r.upper) }).collect())
        };
        Buffer {
            dims: self
                .dims
                .iter()
                .map(|d| BufferDim { subscript: f(&d.subscript), extent: d.extent.clone() })
                .collect(),
            fill: self.fill.as_ref().map(window),
            write_back: self.write_back.as_ref().map(window),
            ..self.clone()
        }
    }

    /// The number of its elements, where that is a constant.
    pub fn constant_len(&self) -> Option<i64> {
        self.dims.iter().try_fold(1i64, |product, d| product.checked_mul(d.extent.as_constant()?))
    }

    /// Where the element with these subscripts and dims lies: one expression for each dimension.
    pub fn place_of(&self, index: &[Affine]) -> Vec<Affine> {
        let value = |v: VarId| Buffer::index_of(v).and_then(|k| index.get(k).cloned());
        self.dims.iter().map(|d| d.subscript.substitute(&value)).collect()
    }
}

impl Window {
    /// What is tested before elements are counted: lengths that must be positive, of ranges behind one of unknown length. A range of
    /// 2^31 with an empty one inside holds nothing, and counting it takes seconds.
    pub fn tested_lengths(&self) -> impl Iterator<Item = Affine> {
        let behind = self.0.iter().position(|r| r.constant_len().is_none()).map_or(self.0.len(), |k| k + 1);
        self.0[behind..].iter().flat_map(|r| r.lengths().map(|(_, length)| length))
    }
}

impl WindowRange {
    /// From one bound to another.
    pub fn new(lower: impl Into<Affine>, upper: impl Into<Affine>) -> WindowRange {
        WindowRange { lower: vec![lower.into()], upper: vec![upper.into()] }
    }

    /// Each lower bound with the length to each upper one; the range is as long as the shortest, or empty where one is negative.
    pub fn lengths(&self) -> impl Iterator<Item = (&Affine, Affine)> {
        self.lower.iter().flat_map(|l| self.upper.iter().map(move |u| (l, u - l)))
    }

    /// A lower bound and the constant length from it in which the range lies, the shortest that is known.
    pub fn constant_len(&self) -> Option<(&Affine, i64)> {
        let constant = self.lengths().filter_map(|(lower, length)| Some((lower, length.as_constant()?)));
        constant.min_by_key(|(_, length)| *length).map(|(lower, length)| (lower, length.max(0)))
    }
}
