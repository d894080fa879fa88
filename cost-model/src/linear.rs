//! Linear forms over the loops around a statement, at concrete parameter values.

use loop_tree::{Affine, Atom, ParamId, VarId};
use smallvec::SmallVec;

/// `sum(coefficient * loop at that depth) + constant`; loops are counted in iterations or in values of the variable. Floor divisions are replaced by their slope, so
/// that values are approximate there. Terms are sorted by depth, without zeros.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Linear {
    pub terms: SmallVec<[(u16, f64); 4]>,
    pub constant: f64,
}

impl Linear {
    pub fn constant(value: f64) -> Self {
        Linear { terms: SmallVec::new(), constant: value }
    }

    pub fn depth(depth: usize) -> Self {
        Linear { terms: smallvec::smallvec![(depth as u16, 1.0)], constant: 0.0 }
    }

    pub fn coefficient(&self, depth: usize) -> f64 {
        self.terms.iter().find(|t| t.0 as usize == depth).map_or(0.0, |t| t.1)
    }

    pub fn add_scaled(&mut self, other: &Linear, factor: f64) {
        self.constant += other.constant * factor;
        for &(depth, c) in &other.terms {
            match self.terms.binary_search_by_key(&depth, |t| t.0) {
                Ok(at) => {
                    self.terms[at].1 += c * factor;
                    if self.terms[at].1 == 0.0 {
                        self.terms.remove(at);
                    }
                }
                Err(at) => {
                    if c * factor != 0.0 {
                        self.terms.insert(at, (depth, c * factor));
                    }
                }
            }
        }
    }

    /// Multiplies it by a factor that is not zero.
    pub fn scale(&mut self, factor: f64) {
        self.constant *= factor;
        self.terms.iter_mut().for_each(|t| t.1 *= factor);
    }

    pub fn eval(&self, values: &[f64]) -> f64 {
        self.terms
            .iter()
            .fold(self.constant, |sum, &(d, c)| sum + c * values.get(d as usize).copied().unwrap_or(0.0))
    }
}

/// What the variables in scope are, and the parameters.
pub(crate) struct Scope<'a> {
    pub params: &'a [i64],
    pub vars: Vec<Binding>,
}

/// What a variable is in terms of the loops around.
#[derive(Clone)]
pub(crate) struct Binding {
    pub var: VarId,
    /// Over the values of loop variables.
    pub value: Linear,
    /// Over iteration numbers, so that the place of a tile is in it too.
    pub iteration: Linear,
}

impl Scope<'_> {
    pub fn param(&self, id: ParamId) -> f64 {
        self.params.get(id.index()).map_or(0.0, |v| *v as f64)
    }

    /// Over iteration numbers.
    pub fn linear(&self, e: &Affine) -> Linear {
        self.over(e, &|b| &b.iteration)
    }

    /// Over values of loop variables.
    pub fn of_values(&self, e: &Affine) -> Linear {
        self.over(e, &|b| &b.value)
    }

    fn over(&self, e: &Affine, side: &dyn Fn(&Binding) -> &Linear) -> Linear {
        let mut result = Linear::constant(e.constant_term() as f64);
        for (atom, c) in e.terms() {
            let c = *c as f64;
            match atom {
                Atom::Param(p) => result.constant += c * self.param(*p),
                Atom::Var(v) => {
                    if let Some(b) = self.vars.iter().rev().find(|b| b.var == *v) {
                        result.add_scaled(side(b), c);
                    }
                }
                Atom::Div(d) => {
                    let inner = self.over(&d.numerator, side);
                    let denominator = d.denominator as f64;
                    if inner.terms.is_empty() {
                        result.constant += c * (inner.constant / denominator).floor();
                    } else {
                        result.add_scaled(&inner, c / denominator);
                        // On average the floor is half a step below.
                        result.constant -= c * (denominator - 1.0) / (2.0 * denominator);
                    }
                }
            }
        }
        result
    }

    /// The value at a point (values of loop variables), with floor divisions exact.
    pub fn eval(&self, e: &Affine, values: &[f64]) -> f64 {
        e.terms().iter().fold(e.constant_term() as f64, |sum, (atom, c)| {
            let value = match atom {
                Atom::Param(p) => self.param(*p),
                Atom::Var(v) => {
                    self.vars.iter().rev().find(|b| b.var == *v).map_or(0.0, |b| b.value.eval(values))
                }
                Atom::Div(d) => (self.eval(&d.numerator, values) / d.denominator as f64).floor(),
            };
            sum + *c as f64 * value
        })
    }
}
