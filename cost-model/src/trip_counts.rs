//! How often loops and guarded statements run: a fixed number of sample iterations of the loops around, spread by a
//! low-discrepancy sequence, each standing for its share of all iterations.

use crate::linear::Scope;
use loop_tree::{Condition, Constraint, LoopHeader, Relation};
use smallvec::SmallVec;

/// Sample points kept. More cost time in proportion; bounds are evaluated once per point and loop.
const POINTS: usize = 64;
/// Iterations taken for loops whose number of iterations is unknown.
const UNKNOWN_TRIP: f64 = 100.0;
/// Largest count kept, so that products stay finite.
pub(crate) const LARGEST: f64 = 1e70;

#[derive(Clone, Debug)]
struct Point {
    weight: f64,
    values: SmallVec<[f64; 8]>,
}

/// A weighted set of iterations of the loops around a node. The sum of weights is how often the node runs.
#[derive(Clone, Debug)]
pub(crate) struct Samples(SmallVec<[Point; 1]>);

/// A loop as seen from the samples.
pub(crate) struct Trips {
    /// How often the loop is entered, where it has at least one iteration.
    pub entered: f64,
    /// Mean number of iterations of these. Windows of tiles are empty or full: their mean over all is neither.
    pub mean: f64,
    /// Mean number of the iteration, from 0.
    pub middle: f64,
    /// The lower bound that is in force most often.
    pub lower: usize,
    /// Whether all of these samples agree on the number of iterations.
    pub exact: bool,
    /// By how much they do not: their standard deviation, of their mean.
    pub spread: f64,
}

impl Samples {
    pub fn once() -> Self {
        Samples(smallvec::smallvec![Point { weight: 1.0, values: SmallVec::new() }])
    }

    pub fn total(&self) -> f64 {
        self.0.iter().map(|p| p.weight).sum()
    }

    /// Samples of the body of a loop at a depth; `told_apart`: whether anything in it depends on which iteration it is.
    pub fn enter(
        &self,
        header: &LoopHeader,
        depth: usize,
        scope: &Scope<'_>,
        told_apart: bool,
    ) -> (Samples, Trips) {
        let step = header.step.max(1) as f64;
        let range = |p: &Point| {
            let lower = header.lower().iter().map(|e| scope.eval(e, &p.values)).fold(f64::MIN, f64::max);
            let upper = header.upper().iter().map(|e| scope.eval(e, &p.values)).fold(f64::MAX, f64::min);
            if header.upper().is_empty() || header.lower().is_empty() {
                return (0.0, UNKNOWN_TRIP);
            }
            (lower, ((upper - lower) / step).ceil().clamp(0.0, LARGEST))
        };
        // Most loops have bounds of parameters alone.
        let same = header.lower().iter().chain(header.upper()).all(|e| e.is_invariant());
        let ranges: SmallVec<[(f64, f64); POINTS]> = match self.0.first() {
            Some(first) if same => SmallVec::from_elem(range(first), self.0.len()),
            _ => self.0.iter().map(range).collect(),
        };
        let total: f64 = self.0.iter().zip(&ranges).map(|(p, r)| p.weight * r.1).sum::<f64>().min(LARGEST);
        if total <= 0.0 {
            let never = Trips { entered: 0.0, mean: 0.0, middle: 0.0, lower: 0, exact: true, spread: 0.0 };
            return (Samples(SmallVec::new()), never);
        }
        let runs = || self.0.iter().zip(&ranges).filter(|(_, range)| range.1 > 0.0);
        let entered: f64 = runs().map(|(p, _)| p.weight).sum();
        let mut trips = runs().map(|(_, range)| range.1);
        let first = trips.next().filter(|first| trips.all(|t| t == *first));
        let (exact, mean) = (first.is_some(), first.unwrap_or(total / entered));
        let spread = if exact {
            0.0
        } else {
            let squares: f64 = runs().map(|(p, range)| p.weight * (range.1 / mean - 1.0).powi(2)).sum();
            (squares / entered).sqrt()
        };
        let lower = lower_in_force(header, runs().map(|(p, _)| p), scope);
        if exact && !told_apart {
            let any = Point { weight: total, values: SmallVec::from_elem(0.0, depth + 1) };
            let trips = Trips { entered, mean, middle: 0.5 * (mean - 1.0), lower, exact, spread: 0.0 };
            return (Samples(smallvec::smallvec![any]), trips);
        }
        // Powers of the generalised golden ratios: each depth gets its own irrational step.
        const STEPS: [f64; 8] =
            [0.618034, 0.754878, 0.819173, 0.856675, 0.880271, 0.896653, 0.908682, 0.917892];
        let alpha = STEPS[depth % STEPS.len()];
        let mut points = SmallVec::with_capacity(POINTS);
        let (mut at, mut below) = (0, 0.0);
        let mut middle = 0.0;
        for k in 0..POINTS {
            let position = (k as f64 + 0.5) / POINTS as f64 * total;
            while at + 1 < self.0.len() && below + self.0[at].weight * ranges[at].1 < position {
                below += self.0[at].weight * ranges[at].1;
                at += 1;
            }
            let (lower, trip) = ranges[at];
            let fraction = if self.0.len() == 1 {
                (k as f64 + 0.5) / POINTS as f64
            } else {
                (0.5 + k as f64 * alpha).fract()
            };
            let mut values: SmallVec<[f64; 8]> = SmallVec::with_capacity(depth + 1);
            let around = &self.0[at].values;
            values.extend_from_slice(&around[..around.len().min(depth)]);
            values.resize(depth, 0.0);
            let iteration = (fraction * trip).floor();
            middle += iteration / POINTS as f64;
            values.push(lower + step * iteration);
            points.push(Point { weight: total / POINTS as f64, values });
        }
        // Samples of a short loop miss it, and what is so many rows away is then out of phase.
        if exact {
            middle = 0.5 * (mean - 1.0);
        }
        (Samples(points), Trips { entered, mean, middle, lower, exact, spread })
    }

