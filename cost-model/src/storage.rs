//! Buffers: small arrays with strides of their own, and the copies that fill them and write them back.

use crate::linear::{Binding, Scope};
use crate::lower::{Around, Touch, Walk};
use crate::trip_counts::{LARGEST, Samples};
use loop_tree::{
    Access, AccessKind, Affine, Atom, Bounds, Buffer, Green, Home, LoopHeader, LoopKind, StmtId, VarId,
    Window,
};
use smallvec::SmallVec;
use std::sync::Arc;

/// A buffer in effect.
pub(crate) struct Frame {
    pub buffer: Arc<Buffer>,
    /// Bytes from one element of a dimension to the next.
    strides: SmallVec<[f64; 4]>,
    /// Binders around it.
    depth: usize,
    /// Among all buffers of the tree.
    number: usize,
}

/// A copy between an array, or a buffer around, and a buffer.
#[derive(Clone, std::marker::Copy)]
pub(crate) struct Copy {
    pub array: usize,
    frame: usize,
    into: bool,
}

/// Elements of a window in registers that are copied one by one.
const UNROLLED: i64 = 64;

impl Walk<'_> {
    /// The child of a buffer's node, with the copies around it.
    pub fn buffer(
        &mut self,
        buffer: &Arc<Buffer>,
        body: &Green,
        parent: Option<usize>,
        samples: &Samples,
        around: Around,
    ) {
        let array = buffer.array.index();
        let mut bytes = self.facts.kernel.arrays.get(array).map_or(8.0, |a| f64::from(a.element.size()));
        let mut strides = SmallVec::from_elem(0.0, buffer.dims.len());
        for (stride, dim) in strides.iter_mut().zip(&buffer.dims).rev() {
            *stride = bytes;
            bytes = (bytes * self.scope.linear(&dim.extent).constant.max(1.0)).min(LARGEST);
        }
        let number = self.out.buffers.len();
        self.out.buffers.push((array, bytes));
        let (frame, depth) = (self.frames.len(), self.scope.vars.len());
        self.frames.push(Frame { buffer: buffer.clone(), strides, depth, number });
        let copy = |walk: &mut Self, window: &Option<Window>, into: bool| {
            if let Some(window) = window {
                walk.copying = Some(Copy { array, frame, into });
                walk.node(&copies(buffer, window), parent, samples, around);
                walk.copying = None;
            }
        };
        copy(self, &buffer.fill, true);
        self.node(body, parent, samples, around);
        copy(self, &buffer.write_back, false);
        self.frames.pop();
    }

    /// Where a copy reads, and where it writes.
    pub fn copied(&self, copy: Copy) -> SmallVec<[Touch; 4]> {
        let Copy { frame, into, .. } = copy;
        let array = self.frames[frame].buffer.array;
        let rank = self.facts.kernel.array(array).rank();
        let index: Vec<Affine> = (0..rank).map(|k| Affine::var(Buffer::index(k))).collect();
        let inside = self.in_buffer(frame, Some(&index), &[], into);
        let outside = match self.frames[..frame].iter().rposition(|f| f.buffer.array == array) {
            Some(outer) => self.in_buffer(outer, Some(&index), &[], !into),
            None => self.in_array(&Access { array, subscripts: Some(index), kind: AccessKind::Read }, !into),
        };
        if into { smallvec::smallvec![outside, inside] } else { smallvec::smallvec![inside, outside] }
    }

    /// What an access with these subscripts, of an instance with these dims, touches in a buffer.
    pub fn in_buffer(
        &self,
        frame: usize,
        subscripts: Option<&[Affine]>,
        dims: &[VarId],
        write: bool,
    ) -> Touch {
        let Frame { buffer, strides, depth, number } = &self.frames[frame];
        let element = &self.facts.kernel.array(buffer.array).element;
        let address = subscripts.and_then(|subscripts| {
            // The buffer's subscripts speak of the scope around it, the access's of its own.
            let dims = dims.iter().take(buffer.instance_dims).map(|v| Affine::var(*v));
            let index = subscripts.iter().cloned().chain(dims).enumerate().map(|(k, e)| Binding {
                var: Buffer::index(k),
                value: self.scope.of_values(&e),
                iteration: self.scope.linear(&e),
            });
            let vars = self.scope.vars[..*depth].iter().cloned().chain(index).collect();
            let scope = Scope { params: self.scope.params, vars };
            let mut sum = crate::linear::Linear::default();
            for (dim, stride) in buffer.dims.iter().zip(strides) {
                // Windows that the innermost loop walks around have no stride.
                if self.innermost().is_some_and(|depth| walks_around(&scope, &dim.subscript, depth)) {
                    return None;
                }
                sum.add_scaled(&scope.linear(&dim.subscript), *stride);
            }
            Some(sum)
        });
        Touch {
            array: self.facts.kernel.arrays.len() + number,
            address,
            write,
            bytes: f64::from(element.size()),
            private: buffer.home == Home::Registers,
            carried: false,
        }
    }
}

/// Whether a floor division moves with the loop at a depth.
fn walks_around(scope: &Scope<'_>, e: &Affine, depth: usize) -> bool {
    e.terms().iter().any(|(atom, _)| match atom {
        Atom::Div(d) => {
            scope.linear(&d.numerator).coefficient(depth) != 0.0 || walks_around(scope, &d.numerator, depth)
        }
        _ => false,
    })
}

/// A nest over the window around a leaf that stands for the copy. Few elements in registers are copied one by one.
fn copies(buffer: &Buffer, window: &Window) -> Green {
    let header = |k: usize| LoopHeader {
        var: Buffer::index(k),
        bounds: Bounds::Affine { lower: window.0[k].lower.clone(), upper: window.0[k].upper.clone() },
        step: 1,
        kind: LoopKind::Sequential,
    };
    let headers: Vec<LoopHeader> = (0..window.0.len()).map(header).collect();
    let elements =
        headers.iter().try_fold(1_i64, |product, h| product.checked_mul(h.constant_trip_count()?.max(1)));
    let unrolled = buffer.home == Home::Registers && elements.is_some_and(|e| e <= UNROLLED);
    headers.into_iter().rev().fold(Green::stmt(StmtId(0), Arc::new([])), |body, header| {
        match header.constant_trip_count().filter(|_| unrolled) {
            Some(count) => {
                let first = header.lower()[0].clone();
                Green::seq((0..count).map(|n| Green::bind(header.var, first.offset(n), body.clone())))
            }
            None => Green::for_loop(header, body),
        }
    })
}
