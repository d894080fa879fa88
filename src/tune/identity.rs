//! What a kernel is known by.

use loop_tree::{Kernel, text};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_128;

/// The hash of what a kernel computes, and in which order; names, places in the source and
/// what may be called do not count.
pub fn kernel_hash(kernel: &Kernel) -> String {
    let mut kernel = kernel.clone();
    let name = |letter: &str, number: usize| Arc::from(format!("{letter}{number}"));
    kernel.name = Arc::from("k");
    for (number, param) in kernel.params.iter_mut().enumerate() {
        param.name = name("p", number);
    }
    for (number, variable) in kernel.variables.iter_mut().enumerate() {
        variable.name = name("v", number);
    }
    for (number, array) in kernel.arrays.iter_mut().enumerate() {
        array.name = name("a", number);
    }
    for (number, statement) in kernel.statements.iter_mut().enumerate() {
        let statement = Arc::make_mut(statement);
        statement.name = name("s", number);
        statement.location = None;
    }
    kernel.no_calls = Vec::new();
    hash(&text::print_kernel(&kernel))
}

/// 128 bits, in hexadecimal digits.
pub(super) fn hash(text: &str) -> String {
    format!("{:032x}", xxh3_128(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(source: &str) -> String {
        kernel_hash(&text::parse(source).expect("a program").kernel)
    }

    #[test]
    fn names_do_not_count_and_all_else_does() {
        let copy = |function: &str, n: &str, i: &str, array: &str, bound: &str| {
            of(&format!(
                "nest @{function}[{n}] {{ array {array}: f64[{n}] for {i} in 0..{bound} {{ S: {array}[{i}] = {array}[{i}] + 1.0 }} }}"
            ))
        };
        let first = copy("f", "N", "i", "A", "N");
        assert_eq!(first, copy("g", "M", "k", "B", "M"));
        assert_ne!(first, copy("f", "N", "i", "A", "N - 1"));
        assert_eq!(first.len(), 32);
    }
}
