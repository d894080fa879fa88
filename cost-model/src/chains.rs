//! What iterations wait for from the ones before: cycles of dependent operations through values that are carried.
//!
//! A carried value is one that an earlier iteration has stored. What is stored waits for the carried values it is computed
//! from. A cycle of such waits takes the sum of its latencies, and gets as many iterations further as its distances add up to:
//! the greatest quotient bounds the loop from below.

use crate::operations::{Reduction, Reordering};
use smallvec::SmallVec;

/// The value of an operation.
#[derive(Clone, Default)]
pub(crate) struct Value {
    /// Whether it differs from one iteration to the next.
    pub varies: bool,
    /// Whether it may be another one behind a store of the loop, for all that the compiler knows.
    pub may_change: bool,
    pub waits: Waits,
    /// Cycles of the longest path to it in the same iteration, from what is there at its start.
    pub path: f64,
    /// Operations of one kind, in whatever order, that it is the result of.
    pub reduced: Option<(Reduction, usize)>,
    /// Equal numbers are equal values; none: like no other.
    pub number: Option<u32>,
}

/// A carried value that another one is computed from.
#[derive(Clone, Copy)]
pub(crate) struct Wait {
    carried: u16,
    latency: f64,
    /// In which other orders the operations between may be computed.
    pub reordering: Reordering,
}

pub(crate) type Waits = SmallVec<[Wait; 2]>;

/// Carried values that one operation is said to wait for; those that take longest.
const WAITS: usize = 12;

impl Value {
    /// Waits also for an operand, and for what that waits for.
    pub fn wait_for(&mut self, operand: &Value) {
        self.path = self.path.max(operand.path);
        for wait in &operand.waits {
            if let Some(known) = self.waits.iter_mut().find(|w| w.carried == wait.carried) {
                known.latency = known.latency.max(wait.latency);
                known.reordering = known.reordering.and(wait.reordering);
            } else if self.waits.len() < WAITS {
                self.waits.push(*wait);
            } else {
                let shortest = self.waits.iter_mut().min_by(|a, b| a.latency.total_cmp(&b.latency));
                if let Some(shortest) = shortest.filter(|s| s.latency < wait.latency) {
                    *shortest = *wait;
                }
            }
        }
    }

    /// An operation on it.
    pub fn delay(&mut self, latency: f64, reordering: Reordering) {
        self.path += latency;
        for wait in &mut self.waits {
            wait.latency += latency;
            wait.reordering = wait.reordering.and(reordering);
        }
    }
}

/// A value that an earlier iteration has stored.
struct Carried {
    /// Where: references and offset.
    place: (usize, f64),
    distance: f64,
}

/// Carried values of a loop, and what is stored.
#[derive(Default)]
pub(crate) struct Chains {
    carried: Vec<Carried>,
    /// Last value stored to a place.
    stored: Vec<((usize, f64), Waits)>,
}

impl Chains {
    /// The value that was stored to a place so many iterations before, after `through` cycles.
    pub fn carried(
        &mut self,
        family: usize,
        offset: f64,
        distance: f64,
        through: f64,
        reordering: Reordering,
    ) -> Wait {
        let place = (family, offset);
        let known = self.carried.iter().position(|c| c.place == place && c.distance == distance);
        let at = known.unwrap_or_else(|| {
            self.carried.push(Carried { place, distance: distance.max(1.0) });
            self.carried.len() - 1
        });
        Wait { carried: at.min(usize::from(u16::MAX)) as u16, latency: through, reordering }
    }

    pub fn stored(&mut self, family: usize, offset: f64, waits: &Waits) {
        let place = (family, offset);
        match self.stored.iter_mut().find(|s| s.0 == place) {
            Some(known) => known.1.clone_from(waits),
            None => self.stored.push((place, waits.clone())),
        }
    }

    /// Cycles per iteration of the slowest cycle of waits.
    pub fn longest(&self) -> f64 {
        // From a carried value to one that is computed from it.
        let mut edges: Vec<(usize, usize, f64)> = Vec::new();
        for (to, carried) in self.carried.iter().enumerate() {
            let Some((_, waits)) = self.stored.iter().find(|s| s.0 == carried.place) else { continue };
            edges.extend(waits.iter().map(|w| (usize::from(w.carried), to, w.latency)));
        }
        let distance = |at: usize| self.carried[at].distance;
        let own = edges.iter().filter(|e| e.0 == e.1).map(|e| e.2 / distance(e.1));
        let mut rate = own.fold(0.0, f64::max);
        edges.retain(|e| e.0 != e.1);
        if edges.is_empty() {
            return rate;
        }
        // A cycle that is slower than the rate gains on it: followed until no path does (Bellman and Ford), then the rate is
        // that cycle's.
        for _ in 0..ROUNDS {
            match self.slower(&edges, rate) {
                Some(found) => rate = found,
                None => break,
            }
        }
        rate
    }

    /// The rate of some cycle that is slower than the rate given.
    fn slower(&self, edges: &[(usize, usize, f64)], rate: f64) -> Option<f64> {
        let count = self.carried.len();
        let mut gain = vec![0.0f64; count];
        let mut from: Vec<Option<usize>> = vec![None; count];
        let mut last = None;
        for _ in 0..=count {
            last = None;
            for (index, &(a, b, latency)) in edges.iter().enumerate() {
                let better = gain[a] + latency - rate * self.carried[b].distance;
                if better > gain[b] + 1e-6 {
                    gain[b] = better;
                    from[b] = Some(index);
                    last = Some(b);
                }
            }
            last?;
        }
        // Behind so many steps there is a cycle.
        let mut at = last?;
        for _ in 0..count {
            at = edges[from[at]?].0;
        }
        let (first, mut latency, mut distance) = (at, 0.0, 0.0);
        loop {
            let (a, b, l) = edges[from[at]?];
            latency += l;
            distance += self.carried[b].distance;
            at = a;
            if at == first {
                break;
            }
        }
        let found = latency / distance;
        (found > rate + 1e-6).then_some(found)
    }
}

/// Cycles that are tried, each slower than the last.
const ROUNDS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn value(waits: &[Wait], latency: f64) -> Value {
        let mut value = Value { varies: true, ..Value::default() };
        value.wait_for(&Value { waits: waits.iter().copied().collect(), ..Value::default() });
        value.delay(latency, Reordering::No);
        value
    }

    #[test]
    fn the_slowest_cycle_counts_whatever_else_is_carried() {
        let mut chains = Chains::default();
        let near = chains.carried(0, 0.0, 1.0, 0.0, Reordering::No);
        let far = chains.carried(0, 8.0, 2000.0, 0.0, Reordering::No);
        chains.stored(0, 0.0, &value(&[far, near], 5.0).waits);
        assert_eq!(chains.longest(), 5.0);
    }

    #[test]
    fn what_is_stored_elsewhere_closes_no_cycle_by_itself() {
        let mut chains = Chains::default();
        let a = chains.carried(0, 0.0, 1.0, 0.0, Reordering::No);
        chains.stored(1, 0.0, &value(&[a], 5.0).waits);
        chains.stored(0, 0.0, &Waits::new());
        assert_eq!(chains.longest(), 0.0);
        // Two loops through each other: 9 cycles for three iterations.
        let b = chains.carried(1, 0.0, 2.0, 0.0, Reordering::No);
        chains.stored(0, 0.0, &value(&[b], 4.0).waits);
        assert_eq!(chains.longest(), 3.0);
    }
}
