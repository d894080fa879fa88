//! Random functions of loops as LLVM IR, of several kinds, each with calls whose outcome is defined.

use crate::cases::{self, Done};
use crate::{again, called, planes, strides};
use std::fmt::Write;

/// What such functions have in common.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// What it is, in words.
    pub title: &'static str,
    /// The text of a case ([`cases`]); `None` where a seed has no call that is defined.
    pub case: fn(u64) -> Option<String>,
}

/// All of them.
pub const KINDS: [Kind; 4] = [
    Kind { name: "again", title: "loops that read again what they may overwrite", case: again::case },
    Kind { name: "strides", title: "loops by steps that only the program knows", case: strides::case },
    Kind {
        name: "planes",
        title: "loops over rows and planes of lengths that only the program knows",
        case: planes::case,
    },
    Kind { name: "called", title: "loops around calls of which nothing is known", case: called::case },
];

impl Kind {
    /// What so many variants of each region of a seed's case did.
    ///
    /// # Errors
    /// What is wrong, and the case.
    pub fn check(&self, seed: u64, variants: usize) -> Result<Done, String> {
        let Some(text) = (self.case)(seed) else { return Ok(Done::default()) };
        cases::check("case.ll", &text, variants).map_err(|what| format!("; {what}\n{text}"))
    }
}

/// Writes the text of a function.
#[derive(Default)]
pub(crate) struct Writer {
    pub out: String,
    /// Of the block that is written.
    pub block: String,
    names: usize,
}

impl Writer {
    /// An instruction without a value.
    pub fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "  {text}");
    }

    /// The name of the value of an instruction.
    pub fn value(&mut self, text: &str) -> String {
        self.names += 1;
        let name = format!("%v{}", self.names);
        self.line(&format!("{name} = {text}"));
        name
    }

    /// A label for a block to come.
    pub fn label(&mut self) -> String {
        self.names += 1;
        format!("b{}", self.names)
    }

    /// Begins a block.
    pub fn begin(&mut self, label: &str) {
        let _ = writeln!(self.out, "{label}:");
        label.clone_into(&mut self.block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing is wrong with 40 cases, which have more than 13 regions.
    #[track_caller]
    fn hold(kind: Kind) {
        let mut regions = 0;
        for seed in 0..40 {
            match kind.check(seed, 4) {
                Ok(done) => regions += done.regions,
                Err(what) => panic!("seed {seed}: {what}"),
            }
        }
        assert!(regions > 13, "{regions}");
    }

    #[test]
    fn loops_read_again_what_they_may_write() {
        hold(KINDS[0]);
    }

    #[test]
    fn loops_go_by_steps_that_only_the_program_knows() {
        hold(KINDS[1]);
    }

    #[test]
    fn loops_run_over_rows_and_planes_that_only_the_program_knows() {
        hold(KINDS[2]);
    }

    #[test]
    fn loops_call_what_nothing_is_known_of() {
        hold(KINDS[3]);
    }
}
