//! Costs and the terms they are made of.

use std::fmt;

/// Predicted cycles, as a sum of named terms.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Cost {
    /// Predicted cycles; finite and not negative.
    pub cycles: f64,
    /// What they are spent on; the cycles of terms add up to the total.
    pub terms: Vec<Term>,
}

/// One summand of a cost, with what it is made of.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Term {
    /// What it is, such as `loop j`.
    pub name: String,
    /// Cycles in all.
    pub cycles: f64,
    /// Why: trip counts, lanes, lines.
    pub detail: String,
    /// What is moved into a level of cache in this time; zero for all other terms.
    pub bytes: f64,
    /// Parts. They may overlap in time, so that they may add up to more.
    pub parts: Vec<Term>,
}

impl Cost {
    /// A cost that is the sum of its terms; saturating.
    pub fn of(terms: Vec<Term>) -> Self {
        // The empty sum of floats is -0.
        let cycles = finite(terms.iter().map(|t| t.cycles).fold(0.0, |a, b| a + b));
        Cost { cycles, terms }
    }

    /// The terms as an indented tree, with cycles and the share of the total.
    pub fn explain(&self) -> Explanation<'_> {
        Explanation(self)
    }
}

impl Term {
    /// A term without parts.
    pub fn new(name: impl Into<String>, cycles: f64, detail: impl Into<String>) -> Self {
        Term { name: name.into(), cycles: finite(cycles), detail: detail.into(), bytes: 0.0, parts: vec![] }
    }

    /// As many times the cycles, of its parts too.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.cycles *= factor;
        self.bytes *= factor;
        self.parts.iter_mut().for_each(|part| part.scale(factor));
    }
}

/// Whether terms are given names and details: that takes as long as a price, and few prices are ever explained.
#[derive(Clone, Copy)]
pub(crate) struct Words(bool);

impl Words {
    pub const SAID: Words = Words(true);
    pub const UNSAID: Words = Words(false);

    pub fn are_said(self) -> bool {
        self.0
    }

    /// The text, where it is wanted.
    pub fn say(self, text: impl FnOnce() -> String) -> String {
        if self.0 { text() } else { String::new() }
    }
}

/// Not a number and overflow become the largest cost.
fn finite(cycles: f64) -> f64 {
    if cycles.is_nan() { f64::MAX / 1e8 } else { cycles.clamp(0.0, f64::MAX / 1e8) }
}

/// Prints a cost as a tree.
pub struct Explanation<'a>(&'a Cost);

impl fmt::Display for Explanation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>12} cycles", Cycles(self.0.cycles))?;
        self.0.terms.iter().try_for_each(|t| print(f, t, 1, self.0.cycles))
    }
}

fn print(f: &mut fmt::Formatter<'_>, term: &Term, depth: usize, total: f64) -> fmt::Result {
    let share = if total > 0.0 { 100.0 * term.cycles / total } else { 0.0 };
    write!(f, "{:>12} {share:>5.1}% {:indent$}{}", Cycles(term.cycles), "", term.name, indent = 2 * depth)?;
    if !term.detail.is_empty() {
        write!(f, ": {}", term.detail)?;
    }
    writeln!(f)?;
    term.parts.iter().try_for_each(|t| print(f, t, depth + 1, total))
}

/// Three digits and a power of ten where that is shorter.
struct Cycles(f64);

impl fmt::Display for Cycles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if self.0 < 1e6 { format!("{:.0}", self.0) } else { format!("{:.3e}", self.0) };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_saturate() {
        let t = |c| Term::new("t", c, "");
        assert_eq!(Cost::of(vec![t(1.0), t(2.0)]).cycles, 3.0);
        assert!(Cost::of(vec![t(f64::NAN), t(f64::INFINITY)]).cycles.is_finite());
        assert!(Cost::of(vec![]).cycles.is_sign_positive());
        let text = Cost::of(vec![Term { parts: vec![t(1.0)], ..t(4.0) }]).explain().to_string();
        assert_eq!(text, "           4 cycles\n           4 100.0%   t\n           1  25.0%     t\n");
    }
}
