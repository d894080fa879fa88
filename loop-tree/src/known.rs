//! What is known where a node stands: ranges of the loops around it, that these are not empty, guards, bindings, and the
//! context of the kernel.
//!
//! [`Known::nonnegative`] proves that an expression is not negative, as a sum of facts: its atoms are eliminated from the
//! innermost on, each with one fact that bounds it, rounded to integers. That decides what bounds of tiles and splits need; it
//! may fail, and `false` means unknown.

use crate::{Affine, Atom, Bounds, Condition, Kernel, LoopHeader, Relation, VarId};

/// Eliminations of one question, at most.
const MOST_STEPS: u32 = 64;

/// Facts about variables and parameters at a node.
pub struct Known {
    levels: Vec<Level>,
}

#[derive(Clone, Default)]
struct Level {
    var: Option<VarId>,
    facts: Vec<Fact>,
    /// The outer levels as they were, where a variable of theirs is hidden.
    hidden: Option<Vec<Level>>,
}

/// An expression that is not negative.
#[derive(Clone)]
struct Fact {
    expression: Affine,
    /// Its innermost atom, which it bounds.
    bounds: Atom,
}

impl Known {
    /// The kernel's context.
    pub fn of(kernel: &Kernel) -> Known {
        let mut known = Known { levels: vec![Level::default()] };
        for c in &kernel.context {
            known.add(c.expression.clone(), c.relation);
        }
        known
    }

    /// Enters the body of a loop. Its bounds are over the scope around it.
    pub fn enter_loop(&mut self, header: &LoopHeader) {
        // Before the variable is bound, as a bound may mean an outer variable of the same name.
        let extents: Vec<Affine> = match &header.bounds {
            Bounds::Affine { lower, upper } => {
                lower.iter().flat_map(|l| upper.iter().map(move |u| (u - l).offset(-1))).collect()
            }
            Bounds::Unbounded { .. } => Vec::new(),
        };
        self.levels.push(Level::default());
        extents.into_iter().for_each(|e| self.add(e, Relation::NonNegative));
        let outer = self.bind(header.var);
        if let (Bounds::Affine { lower, upper }, false) = (&header.bounds, outer) {
            let var = Affine::var(header.var);
            lower.iter().for_each(|l| self.add(&var - l, Relation::NonNegative));
            upper.iter().for_each(|u| self.add((u - &var).offset(-1), Relation::NonNegative));
        }
    }

    /// Enters the body of a binding.
    pub fn enter_let(&mut self, var: VarId, value: &Affine) {
        self.levels.push(Level::default());
        if !self.bind(var) {
            self.add(&Affine::var(var) - value, Relation::Zero);
        }
    }

    /// Enters what is under a condition.
    pub fn enter_guard(&mut self, condition: &Condition) {
        self.levels.push(Level::default());
        if let [conjunction] = &condition.disjuncts[..] {
            conjunction.iter().for_each(|c| self.add(c.expression.clone(), c.relation));
        }
    }

    /// Leaves what was entered last, each `enter` having one or two levels.
    pub fn leave(&mut self, depth: usize) {
        while self.levels.len() > depth {
            let Some(level) = self.levels.pop() else { return };
            if let Some(hidden) = level.hidden {
                self.levels = hidden;
            }
        }
    }

    /// To [`leave`](Self::leave) with.
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Binds a variable in a level of its own; whether it hides an outer one. What was known of that is forgotten.
    fn bind(&mut self, var: VarId) -> bool {
        let hides = self.levels.iter().any(|l| l.var == Some(var));
        let mut level = Level { var: Some(var), ..Level::default() };
        if hides {
            level.hidden = Some(self.levels.clone());
            for outer in &mut self.levels {
                outer.facts.retain(|f| !f.expression.uses(var));
                outer.var = outer.var.filter(|v| *v != var);
            }
        }
        self.levels.push(level);
        hides
    }

    fn add(&mut self, expression: Affine, relation: Relation) {
        let negated = (relation == Relation::Zero).then(|| expression.scale(-1));
        for expression in std::iter::once(expression).chain(negated) {
            let Some((bounds, _)) = self.innermost(&expression) else { continue };
            let fact = Fact { bounds: bounds.clone(), expression };
            if let Some(level) = self.levels.last_mut() {
                level.facts.push(fact);
            }
        }
    }

