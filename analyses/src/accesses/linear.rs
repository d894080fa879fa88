//! One dimension.

use super::{Accesses, ByteAccess, Grid, Scope, Shape};

/// Every array has one dimension: `a[i * n + j]` with a parameter `n` is not affine and may touch any element.
#[derive(Clone, Copy, Debug)]
pub struct Linear;

impl Accesses for Linear {
    fn describe(&self, scope: &mut dyn Scope, accesses: &[ByteAccess], element: u32) -> Shape {
        let grid = Grid::new(accesses, element);
        let one = |p: Option<crate::closed_forms::Poly>| p.filter(|p| scope.is_affine(p)).map(|p| vec![p]);
        let subscripts = grid.elements.into_iter().map(one).collect();
        Shape { offset: grid.remainder, extents: vec![None], subscripts }
    }
}
