//! What code may use of a machine: a function that is compiled for others too leaves part of it alone.

use super::StaticTarget;

/// Vectors of code, as its compilation was told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vectors {
    /// Bits of the widest that the compiler takes by itself.
    pub bits: u32,
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
        self.vector_bits = self.vector_bits.min(code.bits);
        self.datapath_bits = self.datapath_bits.min(self.vector_bits.max(1));
        if code.registers < self.vector_registers {
            // What has more registers has such products, too.
            self.vector_registers = code.registers;
            self.ops.vector_mul_64 = self.ops.vector_mul_64.max(WIDE_PRODUCT * self.ops.vector_integer);
        }
        self.masked_memory &= code.masked;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::{generic, znver5};
    use super::*;

    #[test]
    fn code_for_any_processor_has_short_vectors() {
        let plain = Vectors { bits: 128, registers: 16, masked: false };
        let machine = znver5().with_vectors(plain);
        assert_eq!((machine.vector_bits, machine.datapath_bits, machine.vector_registers), (128, 128, 16));
        assert!(!machine.masked_memory);
        // Nor does code make a machine greater.
        let wide = Vectors { bits: 512, registers: 32, masked: true };
        assert_eq!(generic().with_vectors(wide), generic());
    }
}
