//! Dimensions from types.

use super::delinearise::by_strides;
use super::{Accesses, ByteAccess, Scope, Shape};
use crate::closed_forms::Poly;

/// Rows are those of the types that addresses step over, as of `double a[100][200]`; lengths known only when the program
/// runs are not in the types.
#[derive(Clone, Copy, Debug)]
pub struct FromTypes;

impl Accesses for FromTypes {
    fn describe(&self, scope: &mut dyn Scope, accesses: &[ByteAccess], element: u32) -> Shape {
        let mut strides: Vec<Poly> = Vec::new();
        for &size in accesses.iter().flat_map(|a| &a.sizes) {
            let Some(stride) = Poly::constant(size).divide_exact(i128::from(element)) else { continue };
            if stride.as_constant().is_some_and(|c| c > 1) && !strides.contains(&stride) {
                strides.push(stride);
            }
        }
        by_strides(scope, accesses, element, strides)
    }
}
