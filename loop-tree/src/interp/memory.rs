//! Arrays as views of one block of bytes.

use super::{InterpError, InterpErrorKind, check_parameters};
use crate::{ArrayId, Kernel, ScalarType, Storage};
use std::sync::Arc;

/// Bytes of memory at most.
const MAX_BYTES: usize = 1 << 31;

/// Where each array lies, and its extents, for given parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    pub(super) params: Vec<i64>,
    pub(super) arrays: Vec<Placement>,
    bytes: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Placement {
    pub name: Arc<str>,
    pub element: ScalarType,
    pub storage: Storage,
    pub extents: Vec<i64>,
    pub base: usize,
    pub bytes: usize,
}

impl Layout {
    /// Arrays one after the other, each on a boundary of 64 bytes. `unknown`: the outermost extent of an array where
    /// the kernel does not know it.
    pub fn disjoint(
        kernel: &Kernel,
        params: &[i64],
        unknown: &dyn Fn(ArrayId) -> i64,
    ) -> Result<Layout, InterpError> {
        check_parameters(kernel, params)?;
        let mut layout = Layout { params: params.to_vec(), arrays: Vec::new(), bytes: 0 };
        for (index, a) in kernel.arrays.iter().enumerate() {
            let bad = || InterpError::from(InterpErrorKind::Extent(a.name.to_string()));
            let mut bytes = a.element.size() as usize;
            let mut extents = Vec::with_capacity(a.rank());
            for e in &a.extents {
                let extent = match e {
                    Some(e) => e.eval(&|_| None, &|p| params.get(p.index()).copied()),
                    None => Some(unknown(ArrayId::new(index))),
                };
                let extent = extent.filter(|e| *e >= 0).ok_or_else(bad)?;
                extents.push(extent);
                bytes = usize::try_from(extent)
                    .ok()
                    .and_then(|e| bytes.checked_mul(e))
                    .filter(|b| *b <= MAX_BYTES)
                    .ok_or(InterpErrorKind::TooLarge(MAX_BYTES))?;
            }
            let base = layout.bytes;
            layout.bytes = (base + bytes).next_multiple_of(64);
            if layout.bytes > MAX_BYTES {
                return Err(InterpErrorKind::TooLarge(MAX_BYTES).into());
            }
            layout.arrays.push(Placement {
                name: a.name.clone(),
                element: a.element,
                storage: a.storage,
                extents,
                base,
                bytes,
            });
        }
        Ok(layout)
    }

    /// The same with one array at another place: `offset` bytes after the start of another array. `None` if that is
    /// before the start of memory, or there is no such array.
    pub fn placed(mut self, array: ArrayId, at: ArrayId, offset: i64) -> Option<Layout> {
        let base = i64::try_from(self.arrays.get(at.index())?.base).ok()?.checked_add(offset)?;
        let base = usize::try_from(base).ok()?;
        let place = self.arrays.get_mut(array.index())?;
        let end = base.checked_add(place.bytes).filter(|e| *e <= MAX_BYTES)?;
        place.base = base;
        self.bytes = self.bytes.max(end);
        Some(self)
    }

    /// Values of the parameters.
    pub fn params(&self) -> &[i64] {
        &self.params
    }

    /// Extents of an array.
    pub fn extents(&self, array: ArrayId) -> &[i64] {
        &self.arrays[array.index()].extents
    }

    /// First byte of an array, and their number.
    pub fn range(&self, array: ArrayId) -> std::ops::Range<usize> {
        let a = &self.arrays[array.index()];
        a.base..a.base + a.bytes
    }

    /// Whether two arrays share bytes.
    pub fn overlaps(&self, a: ArrayId, b: ArrayId) -> bool {
        let (a, b) = (self.range(a), self.range(b));
        !a.is_empty() && !b.is_empty() && a.start < b.end && b.start < a.end
    }

    /// First byte of an element; `None` if a subscript is outside or their number is wrong.
    pub fn address(&self, array: ArrayId, subscripts: &[i64]) -> Option<usize> {
        let a = self.arrays.get(array.index())?;
        if subscripts.len() != a.extents.len() {
            return None;
        }
        self.checked_address(array, subscripts).ok()
    }

