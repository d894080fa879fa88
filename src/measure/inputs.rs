//! Generated arguments: buffers with canaries around them, and what a call left in them.

use super::{MeasureError, show};
use loop_tree::ScalarType;

/// One argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentSpec {
    /// An integer of any width.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A buffer of its own.
    Pointer {
        /// For messages.
        name: String,
        /// What it holds.
        element: ScalarType,
        /// Bytes in front of the pointer.
        before: usize,
        /// Bytes from the pointer on.
        after: usize,
        /// Whether its contents after the call matter.
        observed: bool,
    },
}

/// How a function is called.
#[derive(Clone, Debug, PartialEq)]
pub struct CallSetup {
    /// Its arguments.
    pub arguments: Vec<ArgumentSpec>,
    /// Of the contents of buffers; equal seeds give equal contents.
    pub seed: u64,
    /// Other parts of the program that the function needs. Functions that it does not need need not be there either.
    pub others: Vec<Part>,
}

impl CallSetup {
    /// The arguments, for messages.
    pub(super) fn shown(&self) -> String {
        let one = |argument: &ArgumentSpec| match argument {
            ArgumentSpec::Int(value) => value.to_string(),
            ArgumentSpec::Float(value) => value.to_string(),
            ArgumentSpec::Pointer { name, .. } => name.clone(),
        };
        let all: Vec<String> = self.arguments.iter().map(one).collect();
        if all.is_empty() { "no arguments".to_owned() } else { format!("({})", all.join(", ")) }
    }
}

/// A part of a program besides the module of the function.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// IR or bitcode with its name. Its variables are compared as those of the module itself.
    Ir(String, Vec<u8>),
    /// An object file for this machine. Its variables start with what they hold in the file, and are not compared.
    Object(Vec<u8>),
}

/// Name of the result in comparisons.
pub(super) const RESULT: &str = "the result";

/// Bytes on each side of a buffer that nobody may write.
const CANARY: usize = 4096;
const CANARY_BYTE: u8 = 0xa5;
/// Buffers begin at multiples of this.
const ALIGNMENT: usize = 64;

struct Buffer {
    name: String,
    element: ScalarType,
    observed: bool,
    bytes: Vec<u8>,
    /// Where the contents begin in `bytes`.
    start: usize,
    before: usize,
    initial: Vec<u8>,
}

impl Buffer {
    fn contents(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.initial.len()]
    }

    /// Offset from the pointer of a byte next to the contents that has changed.
    fn trespass(&self) -> Option<i64> {
        let end = self.start + self.initial.len();
        let outside = |range: std::ops::Range<usize>| {
            self.bytes[range.clone()].iter().position(|b| *b != CANARY_BYTE).map(|at| range.start + at)
        };
        let at = outside(0..self.start).or_else(|| outside(end..self.bytes.len()))?;
        Some(at as i64 - (self.start + self.before) as i64)
    }
}

enum Argument {
    Bits(u64),
    Buffer(usize),
}

/// The arguments of a call. Floating-point arguments need the width that the function takes: see [`Memory::slots`].
pub(super) struct Memory {
    buffers: Vec<Buffer>,
    arguments: Vec<Argument>,
}

impl Memory {
    pub(super) fn new(setup: &CallSetup, limit: usize) -> Result<Memory, MeasureError> {
        let bytes_of = |a: &ArgumentSpec| match a {
            ArgumentSpec::Pointer { before, after, .. } => *before as u128 + *after as u128,
            _ => 0,
        };
        // Twice: the contents and what they were.
        let bytes = 2 * setup.arguments.iter().map(bytes_of).sum::<u128>();
        if bytes > limit as u128 {
            return Err(MeasureError::TooLarge { bytes, limit });
        }
        let mut memory = Memory { buffers: Vec::new(), arguments: Vec::new() };
        let mut random = Random::new(setup.seed);
        for argument in &setup.arguments {
            memory.arguments.push(match argument {
                ArgumentSpec::Int(v) => Argument::Bits(*v as u64),
                ArgumentSpec::Float(v) => Argument::Bits(v.to_bits()),
                ArgumentSpec::Pointer { name, element, before, after, observed } => {
                    let before = before.next_multiple_of(ALIGNMENT);
                    let len = before + after;
                    let mut bytes = vec![CANARY_BYTE; len + 2 * CANARY + ALIGNMENT];
                    let start = CANARY + (bytes.as_ptr() as usize + CANARY).wrapping_neg() % ALIGNMENT;
                    let initial = random.contents(*element, len);
                    bytes[start..start + len].copy_from_slice(&initial);
                    memory.buffers.push(Buffer {
                        name: name.clone(),
                        element: *element,
                        observed: *observed,
                        bytes,
                        start,
                        before,
                        initial,
                    });
                    Argument::Buffer(memory.buffers.len() - 1)
                }
            });
        }
        Ok(memory)
    }

    /// Contents as they were at first.
    pub(super) fn restore(&mut self) {
        for buffer in &mut self.buffers {
            let end = buffer.start + buffer.initial.len();
            buffer.bytes[buffer.start..end].copy_from_slice(&buffer.initial);
        }
    }

    /// The slots that a trampoline reads, with one behind them for the result. `single[i]`: argument `i` is a `float`.
    pub(super) fn slots(&mut self, single: &[bool]) -> Vec<u64> {
        let mut slots = Vec::with_capacity(self.arguments.len() + 1);
        for (index, argument) in self.arguments.iter().enumerate() {
            slots.push(match argument {
                Argument::Bits(bits) if single.get(index) == Some(&true) => {
                    u64::from((f64::from_bits(*bits) as f32).to_bits())
                }
                Argument::Bits(bits) => *bits,
                Argument::Buffer(at) => {
                    let buffer = &mut self.buffers[*at];
                    buffer.bytes[buffer.start + buffer.before..].as_mut_ptr() as u64
                }
            });
        }
        slots.push(0);
        slots
    }

