//! Buffers of the tree while it runs.

use super::InterpErrorKind;
use super::compile::{Accessed, BufferCode, StatementCode, WindowCode};
use super::memory::garbage;
use crate::{ArrayId, OpId, ScalarType, StmtId};
use std::sync::Arc;

/// Elements of one buffer at most.
const MAX_ELEMENTS: i64 = 1 << 26;

/// The buffers in effect, by array, outermost first.
#[derive(Default)]
pub(super) struct Frames(Vec<(ArrayId, Frame)>);

/// One buffer.
pub(super) struct Frame {
    code: Arc<BufferCode>,
    /// Values of the variables in scope where it was entered.
    slots: Vec<i64>,
    bits: Vec<u64>,
}

impl Frames {
    /// The buffer that accesses of the array go to.
    pub fn of(&mut self, array: ArrayId) -> Option<&mut Frame> {
        self.0.iter_mut().rev().find(|(a, _)| *a == array).map(|(_, frame)| frame)
    }

    /// The operations of a statement whose values are in buffers, each with the one that loads them.
    pub fn computed(&mut self, id: StmtId, code: &StatementCode) -> Vec<(OpId, OpId)> {
        let mut result = Vec::new();
        if self.0.is_empty() {
            return result;
        }
        for access in &code.accesses {
            let by = self.of(access.array).and_then(|frame| frame.code.by.as_ref());
            if let Some(by) = by.filter(|by| by.id == id) {
                result.extend(by.derived.chain.iter().map(|op| (*op, by.derived.load)));
            }
        }
        result
    }

    pub fn push(
        &mut self,
        code: &Arc<BufferCode>,
        ty: ScalarType,
        slots: &[i64],
    ) -> Result<(), InterpErrorKind> {
        let len = code.dims.iter().try_fold(1i64, |len, (_, extent)| len.checked_mul(*extent));
        let Some(len) = len.filter(|len| (0..=MAX_ELEMENTS).contains(len)) else {
            return Err(InterpErrorKind::TooLarge(MAX_ELEMENTS as usize));
        };
        let bits = vec![garbage(ty.size()); len as usize];
        let frame = Frame { code: code.clone(), slots: slots.to_vec(), bits };
        self.0.push((code.array, frame));
        Ok(())
    }

    /// The innermost one, which is over.
    pub fn pop(&mut self) -> Option<Frame> {
        self.0.pop().map(|(_, frame)| frame)
    }

    /// One that is not over after all, or filled now.
    pub fn put(&mut self, frame: Frame) {
        self.0.push((frame.code.array, frame));
    }
}

impl Frame {
    /// The element with these subscripts and, from the rank on, dims of the instance.
    pub fn element(&mut self, index: impl Iterator<Item = i64>) -> Result<&mut u64, InterpErrorKind> {
        for (slot, value) in self.code.index.iter().zip(index) {
            self.slots[*slot] = value;
        }
        let mut place = 0usize;
        for (dimension, (e, extent)) in self.code.dims.iter().enumerate() {
            let subscript = e.eval(&self.slots)?;
            if subscript < 0 || subscript >= *extent {
                let array = format!("buffer of {}", self.code.name);
                return Err(InterpErrorKind::OutOfBounds { array, dimension, subscript, extent: *extent });
            }
            place = place * *extent as usize + subscript as usize;
        }
        Ok(&mut self.bits[place])
    }

    /// The element that an access touches.
    pub fn accessed(
        &mut self,
        a: &Accessed,
        dims: &[usize],
        slots: &[i64],
    ) -> Result<&mut u64, InterpErrorKind> {
        let mut index = Vec::with_capacity(self.code.index.len());
        for e in a.subscripts.iter().flatten() {
            index.push(e.eval(slots)?);
        }
        index.extend(dims.iter().map(|slot| slots[*slot]));
        self.element(index.into_iter())
    }
}

impl WindowCode {
    /// Calls `f` with the subscripts of each element of a window, in the array's order.
    pub fn for_each(
        &self,
        slots: &[i64],
        f: &mut dyn FnMut(&[i64]) -> Result<(), InterpErrorKind>,
    ) -> Result<(), InterpErrorKind> {
        let ranges = self.0.iter().map(|r| r.eval(slots)).collect::<Result<Vec<_>, _>>()?;
        if ranges.iter().any(std::ops::Range::is_empty) {
            return Ok(());
        }
        let mut point: Vec<i64> = ranges.iter().map(|r| r.start).collect();
        loop {
            f(&point)?;
            let Some(k) = (0..point.len()).rev().find(|k| point[*k] + 1 < ranges[*k].end) else {
                return Ok(());
            };
            point[k] += 1;
            (k + 1..point.len()).for_each(|inner| point[inner] = ranges[inner].start);
        }
    }
}