    /// How far a loop runs, at most, beyond the samples of its variable: not at all where all agree.
    fn beyond(&self, depth: usize) -> f64 {
        let values = || self.0.iter().filter_map(|p| p.values.get(depth).copied());
        let spread = values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min);
        if spread > 0.0 { (2.0 * spread / self.0.len() as f64).max(1.0) } else { 0.0 }
    }

    /// Whether a constraint may hold for an iteration that is no sample.
    fn may_hold(&self, constraint: &Constraint, scope: &Scope<'_>) -> bool {
        let terms = scope.of_values(&constraint.expression).terms;
        let beyond: f64 = terms.iter().map(|&(d, c)| c.abs() * self.beyond(d as usize)).sum();
        let values = || self.0.iter().map(|p| scope.eval(&constraint.expression, &p.values));
        let above = values().fold(f64::MIN, f64::max) >= -beyond;
        above && (constraint.relation == Relation::NonNegative || values().fold(f64::MAX, f64::min) <= beyond)
    }

    /// Samples where an affine condition holds, and its probability. A condition that no sample meets is taken to be
    /// rare, and impossible only where it is far from all of them.
    pub fn filter(&self, condition: &Condition, scope: &Scope<'_>, trips: &[f64]) -> (Samples, f64) {
        let total = self.total();
        if total <= 0.0 || condition.is_never() {
            return (Samples(SmallVec::new()), 0.0);
        }
        let mut rare = 0.0;
        for conjunction in &condition.disjuncts {
            let mut p = 1.0;
            for c in conjunction {
                let form = scope.linear(&c.expression);
                if form.terms.is_empty() {
                    let holds = match c.relation {
                        Relation::NonNegative => form.constant >= 0.0,
                        Relation::Zero => form.constant == 0.0,
                    };
                    p *= f64::from(u8::from(holds));
                } else if c.relation == Relation::Zero {
                    let range: f64 = form
                        .terms
                        .iter()
                        .map(|&(d, c)| {
                            c.abs() * (trips.get(d as usize).copied().unwrap_or(1.0) - 1.0).max(0.0)
                        })
                        .sum();
                    p *= 1.0 / (1.0 + range);
                } else {
                    p *= 0.5;
                }
            }
            rare = f64::max(rare, p);
        }
        let holds = |p: &Point| {
            condition.disjuncts.iter().any(|conjunction| {
                conjunction.iter().all(|c| c.accepts(scope.eval(&c.expression, &p.values).round() as i64))
            })
        };
        let kept: SmallVec<[Point; 1]> = self.0.iter().filter(|p| holds(p)).cloned().collect();
        if kept.is_empty() {
            let possible = |c: &Vec<Constraint>| c.iter().all(|c| self.may_hold(c, scope));
            let rare = if condition.disjuncts.iter().any(possible) { rare } else { 0.0 };
            let p = rare.min(0.5 / self.0.len().max(1) as f64);
            let scaled =
                self.0.iter().map(|q| Point { weight: q.weight * p, values: q.values.clone() }).collect();
            return (if p > 0.0 { Samples(scaled) } else { Samples(SmallVec::new()) }, p);
        }
        let probability = kept.iter().map(|p| p.weight).sum::<f64>() / total;
        (Samples(kept), probability)
    }

    /// The same iterations, each with a probability.
    pub fn scaled(&self, probability: f64) -> Samples {
        let mut result = self.clone();
        result.0.iter_mut().for_each(|p| p.weight *= probability);
        result
    }
}

