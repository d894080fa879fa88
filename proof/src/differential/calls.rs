//! Calling compiled functions on blocks of memory.

use super::isolate::{Outcome, isolated};
use crate::c_programs::scenario::{Scenario, settle};
use crate::c_programs::{Element, Fitted};
use std::ffi::c_void;
use xxhash_rust::xxh3::xxh3_64;

/// `run_<number>` of the text of a function.
pub type RunFunction = unsafe extern "C" fn(*const i64, *const *mut c_void, *mut c_void);

/// A function that is compiled, and what counts how often its new code ran.
#[derive(Clone, Copy, Debug)]
pub struct Compiled {
    /// The function.
    pub run: RunFunction,
    /// Its counter, a `long`.
    pub taken: *const i64,
}

/// All calls of all functions of a batch.
pub struct Calls<'a> {
    list: Vec<(usize, &'a Scenario, Element)>,
    largest: usize,
}

/// Highest bit of a [`Outcome::Value`]: new code ran during the call.
pub const TAKEN: u64 = 1 << 63;

impl<'a> Calls<'a> {
    /// The calls, function by function.
    pub fn new(functions: &[Fitted], scenarios: &'a [Vec<Scenario>]) -> Self {
        let mut list = Vec::new();
        for (number, (fitted, scenarios)) in functions.iter().zip(scenarios).enumerate() {
            let f = &fitted.function;
            let result = f.result.and_then(|s| f.scalars.get(s)).map(|s| s.ty);
            let result = result.unwrap_or(Element::Int(crate::c_programs::IntType::I64));
            list.extend(scenarios.iter().map(|s| (number, s, result)));
        }
        let largest = list.iter().map(|(_, s, _)| s.size).max().unwrap_or(0);
        Calls { list, largest }
    }

    /// Function and scenario of each call.
    pub fn list(&self) -> impl Iterator<Item = (usize, &'a Scenario)> {
        self.list.iter().map(|(number, s, _)| (*number, *s))
    }

    /// Makes all calls in a child process. Each value is a hash of memory, result and side effects, with `TAKEN` apart;
    /// functions that are not there give 0.
    pub fn run(&self, functions: &[Option<Compiled>]) -> std::io::Result<Vec<Outcome>> {
        let words = self.largest.div_ceil(64) * 8 + 8;
        let work = |at: usize| {
            let (number, scenario, result) = self.list[at];
            let Some(compiled) = functions.get(number).copied().flatten() else { return 0 };
            let mut block: Vec<u64> = vec![0; words];
            let shift = block.as_ptr().align_offset(64).min(8);
            // SAFETY: the words behind the shift, seen as bytes.
            let block = unsafe {
                let start = block.as_mut_ptr().add(shift).cast::<u8>();
                std::slice::from_raw_parts_mut(start, (words - shift) * 8)
            };
            hash(compiled, scenario, result, &mut block[..scenario.size])
        };
        isolated(self.list.len(), 10, &work)
    }
}

fn hash(compiled: Compiled, scenario: &Scenario, result: Element, block: &mut [u8]) -> u64 {
    scenario.fill(block);
    let start = block.as_mut_ptr();
    let pointers: Vec<*mut c_void> =
        scenario.pointers.iter().map(|p| start.wrapping_offset(*p as isize).cast()).collect();
    let mut returned = [0u8; 16];
    // SAFETY: the counter is a global of the compiled module; the function touches what its scenario was made for. A wrong
    // function may touch anything, which is why this runs in a child process.
    let taken = unsafe {
        let before = compiled.taken.as_ref().map(|_| compiled.taken.read_volatile());
        (compiled.run)(scenario.params.as_ptr(), pointers.as_ptr(), returned.as_mut_ptr().cast());
        before.is_some_and(|b| compiled.taken.read_volatile() != b)
    };
    scenario.settle(block);
    settle(&mut returned[..result.size()], result);
    let value = xxh3_64(block).wrapping_mul(3) ^ xxh3_64(&returned);
    (value & !TAKEN) | if taken { TAKEN } else { 0 }
}
