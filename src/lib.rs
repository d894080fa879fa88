//! looptree: a loop optimizer on persistent loop trees.
pub use loop_tree as tree;
