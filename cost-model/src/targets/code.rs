//! What code may use of a machine: a function that is compiled for others too leaves part of it alone.

use super::StaticTarget;

/// Vectors of code, as its compilation was told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vectors {
    /// Bits of the widest that the compiler takes by itself.
    pub bits: u32,
    /// Bits of the widest that new code may ask it for.
    pub widest: u32,
    /// Registers.
    pub registers: u32,
    /// Whether lanes are loaded and stored under a mask.
    pub masked: bool,
}

/// Instructions that make products of 64 bits from three of 32: those, and what shifts and adds them.
const WIDE_PRODUCT: f64 = 8.0;

impl StaticTarget {
    /// The machine as far as the code uses it.
    pub fn with_vectors(mut self, code: Vectors) -> Self {
        if let Some(widened) = self.widened().filter(|target| code.bits >= target.vector_bits) {
            self = widened;
        }
        self.vector_bits = self.vector_bits.min(code.bits);
        self.wide = self.wide.filter(|wide| (self.vector_bits + 1..=code.widest).contains(&wide.bits));
        self.datapath_bits = self.datapath_bits.min(self.widest().max(1));
        if code.registers < self.vector_registers {
            // What has more registers has such products, too.
            self.vector_registers = code.registers;
            self.ops.vector_mul_64 = self.ops.vector_mul_64.max(WIDE_PRODUCT * self.ops.vector_integer);
        }
        self.masked_memory &= code.masked;
        self
    }

    /// Bits of the widest vectors that new code has.
    fn widest(&self) -> u32 {
        self.wide.map_or(self.vector_bits, |wide| wide.bits)
    }

    /// The machine as code uses it that asks for its wide vectors; `None` where it has no wider ones than code has by itself.
    pub(super) fn widened(&self) -> Option<Self> {
        let wide = self.wide?;
        let mut target = StaticTarget { vector_bits: wide.bits, wide: None, ..self.clone() };
        target.vector_pipes = wide.vector_pipes;
        (target.ops.vector_integer, target.ops.vector_division) = (wide.vector_integer, wide.vector_division);
        Some(target)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{generic, sapphire_rapids, znver5};
    use super::*;

    #[test]
    fn code_for_any_processor_has_short_vectors() {
        let plain = Vectors { bits: 128, widest: 128, registers: 16, masked: false };
        let machine = znver5().with_vectors(plain);
        assert_eq!((machine.vector_bits, machine.datapath_bits, machine.vector_registers), (128, 128, 16));
        assert!(!machine.masked_memory);
        // Nor does code make a machine greater.
        let wide = Vectors { bits: 512, widest: 512, registers: 32, masked: true };
        assert_eq!(generic().with_vectors(wide), generic());
    }

    #[test]
    fn new_code_has_the_wide_vectors_of_the_machine_unless_code_says_how_wide_they_are() {
        let of = |bits, widest| {
            sapphire_rapids().with_vectors(Vectors { bits, widest, registers: 32, masked: true })
        };
        let bits = |target: &StaticTarget| (target.vector_bits, target.widened().map(|t| t.vector_bits));
        assert_eq!(bits(&of(256, 512)), (256, Some(512)));
        assert_eq!(bits(&of(256, 256)), (256, None));
        assert_eq!(bits(&of(512, 512)), (512, None));
        assert_eq!(of(256, 512).widened().map(|t| t.datapath_bits), Some(512));
        assert_eq!(bits(&znver5()), (512, None));
    }
}