/// The lower bound that is in force at most of the points.
fn lower_in_force<'a>(
    header: &LoopHeader,
    points: impl Iterator<Item = &'a Point>,
    scope: &Scope<'_>,
) -> usize {
    let bounds = header.lower();
    if bounds.len() < 2 {
        return 0;
    }
    let mut votes: SmallVec<[u32; 4]> = SmallVec::from_elem(0, bounds.len());
    for p in points {
        let values = bounds.iter().map(|e| scope.eval(e, &p.values)).enumerate();
        if let Some((at, _)) = values.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))) {
            votes[at] += 1;
        }
    }
    (0..votes.len()).max_by_key(|at| (votes[*at], std::cmp::Reverse(*at))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{Binding, Linear};
    use loop_tree::{Affine, VarId};

    #[test]
    fn triangles_and_guards() {
        let mut scope = Scope { params: &[], vars: vec![] };
        let (i, j) = (VarId(0), VarId(1));
        let (outer, trips) = Samples::once().enter(&LoopHeader::range(i, 0, 1000), 0, &scope, true);
        assert_eq!(trips.mean, 1000.0);
        scope.vars.push(Binding { var: i, value: Linear::depth(0), iteration: Linear::depth(0) });
        let (inner, trips) = outer.enter(&LoopHeader::range(j, 0, Affine::var(i)), 1, &scope, true);
        assert!((trips.mean - 500.0).abs() < 20.0, "{}", trips.mean);
        assert!((inner.total() - 5e5).abs() < 2e4);
        scope.vars.push(Binding { var: j, value: Linear::depth(1), iteration: Linear::depth(1) });
        let half = Condition::all(vec![Constraint::lt(Affine::var(j).scale(2), Affine::var(i))]);
        let p = inner.filter(&half, &scope, &[1000.0, 500.0]).1;
        assert!((0.35..0.65).contains(&p), "{p}");
        // Tiles of a triangle that are not full: those on the diagonal and those at the end of the third loop.
        let t = VarId(2);
        let (outer, _) = Samples::once().enter(&LoopHeader::range(i, 0, 32), 0, &scope, true);
        let (inner, _) = outer.enter(&LoopHeader::range(j, 0, Affine::var(i).offset(1)), 1, &scope, true);
        let (tiles, _) = inner.enter(&LoopHeader::range(t, 0, 19), 2, &scope, true);
        scope.vars.push(Binding { var: t, value: Linear::depth(2), iteration: Linear::depth(2) });
        let partial = Condition {
            disjuncts: vec![
                vec![Constraint::lt(Affine::var(i), Affine::var(j).offset(1))],
                vec![Constraint::lt(Affine::constant(17), Affine::var(t))],
            ],
        };
        let (p, truth) = (tiles.filter(&partial, &scope, &[32.0, 16.0, 19.0]).1, 0.11);
        assert!((0.7 * truth..1.4 * truth).contains(&p), "{p}");
        let (outer, _) = Samples::once().enter(&LoopHeader::range(i, 0, 1000), 0, &scope, true);
        let once = Condition::all(vec![Constraint::eq(Affine::var(i), Affine::constant(0))]);
        let p = outer.filter(&once, &scope, &[1000.0]).1;
        assert!(p > 0.0 && p < 0.05, "{p}");
        // Where nobody asks which iteration it is, one stands for all.
        let (alike, trips) = Samples::once().enter(&LoopHeader::range(i, 0, 1000), 0, &scope, false);
        assert_eq!((alike.0.len(), alike.total(), trips.mean, trips.middle), (1, 1000.0, 1000.0, 499.5));
        // The second of tiles of tiles, where there is one.
        let far = Condition::all(vec![Constraint::ge(Affine::var(i), Affine::constant(16_256))]);
        assert_eq!(outer.filter(&far, &scope, &[1000.0]).1, 0.0);
    }
}
