//! What all trees of a kernel have in common, at concrete parameter values.

use crate::alike::Executions;
use crate::extents::rows;
use crate::linear::Scope;
use crate::trip_counts::LARGEST;
use loop_tree::{
    AccessId, Affine, Array, ArrayId, Green, Kernel, Op, OpFlags, OpId, OpKind, Privates, ScalarType,
    Statement, StmtFlags, VarId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::sync::{Arc, Mutex};

/// A kernel at parameter values.
pub(crate) struct Facts<'k> {
    pub kernel: &'k Kernel,
    pub params: &'k [i64],
    pub privates: Privates,
    /// Bytes from one element of a dimension to the next, by array and dimension.
    pub strides: Vec<SmallVec<[f64; 4]>>,
    /// Bytes of arrays; `None`: unknown.
    pub array_bytes: Vec<Option<f64>>,
    /// The least distance, in bytes, that is only known at run time: between rows of parametric length.
    pub row_bytes: Vec<Option<f64>>,
    /// Rows whose length is known only when the program runs.
    pub parametric_row: Vec<Option<ParametricRow>>,
    /// Whether operations say which instruction they come from.
    pub lifted: bool,
    /// Instructions of the bodies of loops, by structure and variable, and whether arrays may overlap.
    pub sizes: Mutex<FxHashMap<(u128, VarId, bool), i64>>,
    /// Loops that were priced.
    pub executions: Executions,
    /// Variables of the program's own loops of constant length inside of others.
    pub constant_loops: FxHashSet<VarId>,
    /// A copy of one element, by array: a load through access 0, a store through access 1.
    pub copies: Vec<Statement>,
}

/// The innermost dimension of an array.
pub(crate) struct ParametricRow {
    /// Elements.
    pub length: Affine,
    /// Bytes at the parameter's value.
    pub bytes: f64,
}

impl<'k> Facts<'k> {
    pub fn new(kernel: &'k Kernel, params: &'k [i64]) -> Self {
        let scope = Scope { params, vars: vec![] };
        let strides: Vec<_> = kernel.arrays.iter().map(|a| strides(a, &scope)).collect();
        let each = || kernel.arrays.iter().zip(&strides);
        let mut constant_loops = FxHashSet::default();
        find_constant_loops(&kernel.original, false, &mut constant_loops);
        Facts {
            kernel,
            params,
            privates: Privates::of(kernel),
            array_bytes: rows(kernel, params)
                .into_iter()
                .zip(each())
                .map(|(r, a)| bytes(a, r, &scope))
                .collect(),
            row_bytes: each().map(|(a, strides)| unknown_distance(a, strides)).collect(),
            copies: kernel.arrays.iter().map(copy).collect(),
            sizes: Mutex::default(),
            executions: Executions::default(),
            constant_loops,
            lifted: kernel.statements.iter().any(|s| s.ops.iter().any(|op| op.origin.is_some())),
            parametric_row: each().map(|(a, strides)| parametric_row(a, strides)).collect(),
            strides,
        }
    }

    /// Whether nothing tells the compiler two arrays of the program apart: neither what they are, nor what is in them, as languages like C
    /// have it.
    pub fn may_overlap(&self, a: usize, b: usize) -> bool {
        let Some(elements) = self.kernel.arrays.get(a).zip(self.kernel.arrays.get(b)) else { return false };
        let types = [elements.0.element, elements.1.element];
        let alike = types[0] == types[1] || types.contains(&ScalarType::I8) || !self.lifted;
        alike && self.kernel.may_overlap(ArrayId::new(a), ArrayId::new(b))
    }

    /// Whether nothing is known of where an array begins: it is behind a pointer, and no variable of the program.
    pub fn is_anywhere(&self, array: usize) -> bool {
        let arrays = &self.kernel.arrays;
        let open = |a: &Array| matches!(a.extents.first(), Some(None));
        let one = ArrayId::new(array);
        let meets = |other| other != one && self.kernel.may_overlap(one, other);
        arrays.get(array).is_some_and(open) && (0..arrays.len()).map(ArrayId::new).any(meets)
    }
}

/// Adds the variables of loops of constant length that are in others.
fn find_constant_loops(node: &Green, inside: bool, found: &mut FxHashSet<VarId>) {
    let header = node.as_loop().map(|(header, _)| header);
    found.extend(header.filter(|h| inside && h.constant_trip_count().is_some()).map(|h| h.var));
    node.children().for_each(|child| find_constant_loops(child, inside || header.is_some(), found));
}

fn copy(array: &Array) -> Statement {
    let op = |kind| Op { kind, ty: array.element, mask: None, flags: OpFlags::empty(), origin: None };
    Statement {
        name: format!("copy of {}", array.name).into(),
        dims: Arc::new([]),
        ops: vec![op(OpKind::Load(AccessId(0))), op(OpKind::Store(AccessId(1), OpId(0)))],
        accesses: vec![],
        reduction: None,
        flags: StmtFlags::empty(),
        location: None,
    }
}

fn strides(array: &Array, scope: &Scope<'_>) -> SmallVec<[f64; 4]> {
    let mut stride = f64::from(array.element.size());
    let mut result = SmallVec::from_elem(0.0, array.rank());
    for (d, extent) in array.extents.iter().enumerate().rev() {
        result[d] = stride;
        stride *= extent.as_ref().map_or(1.0, |e| scope.linear(e).constant.max(1.0));
    }
    result
}

fn bytes(
    (array, strides): (&Array, &SmallVec<[f64; 4]>),
    rows: Option<f64>,
    scope: &Scope<'_>,
) -> Option<f64> {
    let Some(row) = strides.first() else { return Some(f64::from(array.element.size())) };
    let stated = array.extents.first()?.as_ref().map(|e| scope.linear(e).constant.max(1.0));
    let rows = stated.or(rows.filter(|r| (1.0..LARGEST).contains(r)))?;
    Some((row * rows).min(LARGEST))
}

/// The innermost extent that is no constant makes the stride in front of it one that is not known.
fn unknown_distance(array: &Array, strides: &[f64]) -> Option<f64> {
    let parametric = |e: &Option<Affine>| e.as_ref().is_none_or(|e| e.as_constant().is_none());
    let innermost = array.extents.iter().rposition(parametric)?;
    strides.get(innermost.checked_sub(1)?).copied()
}

fn parametric_row(array: &Array, strides: &[f64]) -> Option<ParametricRow> {
    let length = array.extents.last()?.clone()?;
    let told = length.as_constant().is_some();
    let bytes = *strides.get(array.rank().checked_sub(2)?)?;
    (!told).then_some(ParametricRow { length, bytes })
}
