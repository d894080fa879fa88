//! Analyses of loop trees and the legality oracle, on exact integer sets.

pub mod isl;