    /// What is in the buffers now.
    pub(super) fn contents(&self, label: &str) -> Result<Outcome, MeasureError> {
        let mut outcome = Outcome::default();
        for buffer in &self.buffers {
            if let Some(offset) = buffer.trespass() {
                let (label, array) = (label.to_owned(), buffer.name.clone());
                return Err(MeasureError::OutOfBounds { label, array, offset });
            }
            if buffer.observed {
                outcome.add(&buffer.name, buffer.element, buffer.before, buffer.contents().to_vec());
            }
        }
        Ok(outcome)
    }
}

struct Observed {
    name: String,
    element: ScalarType,
    before: usize,
    bytes: Vec<u8>,
}

/// All memory that a call could change.
#[derive(Default)]
pub(super) struct Outcome {
    parts: Vec<Observed>,
}

impl Outcome {
    pub(super) fn add(&mut self, name: &str, element: ScalarType, before: usize, bytes: Vec<u8>) {
        self.parts.push(Observed { name: name.to_owned(), element, before, bytes });
    }

    /// The first difference is an error. Parts are compared in order: buffers, the result, globals.
    pub(super) fn compare(&self, other: &Outcome, label: &str) -> Result<(), MeasureError> {
        self.parts.iter().try_for_each(|part| part.compare(other, label))
    }

    /// Compares only the result.
    pub(super) fn compare_result(&self, other: &Outcome, label: &str) -> Result<(), MeasureError> {
        self.parts.iter().filter(|p| p.name == RESULT).try_for_each(|part| part.compare(other, label))
    }
}

impl Observed {
    fn compare(&self, other: &Outcome, label: &str) -> Result<(), MeasureError> {
        let found = other.parts.iter().find(|p| p.name == self.name);
        let found = found.map_or(&[][..], |p| &p.bytes);
        if self.bytes == found {
            return Ok(());
        }
        let size = self.element.size() as usize;
        let differs = self.bytes.iter().zip(found).position(|(a, b)| a != b);
        let at = differs.unwrap_or(found.len().min(self.bytes.len())) / size * size;
        let value = |bytes: &[u8]| {
            bytes.get(at..).map_or("missing".to_owned(), |b| show(self.element, &b[..b.len().min(size)]))
        };
        Err(MeasureError::Mismatch {
            label: label.to_owned(),
            array: self.name.clone(),
            index: (at as i64 - self.before as i64) / size as i64,
            original: value(&self.bytes),
            variant: value(found),
        })
    }
}

/// A deterministic stream of sensible numbers.
pub(super) struct Random {
    state: u64,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Random { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1) }
    }

    /// splitmix64
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Floating-point numbers in [1, 2), every fourth one in (-2, -1] instead: no cancellation to zero, no denormal
    /// numbers, rounding in every sum. Integers from 0 to 3.
    pub(super) fn contents(&mut self, element: ScalarType, len: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(len + 8);
        while bytes.len() < len {
            let bits = self.next();
            let negative = bits & 3 == 0;
            match element {
                ScalarType::F64 => {
                    let one_to_two = f64::from_bits(0x3ff0_0000_0000_0000 | bits >> 12);
                    bytes.extend(if negative { -one_to_two } else { one_to_two }.to_le_bytes());
                }
                ScalarType::F32 => {
                    let one_to_two = f32::from_bits(0x3f80_0000 | (bits >> 41) as u32);
                    bytes.extend(if negative { -one_to_two } else { one_to_two }.to_le_bytes());
                }
                ScalarType::I1 => bytes.push((bits >> 8) as u8 & 1),
                int => bytes.extend(&((bits >> 8) & 3).to_le_bytes()[..int.size() as usize]),
            }
        }
        bytes.truncate(len);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(bytes: usize) -> CallSetup {
        let pointer = ArgumentSpec::Pointer {
            name: "A".into(),
            element: ScalarType::F64,
            before: 8,
            after: bytes,
            observed: true,
        };
        let arguments = vec![ArgumentSpec::Int(-1), ArgumentSpec::Float(0.5), pointer];
        CallSetup { arguments, seed: 3, others: Vec::new() }
    }

    #[test]
    fn contents_are_deterministic_and_writes_beside_them_are_noticed() {
        let mut memory = Memory::new(&setup(80), 1 << 20).unwrap();
        let other = Memory::new(&setup(80), 1 << 20).unwrap();
        let contents = memory.contents("x").unwrap();
        contents.compare(&other.contents("y").unwrap(), "y").unwrap();
        let slots = memory.slots(&[false, true, false]);
        assert_eq!(slots[..2], [u64::MAX, u64::from(0.5_f32.to_bits())]);
        assert_eq!(slots[2] % ALIGNMENT as u64, 0);

        let buffer = &mut memory.buffers[0];
        let pointer = buffer.start + buffer.before;
        buffer.bytes[pointer + 24] ^= 1;
        let error = contents.compare(&memory.contents("x").unwrap(), "x").unwrap_err();
        assert!(matches!(&error, MeasureError::Mismatch { index: 3, .. }), "{error}");
        memory.restore();
        contents.compare(&memory.contents("x").unwrap(), "x").unwrap();
        memory.buffers[0].bytes[pointer + 80] ^= 1;
        assert!(matches!(memory.contents("x"), Err(MeasureError::OutOfBounds { offset: 80, .. })));
    }

    #[test]
    fn memory_is_bounded() {
        assert!(matches!(Memory::new(&setup(1 << 40), 1 << 20), Err(MeasureError::TooLarge { .. })));
    }
}
