//! Random kernels: machine code and the reference interpreter agree on every byte.

use super::harness::{Buffer, Compiled};
use loop_tree::arbitrary::{Choices, kernel, same_order};
use loop_tree::interp::{Layout, Memory, RunOptions, run};
use loop_tree::{ArrayId, Green, Kernel, ScalarType, Storage, text};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Runs a tree both ways and compares what anybody may see.
pub fn agree(
    kernel: &Kernel,
    root: &Green,
    params: &[i64],
    seed: u64,
    passes: Option<&str>,
) -> Result<bool, String> {
    let layout = Arc::new(Layout::disjoint(kernel, params, &|_| 8).map_err(|e| e.to_string())?);
    let mut memory = Memory::new(layout.clone());
    memory.fill(seed);
    let ids = || (0..kernel.arrays.len()).map(ArrayId::new);
    let mut buffers: Vec<Buffer> = ids().map(|a| Buffer::new(memory.array_bytes(a))).collect();
    run(kernel, root, &mut memory, &RunOptions::default()).map_err(|e| e.to_string())?;
    let compiled = Compiled::of(kernel, root, &[], &BTreeSet::new(), passes);
    if !compiled.call(params, &mut buffers) {
        return Ok(false);
    }
    for a in ids() {
        let array = kernel.array(a);
        let seen = matches!(array.storage, Storage::Memory | Storage::LiveOut);
        if seen && !same(array.element, buffers[a.index()].content(), memory.array_bytes(a)) {
            return Err(format!("{} differs\n{}", array.name, text::print_kernel(kernel)));
        }
    }
    Ok(true)
}

/// Equal bytes; any two NaNs are equal, as LLVM leaves their sign and payload open.
fn same(element: ScalarType, a: &[u8], b: &[u8]) -> bool {
    let nan = |bytes: &[u8]| match (element, bytes) {
        (ScalarType::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).is_nan(),
        (ScalarType::F64, bytes) => <[u8; 8]>::try_from(bytes).is_ok_and(|b| f64::from_le_bytes(b).is_nan()),
        _ => false,
    };
    let size = element.size() as usize;
    a.len() == b.len() && a.chunks(size).zip(b.chunks(size)).all(|(x, y)| x == y || nan(x) && nan(y))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_kernels_compute_what_the_interpreter_does(
        tape in prop::collection::vec(any::<u16>(), 0..200), n in 1_i64..7, m in 1_i64..7, seed: u64,
    ) {
        let mut choices = Choices::new(tape);
        let kernel = kernel(&mut choices);
        let other = same_order(&kernel, &mut choices);
        for (root, passes) in [(&kernel.original, None), (&kernel.original, Some("default<O3>")), (&other, Some("default<O3>"))] {
            let result = agree(&kernel, root, &[n, m], seed, passes);
            prop_assert_eq!(result.map_err(TestCaseError::fail)?, true);
        }
    }
}