    /// Whether the expression is provably not negative here. `false` means unknown.
    pub fn nonnegative(&self, e: &Affine) -> bool {
        self.prove(e, &mut MOST_STEPS.clone())
    }

    /// Whether two elements of an array are provably not the same one. `false` means unknown.
    pub fn apart(&self, a: &[Affine], b: &[Affine]) -> bool {
        let differ = |(x, y): (&Affine, &Affine)| {
            let more = (x - y).offset(-1);
            match more.as_constant() {
                Some(more) => more != -1,
                None => self.nonnegative(&more) || self.nonnegative(&(y - x).offset(-1)),
            }
        };
        a.len() == b.len() && a.iter().zip(b).any(differ)
    }

    fn prove(&self, e: &Affine, steps: &mut u32) -> bool {
        if let Some(value) = e.as_constant() {
            return value >= 0;
        }
        let Some((atom, c)) = self.innermost(e) else { return false };
        *steps = steps.saturating_sub(1);
        if *steps == 0 {
            return false;
        }
        // |a| * e >= |c| * fact - (|a| - 1) is enough, as e is an integer.
        let mut with = |fact: &Affine, a: i64| {
            let (Some(scale), Some(factor)) = (a.checked_abs(), c.checked_abs()) else { return false };
            let rest = match scale {
                1 => e.combine(fact, -factor),
                _ => e.scale(scale).combine(fact, -factor).offset(scale - 1),
            };
            rest.is_exact() && self.prove(&rest.rounded(), steps)
        };
        if let Atom::Div(d) = atom {
            let rest = &d.numerator - &Affine::atom(atom.clone()).scale(d.denominator);
            let definition =
                if c < 0 { rest } else { rest.scale(-1).offset(d.denominator.saturating_sub(1)) };
            let a = if c < 0 { d.denominator.saturating_neg() } else { d.denominator };
            if with(&definition, a) {
                return true;
            }
        }
        self.levels.iter().rev().flat_map(|l| &l.facts).any(|f| {
            f.bounds == *atom
                && f.expression
                    .coefficient_of(atom)
                    .is_some_and(|a| a.signum() == c.signum() && with(&f.expression, a))
        })
    }

    /// The atom to be eliminated first, with its coefficient. `None` where there is none, or the expression is not exact.
    fn innermost<'e>(&self, e: &'e Affine) -> Option<(&'e Atom, i64)> {
        if !e.is_exact() {
            return None;
        }
        let key = |t: &'e (Atom, i64)| (self.rank(&t.0), &t.0);
        let best = e.terms().iter().max_by(|a, b| key(a).cmp(&key(b)))?;
        Some((&best.0, best.1))
    }

    /// Level of the innermost variable, and floors around it.
    fn rank(&self, atom: &Atom) -> (usize, usize) {
        match atom {
            Atom::Param(_) => (0, 0),
            Atom::Var(v) => (self.levels.iter().rposition(|l| l.var == Some(*v)).unwrap_or(0), 0),
            Atom::Div(d) => {
                let inner = d.numerator.terms().iter().map(|(a, _)| self.rank(a)).max();
                inner.map_or((0, 1), |(level, floors)| (level, floors + 1))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_below_a_block_are_none_of_it() {
        let [t, i, k, j] = [0, 1, 2, 3].map(VarId);
        let of = |v| Affine::var(v);
        let mut known = Known { levels: vec![Level::default()] };
        let between = |var, lower: Affine, upper: Affine| LoopHeader::range(var, lower, upper);
        known.enter_loop(&between(t, Affine::constant(0), Affine::param(crate::ParamId(0))));
        known.enter_loop(&between(i, of(t).scale(8), of(t).scale(8).offset(8)));
        let around = known.depth();
        known.enter_loop(&between(k, of(t).scale(8).offset(8), Affine::param(crate::ParamId(1))));
        known.enter_loop(&between(j, Affine::constant(0), of(i)));
        assert!(known.apart(&[of(i), of(j)], &[of(k), of(j)]));
        assert!(known.apart(&[of(i), of(j)], &[of(i), of(i)]));
        assert!(known.apart(&[of(j), of(j)], &[of(j), of(j).offset(1)]));
        assert!(!known.apart(&[of(j), of(j)], &[of(j), of(j)]));
        assert!(!known.apart(&[of(i).offset(1)], &[of(k)]));
        known.leave(around);
        assert!(!known.apart(&[of(i)], &[of(k)]));
    }
}
