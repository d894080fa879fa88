//! The `looptree` command.
fn main() {}
