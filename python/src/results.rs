//! What is found out.

use crate::tree::Tree;
use looptree::analyses::Verdict as Judged;
use looptree::cost_model::Cost as Predicted;
use looptree::measure::Measurement as Measured;
use looptree::tree::{Kernel, text};
use pyo3::prelude::*;

/// Whether a variant computes the same.
#[pyclass(frozen, get_all, module = "looptree")]
pub struct Verdict {
    /// Whether it may be used, under the conditions.
    legal: bool,
    /// What must hold at run time.
    conditions: Vec<String>,
    /// The dependence in the way, with an example.
    witness: Option<String>,
    /// A stable short name of what is in the way.
    category: Option<String>,
}

impl Verdict {
    pub fn new(kernel: &Kernel, judged: &Judged) -> Verdict {
        let (mut conditions, mut witness, mut category) = (Vec::new(), None, None);
        match judged {
            Judged::Always => {}
            Judged::Under(list) => {
                conditions = list.iter().map(|c| text::print_runtime_condition(kernel, c)).collect();
            }
            Judged::Never(found) => {
                witness = Some(found.to_string());
                category = Some(found.category().to_string());
            }
        }
        Verdict { legal: judged.is_legal(), conditions, witness, category }
    }
}

#[pymethods]
impl Verdict {
    fn __bool__(&self) -> bool {
        self.legal
    }

    fn __repr__(&self) -> String {
        match &self.witness {
            Some(witness) => format!("<Verdict: {witness}>"),
            None if self.conditions.is_empty() => "<Verdict: always>".to_string(),
            None => format!("<Verdict: under {}>", self.conditions.join(", ")),
        }
    }
}

/// Predicted cycles.
#[pyclass(frozen, get_all, module = "looptree")]
pub struct Cost {
    /// In all.
    cycles: f64,
    /// What they are spent on: name and cycles; they add up.
    terms: Vec<(String, f64)>,
    /// The same in detail, for people.
    text: String,
}

impl Cost {
    pub fn new(predicted: &Predicted) -> Cost {
        let terms = predicted.terms.iter().map(|t| (t.name.clone(), t.cycles)).collect();
        Cost { cycles: predicted.cycles, terms, text: predicted.explain().to_string() }
    }
}

#[pymethods]
impl Cost {
    fn __float__(&self) -> f64 {
        self.cycles
    }

    fn __repr__(&self) -> String {
        format!("<Cost: {:.0} cycles>", self.cycles)
    }
}

/// Times of a variant, taken in turns with the original.
#[pyclass(frozen, get_all, module = "looptree")]
pub struct Measurement {
    /// Seconds of a call, median.
    seconds: f64,
    /// Seconds of a call of the original, median.
    original_seconds: f64,
    /// Time of the original over that of the variant, median: above 1 is faster.
    ratio: f64,
    /// A quarter of the samples is below.
    ratio_low: f64,
    /// A quarter of the samples is above.
    ratio_high: f64,
    /// Seconds of a call, of each sample.
    samples: Vec<f64>,
}

impl Measurement {
    pub fn new(original: &Measured, variant: &Measured) -> Measurement {
        let seconds = |s: &std::time::Duration| s.as_secs_f64() / f64::from(variant.calls);
        Measurement {
            seconds: variant.seconds.median,
            original_seconds: original.seconds.median,
            ratio: variant.ratio.median,
            ratio_low: variant.ratio.low,
            ratio_high: variant.ratio.high,
            samples: variant.samples.iter().map(seconds).collect(),
        }
    }
}

#[pymethods]
impl Measurement {
    fn __repr__(&self) -> String {
        format!("<Measurement: {:.3e} s, {:.2}x>", self.seconds, self.ratio)
    }
}

/// A step that could be tried, and what it leads to.
#[pyclass(frozen, get_all, module = "looptree")]
pub struct Move {
    /// The step, as recipes have it.
    step: String,
    /// The tree after it.
    tree: Py<Tree>,
    /// Whether that computes the same.
    verdict: Py<Verdict>,
    /// Predicted cycles of that.
    cycles: f64,
}

impl Move {
    pub fn new(py: Python<'_>, step: String, tree: Tree, verdict: Verdict, cycles: f64) -> PyResult<Move> {
        Ok(Move { step, tree: Py::new(py, tree)?, verdict: Py::new(py, verdict)?, cycles })
    }
}

#[pymethods]
impl Move {
    fn __repr__(&self) -> String {
        format!("<Move: {}>", self.step)
    }
}