    /// The same, saying what is wrong; with as many subscripts as the array has dimensions.
    pub(super) fn checked_address(
        &self,
        array: ArrayId,
        subscripts: &[i64],
    ) -> Result<usize, InterpErrorKind> {
        let a = &self.arrays[array.index()];
        let mut element = 0usize;
        for (dimension, (&subscript, &extent)) in subscripts.iter().zip(&a.extents).enumerate() {
            if subscript < 0 || subscript >= extent {
                let array = a.name.to_string();
                return Err(InterpErrorKind::OutOfBounds { array, dimension, subscript, extent });
            }
            element = element * extent as usize + subscript as usize;
        }
        Ok(a.base + element * a.element.size() as usize)
    }

    /// The address of an element by its number, row-major.
    pub(super) fn numbered_address(&self, array: ArrayId, number: i64) -> Result<usize, InterpErrorKind> {
        let a = &self.arrays[array.index()];
        let count: i64 = a.extents.iter().product();
        if number < 0 || number >= count {
            let array = a.name.to_string();
            return Err(InterpErrorKind::OutOfBounds {
                array,
                dimension: 0,
                subscript: number,
                extent: count,
            });
        }
        Ok(a.base + number as usize * a.element.size() as usize)
    }
}

/// Bytes, and where the arrays lie in them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Memory {
    pub(super) layout: Arc<Layout>,
    pub(super) bytes: Vec<u8>,
}

/// What temporary storage holds before it is written: no value that anything computes by chance.
const GARBAGE: u8 = 0xaa;

/// Bits of an element of so many bytes that nothing has set.
pub(super) fn garbage(size: u32) -> u64 {
    u64::from_le_bytes([GARBAGE; 8]) >> (64 - 8 * size)
}

impl Memory {
    /// All zero, temporary arrays filled with garbage.
    pub fn new(layout: impl Into<Arc<Layout>>) -> Memory {
        let layout = layout.into();
        let mut memory = Memory { bytes: vec![0; layout.bytes], layout };
        for a in &memory.layout.arrays {
            if a.storage == Storage::Local {
                memory.bytes[a.base..a.base + a.bytes].fill(GARBAGE);
            }
        }
        memory
    }

    /// The layout.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// Fills all arrays but temporary ones with numbers that depend on the seed: integers from 0 to 16, floats between
    /// 0.5 and 9.5 whose sums round.
    pub fn fill(&mut self, seed: u64) {
        let layout = self.layout.clone();
        for (index, a) in layout.arrays.iter().enumerate() {
            if a.storage == Storage::Local {
                continue;
            }
            let size = a.element.size() as usize;
            for element in 0..a.bytes / size {
                let key = [seed.to_le_bytes(), (index as u64).to_le_bytes(), (element as u64).to_le_bytes()];
                let h = xxhash_rust::xxh3::xxh3_64(key.as_flattened());
                let bits = match a.element {
                    ScalarType::I1 => h & 1,
                    ScalarType::F32 => u64::from((0.5 + (h % 9973) as f32 / 1109.0).to_bits()),
                    ScalarType::F64 => (0.5 + (h % 999_983) as f64 / 111_109.0).to_bits(),
                    _ => h % 17,
                };
                self.store(a.base + element * size, size, bits);
            }
        }
    }

    pub(super) fn load(&self, address: usize, size: usize) -> u64 {
        let mut word = [0; 8];
        word[..size].copy_from_slice(&self.bytes[address..address + size]);
        u64::from_le_bytes(word)
    }

    pub(super) fn store(&mut self, address: usize, size: usize, bits: u64) {
        self.bytes[address..address + size].copy_from_slice(&bits.to_le_bytes()[..size]);
    }

    /// Bits of an element; `None` outside of the array.
    pub fn get(&self, array: ArrayId, subscripts: &[i64]) -> Option<u64> {
        let address = self.layout.address(array, subscripts)?;
        Some(self.load(address, self.layout.arrays[array.index()].element.size() as usize))
    }

    /// Sets the bits of an element; false outside of the array.
    pub fn set(&mut self, array: ArrayId, subscripts: &[i64], bits: u64) -> bool {
        let Some(address) = self.layout.address(array, subscripts) else { return false };
        let size = self.layout.arrays[array.index()].element.size() as usize;
        self.store(address, size, bits);
        true
    }

    /// Bytes of an array, elements in row-major order, little-endian.
    pub fn array_bytes(&self, array: ArrayId) -> &[u8] {
        &self.bytes[self.layout.range(array)]
    }

    /// Checksum of what is visible afterwards: memory and live-out scalars.
    pub fn bits(&self) -> u128 {
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        for a in &self.layout.arrays {
            if matches!(a.storage, Storage::Memory | Storage::LiveOut) {
                hasher.update(&self.bytes[a.base..a.base + a.bytes]);
            }
        }
        hasher.digest128()
    }
}
