//! Targets and predicted cycles of loop trees.
