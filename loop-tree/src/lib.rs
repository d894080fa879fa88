//! Loop trees: persistent green nodes, red cursors, affine expressions, kernels, .lt text and a reference interpreter.
