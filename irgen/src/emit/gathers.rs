//! Processors on which LLVM takes gathers for cheaper than they are.

use crate::llvm::Function;
use loop_tree::{Affine, Atom, Green, Kernel, occurrences};

/// Asks LLVM for no gathers and scatters in a function, where its processor loads and stores elements one by one faster
/// and the tree has accesses that could become some.
///
/// AMD's processors with 512 bits execute them in microcode, at more than two cycles for each element; those without are not
/// taken to have any. What is asked for says nothing about which instructions there are, but LLVM 22 inlines no function that has
/// a feature which its caller lacks: functions without such accesses keep what they have.
pub(super) fn avoid(function: Function<'_>, kernel: &Kernel, root: &Green) {
    let is_zen = |name| function.string_attribute(name).is_some_and(|cpu| cpu.starts_with("znver"));
    let tuned = function.string_attribute("tune-cpu");
    if !(is_zen("tune-cpu") || tuned.is_none() && is_zen("target-cpu")) || !strided(kernel, root) {
        return;
    }
    let mut features = function.string_attribute(FEATURES).unwrap_or_default();
    for feature in ["prefer-no-gather", "prefer-no-scatter"] {
        if !features.contains(feature) {
            let separator = if features.is_empty() { "" } else { "," };
            features.push_str(&format!("{separator}+{feature}"));
        }
    }
    function.set_string_attribute(FEATURES, &features);
}

const FEATURES: &str = "target-features";

/// Whether accesses may walk memory other than from one element to the next.
fn strided(kernel: &Kernel, root: &Green) -> bool {
    occurrences(root).iter().any(|occurrence| {
        // Copies may walk the array or the buffer in any order.
        if occurrence.buffers().any(|b| b.windows().next().is_some()) {
            return true;
        }
        let contiguous = |e: &Affine| {
            let e = occurrence.resolve(e);
            e.terms().iter().all(|(atom, c)| match atom {
                Atom::Var(_) => c.abs() == 1,
                Atom::Param(_) => true,
                Atom::Div(_) => false,
            })
        };
        kernel.statement(occurrence.statement).accesses.iter().any(|a| match a.subscripts.as_deref() {
            None => true,
            Some([]) => false,
            Some([only]) => !contiguous(only),
            Some(_) => true,
        })
    })
}
